"""What was found in data that a model was learned from, as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from auditor.data.counting import SMALL_GROUP
from auditor.report.text import aligned, wrapped
from auditor.report.wording import percent, rounded, share, shown

if TYPE_CHECKING:
    from auditor.data.counting import Group, Summary
    from auditor.data.scoring import Performance

_WIDTH = 80
#: Small groups that are listed.
_SMALL_SHOWN = 10


def summary(found: Summary) -> str:
    """Render the summary of the data."""
    total = found.rows
    lines = [f"{shown(found.source)}: {total:,} rows counted"]
    if found.undecided:
        lines.append(f"  {found.undecided:,} more have no decision and were not counted")
    lines += ["", "Decisions"]
    lines += _table(
        (label, f"{rows:,}", share(rows, total)) for label, rows in (found.favourable, found.unfavourable)
    )
    if any(found.missing.values()):
        lines += ["", "Missing cells, taken as not observed"]
        everything = total
        lines += _table(
            (name, f"{cells:,}", share(cells, everything)) for name, cells in found.missing.items() if cells
        )
    if found.left_out:
        lines += ["", "Left out of the model"]
        for name, why in found.left_out.items():
            lines += _paragraph(f"{shown(name)}: it {why}")
    if found.notes:
        lines += ["", "Worth a look"]
        for note in found.notes:
            lines += _paragraph(note)
    lines += ["", "Sensitive groups: rows, and the share of favourable decisions"]
    lines += _table(_group(group) for group in found.groups)
    if found.small_groups:
        number = len(found.small_groups)
        lines += ["", f"{number:,} groups with fewer than {SMALL_GROUP} rows: their counts say little"]
        lines += _table(_group(group) for group in found.small_groups[:_SMALL_SHOWN])
        if number > _SMALL_SHOWN:
            lines.append(f"  and {number - _SMALL_SHOWN:,} more")
    if found.performance:
        lines += _performance(found.performance)
    return "\n".join(lines) + "\n"


def _group(group: Group) -> tuple[str, str, str]:
    name = ", ".join(f"{attribute}: {value}" for attribute, value in group.values)
    return name, f"{group.rows:,}", percent(group.favourable / group.rows)


def _performance(found: Performance) -> list[str]:
    lines = ["", f"Predictions for {found.rows:,} rows by models that had not counted them"]
    loss = rounded(found.log_loss) if math.isfinite(found.log_loss) else "infinite: set --smoothing above 0"
    lines += _table(
        [
            ("Accuracy", percent(found.accuracy), ""),
            ("AUC", rounded(found.auc), ""),
            ("Log-loss (nats)", loss, ""),
            ("Calibration error", rounded(found.calibration_error), ""),
        ]
    )
    if found.impossible:
        lines += _paragraph(
            f"{found.impossible:,} more rows have values that give each decision the probability 0 and were "
            "left out: set --smoothing above 0"
        )
    lines += ["", "Calibration: P(favourable) as predicted, on average, and as observed"]
    rows = [
        (
            f"{part.low:.1f} to {part.high:.1f}",
            f"{part.rows:,}",
            percent(part.predicted),
            percent(part.observed),
        )
        for part in found.calibration
    ]
    lines += [f"  {row}" for row in aligned([("predicted", "rows", "mean", "observed"), *rows], left=1)]
    return lines


def _table(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    """Align names and numbers; a name that is too long gets lines of its own."""
    lines: list[str] = []
    cells = [(shown(name), *numbers) for name, *numbers in rows]
    room = _WIDTH - 2 - max(sum(len(n) + 2 for n in numbers) for _, *numbers in cells)
    for (name, *_), line in zip(
        cells,
        aligned([(name if len(name) <= room else "", *numbers) for name, *numbers in cells], left=1),
        strict=True,
    ):
        lines += _paragraph(name) if len(name) > room else []
        lines.append(f"  {line}")
    return lines


def _paragraph(text: str) -> list[str]:
    return [f"  {line}" for line in wrapped(text, _WIDTH - 2)]


def segments(by: str, found: Mapping[str, Summary | None], files: Mapping[str, str]) -> str:
    """Render what came of the segments of data, a line for each."""
    rows = [("rows", "favourable", "model")]
    for segment, learned in found.items():
        if learned is None:
            rows.append(("", "", "none: see the errors"))
            continue
        data = learned
        rows.append((f"{data.rows:,}", percent(data.favourable[1] / data.rows), files[segment]))
    names = [f"{shown(by)}", *map(shown, found)]
    return "\n".join(aligned([(n, *r) for n, r in zip(names, rows, strict=True)], left=1)) + "\n"
