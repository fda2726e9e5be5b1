"""What likelihood a model keeps at each threshold, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal

from auditor.documents.criteria import WORDS as CRITERIA
from auditor.documents.data import DataEvidence, DataGroup, Observed
from auditor.documents.frontier import Frontier, FrontierModel, FrontierPoint
from auditor.documents.labels import as_read
from auditor.documents.record import to_json
from auditor.report import charts
from auditor.report.blocks import Block, Facts, Heading, Paragraph, Picture, Table, values
from auditor.report.csv import cell, named
from auditor.report.figures import likelihood, percent, plural, rounded, share, size, whole
from auditor.report.formats import COLUMNS, AnyFormatName, laid_out
from auditor.report.sections.groups import marked_ratio
from auditor.report.sections.repair import besides, kept_to, whether_or_not

_COLUMNS = (
    "Lost is what is missing from the most likely model of all, and the price its share of the way to the "
    "model whose decision does not depend on the sensitive attributes."
)
_PROVED = " Open is how much likelier a δ-fair model could be than what was found."
_KNEE = (
    "The knee is the point furthest above the straight line from the first point of the curve to the last "
    "one, both axes scaled to their ends. It depends on which thresholds were asked for, and decides nothing."
)


def render(document: Frontier, format: AnyFormatName, *, colour: bool = False, columns: int = COLUMNS) -> str:
    """Show a frontier in a format; the page of a PDF is for paper."""
    match format:
        case "json":
            return to_json(document)
        case "csv":
            return _csv(document)
        case "html" | "pdf":
            from auditor.report import html

            return html.page(
                result_line(document),
                blocks(document),
                "paper" if format == "pdf" else "screen",
                f"Likelihood by threshold: {document.model.name} · model sha256:{document.model.sha256[:16]}",
            )
        case "text" | "markdown":
            return laid_out(blocks(document), format, colour=colour, columns=columns)


def result_line(document: Frontier) -> str:
    """The result in one line."""
    return f"{document.model.name}: {_told(document)}"


def _told(document: Frontier) -> str:
    first, last = document.points[0], document.points[-1]
    knee = "no knee" if document.knee is None else f"knee at δ = {document.knee}"
    choice = "" if document.recommended is None else f", recommended: δ = {document.recommended}"
    return (
        f"{plural(len(document.points), 'threshold')} from δ = {first.delta} to {last.delta}, {knee}{choice}"
    )


def blocks(document: Frontier) -> list[Block]:
    """The curve: its picture, and its tables."""
    document = as_read(document, document.model.labels)
    first = document.points[0].delta
    # Without proofs there is nothing to say of what is out of reach.
    columns = 6 if any(point.bound is not None for point in document.points) else 4
    made: list[Block] = [
        Heading(f"What likelihood fairness leaves: {document.model.name}", level=1),
        Paragraph(f"{_told(document)}.", "claim"),
        Facts(
            (
                ("Criterion", CRITERIA[document.criterion].measured),
                *besides(document.also),
                *kept_to(document.conditions),
                *_floors(document),
                ("Sensitive", ", ".join(document.model.sensitive)),
                ("Pairs of values", whole(document.total_patterns)),
                ("Model", f"sha256:{document.model.sha256[:16]}…"),
            )
        ),
        *_picture(document),
        Heading("Log-likelihood by threshold, in nats"),
        Paragraph(_COLUMNS + (_PROVED if columns == 6 else ""), "intro"),
        Table(
            "",
            ("δ", "Found", "Lost", "Price", "Not above (proved)", "Open")[:columns],
            [
                row[:columns]
                for row in (
                    _likelihood_row("none", document.unconstrained, document),
                    *(_likelihood_row(_name(p, document), p, document) for p in document.points),
                    _likelihood_row("independent", document.independent, document),
                )
            ],
            columns - 1,
            "curve",
        ),
        Heading("Patterns and the largest degree by threshold"),
        Table(
            "",
            ("δ", "Patterns before", f"Left above {first}", "Share left", "Largest degree"),
            [
                _patterns_row("none", "", document.unconstrained, document),
                *(
                    _patterns_row(_name(p, document), whole(p.patterns_before), p, document)
                    for p in document.points
                ),
                _patterns_row("independent", "", document.independent, document),
            ],
            4,
            "curve",
        ),
    ]
    carried = [f"δ = {p.delta} (from {p.taken_from})" for p in document.points if p.taken_from]
    if carried:
        made.append(
            Paragraph(
                "No likelier model was found than that of a smaller threshold, which is fair here too, at "
                + ", ".join(carried)
                + "."
            )
        )
    made += [
        Paragraph(f"The search at δ = {p.delta} ended early: {p.shortfall}.")
        for p in document.points
        if p.shortfall
    ]
    made += _on_data(document)
    knee = [Paragraph(_KNEE)] if document.knee is not None else []
    return [*made, Heading("What this does not say"), *knee, Paragraph(_limits(document))]


def _limits(document: Frontier) -> str:
    bounded = any(point.bound is not None for point in document.points)
    proved = "is proved up to the bound, where one stands" if bounded else "is not proved"
    said = (
        "Every model of the curve is proved δ-fair at its threshold, as it is written. That no δ-fair "
        f"model{whether_or_not(document)} is likelier {proved}; a repair finds local optima."
    )
    if document.unconstrained.data is None:
        return said
    return (
        f"{said} What is observed on the data that the model was counted from is no measure of other people."
    )


def _floors(document: Frontier) -> Iterator[tuple[str, str]]:
    """What a model is to reach on the data, and where the first does."""
    set_ = {"accuracy": document.least_accuracy, "AUC": document.least_auc}
    least = " and ".join(f"{what} of at least {floor}" for what, floor in set_.items() if floor is not None)
    if least:
        found = document.recommended
        told = "no model of the curve does" if found is None else f"recommended: δ = {found}, the smallest"
        yield "To reach on the data", f"{least}; {told}"


def _name(point: FrontierPoint, document: Frontier) -> str:
    known = {
        "knee": point.delta == document.knee,
        "recommended": point.delta == document.recommended,
        "too low": point.kept_floors is False,
    }
    marks = ", ".join(mark for mark, holds in known.items() if holds)
    return f"{point.delta} ({marks})" if marks else point.delta


def _picture(document: Frontier) -> Iterator[Block]:
    top, bottom = document.unconstrained.log_likelihood, document.independent.log_likelihood
    known = [(p, p.log_likelihood) for p in document.points if p.log_likelihood is not None]
    if top is None or bottom is None or len(known) < 2:
        return
    marks = (
        [(float(p.delta), found - top) for p, found in known],
        [(float(p.delta), min(p.bound - top, 0.0)) for p in document.points if p.bound is not None],
        bottom - top,
        next((i for i, (p, _) in enumerate(known) if p.delta == document.knee), None),
    )
    chart, narrow = charts.Curve.of(*marks), charts.Curve.of(*marks, width=charts.NARROW)
    says = (
        "Each dot is the most likely model found at a threshold: 0 is the likelihood of the unconstrained "
        "model; that of the one whose decision does not depend on the sensitive attributes is "
        f"{max(top - bottom, 0.0):,.4f} lower."
    )
    yield Picture("curve", chart, says, "Threshold against likelihood", "curve", narrow)


def _likelihood_row(name: str, model: FrontierModel, document: Frontier) -> tuple[str, ...]:
    top, found = document.unconstrained.log_likelihood, model.log_likelihood
    lost = "" if top is None or found is None else f"{max(top - found, 0.0):,.4f}"
    if not isinstance(model, FrontierPoint):
        return name, likelihood(found), lost, "", "", ""
    price = "" if model.price is None else percent(model.price)
    if model.bound is None or found is None:
        return name, likelihood(found), lost, price, "", ""
    # Upwards: less than what is proved may not be said.
    gap = Decimal(rounded(max(model.bound - found, 0.0), rounding=ROUND_CEILING))
    return name, likelihood(found), lost, price, _upwards(model.bound), f"{gap:,}"


def _upwards(bound: float) -> str:
    """A bound from above on a log-likelihood, with as many decimals as those that were found."""
    return f"{Decimal(bound).quantize(Decimal('0.0001'), ROUND_CEILING):,}"


def _patterns_row(name: str, before: str, model: FrontierModel, document: Frontier) -> tuple[str, ...]:
    (low, high), whole_ = model.patterns_left_bounds, document.unconstrained.patterns_left_bounds
    left = whole(low if low == high else None, (low, high))
    part = share(low, whole_[0]) if low == high and whole_[0] == whole_[1] and whole_[0] else ""
    return name, before, left, part, _degrees(model, document)


def _degrees(model: FrontierModel, document: Frontier) -> str:
    limit = model.delta if isinstance(model, FrontierPoint) else document.points[0].delta
    low, high = (size(end, limit) for end in model.max_degree_bounds)
    return low if low == high else f"{low} to {high}"


def _on_data(document: Frontier) -> list[Block]:
    rows = [
        ("none", document.unconstrained),
        *((_name(p, document), p) for p in document.points),
        ("independent", document.independent),
    ]
    data = document.unconstrained.data
    if data is None:
        return []
    made: list[Block] = [
        Heading(f"On {data.source}: {data.people:,} people", "frontier-data"),
        Paragraph(
            f"A model selects whom it gives the favourable decision with more than {data.cutoff}. Groups of "
            f"fewer than {data.min_group:,} people are left out; the impact ratio compares a group with the "
            "most selected one of the same attributes, and ▼ marks a ratio below 0.8. True positives are the "
            "selected among those with the favourable decision in the data, false positives among the others."
        ),
        Heading("Predictions by threshold"),
        Table(
            "",
            ("δ", "Accuracy", "AUC", "Selected", "True positives", "False positives", "Lowest impact ratio"),
            [
                (
                    name,
                    _rate(model.data.accuracy),
                    "not defined" if model.auc is None else rounded(model.auc),
                    _rate(model.data.selected),
                    _rate(model.data.true_positive_rate),
                    _rate(model.data.false_positive_rate),
                    marked_ratio(min(ratios)) if (ratios := _ratios(model)) else "-",
                )
                for name, model in rows
                if model.data is not None
            ],
            6,
            "curve",
        ),
    ]
    for place, group in _listed(data):
        rates = [(name, model.data.groups[place]) for name, model in rows if model.data is not None]
        made += [
            Heading(f"{values(group.values)}: {group.people:,} people"),
            Table(
                "",
                ("δ", "Selected", "Impact ratio", "Accuracy", "True positives", "False positives"),
                [
                    (
                        name,
                        _rate(own.selected),
                        "-" if own.impact_ratio is None else marked_ratio(own.impact_ratio),
                        _rate(own.accuracy),
                        _rate(own.true_positive_rate),
                        _rate(own.false_positive_rate),
                    )
                    for name, own in rates
                ],
                5,
                "curve",
            ),
        ]
    return made


def _listed(data: DataEvidence) -> list[tuple[int, DataGroup]]:
    """The groups by one attribute that are large enough; the JSON document has all."""
    return [(i, g) for i, g in enumerate(data.groups) if not g.small and len(g.values) == 1]


def _ratios(model: FrontierModel) -> list[float]:
    groups = model.data.groups if model.data else ()
    return [g.impact_ratio for g in groups if not g.small and g.impact_ratio is not None]


def _rate(found: Observed | None) -> str:
    return "-" if found is None or found.share is None else percent(found.share)


def _csv(document: Frontier) -> str:
    """A row per model, and columns for each group in the data."""
    rows = [
        _cells("unconstrained", document.unconstrained),
        *(_cells(p.delta, p) for p in document.points),
        _cells("independent", document.independent),
    ]
    # The points have columns that the ends don't have.
    return named(rows, rows[1])


def _cells(name: str, model: FrontierModel) -> dict[str, object]:
    cells: dict[str, object] = {
        "delta": name,
        "sha256": model.sha256,
        "log_likelihood": model.log_likelihood,
    }
    if isinstance(model, FrontierPoint):
        cells |= {
            "bound": model.bound,
            "bound_from": model.bound_from,
            "price": model.price,
            "taken_from": model.taken_from,
            "patterns_before": model.patterns_before,
            "kept_floors": model.kept_floors,
        }
    cells |= {
        "max_degree_at_least": model.max_degree_bounds[0],
        "max_degree_at_most": model.max_degree_bounds[1],
        "patterns_left_at_least": model.patterns_left_bounds[0],
        "patterns_left_at_most": model.patterns_left_bounds[1],
    }
    if model.data is None:
        return cells
    cells["auc"] = model.auc
    cells |= _rates(model.data, "")
    for group in model.data.groups:
        # Pairs of attributes would be a great many columns; the JSON document has them.
        if len(group.values) == 1:
            of = "".join(f": {attribute} {value}" for attribute, value in group.values.items())
            cells |= _rates(group, of) | {cell(f"impact_ratio{of}"): group.impact_ratio}
    return cells


def _rates(found: DataEvidence | DataGroup, of: str) -> dict[str, object]:
    measured = {
        "accuracy": found.accuracy,
        "selected": found.selected,
        "true_positive_rate": found.true_positive_rate,
        "false_positive_rate": found.false_positive_rate,
    }
    return {cell(f"{what}{of}"): rate and rate.share for what, rate in measured.items()}
