"""Draws panels of lines and points as SVG, the same bytes each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

Point = tuple[float, float]

#: Of a panel, unless a figure has its own.
SIZE = (380, 250)
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 34, 14, 46
_LEGEND = 20

#: Told apart by people who are colour-blind, too (Okabe and Ito).
BLACK, ORANGE, BLUE, GREEN, RED, GREY = "#000000", "#e69f00", "#0072b2", "#009e73", "#d55e00", "#999999"


@dataclass(frozen=True)
class Axis:
    """An axis from the first to the last of its ticks."""

    title: str
    ticks: Sequence[float]
    logarithmic: bool = False
    percent: bool = False

    def place(self, value: float) -> float:
        """Where a value is, from 0 to 1."""
        low, high = self.ticks[0], self.ticks[-1]
        if self.logarithmic:
            value, low, high = log10(value), log10(low), log10(high)
        return (value - low) / (high - low)

    def label(self, value: float) -> str:
        """A tick's text."""
        if self.percent:
            return f"{100 * value:g}%"
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"


@dataclass(frozen=True)
class Series:
    """Points, joined by a line or not.

    Attributes
    ----------
    name : str
    points : sequence of (float, float)
    colour : str
    line : bool
    dashed : bool
    size : float
        Diameter of the points; 0 for none.
    ring : bool
        Rings instead of discs.
    """

    name: str
    points: Sequence[Point]
    colour: str
    line: bool = True
    dashed: bool = False
    size: float = 5
    ring: bool = False


@dataclass(frozen=True)
class Panel:
    """A chart."""

    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]


def ticks_around(values: Sequence[float], number: int = 5) -> list[float]:
    """Round ticks, about so many, that have all values between them."""
    low, high = min(values), max(values)
    raw = (high - low or 1) / number
    unit = 10.0 ** floor(log10(raw))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= raw)
    first = floor(low / step)
    ticks = [first * step]
    while ticks[-1] < high:
        ticks.append((first + len(ticks)) * step)
    if len(ticks) == 1:
        ticks.append(ticks[0] + step)
    return [round(tick, 10) for tick in ticks]


def figure(
    title: str, description: str, panels: Sequence[Panel], columns: int, size: tuple[int, int] = SIZE
) -> str:
    """Panels of a size in rows, with one legend for all below them."""
    names: dict[str, Series] = {}
    for panel in panels:
        for series in panel.series:
            names.setdefault(series.name, series)
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    per_row = max(1, columns * size[0] // 190)
    legend_rows = -(-len(names) // per_row)
    width, height = columns * size[0], rows * size[1] + legend_rows * _LEGEND + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="11">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for i, panel in enumerate(panels):
        parts.append(f'<g transform="translate({i % columns * size[0]} {i // columns * size[1]})">')
        parts += _panel(panel, *size)
        parts.append("</g>")
    for i, series in enumerate(names.values()):
        x, y = 20 + i % per_row * 190, rows * size[1] + i // per_row * _LEGEND + 10
        parts += _drawn(series, [(x, y), (x + 24, y)] if series.line else [(x + 12, y)])
        parts.append(f'<text x="{x + 32}" y="{y + 4}">{escape(series.name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, width: int, height: int) -> list[str]:
    right, bottom = width - _RIGHT, height - _BOTTOM

    def across(value: float) -> float:
        return round(_LEFT + panel.x.place(value) * (right - _LEFT), 1)

    def down(value: float) -> float:
        return round(bottom - panel.y.place(value) * (bottom - _TOP), 1)

    parts = [
        f'<text x="{(_LEFT + right) / 2:g}" y="20" text-anchor="middle" font-weight="bold">'
        f"{escape(panel.title)}</text>"
    ]
    for tick in panel.y.ticks:
        y = down(tick)
        parts.append(f'<path d="M{_LEFT} {y:g}H{right}" stroke="#dddddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:g}" text-anchor="end">{panel.y.label(tick)}</text>')
    for tick in panel.x.ticks:
        x = across(tick)
        parts.append(f'<path d="M{x:g} {bottom}v4" stroke="{BLACK}"/>')
        parts.append(f'<text x="{x:g}" y="{bottom + 16}" text-anchor="middle">{panel.x.label(tick)}</text>')
    parts.append(f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="{BLACK}"/>')
    parts.append(
        f'<text x="{(_LEFT + right) / 2:g}" y="{height - 12}" text-anchor="middle">'
        f"{escape(panel.x.title)}</text>"
    )
    middle = (_TOP + bottom) / 2
    parts.append(
        f'<text x="14" y="{middle:g}" text-anchor="middle" transform="rotate(-90 14 {middle:g})">'
        f"{escape(panel.y.title)}</text>"
    )
    for series in panel.series:
        parts += _drawn(series, [(across(x), down(y)) for x, y in series.points])
    return parts


def _drawn(series: Series, points: Sequence[Point]) -> list[str]:
    parts = []
    if series.line:
        path = "L".join(f"{x:g} {y:g}" for x, y in points)
        dash = ' stroke-dasharray="5 3"' if series.dashed else ""
        parts.append(f'<path d="M{path}" fill="none" stroke="{series.colour}" stroke-width="1.5"{dash}/>')
    if series.ring:
        radius = series.size / 2
        # A ring is two half circles.
        arcs = f"a{radius:g} {radius:g} 0 1 0 {2 * radius:g} 0a{radius:g} {radius:g} 0 1 0 {-2 * radius:g} 0"
        path = "".join(f"M{x - radius:.1f} {y:g}{arcs}" for x, y in points)
        parts.append(f'<path d="{path}" fill="none" stroke="{series.colour}" stroke-width="1.5"/>')
    elif series.size:
        # A line of no length with round ends is a disc; points that fall together are drawn once.
        path = "".join(f"M{x:g} {y:g}h0" for x, y in dict.fromkeys(points))
        parts.append(
            f'<path d="{path}" fill="none" stroke="{series.colour}" stroke-width="{series.size:g}" '
            'stroke-linecap="round"/>'
        )
    return parts
