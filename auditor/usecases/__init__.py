"""The use cases: the only place that puts rooms together, and that reads the clock."""
