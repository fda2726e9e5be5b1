"""The three data sets: their rows, and the naive Bayes models that are counted from them."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import NaiveBayes
from auditor.repair.counts import Counts
from auditor.search.additive.tables import tables_of
from auditor.search.pattern import Pattern
from examples.make import BINARISED, DATA, binarised

__all__ = [
    "DATA",
    "HOW_TO_GET",
    "NAMES",
    "Data",
    "accuracy",
    "count",
    "load",
    "named",
    "occurring",
    "swapped",
]

Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NAMES = tuple(BINARISED)

HOW_TO_GET = """\
The data are not there: {folder} has no {file}.

The experiments take a folder with
  compas_binarised.csv, adult_binarised.csv, german_binarised.csv
      the processed tables that the authors publish at https://github.com/UCLA-StarAI/LearnFairNB
      (one 0 or 1 per cell, with a header);
  codebook.json
      per data set its file, decision, favourable code, labels, sensitive attributes and their order;
      examples/make.py reads it, and examples/*.json have the labels.
Give the folder with: make paper DATA=FOLDER"""


@dataclass(frozen=True, eq=False)
class Data:
    """A table of discrete attributes and a decision; equal to itself alone.

    Attributes
    ----------
    name, title : str
    model : NaiveBayes
        The most likely model, without smoothing.
    codes : array of int, shape (rows, attributes)
        Place of each cell's value in its attribute.
    favourable : array of bool, shape (rows,)
    """

    name: str
    title: str
    model: NaiveBayes
    codes: Codes
    favourable: Mask

    @property
    def sensitive(self) -> tuple[int, ...]:
        """The sensitive attributes."""
        return self.model.sensitive

    def counts(self, smoothing: int = 0) -> Counts:
        """Counts of all rows."""
        return count(self.model, self.codes, self.favourable, smoothing)


def load(folder: Path, name: str) -> Data:
    """Read one of the tables.

    Raises
    ------
    FileNotFoundError
        With the file that is absent.
    """
    book: Mapping[str, Any] = json.loads((folder / "codebook.json").read_text(encoding="utf-8"))[name]
    with (folder / book["file"]).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    column = {title.removesuffix("_"): i for i, title in enumerate(header)}
    cells = np.array(rows).astype(np.int64)
    spec = binarised(name, book, folder)
    return Data(
        name=name,
        title=spec.name.removesuffix(" credit"),
        model=spec.naive_bayes(),
        codes=cells[:, [column[attribute.name] for attribute in spec.attributes]],
        favourable=cells[:, column[spec.decision.name]] == book["favourable"],
    )


def count(names: NaiveBayes, codes: Codes, favourable: Mask, smoothing: int = 0) -> Counts:
    """Count rows; names and values are those of a model."""
    decision = (Fraction(int(favourable.sum())), Fraction(int((~favourable).sum())))
    attributes, counted = [], []
    for i, attribute in enumerate(names.attributes):
        m = len(attribute.values)
        columns = [np.bincount(codes[side, i], minlength=m).tolist() for side in (favourable, ~favourable)]
        rows = tuple(
            (Fraction(a + smoothing), Fraction(b + smoothing)) for a, b in zip(*columns, strict=True)
        )
        whole = [n + smoothing * m for n in decision]
        likelihood = tuple((a / whole[0], b / whole[1]) for a, b in rows)
        attributes.append(replace(attribute, likelihood=likelihood))
        counted.append(rows)
    model = replace(names, prior=decision[0] / sum(decision), attributes=tuple(attributes))
    return Counts(model=model, decision=decision, attributes=tuple(counted))


def swapped(model: NaiveBayes) -> NaiveBayes:
    """The model with the probabilities of its two decisions exchanged, attributes as they are."""
    return replace(model, prior=1 - model.prior)


def occurring(model: NaiveBayes) -> NaiveBayes:
    """The model without the values that no row has: nobody can disclose them."""
    attributes = []
    for attribute in model.attributes:
        seen = [v for v, row in enumerate(attribute.likelihood) if any(row)]
        values = tuple(attribute.values[v] for v in seen)
        rows = tuple(attribute.likelihood[v] for v in seen)
        attributes.append(replace(attribute, values=values, likelihood=rows))
    return replace(model, attributes=tuple(attributes))


def accuracy(model: NaiveBayes, codes: Codes, favourable: Mask) -> float:
    """Share of rows whose decision is the more probable one, all attributes disclosed."""
    tables = tables_of(model)
    odds = np.full(len(codes), tables.real(tables.prior))
    for i, row in enumerate(tables.values):
        odds += np.array([tables.real(units) for units in row])[codes[:, i]]
    return float(((odds > 0) == favourable).mean())


def named(model: NaiveBayes, pattern: Pattern) -> str:
    """A pattern in words: sensitive values, a bar, and the context."""

    def labels(values: tuple[tuple[int, int], ...]) -> str:
        return ", ".join(model.attributes[i].values[v] for i, v in values)

    context = labels(pattern.context_values)
    return "{" + labels(pattern.sensitive_values) + (f" | {context}" if context else "") + "}"
