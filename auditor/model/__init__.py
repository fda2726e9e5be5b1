"""The model: from a specification in JSON or YAML to exact probabilities.

`spec` and `scorecard` validate with pydantic and stand at the edge; `naive_bayes` and `additive` are all that
the search sees of them.
"""
