"""Repair: the most likely naive Bayes model of given counts that has no discrimination pattern."""
