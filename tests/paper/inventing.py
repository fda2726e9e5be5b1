"""Rows of people who don't exist."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from auditor.model.naive_bayes import Attribute, NaiveBayes
from examples.paper.data import Data, count


def invented(rows: int = 400) -> Data:
    """Two sensitive attributes and two others, all of which bear on the decision."""
    random = np.random.Generator(np.random.PCG64(7))
    favourable = random.random(rows) < 0.6
    codes = np.stack(
        [
            (random.random(rows) < np.where(favourable, a, b)).astype(np.int64)
            for a, b in ((0.7, 0.35), (0.6, 0.3), (0.8, 0.4), (0.55, 0.3))
        ],
        axis=1,
    )
    half = (Fraction(1, 2), Fraction(1, 2))
    names = NaiveBayes(
        name="Invented",
        decision="Loan",
        favourable="yes",
        unfavourable="no",
        prior=Fraction(1, 2),
        attributes=tuple(
            Attribute(name, (f"not {name}", name), name in "AB", (half, half))
            for name in ("A", "B", "C", "D")
        ),
    )
    return Data("invented", "Invented", count(names, codes, favourable).model, codes, favourable)
