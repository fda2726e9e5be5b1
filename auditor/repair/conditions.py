"""What a repaired model is to keep to besides being fair.

All conditions are linear in the logarithms of the parameters, as the log-odds are: solvers take them as they
take cuts. What is written is held against them in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import log
from typing import Self

from auditor.errors import InputError
from auditor.messages import escaped, shown
from auditor.model.building import split
from auditor.model.naive_bayes import Assignment, Attribute, NaiveBayes
from auditor.search.question import Share

#: A parameter by attribute, value and side (0 for d, 1 for d̄); attribute -1 is the decision itself.
Parameter = tuple[int, int, int]
#: ``Σ coefficient · ln θ <= right``.
Line = tuple[Mapping[Parameter, int], float]


@dataclass(frozen=True)
class Conditions:
    """Conditions on the parameters, beside those of fairness."""

    keep: frozenset[int] = frozenset()
    """Attributes whose probabilities stay exactly those of the counts."""
    largest_change: Fraction | None = None
    """No probability, the prior included, may differ by more than this from that of the counts."""
    monotone: tuple[tuple[int, int], ...] = ()
    """Attributes whose log-odds ``ln P(v | d) / P(v | d̄)`` are not to fall in the listed order of values,
    with 1, or not to rise, with -1. Then ``P(d | v, y)`` doesn't either, whatever y is disclosed.
    """

    @classmethod
    def of(
        cls,
        model: NaiveBayes,
        keep: Iterable[str] = (),
        largest_change: str | float | None = None,
        monotone: Iterable[str] = (),
    ) -> Self:
        """Take conditions on the attributes of a model, whose names may be joined by commas.

        The direction of an order is that of the counts: up if the last value that occurs has at least the
        log-odds of the first.

        Raises
        ------
        InputError
            If an attribute isn't the model's, or the change isn't above 0 and at most 1; with all problems.
        """
        places = {attribute.name: i for i, attribute in enumerate(model.attributes)}
        keep, monotone = split(keep, places), split(monotone, places)
        problems = [
            f"{option}: {shown(name)} is no attribute of {escaped(model.name)}"
            for option, names in (("keep", keep), ("monotone", monotone))
            for name in dict.fromkeys(names)
            if name not in places
        ]
        if problems:
            problems.append(f"its attributes are {', '.join(map(escaped, places))}")
        most = None if largest_change is None else Share.of(largest_change).value
        if most == 0:
            problems.append("largest change: 0 leaves nothing to repair; give a number above 0")
        if problems:
            raise InputError("; ".join(problems))
        directions = tuple((places[name], _direction(model.attributes[places[name]])) for name in monotone)
        return cls(frozenset(places[name] for name in keep), most, tuple(dict.fromkeys(directions)))

    def __bool__(self) -> bool:
        return self != NONE

    def held(self, model: NaiveBayes, original: NaiveBayes) -> NaiveBayes:
        """A model with the attributes to keep as they are in the original."""
        pairs = enumerate(zip(model.attributes, original.attributes, strict=True))
        return replace(model, attributes=tuple(old if i in self.keep else new for i, (new, old) in pairs))

    def hold(self, values: Assignment) -> bool:
        """Whether some values can't have all the probabilities under which they say nothing."""
        return self.largest_change is not None or any(i in self.keep for i, _ in values)

    def contradiction(self, original: NaiveBayes) -> str | None:
        """Say which order an attribute is to have that doesn't have it and is kept; None if there is none."""
        kept = tuple((i, direction) for i, direction in self.monotone if i in self.keep)
        broken = Conditions(monotone=kept).broken(original, original)
        return broken and f"{broken}, which they are not, and it is to be kept"

    def lines(self, original: NaiveBayes, attributes: Sequence[int]) -> Iterator[Line]:
        """The conditions on the prior and the rows of some attributes, but for what is kept."""
        if self.largest_change is not None:
            rows = [(-1, [(original.prior, 1 - original.prior)])]
            rows += [(i, list(original.attributes[i].likelihood)) for i in attributes if i not in self.keep]
            for i, pairs in rows:
                for v, pair in enumerate(pairs):
                    for side, probability in enumerate(pair):
                        most, least = probability + self.largest_change, probability - self.largest_change
                        if most < 1:
                            yield {(i, v, side): 1}, log(most)
                        if least > 0:
                            yield {(i, v, side): -1}, -log(least)
        for i, direction in self.monotone:
            if i not in self.keep:
                for v in range(len(original.attributes[i].values) - 1):
                    yield (
                        {
                            (i, v, 0): direction,
                            (i, v, 1): -direction,
                            (i, v + 1, 0): -direction,
                            (i, v + 1, 1): direction,
                        },
                        0.0,
                    )

    def broken(self, model: NaiveBayes, original: NaiveBayes) -> str | None:
        """Say which condition a model breaks, exactly; None if it breaks none."""
        for i in sorted(self.keep):
            if model.attributes[i].likelihood != original.attributes[i].likelihood:
                return f"{escaped(model.attributes[i].name)} is to be kept"
        if self.largest_change is not None:
            pairs = [(model.prior, original.prior)]
            for new, old in zip(model.attributes, original.attributes, strict=True):
                for after, before in zip(new.likelihood, old.likelihood, strict=True):
                    pairs += zip(after, before, strict=True)
            if any(abs(after - before) > self.largest_change for after, before in pairs):
                return f"no probability is to change by more than {float(self.largest_change):g}"
        for i, direction in self.monotone:
            possible = [row for row in model.attributes[i].likelihood if any(row)]
            for (a, b), (c, d) in combinations(possible, 2):
                if direction * (c * b - a * d) < 0:
                    word = "rise" if direction > 0 else "fall"
                    name = escaped(model.attributes[i].name)
                    return f"the log-odds of {name} are to {word} in the order of its values"
        return None


#: Fairness alone.
NONE = Conditions()


def _direction(attribute: Attribute) -> int:
    (a, b), *_, (c, d) = [row for row in attribute.likelihood if any(row)]
    return 1 if c * b >= a * d else -1
