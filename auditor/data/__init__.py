"""The empirical side: what data show beside what the model says."""
