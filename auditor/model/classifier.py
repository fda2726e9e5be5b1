"""The families of classifiers, as one type for what treats them alike."""

from auditor.model.additive import AdditiveModel
from auditor.model.naive_bayes import NaiveBayes

Classifier = NaiveBayes | AdditiveModel


def has_population(model: Classifier) -> bool:
    """Whether the model says how many people have which values, so that patterns have probabilities."""
    return isinstance(model, NaiveBayes) or model.unfavourable_share is not None
