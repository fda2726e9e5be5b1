"""Where the marks of a chart go. The templates draw them as SVG; nothing here knows about either.

Lengths are SVG user units, rounded to a tenth so that the same data gives the same bytes everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: Of a chart on paper; and on a screen, where a phone shows its letters as large as they are to be read.
_WIDE, NARROW = 580, 400
#: Of an axis by itself.
_AXIS = 600
#: Room for the label of a horizontal axis.
_LABEL = 75
#: An axis of degrees has at least this share of its upper end, so that labels differ.
_NEAREST = 1e-3


@dataclass(frozen=True)
class Tick:
    """A position on an axis and its label."""

    at: float
    label: str


@dataclass(frozen=True)
class DegreeScale:
    """The largest degree against the threshold, on one horizontal axis."""

    width: float
    """Length of the axis."""
    threshold: float
    low: float
    high: float
    """Where the threshold, the largest degree found and the proved bound on it stand."""
    ticks: tuple[Tick, ...]

    @classmethod
    def of(cls, threshold: float, low: float, high: float) -> DegreeScale:
        """Choose an axis from 0 on which all three values are apart from its end."""
        end = min(1.0, max(threshold * 2, high * 1.15, 1e-9))
        step = nice_step(end, 5)
        scale = _AXIS / end
        ticks = tuple(
            Tick(_round(i * step * scale), f"{i * step:.12g}") for i in range(int(end / step + 1e-9) + 1)
        )
        return cls(_AXIS, _round(threshold * scale), _round(low * scale), _round(high * scale), ticks)


@dataclass(frozen=True)
class Line:
    """A value between two ends, on a horizontal line of ``width``."""

    width: float
    value: float

    @classmethod
    def of(cls, ends: tuple[float, float], value: float) -> Line:
        """Place the value; one beyond an end is placed there."""
        low, high = ends
        return cls(_AXIS, _round(min(1.0, max(0.0, (value - low) / (high - low))) * _AXIS))


@dataclass(frozen=True)
class Curve:
    """What likelihood is kept (upwards) at each threshold (to the right)."""

    width: float
    height: float
    """Size of the plotting area; (0, 0) is its upper left corner."""
    path: str
    bound: str
    """SVG paths along the points and along what is proved to be out of reach; the latter may be empty."""
    dots: tuple[tuple[float, float], ...]
    """The points."""
    knee: tuple[float, float] | None
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]

    @classmethod
    def of(
        cls,
        points: Sequence[tuple[float, float]],
        bounds: Sequence[tuple[float, float]],
        bottom: float,
        knee: int | None,
        width: float = _WIDE,
        height: float = 130,
    ) -> Curve:
        """Lay out (threshold, log-likelihood less the most there is) pairs, from a bottom upwards."""
        right = max(x for x, _ in points) or 1.0
        bottom = min(bottom, *(y for _, y in points)) or -1.0

        def place(point: tuple[float, float]) -> tuple[float, float]:
            return _round(point[0] / right * width), _round(min(1.0, point[1] / bottom) * height)

        def path(pairs: Sequence[tuple[float, float]]) -> str:
            return "".join(f"{'L' if i else 'M'}{x:g} {y:g}" for i, (x, y) in enumerate(map(place, pairs)))

        x_step, y_step = nice_step(right, 5 if width > NARROW else 3), nice_step(-bottom, 4)
        return cls(
            width=width,
            height=height,
            path=path(points),
            bound=path(bounds),
            dots=tuple(map(place, points)),
            knee=None if knee is None else place(points[knee]),
            x_ticks=tuple(
                Tick(place((i * x_step, 0))[0], f"{i * x_step:.6g}")
                for i in range(int(right / x_step + 1e-9) + 1)
            ),
            y_ticks=tuple(
                Tick(place((0, -i * y_step))[1], f"{'−' if i else ''}{i * y_step:,.6g}")
                for i in range(int(-bottom / y_step + 1e-9) + 1)
            ),
        )


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram, its lower left corner at (x, y + height)."""

    x: float
    y: float
    width: float
    height: float
    fair: bool


@dataclass(frozen=True)
class Histogram:
    """How often the largest degree of drawn models is how large."""

    width: float
    height: float
    """Size of the plotting area; (0, 0) is its upper left corner."""
    bars: tuple[Bar, ...]
    """Of one interval those of fair models stand below those of others."""
    threshold: float | None
    """Where δ is; None if it is too far from the bars to be shown."""
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]

    @classmethod
    def of(
        cls,
        bars: Sequence[tuple[float, int, int]],
        bar_width: float,
        threshold: float,
        width: float = _WIDE,
        height: float = 150,
    ) -> Histogram:
        """Lay out (lower end, fair, not fair) intervals of one width, of which there is at least one."""
        left, right = min(low for low, *_ in bars), max(low for low, *_ in bars) + bar_width
        span = right - left
        shown = left - span <= threshold <= right + span
        if shown:
            left, right = min(left, threshold - bar_width / 2), max(right, threshold + bar_width / 2)
        scale, top = width / (right - left), max(fair + other for _, fair, other in bars)
        made = []
        for low, fair, other in bars:
            x, wide = _round((low - left) * scale), _round(bar_width * scale)
            middle = _round((1 - fair / top) * height)
            upper = _round((1 - (fair + other) / top) * height)
            if fair:
                made.append(Bar(x, middle, wide, _round(height - middle), fair=True))
            if other:
                made.append(Bar(x, upper, wide, _round(middle - upper), fair=False))
        step, rise = nice_step(right - left, 6 if width > NARROW else 3), max(int(nice_step(top, 4)), 1)
        return cls(
            width=width,
            height=height,
            bars=tuple(made),
            threshold=_round((threshold - left) * scale) if shown else None,
            x_ticks=tuple(
                Tick(_round((i * step - left) * scale), f"{i * step:.6g}")
                for i in range(math.ceil(left / step - 1e-9), math.floor(right / step + 1e-9) + 1)
            ),
            y_ticks=tuple(
                Tick(_round((1 - count / top) * height), f"{count:,}") for count in range(0, top + 1, rise)
            ),
        )


@dataclass(frozen=True)
class Mark:
    """A pattern that the scatter points out; ``label`` is its place in the list that names it."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class Scatter:
    """Probability (logarithmic, to the right) against |degree| (upwards) of discrimination patterns."""

    width: float
    height: float
    """Size of the plotting area; (0, 0) is its upper left corner."""
    cloud: str
    """An SVG path with a subpath of no length for each point: drawn with round ends, each is a dot."""
    front: str
    """An SVG path along the Pareto front."""
    series: tuple[tuple[str, tuple[Mark, ...]], ...]
    """The marked lists by the name of their ranking."""
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    scale: tuple[float, float, float, float]
    """The exponents of ten at the left and the right edge, and the degrees at the lower and the upper one."""

    @classmethod
    def of(
        cls,
        points: Sequence[tuple[float, float]],
        front: Sequence[tuple[float, float]],
        series: Sequence[tuple[str, Sequence[tuple[float, float]]]],
        threshold: float,
        width: float = _WIDE,
        height: float = 190,
    ) -> Scatter:
        """Lay out (probability, |degree|) pairs of patterns.

        A probability too small for a float is drawn at the left edge, and a |degree| that is rounded to the
        threshold or below it at the threshold.
        """
        everything = [*points, *front, *(point for _, marked in series for point in marked)]
        exponents = [math.log10(p) for p, _ in everything if p > 0]
        right = math.ceil(max(exponents))
        left = min(math.floor(min(exponents)), right - 1)
        top = max(threshold, *(degree for _, degree in everything))
        step = nice_step(max(top - threshold, top * _NEAREST), 4)
        bottom = math.floor(threshold / step) * step
        upper = max(math.ceil(top / step), math.floor(threshold / step) + 1) * step

        def place(point: tuple[float, float]) -> tuple[float, float]:
            probability, degree = point
            exponent = math.log10(probability) if probability > 0 else left
            return (
                _round((exponent - left) / (right - left) * width),
                _round((upper - max(degree, threshold)) / (upper - bottom) * height),
            )

        dots = dict.fromkeys(place(point) for point in points)
        stairs = [place(point) for point in sorted(front)]
        every = -(-(right - left) // int(width / _LABEL))
        return cls(
            width=width,
            height=height,
            cloud="".join(f"M{x:g} {y:g}h0" for x, y in dots),
            front=_staircase(stairs),
            series=tuple(
                (name, tuple(Mark(*place(point), str(i)) for i, point in enumerate(marked, start=1)))
                for name, marked in series
            ),
            x_ticks=tuple(
                Tick(_round((e - left) / (right - left) * width), share(e))
                for e in range(right, left - 1, -every)
            ),
            y_ticks=tuple(
                Tick(_round((1 - i * step / (upper - bottom)) * height), f"{bottom + i * step:.6g}")
                for i in range(round((upper - bottom) / step) + 1)
            ),
            scale=(left, right, bottom, upper),
        )


def _staircase(stairs: Sequence[tuple[float, float]]) -> str:
    """Steps through points that go down to the right: everything below them is dominated."""
    if not stairs:
        return ""
    path = f"M{stairs[0][0]:g} {stairs[0][1]:g}"
    for x, y in stairs[1:]:
        path += f"V{y:g}H{x:g}"
    return path


def share(exponent: int) -> str:
    """Name a power of ten as a share of people.

    >>> share(0), share(-3), share(-9)
    ('100%', '0.1%', '10⁻⁹')
    """
    if exponent >= -5:
        return f"{10.0 ** (exponent + 2):.10g}%"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def nice_step(length: float, parts: int) -> float:
    """The largest of 1, 2, 5 times a power of ten that divides a length into at least so many parts.

    >>> nice_step(0.4, 5), nice_step(1, 5)
    (0.05, 0.2)
    """
    power = 10.0 ** math.floor(math.log10(length / parts))
    return max((step for step in (1, 2, 5) if step * power * parts <= length * (1 + 1e-9)), default=1) * power


def rosette() -> str:
    """The scalloped outline of a seal, in a square of 100 units."""
    points, corners = 20, []
    for i in range(2 * points):
        radius, angle = 48 if i % 2 == 0 else 43.5, math.pi * i / points
        corners.append(f"{_round(50 + radius * math.sin(angle)):g} {_round(50 - radius * math.cos(angle)):g}")
    return f"M{'L'.join(corners)}z"


def qr_path(text: str) -> tuple[int, str]:
    """A QR code (error correction M) as the number of its modules a side and an SVG path in modules."""
    import segno

    matrix = segno.make_qr(text, error="m").matrix
    path = []
    for y, row in enumerate(matrix):
        x = 0
        while x < len(row):
            run = 1
            while x + run < len(row) and row[x + run] == row[x]:
                run += 1
            if row[x]:
                path.append(f"M{x} {y}h{run}v1h-{run}z")
            x += run
    return len(matrix), "".join(path)


def _round(length: float) -> float:
    # Adding 0.0 turns -0.0 into 0.0.
    return round(length, 1) + 0.0
