"""The model: from a specification in JSON or YAML to exact probabilities.

`spec` validates with pydantic and stands at the edge; `naive_bayes` is all that the search sees of it.
"""
