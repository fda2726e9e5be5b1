"""What was found in data that a model was learned from, as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from auditor.data.counted import SMALL_GROUP
from auditor.report import text
from auditor.report.blocks import Block, Heading, Paragraph, Table
from auditor.report.figures import percent, plural, rounded, share
from auditor.report.formats import COLUMNS

if TYPE_CHECKING:
    from auditor.data.counted import Group, Summary
    from auditor.data.scoring import Performance

#: Small groups that are listed.
_SMALL_SHOWN = 10


def summary(found: Summary, columns: int = COLUMNS) -> str:
    """Render the summary of the data."""
    total = found.rows
    blocks: list[Block] = [Heading(f"{found.source}: {total:,} rows counted", level=1)]
    if found.undecided:
        blocks.append(Paragraph(f"{found.undecided:,} more have no decision and were not counted"))
    blocks += [
        Heading("Decisions"),
        _table(
            (label, f"{rows:,}", share(rows, total)) for label, rows in (found.favourable, found.unfavourable)
        ),
    ]
    if any(found.missing.values()):
        missing = (
            (name, f"{cells:,}", share(cells, total)) for name, cells in found.missing.items() if cells
        )
        blocks += [Heading("Missing cells, taken as not observed"), _table(missing)]
    if found.left_out:
        why = (Paragraph(f"{name}: it {reason}") for name, reason in found.left_out.items())
        blocks += [Heading("Left out of the model"), *why]
    if found.notes:
        blocks += [Heading("Worth a look"), *map(Paragraph, found.notes)]
    blocks += [
        Heading("Sensitive groups: rows, and the share of favourable decisions"),
        _table(map(_group, found.groups)),
    ]
    if small := found.small_groups:
        blocks += [
            Heading(
                f"{plural(len(small), 'group')} with fewer than {SMALL_GROUP} rows: "
                f"{'its' if len(small) == 1 else 'their'} counts say little"
            ),
            _table(map(_group, small[:_SMALL_SHOWN])),
        ]
        if len(small) > _SMALL_SHOWN:
            blocks.append(Paragraph(f"and {len(small) - _SMALL_SHOWN:,} more"))
    if found.performance:
        blocks += _performance(found.performance)
    return text.laid_out(blocks, columns=columns)


def segments(
    by: str, found: Mapping[str, Summary | None], files: Mapping[str, str], columns: int = COLUMNS
) -> str:
    """Render what came of the segments of data, a line for each."""
    rows = [
        (segment, "", "", "none: see the errors")
        if data is None
        else (segment, f"{data.rows:,}", percent(data.favourable[1] / data.rows), files[segment])
        for segment, data in found.items()
    ]
    return text.laid_out([Table("", (by, "rows", "favourable", "model"), rows, 3)], columns=columns).lstrip(
        "\n"
    )


def _group(group: Group) -> tuple[str, str, str]:
    name = ", ".join(f"{attribute}: {value}" for attribute, value in group.values)
    return name, f"{group.rows:,}", percent(group.favourable / group.rows)


def _performance(found: Performance) -> list[Block]:
    loss = rounded(found.log_loss) if math.isfinite(found.log_loss) else "infinite: set --smoothing above 0"
    blocks: list[Block] = [
        Heading(f"Predictions for {found.rows:,} rows by models that had not counted them"),
        _table(
            [
                ("Accuracy", percent(found.accuracy)),
                ("AUC", rounded(found.auc)),
                ("Log-loss (nats)", loss),
                ("Calibration error", rounded(found.calibration_error)),
            ]
        ),
    ]
    if found.impossible:
        blocks.append(
            Paragraph(
                f"{found.impossible:,} more rows have values that give each decision the probability 0 and "
                "were left out: set --smoothing above 0"
            )
        )
    rows = [
        (
            f"{part.low:.1f} to {part.high:.1f}",
            f"{part.rows:,}",
            percent(part.predicted),
            percent(part.observed),
        )
        for part in found.calibration
    ]
    return [
        *blocks,
        Heading("Calibration: P(favourable) as predicted, on average, and as observed"),
        Table("", ("predicted", "rows", "mean", "observed"), rows, 3),
    ]


def _table(rows: Iterable[tuple[str, ...]]) -> Table:
    found = list(rows)
    width = len(found[0])
    return Table("", ("",) * width, found, width - 1)
