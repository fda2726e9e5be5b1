"""Where marks go in charts."""

from __future__ import annotations

import re

import pytest

from auditor.report import charts
from auditor.report.html import environment
from tests.report.documents import audit_document


def test_degree_scale_keeps_the_values_apart_from_its_end() -> None:
    scale = charts.DegreeScale.of(0.1, 0.4, 0.4)
    assert (scale.threshold, scale.low, scale.high) == (130.4, 521.7, 521.7)
    assert [tick.label for tick in scale.ticks][:3] == ["0", "0.05", "0.1"]
    assert charts.DegreeScale.of(0.9, 0.95, 1).high == 600
    assert charts.DegreeScale.of(0, 0, 0).ticks


@pytest.mark.parametrize(("delta", "largest"), [(0.12, 0.1), (1e-4, 9.7e-5), (0.9, 0.95), (0.3, 0.3)])
def test_labels_of_the_degree_scale_stay_within_its_picture(delta: float, largest: float) -> None:
    scale = charts.DegreeScale.of(delta, largest, largest)
    drawn = (
        environment().get_template("charts.html.j2").make_module({"stated": audit_document(delta=str(delta))})
    )
    svg = drawn.degree_scale(scale, "", "")  # type: ignore[attr-defined]
    left, _, width, _ = map(float, re.search(r'viewBox="([^"]+)"', svg)[1].split())  # type: ignore[index]
    labels = re.findall(r'class="tick[^"]*" x="([^"]+)" y="32" text-anchor="(\w+)"[^>]*>([^<]+)<', svg)
    assert [label for *_, label in labels] == [tick.label for tick in scale.ticks]
    for x, anchor, label in labels:
        # Digits of the face are 7.7 wide.
        right = float(x) + 7.7 * len(label) * {"middle": 0.5, "end": 0}[anchor]
        assert right <= left + width


def test_scatter_places_points_on_its_axes() -> None:
    points = [(0.1, 0.2), (0.001, 0.4), (0.0, 0.3), (0.1, 0.2)]
    found = charts.Scatter.of(points, points[:2], [("divergence", points[:1])], 0.1, width=100, height=90)
    # There is room for one label beside the first.
    assert [tick.label for tick in found.x_ticks] == ["10%", "0.1%"]
    assert [tick.label for tick in found.y_ticks] == ["0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4"]
    # A dot per point, once; one too improbable for a float at the left edge.
    assert found.cloud == "M100 60h0M0 0h0M0 30h0"
    # From the most severe down and to the right, in steps.
    assert found.front == "M0 0V60H100"
    assert found.series == (("divergence", (charts.Mark(100, 60, "1"),)),)


def test_scatter_without_front_or_range() -> None:
    found = charts.Scatter.of([(1.0, 0.3)], [], [], 0.2)
    assert found.front == ""
    assert found.x_ticks[0].label == "100%"


def test_scatter_of_degrees_that_are_rounded_to_the_threshold_or_below_it() -> None:
    for degree in (0.1001, 0.1, 0.0999):
        found = charts.Scatter.of([(0.5, degree), (0.1, degree)], [], [], 0.1001)
        assert len({tick.label for tick in found.y_ticks}) == len(found.y_ticks) > 1
        assert 0 <= float(found.cloud.split("h0")[0].split()[1]) <= found.height


def test_line_keeps_a_value_between_its_ends() -> None:
    assert charts.Line.of((-10, 0), -5).value == 300
    assert charts.Line.of((-10, 0), 1).value == 600


@pytest.mark.parametrize(("length", "parts", "step"), [(0.4, 5, 0.05), (1, 5, 0.2), (0.0246, 4, 0.005)])
def test_nice_step(length: float, parts: int, step: float) -> None:
    assert charts.nice_step(length, parts) == pytest.approx(step)


def test_qr_code_is_drawn_module_by_module() -> None:
    modules, path = charts.qr_path("sha256:" + "0" * 64)
    assert modules == 37
    # The finder pattern in the upper left corner: a bar of seven modules.
    assert path.startswith("M0 0h7v1h-7z")


def test_rosette_has_its_points_on_the_square() -> None:
    assert charts.rosette().startswith("M50 2L")
    assert charts.rosette().endswith("z")
