"""The exact search for discrimination patterns: pure NumPy and rationals, no input or output."""
