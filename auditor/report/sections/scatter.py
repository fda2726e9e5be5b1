"""All patterns as dots: how severe, and for how many."""

from __future__ import annotations

from auditor.report.blocks import Blocks, Picture
from auditor.report.figures import whole
from auditor.report.subject import Subject

#: Fewer patterns need no picture.
_FEWEST_DOTS = 3


def section(subject: Subject) -> Blocks:
    """Make the section."""
    audit = subject.audit
    drawn = audit and audit.illustration
    if not audit or not drawn or len(drawn.points or drawn.front) < _FEWEST_DOTS:
        return None
    number, total = whole(len(drawn.points)), whole(audit.pattern_count)
    if not drawn.points:
        dots = "The patterns are too many to be counted; only those that a ranking points out are drawn."
    elif audit.min_probability is not None:
        dots = f"Each dot is one of {number} discrimination patterns of any probability, also of those below "
        dots += f"{audit.min_probability}."
    elif drawn.sampled:
        dots = f"Each dot is one of {number} discrimination patterns drawn uniformly from all {total}."
    else:
        dots = f"Each dot is one of the {number} discrimination patterns; all are drawn."
    front = "" if drawn.front_complete else "; it is drawn as far as it was found"
    says = (
        f"{dots} Patterns further up are more severe, patterns further right describe more people. Along the "
        f"line (the Pareto front) no pattern is beaten in both{front}. The picture illustrates; no claim "
        "rests on it."
    )
    from auditor.report import charts

    marks = drawn.points, drawn.front, tuple(drawn.marked.items()), float(audit.delta)
    chart, narrow = charts.Scatter.of(*marks), charts.Scatter.of(*marks, width=charts.NARROW)
    return [Picture("scatter", chart, says, "How severe, and for how many", "scatter", narrow)]
