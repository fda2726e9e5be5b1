"""The families of classifiers, as one type for what treats them alike."""

from auditor.model.additive import AdditiveModel
from auditor.model.naive_bayes import NaiveBayes

Classifier = NaiveBayes | AdditiveModel
