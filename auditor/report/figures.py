"""Numbers as people read them: one form for each kind of number, the same in every format.

Numbers are rounded to four significant digits, and to more where four would put them on the wrong side of
what they are compared with: a degree above δ is never shown as δ or less, only all is shown as 100%, and a
share below a power of ten, which limits of shares are, never as that.
"""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction

from auditor.documents.parameters import fraction_text
from auditor.documents.rounding import decimal_text, limit_of

_DIGITS = 4
#: Smaller numbers have an exponent.
_SMALL = Decimal("1e-5")
#: A float has no more digits than these.
_ALL_DIGITS = 17
#: Out of so many people a share is told; where it would be fewer than one of them, as one of more.
_PEOPLE = 10_000
#: So many of them are limits of shares, than which fewer are not told as so many.
_LIMITS = (1, 10, 100, 1_000)
#: There are fewer people than this.
_NOBODY = 10**10
#: The rule of thumb of US federal agencies: a group selected at less than four fifths of the best rate.
FOUR_FIFTHS = "0.8"


def rounded(value: float | Decimal, digits: int = _DIGITS, rounding: str = decimal.ROUND_HALF_EVEN) -> str:
    """Round to significant digits, with an exponent if the number is tiny."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    if exact == 0:
        return "0"
    found = exact.quantize(Decimal((0, (1,), exact.adjusted() - digits + 1)), rounding)
    if found.adjusted() > exact.adjusted():  # 0.99999 became 1.0000, with a digit more than was asked for
        found = found.quantize(Decimal((0, (1,), found.adjusted() - digits + 1)))
    return f"{found:{'e' if abs(exact) < _SMALL else 'f'}}"


def size(degree: float, limit: str, rounding: str = decimal.ROUND_HALF_EVEN) -> str:
    """Round the size of a degree or ratio, to as many digits as keep it above, at or below a limit.

    A document's degrees compare with `limit_of` δ as the exact ones do with δ.

    >>> size(0.10000123, "0.1"), size(0.7999996, "0.8"), size(0.25, "0.1")
    ('0.100001', '0.7999996', '0.2500')

    What a float can't tell from a limit of more digits is not above it, and is told in its own digits.

    >>> size(0.1001, "0.1001000000000000000001"), size(0.1001, "0.1000999999999999999999")
    ('0.1001', '0.1000999999999999999999')
    >>> size(1.0, "0.99999999999999999"), size(0.9999999999999999, "0.99999999999999999")
    ('1.000', '0.9999999999999999')
    """
    value = abs(degree)
    side = Decimal(value).compare(Decimal(limit_of(limit)))
    for digits in range(_DIGITS, _ALL_DIGITS + 1):
        text = rounded(value, digits, rounding)
        if Decimal(text).compare(Decimal(limit)) == side:
            return text
    return repr(value) if side or Decimal(repr(value)) < Decimal(limit) else limit


def signed(degree: float, limit: str) -> str:
    """Round a degree with its sign."""
    return ("+" if degree > 0 else "-" if degree < 0 else "") + size(degree, limit)


def points(difference: float) -> str:
    """Write a difference of two shares with its sign, to four decimals; below half of the last one it is 0.

    >>> points(0.12345), points(-0.00004)
    ('+0.1235', '0')
    """
    text = f"{difference:+.4f}"
    return text if float(text) else "0"


def between(low: float, high: float | None, limit: str) -> str:
    """The size of a figure of which its ends are known, rounded outwards; None where no upper one is.

    >>> between(0.0123456, 0.123412, "0.1")
    'at least 0.01234 (found), at most 0.1235 (proved)'
    """
    found = f"at least {size(low, limit, decimal.ROUND_FLOOR)} (found)"
    return found if high is None else f"{found}, at most {size(high, limit, decimal.ROUND_CEILING)} (proved)"


def percent(probability: float | Decimal, digits: int = _DIGITS) -> str:
    """Write a probability, or a share that may exceed the whole, as a percentage.

    >>> percent(0.4872), percent(0.00099996), percent(0.99999)
    ('48.72%', '0.099996%', 'over 99.99%')
    """
    if probability == 1:
        return "100%"
    exact = Decimal(repr(probability * 100)) if isinstance(probability, float) else Decimal(probability) * 100
    text = rounded(exact, digits)
    if probability < 1 and Decimal(text) >= 100:
        return "over 99.99%"
    while Decimal(text).adjusted() > exact.adjusted() and digits < _ALL_DIGITS:
        digits += 1
        text = rounded(exact, digits)
    return f"{text}%"


def percent_at_most(probability: float) -> str:
    """Write a bound of a probability, rounded up.

    >>> percent_at_most(0.123401), percent_at_most(2.71801e-14), percent_at_most(1)
    ('12.35%', '2.719e-12%', '100%')
    """
    return percent(Decimal(rounded(probability, rounding=decimal.ROUND_CEILING)))


def apart(before: float, after: float) -> tuple[str, str]:
    """Write two probabilities as percentages, with as many digits as show that they differ.

    >>> apart(0.25, 0.75), apart(0.8752694, 0.8752661), apart(0.5, 0.5)
    (('25.00%', '75.00%'), ('87.5269%', '87.5266%'), ('50.00%', '50.00%'))
    """
    pairs = ((percent(before, n), percent(after, n)) for n in range(_DIGITS, _ALL_DIGITS + 1))
    first = next(pairs)
    return first if before == after else next((two for two in (first, *pairs) if two[0] != two[1]), first)


def share(part: int, all_of_them: int) -> str:
    """Write a part of a whole as a percentage."""
    if part == all_of_them:
        return "100%"
    if part * 10**6 >= all_of_them * 999_950:
        return "over 99.99%"
    return percent(Decimal(part) / Decimal(all_of_them))


def people(probability: float | None) -> str:
    """Write a share of people as whole people; unknown where no population is assumed.

    Patterns and groups have some people, also where a float is too coarse to tell their share from 0.

    >>> people(0.1309), people(3.06e-4), people(1.27e-6), people(3.7e-17)
    ('1,309 of 10,000', '3 of 10,000', '1 of 790,000', 'under 1 of 10 billion')
    >>> people(0.00099996), people(0.000099996)
    ('under 10 of 10,000', 'under 1 of 10,000')
    """
    if probability is None:
        return "unknown"
    part = probability * _PEOPLE
    if part > 0.95:
        number = min(round(part), _PEOPLE - (probability < 1))
        return f"{'under ' if part < number in _LIMITS else ''}{number:,} of {_PEOPLE:,}"
    if probability * _NOBODY < 1:
        return f"under 1 of {_NOBODY // 10**9} billion"
    return f"1 of {whole(int(Decimal(rounded(1 / probability, 2))))}"


def whole(number: int | None, bounds: tuple[int, int] | None = None) -> str:
    """Write a whole number, in short if it is beyond reading; where it isn't known, what is proved of it.

    >>> whole(2017), whole(None), whole(None, (3, 40))
    ('2,017', 'not counted', 'at least 3, at most 40')
    """
    if number is None:
        return f"at least {whole(bounds[0])}, at most {whole(bounds[1])}" if bounds else "not counted"
    return f"{number:,}" if number < 10**24 else f"about {Decimal(number):.3e}"


def plural(number: int | None, thing: str) -> str:
    """Write how many of a thing there are.

    >>> plural(1, "round"), plural(2017, "pattern"), plural(None, "pattern")
    ('1 round', '2,017 patterns', 'uncounted patterns')
    """
    if number is None:
        return f"uncounted {thing}s"
    return f"{whole(number)} {thing}{'' if number == 1 else 's'}"


def nats(divergences: Sequence[float | None]) -> list[str]:
    """Write divergences that stand in one list, all in one form; None is infinite.

    >>> nats((0.00087, None, 0.00001046)), nats((0.00087, 0.000006507))
    (['0.0008700', 'infinite', '0.00001046'], ['8.700e-4', '6.507e-6'])
    """
    known = [value for value in divergences if value]
    form = f".{_DIGITS - 1}e" if known and min(known) < _SMALL else ""
    return [
        "infinite"
        if value is None
        else f"{Decimal(repr(value)):{form}}"
        if form and value
        else rounded(value)
        for value in divergences
    ]


def margin(value: Decimal) -> str:
    """Write what is left below a limit: two digits, rounded down, without an exponent however small it is.

    Of a document's numbers no less than their last digit can be told from nothing.

    >>> margin(Decimal("6.79e-7")), margin(Decimal(0))
    ('0.00000067', 'less than 0.0000000000000001')
    """
    if not value:
        return f"less than {Decimal(1).scaleb(1 - _ALL_DIGITS):f}"
    return f"{Decimal(rounded(float(value), 2, decimal.ROUND_FLOOR)):f}"


def likelihood(value: Decimal | float | None) -> str:
    """Write a log-likelihood; None is minus infinity, or was not computed."""
    return "minus infinity" if value is None else f"{value:,.4f}"


def exactly(value: Fraction) -> str:
    """A rational without rounding: as a decimal where that ends, else as a fraction.

    >>> exactly(Fraction(1, 8)), exactly(Fraction(1, 3))
    ('0.125', '1/3')
    """
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return fraction_text(value)
    digits = value.denominator.bit_length() + len(str(value.numerator))
    return decimal_text(Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator)))


def grouped(digits: str) -> str:
    """A digest in groups of four.

    >>> grouped("0123456789abcdef")
    '0123 4567 89ab cdef'
    """
    return " ".join(digits[i : i + 4] for i in range(0, len(digits), 4))
