"""The engine for classifiers whose log-odds are additive: exact search and counting on tables of integers."""
