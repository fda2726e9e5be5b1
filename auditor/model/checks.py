"""What makes numbers, names and whole models acceptable.

The checks across a model read whatever parts of it can be read: one wrong part hides no other problem.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from decimal import Context, Decimal, Rounded
from fractions import Fraction
from typing import SupportsIndex

from auditor.messages import JOINERS, Place, Problem, has_parts, items, label, part, shown

#: How far a row may be from a sum of 1, and a prior from that of the counts. Within it the numbers count as
#: rounded and are normalised exactly; beyond it something is missing.
TOLERANCE = Fraction(1, 10**9)

#: Numbers have at most so many digits, and lie within 1e±400: exact arithmetic stays cheap.
MAX_DIGITS = 400
MAX_EXPONENT = 400

_AT_MOST_MAX_DIGITS = Context(prec=MAX_DIGITS, traps=[Rounded])

#: Characters of a name, and of a longer text.
MAX_NAME = 500
MAX_TEXT = 10_000

#: Attributes of a model, values of an attribute, and values of all attributes together.
MAX_ATTRIBUTES = MAX_VALUES = 1_000
MAX_ALL_VALUES = 100_000

#: Of points and weights: their exponentials stay numbers.
MAX_SCORE = 1_000_000

SIDES = ("favourable", "unfavourable")

#: What can't be seen though its category doesn't say so, and what no YAML holds.
_BLANK = frozenset(
    (
        *"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2065\u2800\u3164\uffa0\ufffe\uffff",
        *"\U00016fe4\U0001d159",
        *map(chr, [*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)]),
    )
)
#: Control and format characters: some reorder the text around them, so that it seems to say something else.
_UNSHOWABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: Cyrillic and Greek letters that look like Latin ones.
_LATIN = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρ",
    "ABESIJKMHOPCTYXaesijopcyxhdqwABEZHIKMNOPTYXovp",
    JOINERS,
)


def exact(value: object) -> Decimal:
    """Return a number as an exact decimal; raise ValueError for what isn't one.

    A binary float is refused: 0.1 as a float is another number than 0.1 as written.
    """
    if not isinstance(value, Decimal):
        value = _decimal(value)
    if not value.is_finite():
        raise ValueError(f"{shown(value)} is not a finite number; write one in digits")
    # A zero may have a huge exponent too, as in 0e-999999999.
    if abs(value.adjusted()) > MAX_EXPONENT:
        raise ValueError(f"{shown(value)} is out of range; write 0, or a number within 1e±{MAX_EXPONENT}")
    try:
        _AT_MOST_MAX_DIGITS.plus(value)
    except Rounded:
        raise ValueError(f"{shown(value)} has too many digits; write at most {MAX_DIGITS}") from None
    # A subclass such as `Written` holds its spelling too, which ends here.
    return Decimal(value)


def _decimal(value: object) -> Decimal:
    if isinstance(value, str):
        raise ValueError(f"{shown(value)} is text, not a number; write digits and a point, without quotes")
    if isinstance(value, float):
        raise ValueError(f"{value!r} is a binary float; give the exact number as decimal.Decimal or int")
    # Integers of NumPy and pandas are no subclass of int.
    if isinstance(value, int | SupportsIndex) and not isinstance(value, bool):
        return Decimal(value.__index__())
    raise ValueError(f"{shown(value)} is not a number; write one in digits")


def probability(value: object) -> Decimal:
    """Return an exact number in [0, 1]."""
    number = exact(value)
    if number < 0:
        raise ValueError(f"{shown(number)} is below 0; a probability lies between 0 and 1")
    if number > 1:
        raise ValueError(f"{shown(number)} is above 1; a probability lies between 0 and 1")
    return number


def prior(value: object) -> Decimal:
    """Return an exact number in (0, 1)."""
    number = exact(value)
    if not 0 < number < 1:
        raise ValueError(f"{shown(number)} is no prior; it must lie strictly between 0 and 1")
    return number


def count(value: object) -> Decimal:
    """Return an exact number that is not negative; weighted rows give fractions."""
    number = exact(value)
    if number < 0:
        raise ValueError(f"{shown(number)} is below 0; write 0 or more")
    return number


def positive(value: object) -> Decimal:
    """Return an exact number above 0."""
    number = exact(value)
    if number <= 0:
        raise ValueError(f"{shown(number)} is not above 0; write a positive number")
    return number


def score(value: object) -> Decimal:
    """Return an exact number of points or log-odds."""
    number = exact(value)
    if abs(number) > MAX_SCORE:
        raise ValueError(f"{shown(number)} is beyond ±{MAX_SCORE:,}; write a smaller number")
    return number


def text(value: str) -> str:
    """Return a text that can be seen, without control characters but new lines and tabs."""
    if not value.strip():
        raise ValueError("is empty; write a text or leave it out")
    if len(value) > MAX_TEXT:
        raise ValueError(f"{shown(value)} has {len(value)} characters; use at most {MAX_TEXT}")
    _showable(value, allowed=JOINERS + "\n\t")
    return value


def name(value: str) -> str:
    """Return a name or label: one line that can be shown as it is, in Unicode's normal form NFC."""
    if not value.strip():
        raise ValueError(f"{shown(value)} is empty; give a name that people can read")
    if len(value) > MAX_NAME:
        raise ValueError(f"{shown(value)} has {len(value)} characters; use at most {MAX_NAME}")
    _showable(value, allowed=JOINERS)
    if unicodedata.normalize("NFC", value) != value:
        raise ValueError(f"{shown(value)} is not in Unicode's normal form NFC; write its letters composed")
    return value


def looks(name: str) -> str:
    """Return what the eye sees of a name: two names with the same could be taken for each other.

    >>> looks("ﬁle") == looks("file"), looks("ѕex") == looks("sex"), looks("Sex") == looks("sex")
    (True, True, False)
    """
    return " ".join(unicodedata.normalize("NFKC", name).translate(_LATIN).split())


def _showable(value: str, allowed: str) -> None:
    if not value.strip(JOINERS + " \n\t"):
        raise ValueError(f"{shown(value)} shows nothing; write what people can read")
    for character in value:
        blank, unshowable = character in _BLANK, unicodedata.category(character) in _UNSHOWABLE
        if (blank or unshowable) and character not in allowed:
            kind = "control" if unshowable else "invisible"
            raise ValueError(
                f"{shown(value)} contains the {kind} character U+{ord(character):04X}; take it out"
            )


def across(model: object) -> Iterator[Problem]:
    """Find what is wrong between the parts of a model, each of which may be missing or malformed.

    Parameters
    ----------
    model : object
        A tree of mappings and lists, or a validated specification.
    """
    repaired = part(model, "repair") is not None
    smoothing = accepted(part(model, "smoothing"), count, absent=Decimal(0))
    attributes = items(part(model, "attributes"))
    if part(model, "attributes") is not None and not attributes:
        yield Problem(("attributes",), "is empty; give at least one attribute, and mark the sensitive ones")
    if problems := list(too_many(attributes)):
        yield from problems
        return
    counted = [i for i, a in enumerate(attributes) if part(a, "counts") is not None]
    decision = part(model, "decision")
    yield from _decision(decision, bool(counted), repaired)
    yield from repeated_names(attributes, part(decision, "name"))
    for i, attribute in enumerate(attributes):
        yield from _attribute(("attributes", i), attribute, part(decision, "counts"), smoothing, repaired)
    if attributes and not any(part(a, "sensitive") not in (None, False) for a in attributes):
        message = 'none is sensitive; write "sensitive": true at each attribute that needs protection'
        yield Problem(("attributes",), message)
    if attributes and smoothing and not counted:
        message = f"{shown(smoothing)} has no effect without counts; leave it out, or give counts"
        yield Problem(("smoothing",), message)


def too_many(attributes: list[object]) -> Iterator[Problem]:
    """Find that a model is larger than models can be."""
    if len(attributes) > MAX_ATTRIBUTES:
        message = f"has {len(attributes):,} attributes; a model may have {MAX_ATTRIBUTES:,}, leave some out"
        yield Problem(("attributes",), message)
    values = sum(len(items(part(attribute, "values"))) for attribute in attributes)
    if values > MAX_ALL_VALUES:
        message = f"they have {values:,} values together; a model may have {MAX_ALL_VALUES:,}"
        yield Problem(("attributes",), message)


def repeated_names(attributes: list[object], decision_name: object) -> Iterator[Problem]:
    """Find attributes with the name of another one or of the decision, or that people can't tell apart."""
    named_at: dict[str, tuple[int, str]] = {}
    shown_at: dict[str, int] = {}
    decision = looks(decision_name) if isinstance(decision_name, str) else None
    for i, attribute in enumerate(attributes):
        attribute_name = part(attribute, "name")
        if isinstance(attribute_name, str):
            seen = looks(attribute_name)
            if seen in named_at:
                other, its_name = named_at[seen]
                has = "has" if its_name == attribute_name else "looks like"
                message = f"{has} the name of attributes[{other}] too; give each its own"
                yield Problem(("attributes", i), message)
            elif seen == decision:
                has = "has" if decision_name == attribute_name else "looks like"
                message = f"{has} the name of the decision; leave the decision out of the attributes"
                yield Problem(("attributes", i), message)
            named_at.setdefault(seen, (i, attribute_name))
        shown_as = part(attribute, "label") or attribute_name
        first = shown_at.setdefault(looks(shown_as), i) if isinstance(shown_as, str) else i
        if first != i and part(attributes[first], "name") != attribute_name:
            message = f"people read {shown(shown_as)} for attributes[{first}] too; give each its own label"
            yield Problem(("attributes", i), message)


def _decision(decision: object, counted: bool, repaired: bool) -> Iterator[Problem]:
    place: Place = ("decision",)
    values = [part(decision, side) for side in SIDES]
    yield from repeats(values, lambda i: (*place, SIDES[i]), lambda i: SIDES[i])
    counts = part(decision, "counts")
    given = part(decision, "prior")
    if has_parts(decision) and counts is None and counted:
        message = '"counts" is missing, and attributes have counts; add the number of rows per decision'
        yield Problem(place, message)
    elif has_parts(decision) and counts is None and given is None:
        yield Problem(place, 'has neither "prior" nor "counts"; give one of them')
    favourable, unfavourable = (accepted(part(counts, side), count) for side in SIDES)
    for side, number in zip(SIDES, (favourable, unfavourable), strict=True):
        if number == 0:
            message = "0 rows would make the prior 0 or 1; the data must contain both decisions"
            yield Problem((*place, "counts", side), message)
    stated = accepted(given, prior)
    if stated is None or not favourable or not unfavourable or repaired:
        return
    share = Fraction(favourable) / (Fraction(favourable) + Fraction(unfavourable))
    if abs(Fraction(stated) - share) > TOLERANCE:
        swapped = abs(Fraction(stated) - (1 - share)) <= TOLERANCE
        which = "it is that of the unfavourable value; correct it" if swapped else "correct one of them"
        message = (
            f"{shown(stated)} differs from the counts, which give {shown(share)}; {which} or leave it out"
        )
        yield Problem((*place, "prior"), message)


def _attribute(
    place: Place, attribute: object, decision_counts: object, smoothing: Decimal | None, repaired: bool
) -> Iterator[Problem]:
    values = part(attribute, "values")
    size = len(items(values)) if isinstance(values, list | tuple) else None
    if size is not None and size < 2:
        number = "one value is" if size else "no values are"
        yield Problem((*place, "values"), f"{number} given; an attribute has at least two")
    if size is not None and size > MAX_VALUES:
        message = (
            f"{size:,} values are given; an attribute may have {MAX_VALUES:,}, so put rare ones together"
        )
        yield Problem((*place, "values"), message)
        return
    yield from repeats(items(values), lambda i: (*place, "values", i), lambda i: f"values[{i}]")

    likelihood, counts = part(attribute, "likelihood"), part(attribute, "counts")
    if has_parts(attribute) and likelihood is None and counts is None:
        yield Problem(place, 'has neither "likelihood" nor "counts"; give one of them')
    if likelihood is not None and counts is not None and not repaired:
        yield Problem(place, 'has both "likelihood" and "counts"; keep one of them')

    rows: dict[str, list[list[Decimal] | None]] = {}
    for kind, accept in (("likelihood", probability), ("counts", count)):
        rows[kind] = []
        for side in SIDES:
            given = part(part(attribute, kind), side)
            row = _row(given, accept)
            if size is not None and isinstance(given, list | tuple) and len(given) != size:
                message = f"{len(given)} numbers for {size} values; give one per value, in the same order"
                yield Problem((*place, kind, side), message)
                row = None
            rows[kind].append(row)
    for side, row in zip(SIDES, rows["likelihood"], strict=True):
        if row is not None and abs((total := sum(map(Fraction, row), Fraction(0))) - 1) > TOLERANCE:
            message = f"sums to {shown(total)} instead of 1; correct the numbers, or give counts"
            yield Problem((*place, "likelihood", side), message)
    empty = False
    for side, row in zip(SIDES, rows["counts"], strict=True):
        if row is None:
            continue
        total = sum(map(Fraction, row), Fraction(0))
        decided = accepted(part(decision_counts, side), count)
        if total == 0 and smoothing == 0 and likelihood is None:
            empty = True
            message = "all are 0, which leaves the probabilities undefined; set smoothing above 0"
            yield Problem((*place, "counts", side), message)
        if decided is not None and total > Fraction(decided) * (1 + TOLERANCE):
            message = f"adds up to {shown(total)}, above the decision's {shown(decided)}; correct one of them"
            yield Problem((*place, "counts", side), message)

    kind = "likelihood" if likelihood is not None else "counts"
    favourable, unfavourable = rows[kind]
    if favourable is None or unfavourable is None or empty or (kind == "counts" and smoothing != 0):
        return
    for v, (first, second) in enumerate(zip(favourable, unfavourable, strict=False)):
        if first == 0 == second:
            remedy = "leave it out" + (", or set smoothing above 0" if kind == "counts" else "")
            found = label(items(values)[v]) if size is not None else None
            message = f"{shown(found) if found else 'it'} is never seen under either decision; {remedy}"
            yield Problem((*place, "values", v), message)


def repeats(
    values: list[object], place: Callable[[int], Place], called: Callable[[int], str]
) -> Iterator[Problem]:
    """Find values with the same label or the same code.

    Parameters
    ----------
    values : list
        Texts, or mappings with a value and a label.
    place, called : callable
        Where a value stands, and what the other one is called, by index.
    """
    labelled: dict[str, int] = {}
    coded: dict[str, int] = {}
    for i, value in enumerate(values):
        code = value if isinstance(value, str) else part(value, "value")
        shown_as = label(value) or (code if isinstance(code, str) else None)
        if shown_as is not None and labelled.setdefault(looks(shown_as), i) != i:
            other = labelled[looks(shown_as)]
            equal = label(values[other]) in (shown_as, None)
            message = f"{shown(shown_as)} {'is' if equal else 'looks like'} the label of {called(other)} too"
            message += "; labels must differ"
            yield Problem(place(i), message)
        elif isinstance(code, str) and coded.setdefault(code, i) != i:
            message = f"{shown(code)} is the value of {called(coded[code])} too; values must differ"
            yield Problem(place(i), message)


def accepted(
    value: object, accept: Callable[[object], Decimal], absent: Decimal | None = None
) -> Decimal | None:
    """Return an acceptable number, or None for what another check refuses."""
    if value is None:
        return absent
    try:
        return accept(value)
    except ValueError:
        return None


def _row(values: object, accept: Callable[[object], Decimal]) -> list[Decimal] | None:
    if not isinstance(values, list | tuple):
        return None
    try:
        return [accept(value) for value in values]
    except ValueError:
        return None
