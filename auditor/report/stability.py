"""How the largest degree varies with the data that a model is learned from, in every format."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.documents.criteria import WORDS as CRITERIA
from auditor.documents.labels import as_read
from auditor.documents.record import to_json
from auditor.documents.stability import SampleRecord, Stability
from auditor.report import charts
from auditor.report.blocks import Block, Facts, Heading, Paragraph, Picture, Table, values
from auditor.report.figures import percent, plural, rounded, size, whole
from auditor.report.formats import COLUMNS, AnyFormatName, laid_out
from auditor.report.wording import VERDICTS, degree

_POSTERIOR = (
    "The probabilities behind the data are not known exactly: with as many rows others could have been "
    "counted. Each draw takes every distribution of the model from its posterior, a Dirichlet "
    "distribution with the counts and one row more for each value, and its largest degree is found by the"
    " exact search."
)
_NEXT = (
    "A model that is learned next, in the same way and from as many new people, varies more: its people "
    "are drawn by probabilities that are drawn as above. This is the retraining risk, if the people stay "
    "as they are and the next model isn’t repaired."
)
_REPAIRED = (
    "The model was repaired. Its probabilities are not those of the counts, and the people that are drawn "
    "are as it describes them; data from which it is learned again are people as they are. A model that is "
    "repaired again after that is δ-fair whatever is drawn."
)
_AT_THE_THRESHOLD = (
    " Its largest degree lies at δ, where the repair has put it: of models that are drawn about it a large "
    "part is above δ, often about half. That says nothing against its own verdict, which is exact. "
    "auditor repair --margin leaves room for them."
)
#: A largest degree of at least this share of δ lies at δ.
_NEAR = 0.99
_LIMITS = (
    "Limits hold in 95% of cases each, for draws by naive Bayes: attributes are independent given the "
    "decision, people are independent of each other, and the next people are like these. None of this "
    "changes the verdict on the model itself."
)


def render(
    document: Stability, format: AnyFormatName, *, colour: bool = False, columns: int = COLUMNS
) -> str:
    """Show what draws say in a format; the page of a PDF is for paper."""
    match format:
        case "json":
            return to_json(document)
        case "html" | "pdf":
            from auditor.report import html

            medium: html.Medium = "paper" if format == "pdf" else "screen"
            footer = f"Stability: {document.model.name} · model sha256:{document.model.sha256[:16]}"
            return html.page(result_line(document), blocks(document), medium, footer)
        case _:
            return laid_out(blocks(document), format, colour=colour, columns=columns)


def result_line(document: Stability) -> str:
    """The result in one line."""
    return f"{document.model.name}: {_told(document)}"


def _told(document: Stability) -> str:
    probability = _between(document.next_model.probability)
    verdict = VERDICTS[document.verdict]
    return f"{verdict} at δ = {document.delta}; the next model is δ-fair with a probability of {probability}"


def blocks(document: Stability) -> list[Block]:
    """What draws of both kinds show, and what they don't."""
    document = as_read(document, document.model.labels)
    rows = f"{document.rows:,.15g}"
    made: list[Block] = [
        Heading(f"How stable the verdict is: {document.model.name}", level=1),
        Paragraph(f"{_told(document)}.", "claim"),
        Facts(
            (
                ("Largest degree", f"{degree(document.largest, document.delta)} of the model itself"),
                ("Criterion", CRITERIA[document.criterion].measured),
                ("Sensitive", ", ".join(document.model.sensitive)),
                ("Rows", f"{rows} behind the model"),
                ("Draws", f"{document.draws:,} of each kind; seed {document.seed}, {document.generator}"),
                ("Model", f"sha256:{document.model.sha256[:16]}…"),
            )
        ),
    ]
    if document.repaired:
        near = document.largest.max_degree >= _NEAR * float(document.delta)
        made.append(Paragraph(_REPAIRED + (_AT_THE_THRESHOLD if near else "")))
    made += [
        Heading("The probabilities behind the data", "posterior"),
        Paragraph(_POSTERIOR),
        *_sample(document.posterior, document, "The largest degree of models with other probabilities"),
        Heading("The next model", "next-model"),
        Paragraph(_NEXT),
        *_sample(document.next_model, document, "The largest degree of the next model"),
        *_patterns(document),
        *_rows_needed(document),
        Heading("What this does not say"),
        Paragraph(_LIMITS),
    ]
    return made


def _between(limits: tuple[float, float]) -> str:
    return (
        f"{percent(limits[0])} to {percent(limits[1])}" if limits[0] > 0 else f"at most {percent(limits[1])}"
    )


def _sample(sample: SampleRecord, document: Stability, heading: str) -> Iterator[Block]:
    total = document.draws
    rows = [("δ-fair", sample.delta_fair), ("not δ-fair", sample.not_delta_fair)]
    if sample.undecided:
        rows.append(("not decided, and not counted as δ-fair", sample.undecided))
    facts = [(name, f"{number:,} of {total:,} draws ({percent(number / total)})") for name, number in rows]
    facts.append(("Probability of δ-fair", f"{_between(sample.probability)} (95% limits)"))
    yield Facts(tuple(facts))
    yield Table(
        "",
        ("Share of draws", "Largest degree at most", "95% limits"),
        [
            (
                f"{100 * float(quantile.share):g}%",
                size(quantile.degree, document.delta),
                " to ".join(size(limit, document.delta) for limit in quantile.limits),
            )
            for quantile in sample.quantiles
        ],
        2,
        "figures",
    )
    if sample.bars:
        marks = (
            [(bar.low, bar.delta_fair, bar.not_delta_fair) for bar in sample.bars],
            sample.bar_width,
            float(document.delta),
        )
        chart, narrow = charts.Histogram.of(*marks), charts.Histogram.of(*marks, width=charts.NARROW)
        says = f"How many of {total:,} drawn models have which largest degree."
        yield Picture("histogram", chart, says, heading, f"{heading.split()[-1]}-histogram", narrow)


def _patterns(document: Stability) -> Iterator[Block]:
    if not document.patterns:
        return
    total = document.draws
    yield Heading("Which patterns carry it", "carried")
    yield Paragraph(
        "By the draws of the probabilities behind the data: how often what is disclosed is that of the worst "
        "pattern, in whatever context; and how often single patterns are the worst, or discriminate at all."
    )
    yield Table(
        "",
        ("Disclosed", "Worst"),
        [(values(row.sensitive_values), percent(row.worst / total)) for row in document.carried_by],
        1,
        "carriers",
    )
    yield Table(
        "",
        ("#", "Disclosed", "Given", "Worst", "Discriminates"),
        [
            (
                str(place),
                values(row.sensitive_values),
                values(row.context_values, "nothing else known"),
                percent(row.worst / total),
                percent(row.discriminates / total),
            )
            for place, row in enumerate(document.patterns, start=1)
        ],
        2,
        "patterns carried",
    )


def _rows_needed(document: Stability) -> Iterator[Block]:
    needed = document.rows_needed
    if needed is None:
        return
    yield Heading(f"How many rows it takes for an interval no wider than {needed.width}", "rows-needed")
    tried = plural(len(needed.tried), "number")
    yield Paragraph(
        f"With {needed.rows:,.15g} rows in the same shares the middle 95% of the draws are no wider."
        if needed.rows is not None
        else f"None of the {tried} of rows that were tried is enough."
    )
    yield Table(
        "",
        ("Rows", "Width of the middle 95%"),
        [(whole(round(row.rows)), rounded(row.width)) for row in needed.tried],
        1,
        "curve",
    )
