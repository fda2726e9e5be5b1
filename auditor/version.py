"""The version of the program; documents carry it, and so does the distribution."""

__version__ = "0.1.0"
