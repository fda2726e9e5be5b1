"""Names stay inert, bounds are told as bounds, and every verdict has its words."""

from __future__ import annotations

from typing import Any

import pytest

from auditor.choices import ListName, Verdict
from auditor.documents.approvals import ApprovedGroupRecord, ApprovedTable, CutoffRecord
from auditor.documents.audit import DegreeRecord
from auditor.documents.comparison import CertificateSide
from auditor.documents.criteria import WORDS, filled
from auditor.messages import visible
from auditor.report import markdown, sections
from auditor.report.blocks import Paragraph, written
from auditor.report.figures import margin
from auditor.report.sections import approvals, changes, method
from auditor.report.sections.cover import claim
from auditor.report.sections.explored import explored
from auditor.report.sections.worst import counted, largest
from auditor.report.subject import Stated, Subject
from auditor.report.text import verdict_line
from auditor.report.wording import NOTHING_TO_FIND, least, list_heading, sentence, worst_heading
from tests.report import subjects
from tests.report.documents import audit_document, model, pattern


def plain(text: str) -> str:
    return written(text, str, lambda attribute, value: f"{attribute}: {value}" if attribute else value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("left\u202eright", "left\\u202eright"),
        ("no\xa0break", "no\xa0break"),
        ("Ärzte – 医者", "Ärzte – 医者"),
    ],
)
def test_names_are_shown_without_control_characters(name: str, text: str) -> None:
    assert visible(name) == text


def test_sentences() -> None:
    disclosing = "Disclosing Sex: Female, Age: Over 30"
    assert plain(sentence(pattern(), "Granted")) == (
        f"{disclosing} raises P(Granted) from 50.00% to 75.00% for people with Level: 3 or 4."
    )
    lowers = pattern(degree=-0.1, favourable_given_pattern=0.4, context_values={})
    assert plain(sentence(lowers, "Granted")) == (
        f"{disclosing} lowers P(Granted) from 50.00% to 40.00% for people of whom nothing else is known."
    )
    assert "leaves P(Granted) at 50.00%" in sentence(pattern(degree=0.0), "Granted")


@pytest.mark.parametrize(
    ("verdict", "said", "limit"),
    [
        ("delta-fair", "Shown: disclosing", "at most"),
        ("not-delta-fair", "Found: in at least one context, disclosing", "more than"),
        ("inconclusive", "Neither shown nor refuted: disclosing", "at most"),
    ],
)
def test_claims(verdict: Verdict, said: str, limit: str) -> None:
    document = audit_document(verdict=verdict)
    assert claim(Stated.of_audit(document)).startswith(said)
    assert claim(Stated.of_audit(document)).endswith(f"changes P(Granted) by {limit} 0.1.")
    assert "at δ = 0.1 for these sensitive attributes" in verdict_line(document)
    limited = claim(Stated.of_audit(audit_document(verdict=verdict, min_probability="0.001")))
    # Once.
    first, last = "for patterns of at least 0.1% of people: disclosing", "of at least 0.001 are considered."
    assert (first in limited, limited.endswith(last)) == (
        (False, True) if verdict == "not-delta-fair" else (True, False)
    )


def test_few_patterns_without_a_degree_say_nothing_of_a_scorecard_s_points() -> None:
    still: dict[str, Any] = {"verdict": "delta-fair", "max_degree": 0.0, "max_degree_bounds": (0.0, 0.0)}
    found = audit_document(**still, model=model(undisclosed="conforming"))
    assert NOTHING_TO_FIND in claim(Stated.of_audit(found))
    few = found.model_copy(update={"min_probability": "0.5"})
    assert NOTHING_TO_FIND not in claim(Stated.of_audit(few))


def test_the_ratio_demands_a_share() -> None:
    assert filled(WORDS["ratio"].limit, "0.2", d="x").endswith("at least 0.8 times the larger")


def test_bounds_of_an_unproved_degree_are_rounded_outwards() -> None:
    search = audit_document().search.model_copy(update={"complete": False})
    document = audit_document(
        verdict="inconclusive", search=search, max_degree=0.0123456, max_degree_bounds=(0.0123456, 0.123412)
    )
    assert largest(Stated.of_audit(document)) == "at least 0.01234 (found), at most 0.1235 (proved); δ = 0.1"
    assert largest(Stated.of_audit(audit_document())) == "0.2500, above δ = 0.1"
    fair = audit_document(verdict="delta-fair", max_degree=0.1)
    assert largest(Stated.of_audit(fair)) == "0.1000, not above δ = 0.1"


def test_at_worst_is_said_only_of_what_is_proved() -> None:
    known: dict[str, Any] = {"max_degree": 0.25, "worst_pattern": pattern()}
    proved = DegreeRecord(max_degree_bounds=(0.25, 0.25), **known)
    assert worst_heading("Level", proved, "0.1", None) == "Level: +0.2500 at worst"
    limited = DegreeRecord(max_degree_bounds=(0.25, 0.5), **known)
    assert worst_heading("Level", limited, "0.1", None) == (
        "Level: at least 0.2500 (found), at most 0.5000 (proved)"
    )
    assert worst_heading("Level", DegreeRecord(**known), "0.1", None) == "Level: at least 0.2500 (found)"


def test_a_missing_count_has_its_bounds_and_its_reason() -> None:
    assert counted(Stated.of_audit(audit_document())) == "40 of 48 (83.33%), counted exactly"
    missing = audit_document(pattern_count=None, pattern_count_reason="too many")
    assert counted(Stated.of_audit(missing)) == "not counted, of 48: too many"
    bounded = missing.model_copy(update={"pattern_count_bounds": (3, 40)})
    assert counted(Stated.of_audit(bounded)) == "at least 3, at most 40, of 48: too many"


@pytest.mark.parametrize(
    ("chosen", "complete", "text"),
    [
        ("top", True, "Top 2 discrimination patterns by divergence"),
        ("top", False, "Top 2 discrimination patterns by divergence, as far as found"),
        (
            "minimal",
            True,
            "2 subset-minimal patterns (no proper part is a discrimination pattern), most prob",
        ),
        ("pareto", True, "2 Pareto-optimal patterns (no other is as good in both probability and degree"),
        ("maximal", False, "The first 2 maximal patterns (no extension is a discrimination pattern), most"),
        ("sample", True, "2 discrimination patterns drawn uniformly from all"),
    ],
)
def test_headings_of_lists(chosen: ListName, complete: bool, text: str) -> None:
    assert list_heading(chosen, 2, complete, limit=2).startswith(text)


def test_a_summary_in_another_order_does_not_claim_one() -> None:
    text = "2 subset-minimal patterns (no proper part is a discrimination pattern)"
    assert list_heading("minimal", 2, True, ordered=False) == text
    assert list_heading("minimal", 2, True) == f"{text}, most probable first"


def test_a_sample_of_all_is_called_so() -> None:
    assert list_heading("sample", 2, True, limit=3) == "2 discrimination patterns, all that there are"


@pytest.mark.parametrize(
    ("unproved", "text"),
    [
        (
            2,
            "5 maximal patterns (no extension is a discrimination pattern), most probable first; the first",
        ),
        (
            5,
            "5 maximal patterns (no extension is a discrimination pattern), most probable first; others",
        ),
    ],
)
def test_headings_of_lists_that_are_not_proved(unproved: int, text: str) -> None:
    assert list_heading("maximal", 5, complete=False, unproved=unproved).startswith(text)


def test_of_what_may_be_missing_it_is_said_how_many_people_it_has_at_most() -> None:
    found = list_heading("maximal", 5, complete=False, unproved=5, missing_at_most=2.71801e-14)
    assert found.endswith("most probable first; others of at most 2.719e-12% of people may come before them")


def test_an_unfinished_list_of_nothing_is_no_list_of_the_first() -> None:
    found = list_heading("maximal", 0, complete=False)
    assert found == (
        "No maximal pattern was found (no extension is a discrimination pattern); there may be some"
    )


def test_numbers_beyond_reading_are_shortened() -> None:
    assert counted(Stated.of_audit(audit_document(pattern_count=10**40, total_patterns=3 * 10**40))) == (
        "about 1.000e+40 of about 3.000e+40 (33.33%), counted exactly"
    )


def test_what_was_not_settled_is_not_called_settled() -> None:
    search = audit_document().search.model_copy(update={"complete": False, "reasons": ("not proved",)})
    assert explored(search) == (
        "1 of 8 combinations of sensitive values searched one by one; 21 nodes expanded for the top list; "
        "0.012 seconds. Not proved."
    )


def test_nothing_searched_one_by_one_has_no_others() -> None:
    search = audit_document().search.model_copy(update={"combinations_solved": 0})
    assert explored(search).startswith("All 8 combinations of sensitive values settled by bounds; 21 nodes")


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ((0.5, 0.25), "Sex: widest gap of two groups 0.2500, from 25.00% (Sex: b) to 50.00% (Sex: a)."),
        ((0.5, 0.5), "Sex: all groups are approved equally often (50.00%)."),
    ],
)
def test_approvals_have_a_gap_only_where_they_differ(rates: tuple[float, float], said: str) -> None:
    groups = tuple(
        ApprovedGroupRecord(values={"Sex": value}, probability=0.5, approved=rate, impact_ratio=None)
        for value, rate in zip("ab", rates, strict=True)
    )
    cutoff = CutoffRecord(
        cutoff="0.5",
        unit="probability",
        approved=0.5,
        groups=(ApprovedTable(attributes=("Sex",), groups=groups, pairs=()),),
        patterns=(),
    )
    audit = audit_document(cutoff=cutoff)
    blocks = approvals.section(Subject(Stated.of_audit(audit), audit))
    assert blocks
    assert isinstance(blocks[2], Paragraph)
    assert plain(blocks[2].text) == said


def test_no_digit_of_a_threshold_is_lost() -> None:
    said = filled(WORDS["ratio"].limit, f"0.{'0' * 40}1", d="yes")
    assert f"at least 0.{'9' * 41} times" in said
    assert least(f"0.{'0' * 40}1") == f"at least 0.{'0' * 38}1%"


def test_what_is_found_above_a_threshold_is_told_above_it_where_more_is_open() -> None:
    # The lower end is rounded down, to the threshold itself.
    found = audit_document(delta="0.3", max_degree=0.30000000000000004, max_degree_bounds=(0.3, 1.0))
    search = found.search.model_copy(update={"complete": False})
    stated = Stated.of_audit(found.model_copy(update={"search": search}))
    assert largest(stated) == "at least 0.30000000000000004 (found), at most 1.000 (proved); δ = 0.3"


@pytest.mark.parametrize(
    ("delta", "degree", "bounds", "below"),
    [
        ("0.1", 0.0625, (0.0625, 0.0625), "0.037"),
        # The search for the worst pattern ended early: what is proved counts, not what was found.
        ("0.1", 0.05, (0.05, 0.09), "0.010"),
        ("0.1", 0.05, (0.05, 0.1), "less than 0.0000000000000001"),
        ("0.09999999999999999999", 0.1, (0.1, 0.1), "less than 0.0000000000000001"),
    ],
)
def test_the_margin_is_what_is_proved_of_it(
    delta: str, degree: float, bounds: tuple[float, float], below: str
) -> None:
    found = audit_document(
        verdict="delta-fair", delta=delta, max_degree=degree, max_degree_bounds=bounds, pattern_count=0
    )
    search = found.search.model_copy(update={"complete": bounds[0] == bounds[1]})
    stated = Stated.of_audit(found.model_copy(update={"search": search}))
    assert stated.margin is not None
    assert margin(stated.margin) == below


@pytest.mark.parametrize(
    ("delta", "ends", "text"),
    [
        ("0.1000999999999999999999", ("0.1001", "0.1001"), "0.1001"),
        ("0.1001000000000000000001", ("0.1001", "0.1001"), "0.1001"),
        ("0.3", ("0.1", "0.3"), "at least 0.1000 (found), at most 0.3000 (proved)"),
    ],
)
def test_the_largest_degree_of_a_certificate_is_on_its_side_of_delta(
    delta: str, ends: tuple[str, str], text: str
) -> None:
    side = CertificateSide(
        id="0" * 32,
        sha256="0" * 64,
        model="Credit",
        model_sha256="0" * 64,
        favourable="Granted",
        verdict="delta-fair",
        criterion="difference",
        delta=delta,
        min_probability=None,
        max_degree=ends,
        pattern_count=0,
        total_patterns=48,
    )
    assert changes.largest(side) == text


def test_what_is_not_proved_is_called_the_worst_found() -> None:
    """Of an undecided audit nothing is the worst of all."""
    audit = subjects.undecided().audit
    assert audit
    said = markdown.laid_out(sections.whole(subjects.of_audit(audit)))
    assert "the worst found, above" in said
    assert "the worst of all, above" not in said


def test_colours_are_explained_only_where_there_are_some() -> None:
    for delta, found in (("0.1", True), ("0.45", False)):
        said = markdown.laid_out(sections.whole(subjects.audited("compas", delta)))
        assert ("the stronger the colour" in said) == found
        assert (f"None that was found is above δ = {delta}." in said) != found


def test_without_a_population_no_word_is_explained_that_needs_one() -> None:
    declared = [audit_document(model=model(undisclosed=term)) for term in ("conforming", "declared")]
    for document, there in zip(declared, (True, False), strict=True):
        said = markdown.laid_out(method.limits(subjects.of_audit(document)) or ())
        assert ("| Divergence |" in said, "| Pareto front |" in said) == (there, there)


def test_a_long_worked_example_has_its_table() -> None:
    said = markdown.laid_out(sections.whole(subjects.undecided()))
    assert "| Nothing |" in said
