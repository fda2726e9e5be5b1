"""Checks a proof that no δ-fair naive Bayes model of given counts is likelier than a bound.

It needs the standard library only, and shares no code with the search that made the proof.
Run it alone: ``python proof_checker.py proof.json``.

What is claimed. Rows of parameters θ (the decision, and each attribute under each decision) have counts c,
and a model's log-likelihood is ``LL = Σ c ln θ``. A model is δ-fair if ``|P(d | xy) - P(d | y)| <= δ`` for
all sensitive values x and contexts y. No δ-fair model has ``LL > bound``.

How it is proved. With ``β = ln θ``, a form is linear in β: the log-odds ``t_E`` of a context E, or the
log-odds ratio of values, which is the same without the prior. A pattern says ``t_xy <= h(t_y)`` and
``t_y <= h(t_xy)``, where ``h(t) = logit(σ(t) + δ)`` is increasing and convex, so that under its chord over
[l, u] lies all that is allowed while the form is in [l, u]. Given lines ``A β <= b``, weights ``ν >= 0`` and
an objective f with ``f̃ = f - Aᵀν >= 0``,

    f·β  <=  b·ν + Σ_g Σ_j f̃_gj ln(f̃_gj / Σ_k f̃_gk),

because every row of θ adds up to at most 1. That bounds forms among the models that are at least as likely
as a target (``-LL <= -target`` is one of the lines then), and in the end LL itself. Forms are split at a
number into two branches, which together hold all models; a model less likely than the target needs none.
A model that gives a value with cases the probability 0 has no likelihood at all. A value with cases under one
decision alone may have it under the other, so that a form is infinite, with the sign that all such values of
it share. All of the above holds of infinite forms too. Where c is 0, f̃ >= 0 says that lines together take
nothing; one that gives does not hold of a model in which that form is infinite, which is not among those that
are bounded then.

What is exact. Sums and products are those of decimals and lose no digit. Logarithms and exponentials are
those of `decimal`, which rounds them correctly; each is moved to the next number on the side that makes the
claim harder.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

#: Sums and products of the proof's decimals lose no digit, or the proof is refused.
_EXACT = Context(
    prec=400, Emin=-999999, Emax=999999, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow]
)
#: Digits of logarithms and exponentials.
_ROUNDED = Context(prec=36, Emin=-999999, Emax=999999, traps=[InvalidOperation, DivisionByZero, Overflow])
_ZERO, _ONE = Decimal(0), Decimal(1)
_NEXT_TO_0 = Decimal("1e-60")
#: Exponents and digits beyond this are refused, so that no number is too long to work with.
_FARTHEST = 60
#: Steps, of about 3 µs: what takes more is left undecided. What a logarithm and a value of h take; of an
#: argument t, whose exponential is a long fraction, ``t² / _LONG`` more.
WORK_LIMIT = 100_000_000
_LOGARITHM, _VALUE_OF_H, _LONG = 8, 40, 400_000

Row = dict[int, Decimal]
#: The ends of ranges by form and whether it is the upper one.
Ends = dict[tuple[int, bool], Decimal]


class Refused(ValueError):
    """The proof does not prove its claim."""


def check(document: Mapping[str, Any], late: Callable[[], bool] = bool) -> Decimal:
    """Check a proof, and return the bound that it claims and proves.

    Parameters
    ----------
    late : callable
        Tells whether time is up.

    Raises
    ------
    Refused
        If any part of it does not hold.
    TimeoutError
        If that takes too much work, or time is up.
    """
    try:
        claimed, found = _Proof.number(document["bound"]), _Proof.number(document["found"])
        least = _Proof(document, WORK_LIMIT, late).bound()
    except Refused:
        raise
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError) as error:
        raise Refused(f"malformed: {error!r}") from error
    if least > claimed:
        raise Refused(f"it claims a bound of {claimed}, and proves {least:.6f} only")
    if found > claimed:
        raise Refused(f"it says that a model of {found} was found, above the bound of {claimed}")
    return claimed


def proved(document: Mapping[str, Any]) -> Decimal:
    """The least bound that the branches of a proof establish, whatever it claims."""
    return _Proof(document).bound()


class _Proof:
    """A proof, read; its tables are checked as it is read, its branches by `bound`."""

    def __init__(
        self, document: Mapping[str, Any], most: float = inf, late: Callable[[], bool] = bool
    ) -> None:
        self.work, self._most, self._late = 0, most, late
        if document["kind"] != "auditor/likelihood-proof" or document["version"] != 1:
            raise Refused("it is no proof of a likelihood, version 1")
        if document["criterion"] != "difference":
            raise Refused("only the difference is proved")
        self.delta = self.number(document["delta"])
        if not 0 <= self.delta <= 1:
            raise Refused("delta is not from 0 to 1")
        self._delta = Fraction(self.delta)
        self.target = self.number(document["target"])
        self._lay_out(document)
        names = [(_pairs(form["values"]), form["prior"] is True) for form in document["forms"]]
        if len(set(names)) < len(names):
            raise Refused("a form is given twice")
        self.forms = [self._form(*name) for name in names]
        number = {name: place for place, name in enumerate(names)}
        self.patterns = [self._pattern(pattern, number) for pattern in document["patterns"]]
        self.chords = [_Chord(self, chord) for chord in document["chords"]]
        self.branches = document["branches"]

    def spend(self, work: int) -> None:
        """Count the work that is done; too much of it, or being late, ends it."""
        self.work += work
        if self.work > self._most or self._late():
            raise TimeoutError

    @staticmethod
    def number(text: object) -> Decimal:
        """A finite decimal from text."""
        if not isinstance(text, str):
            raise Refused(f"{text!r} is not a number as text")
        value = Decimal(text)
        if (
            not value.is_finite()
            or abs(value.adjusted()) > _FARTHEST
            or len(value.as_tuple().digits) > _FARTHEST
        ):
            raise Refused(f"{text!r} is not a finite number of a usable size")
        return value

    @staticmethod
    def natural(index: object, length: int) -> int:
        """An index below a length."""
        if not isinstance(index, int) or not 0 <= index < length:
            raise Refused(f"{index!r} is not an index below {length}")
        return int(index)

    def _lay_out(self, document: Mapping[str, Any]) -> None:
        """Number the parameters of values that have cases under either decision."""
        self.counts: list[Decimal] = []
        self.place: dict[tuple[int, int, int], int] = {}
        self.rows: list[list[int]] = [[]]
        self.row: list[int] = []
        self.sensitive = [attribute["sensitive"] is True for attribute in document["attributes"]]
        favourable, unfavourable = document["decision"]
        decision = self._count(favourable), self._count(unfavourable)
        if not all(decision):
            raise Refused("a decision has no cases")
        self._enter((-1, 0, 0), decision[0])
        self._enter((-1, 0, 1), decision[1])
        for i, attribute in enumerate(document["attributes"]):
            cases = [[*map(self._count, attribute[side])] for side in ("favourable", "unfavourable")]
            for side in (0, 1):
                self.rows.append([])
                for v, pair in enumerate(zip(*cases, strict=True)):
                    if any(pair):
                        self._enter((i, v, side), pair[side])
        self.spend(_LOGARITHM * len(self.counts))
        self.entropy = [_entropy([self.counts[j] for j in row]) for row in self.rows]

    def _count(self, text: object) -> Decimal:
        count = self.number(text)
        if count < 0:
            raise Refused("a count is negative")
        return count

    def _enter(self, key: tuple[int, int, int], count: Decimal) -> None:
        """Enter a parameter into the last row."""
        self.place[key] = len(self.counts)
        self.rows[-1].append(len(self.counts))
        self.row.append(len(self.rows) - 1)
        self.counts.append(count)

    def _form(self, values: Sequence[tuple[int, int]], prior: bool) -> Row:
        """The coefficients of a form: 1 for ``ln P(· | d)``, -1 for ``ln P(· | d̄)``."""
        form: Row = {}
        infinite = set()
        for i, v in [*([(-1, 0)] if prior else []), *values]:
            for side, sign in ((0, _ONE), (1, _ONE.copy_negate())):
                if (i, v, side) not in self.place:
                    raise Refused("a form has a value without cases")
                form[self.place[i, v, side]] = sign
                if not self.counts[self.place[i, v, side]]:
                    infinite.add(side)
        if len(infinite) > 1:
            raise Refused("a form may be infinite in both directions")
        return form

    def _pattern(self, pattern: Mapping[str, Any], number: Mapping[Any, int]) -> tuple[int, int, int]:
        """The forms of its context, of all its values, and of its sensitive values."""
        x, y = _pairs(pattern["sensitive_values"]), _pairs(pattern["context_values"])
        if not x or not all(self.sensitive[i] for i, _ in x) or {i for i, _ in x} & {i for i, _ in y}:
            raise Refused("a pattern discloses what is not sensitive, or what its context has")
        return number[y, True], number[tuple(sorted((*x, *y))), True], number[x, False]

    def transform(self, t: Decimal, up: bool) -> Decimal | None:
        """``h(t)``, rounded up or down; None where it is infinite."""
        self.spend(_VALUE_OF_H + int(t) ** 2 // _LONG)
        e = Fraction(_towards(_ROUNDED.exp(t), up))
        under = 1 - self._delta * (1 + e)
        if under <= 0:
            return None
        value = (e + self._delta * (1 + e)) / under
        quotient = _ROUNDED.divide(Decimal(value.numerator), Decimal(value.denominator))
        return _towards(_ROUNDED.ln(_towards(quotient, up)), up)

    def bound(self) -> Decimal:
        """Go through all branches; the greatest bound of any, or the target if that is greater."""
        greatest, n = self.target, len(self.forms)
        seen: set[int] = set()
        waiting: list[tuple[int, Ends]] = [(0, {})]
        while waiting:
            place, ends = waiting.pop()
            branch = self.branches[self.natural(place, len(self.branches))]
            if place in seen:
                raise Refused("a branch is used twice")
            seen.add(place)
            for step in branch["steps"]:
                key = self.natural(step["form"], n), step["upper"] is True
                value = self.number(step["value"])
                if self._end(key, step, ends) > (value if key[1] else value.copy_negate()):
                    raise Refused(f"branch {place}: the range of form {key[0]} is not proved")
                _narrow(ends, key, value)
            split = branch["split"]
            if split is None:
                greatest = max(greatest, self._value(self.counts, _ONE, branch["weights"], ends))
                continue
            form, at = self.natural(split["form"], n), self.number(split["at"])
            self.spend(len(ends))
            for child, upper in ((split["below"], True), (split["above"], False)):
                inside = dict(ends)
                _narrow(inside, (form, upper), at)
                waiting.append((self.natural(child, len(self.branches)), inside))
        if len(seen) != len(self.branches):
            raise Refused("some branches belong to no split")
        return greatest

    def _end(self, key: tuple[int, bool], step: Mapping[str, Any], ends: Ends) -> Decimal:
        """The greatest value of a form, or of its opposite, among models as likely as the target."""
        weight = self.number(step["target_weight"])
        if weight < 0:
            raise Refused("a weight is negative")
        self.spend(len(self.counts) // 10)
        objective = [_EXACT.multiply(weight, c) for c in self.counts]
        form = self.forms[key[0]]
        for j, sign in form.items():
            objective[j] = _EXACT.add(objective[j], sign if key[1] else sign.copy_negate())
        value = self._value(objective, weight, step["weights"], ends, form)
        return _EXACT.subtract(value, _EXACT.multiply(weight, self.target))

    def _value(
        self,
        objective: Sequence[Decimal],
        scale: Decimal,
        weights: Mapping[str, Any],
        ends: Ends,
        changed: Iterable[int] = (),
    ) -> Decimal:
        """The bound of an objective; it is `scale` times the counts in rows where nothing is changed."""
        self.spend(1 + len(objective) // 100 + len(self.rows) // 5)
        left, total = list(objective), _ZERO
        touched = {self.row[j] for j in changed}
        lines: list[tuple[object, list[tuple[Decimal, Row]], Decimal]] = []
        for place, text in weights["chords"]:
            chord = self.chords[self.natural(place, len(self.chords))]
            chord.applies(ends)
            limited, base = self.forms[chord.limited], self.forms[chord.base]
            lines.append((text, [(_ONE, limited), (chord.slope.copy_negate(), base)], chord.intercept))
        for form, upper, text in weights["ranges"]:
            key = self.natural(form, len(self.forms)), upper is True
            sign, end = (_ONE, ends[key]) if key[1] else (_ONE.copy_negate(), ends[key].copy_negate())
            lines.append((text, [(sign, self.forms[key[0]])], end))
        for text, parts, end in lines:
            weight = self.number(text)
            if weight < 0:
                raise Refused("a weight is negative")
            total = _EXACT.add(total, _EXACT.multiply(weight, end))
            for factor, row in parts:
                self.spend(1 + len(row) // 3)
                product = _EXACT.multiply(weight, factor)
                for j, sign in row.items():
                    left[j] = _EXACT.subtract(left[j], _EXACT.multiply(product, sign))
                    touched.add(self.row[j])
        self.spend(_LOGARITHM * sum(len(self.rows[g]) for g in touched))
        for g, places in enumerate(self.rows):
            part = (
                _entropy([left[j] for j in places])
                if g in touched
                else _EXACT.multiply(scale, self.entropy[g])
            )
            total = _EXACT.add(total, part)
        # Shorter numbers, on the safe side.
        return _towards(_ROUNDED.plus(total), True)


class _Chord:
    """A line that lies above h on a range, and where it applies."""

    def __init__(self, proof: _Proof, chord: Mapping[str, Any]) -> None:
        base, whole, self.strength = proof.patterns[proof.natural(chord["pattern"], len(proof.patterns))]
        self.forward = chord["forward"] is True
        self.base, self.limited = (base, whole) if self.forward else (whole, base)
        self.slope, self.intercept = proof.number(chord["slope"]), proof.number(chord["intercept"])
        # For δ = 0, h(t) is t.
        self.everywhere = proof.delta == 0 and self.slope == 1 and self.intercept >= 0
        if self.everywhere:
            return
        self._proof = proof
        self.low, self.low_from, self.high_from = (
            None if chord[name] is None else proof.number(chord[name])
            for name in ("low", "low_from", "high_from")
        )
        self.high = proof.number(chord["high"])
        if self.slope < 0 or (self.low is None and self.slope):
            raise Refused("a chord falls, or has no end")
        for end in (self.high,) if self.low is None else (self.low, self.high):
            h = proof.transform(end, up=True)
            if h is None or h > _EXACT.add(_EXACT.multiply(self.slope, end), self.intercept):
                raise Refused("a chord is not above h")

    def applies(self, ends: Ends) -> None:
        """Refuse the chord unless nothing is allowed below its low end, nor above it past its high end.

        Past `high_from`, where the line may be below h again, the base is out of its range, or the other form
        would have to be above h there, and so beyond its own.
        """
        if self.everywhere:
            return
        if self.low is not None and not (
            self._below(self.low, ends)
            or (
                self.low_from is not None
                and self._below(self.low_from, ends)
                and self._gap(self.low_from, ends)
                and self._gap(self.low, ends)
            )
        ):
            raise Refused("a chord is used below its range")
        if not (
            self._above(self.high, ends)
            or (
                self.high_from is not None
                and self._above(self.high_from, ends)
                and self._gap(self.high_from, ends)
                and self._gap(self.high, ends)
            )
        ):
            raise Refused("a chord is used above its range")

    def _below(self, end: Decimal, ends: Ends) -> bool:
        """Whether the base can't be below an end: by its own range, or as h would be below the other form."""
        low = ends.get((self.base, False))
        if low is not None and end <= low:
            return True
        other, h = ends.get((self.limited, False)), self._proof.transform(end, up=True)
        return other is not None and h is not None and h <= other

    def _above(self, end: Decimal, ends: Ends) -> bool:
        """Whether the base can't be above an end, or the other form is at most h of the end anyway."""
        high = ends.get((self.base, True))
        if high is not None and end >= high:
            return True
        other, h = ends.get((self.limited, True)), self._proof.transform(end, up=False)
        return other is not None and (h is None or h >= other)

    def _gap(self, end: Decimal, ends: Ends) -> bool:
        """Whether ``h(end) - end`` is less than the forms must differ by.

        It is convex, so that it is less also between two such ends.
        """
        least = ends.get((self.strength, not self.forward))
        h = self._proof.transform(end, up=True)
        if least is None or h is None:
            return False
        return _EXACT.subtract(h, end) < (least if self.forward else least.copy_negate())


def _pairs(values: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    """Attributes and values by number, each attribute once, in order."""
    pairs = tuple((int(i), int(v)) for i, v in values)
    attributes = [i for i, _ in pairs]
    if any(i < 0 or v < 0 for i, v in pairs) or attributes != sorted(set(attributes)):
        raise Refused("values are not one per attribute, in order")
    return pairs


def _narrow(ends: Ends, key: tuple[int, bool], value: Decimal) -> None:
    old = ends.get(key)
    ends[key] = value if old is None else min(old, value) if key[1] else max(old, value)


def _towards(value: Decimal, up: bool) -> Decimal:
    """The next number up or down; next to 0 it is one that is short enough for exact sums."""
    if not value:
        return _NEXT_TO_0 if up else _NEXT_TO_0.copy_negate()
    return _ROUNDED.next_plus(value) if up else _ROUNDED.next_minus(value)


def _entropy(weights: Sequence[Decimal]) -> Decimal:
    """``Σ_j w_j ln(w_j / Σ_k w_k)``, rounded up."""
    total = value = _ZERO
    for weight in weights:
        if weight < 0:
            raise Refused("the weights take more than the counts have")
        if weight:
            total = _EXACT.add(total, weight)
            value = _EXACT.add(value, _EXACT.multiply(weight, _towards(_ROUNDED.ln(weight), True)))
    if not total:
        return _ZERO
    return _EXACT.subtract(value, _EXACT.multiply(total, _towards(_ROUNDED.ln(total), False)))


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a file, in which a second value of a name could be another reader's first."""
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return named


def main(arguments: Sequence[str]) -> int:
    """Check the proof in a file; exit code 0 if it holds, 1 if not, 3 if there is none, 4 if undecided."""
    if len(arguments) != 1:
        print("usage: python proof_checker.py PROOF.json", file=sys.stderr)
        return 2
    try:
        document = json.loads(Path(arguments[0]).read_bytes(), object_pairs_hook=_named_once)
    except (OSError, ValueError, RecursionError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 3
    try:
        bound = check(document)
    except Refused as error:
        print(f"refused: {error}")
        return 1
    except TimeoutError:
        print("not decided: it takes too much work")
        return 4
    print(
        f"holds: no naive Bayes model of these counts that is δ-fair at δ = {document['delta']} "
        f"has a log-likelihood above {bound}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
