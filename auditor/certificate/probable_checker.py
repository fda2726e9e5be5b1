"""What checker.py needs to count patterns of a minimum probability; keep the two files in one folder.

It stands alone as that one does: Python 3.11, nothing else, and no code of the software that issued it.

Disclosing more makes nothing more probable. So pairs (x, y) are grown value by value over some of the
attributes, and what isn't probable enough is left; over the others, every choice is listed. A pair with
P(d, x, y) = u and P(d̄, x, y) = v and a choice z make a pattern that counts if

    u P(z | d) + v P(z | d̄) >= p,  and the odds of the context with z lie in the open interval of x.

Pairs with nearly the same u / v are counted together. With u = a u' and v = b v', the left side is between
min(a, b) and max(a, b) times what it is for u' and v'. So in the order of that, choices go through the first
condition before a place, and don't after another; and of those before, a list sorted by their odds tells how
many are in the interval. Choices between the two places are looked at one by one. All this is in
floating-point numbers, whose errors stay far below CLOSE: what is as near as that to either end is decided
in exact fractions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from fractions import Fraction
from functools import reduce
from math import floor, inf, log
from typing import Any

Values = tuple[tuple[int, int], ...]
Grown = tuple[float, float, float, Values, Values]  # u, v, and the logarithm of the odds of y; x and y
LONGEST, DEARER = 1_000_000, 32  # pairs in a list; how many of them take the time of a choice
MOVED = 1 << 14  # entries of a list that are moved on in the time of a step
WIDTH = 0.1  # range of ln(u / v) of those that are counted together
SMALLEST = Fraction(1, 10**200)  # far above what floating-point numbers can't hold


def count(model: Any, threshold: Fraction, least: Fraction, close: float) -> int:
    """How many patterns with P(xy) >= least have |degree| above a threshold; too much work ends it."""
    if least < SMALLEST:
        raise TimeoutError
    return Count(model, threshold, least, close).total()


class Count:
    """One count."""

    def __init__(self, model: Any, threshold: Fraction, least: Fraction, close: float) -> None:
        self.model, self.odds, self.threshold = model, model.odds, threshold
        self.least, self.close, self.ends = least, close, dict[Values, Any]()
        self.low, self.high = float(least) * (1 - close), float(least) * (1 + close)
        self.values = [[self.odds.rounded(i, v) for v in range(size)] for i, size in enumerate(model.sizes)]
        pairs: list[Grown] = [(*self.odds.whole, self.odds.ln(self.odds.start), (), ())]
        choices: list[Grown] = [(1.0, 1.0, 0.0, (), ())]
        for i in model.sensitive:
            pairs = self.grown(pairs, i)
        pairs = [pair for pair in pairs if self.interval(pair[3])]
        rest = {*range(len(model.sizes))} - {*model.sensitive}
        for i in sorted(rest, key=lambda i: (-model.sizes[i], i)):
            listed = len(choices) * DEARER <= len(pairs)
            choices, pairs = (self.grown(choices, i), pairs) if listed else (choices, self.grown(pairs, i))
        self.pairs, self.choices = pairs, sorted(choices, key=lambda choice: choice[2])
        self.moves = [choice[2] for choice in self.choices]

    def grown(self, rows: list[Grown], i: int) -> list[Grown]:
        """The rows, and with each value of one more attribute in x or in y those that are probable enough."""
        self.model.spend(len(rows) * (1 + len(self.values[i])))
        found, few = list(rows), self.low * float(self.odds.slack)
        for v, (a, b, move) in enumerate(self.values[i]):
            likely = [(u * a, w * b, *rest) for u, w, *rest in rows if u * a + w * b >= few]
            if i in self.model.sensitive:
                found += [(u, w, odds, (*x, (i, v)), y) for u, w, odds, x, y in likely]
            if move < inf:  # or what is disclosed besides changes nothing
                found += [(u, w, odds + move, x, (*y, (i, v))) for u, w, odds, x, y in likely]
            if len(found) > LONGEST:
                raise TimeoutError
        return found

    def interval(self, x: Values) -> Any:
        """The open interval of the logarithm of the odds in which x discriminates; None if there is none."""
        if x not in self.ends:
            strength = self.odds.strength(self.both(x)) if x else None
            self.ends[x] = self.odds.ends(strength, self.threshold) if x else None
        return self.ends[x]

    def both(self, values: Values) -> Any:
        """P(d, values) and P(d̄, values), exactly."""
        return reduce(lambda both, value: self.odds.more(both, *value), values, self.odds.nothing)

    def total(self) -> int:
        """The number of such patterns."""
        alike: defaultdict[float, list[Grown]] = defaultdict(list)
        for pair in self.pairs:
            u, v = pair[:2]
            alike[-inf if not u else inf if not v else floor((log(u) - log(v)) / WIDTH)].append(pair)
        return sum(map(self.among, alike.values()))

    def among(self, pairs: list[Grown]) -> int:
        """How many patterns pairs of nearly the same u / v make with the choices."""
        (u0, v0, *_), found, place, passed = pairs[len(pairs) // 2], 0, 0, list[float]()
        self.model.spend(len(pairs) + len(self.choices))
        ordered = sorted(((u0 * z[0] + v0 * z[1], z[2], n) for n, z in enumerate(self.choices)), reverse=True)
        asked = []
        for pair in pairs:
            factors = [one / other for one, other in ((pair[0], u0), (pair[1], v0)) if other]
            asked.append((self.high / min(factors), self.low / max(factors), pair))
        for sure, possible, pair in sorted(asked, key=lambda entry: -entry[0]):
            while place < len(ordered) and ordered[place][0] >= sure:
                insort(passed, ordered[place][1])
                place += 1
                if not place % MOVED:  # in a long list others are moved on
                    self.model.spend(place)
            low, high = (end - pair[2] for end in self.ends[pair[3]])
            inside, outside = low + self.close, high - self.close
            found += max(0, bisect_left(passed, outside) - bisect_right(passed, inside))
            at = place
            while at < len(ordered) and ordered[at][0] >= possible:
                found += inside < ordered[at][1] < outside and self.likely(pair, ordered[at][2])
                at += 1
            self.model.spend((at - place) // 8)
            near = [(low, low), (high, high)] if inside < outside else [(low, high)]
            for first, last in near:
                start = bisect_left(self.moves, first - self.close)
                for number in range(start, bisect_right(self.moves, last + self.close)):
                    self.model.spend(10)
                    found += self.likely(pair, number) and self.differs(pair, number)
        return found

    def likely(self, pair: Grown, number: int) -> bool:
        """Whether a pair and a choice are probable enough."""
        u, v, _, x, y = pair
        a, b, _, _, z = self.choices[number]
        if not self.low <= u * a + v * b < self.high:
            return u * a + v * b >= self.high
        self.model.spend(10)
        return bool(self.odds.likely(self.both(x + y + z), self.least))

    def differs(self, pair: Grown, number: int) -> bool:
        """Whether their |degree| is above the threshold."""
        context = self.both(pair[4] + self.choices[number][4])
        whole = self.both(pair[3] + pair[4] + self.choices[number][4])
        return bool(self.odds.differs(whole, context, self.threshold))
