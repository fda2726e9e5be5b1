"""One answer to one question: the only door to the engine.

Whatever is shown, signed or compared is taken from an `Answer`. It keeps every pattern that any of its
searches found, so that no bound in it is worse than a pattern that stands elsewhere in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, chain, combinations_with_replacement
from typing import TYPE_CHECKING, get_args

from auditor.choices import ListName, RankBy, Verdict
from auditor.errors import InputError
from auditor.model.additive import AdditiveModel
from auditor.model.classifier import Classifier, has_population
from auditor.model.cutoff import Cutoff
from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.search.additive.engine import Engine, Point
from auditor.search.additive.exponentials import Exponentials
from auditor.search.additive.ranking import Ranking
from auditor.search.additive.summaries import Summary
from auditor.search.additive.tables import exact_of
from auditor.search.criteria import Criterion
from auditor.search.figure import ALL, GROUP, Figure, Figures, among, disclosing, individual, probable
from auditor.search.groups import Groups, groups_of
from auditor.search.pattern import Pattern
from auditor.search.pattern_count import PatternCount
from auditor.search.question import Question, Share, undisclosed

if TYPE_CHECKING:
    from auditor.search.approvals import Approvals, Scores
    from auditor.search.card_reach import CardExtreme, CardReach, Margin
    from auditor.search.populations import PopulationReach
    from auditor.search.ranges import ModelSet
    from auditor.search.reach import LargestBox, Reach
    from auditor.search.reach_counts import SetCounts

#: Called with a few words whenever the next part of long work begins.
Progress = Callable[[str], None]

#: Shares of people for each of which the worst degree is told, beside that of all patterns in scope.
_SHARES = tuple(map(Share.of, ("0.1", "0.01", "0.001", "0.0001")))
#: Thresholds at each of which patterns are counted, beside that of the question.
_THRESHOLDS = tuple(
    Share.of(f"0.{digits}")
    for digits in (
        *("01", "02", "03", "04", "05", "06", "07", "08", "1", "12"),
        *("15", "2", "25", "3", "4", "5", "6", "7", "8", "9"),
    )
)
#: Sensitive attributes up to which every pair of them is searched, and each of them.
_PAIRED, _SEARCHED = 10, 64
#: Patterns drawn one by one in an illustration; of more than these a uniform sample is.
_CLOUD = 1_000
#: Patterns that each ranking points out in an illustration, and on the Pareto front.
_MARKED, _FRONT = 10, 40


@dataclass(frozen=True)
class Wanted:
    """What an answer is to have beyond the verdict and the largest degree."""

    top: int = 0
    """Patterns in the top list; 0 for none."""
    rank_by: RankBy | None = None
    """None for divergence, or degree where there are no probabilities."""
    minimal: int = 0
    """Subset-minimal patterns to list."""
    details: bool = False
    """The worst degree by level, attribute and share of people, and the groups."""
    illustration: bool = False
    """The worst degree of each pair of attributes, and points to draw."""
    cutoff: Cutoff | None = None
    """With it, rates of approval of listed patterns and, with details, of groups; of scorecards only."""
    sets: tuple[ModelSet, ...] = ()
    """Sets of models about the model, for each of which to say what holds for all; of naive Bayes only."""
    margins: tuple[Margin, ...] = ()
    """By how much the numbers of a scorecard may be off, for each of which to say what holds for all."""
    largest_box: bool = False
    """Up to which box the verdict holds for all models in it."""
    every_population: bool = False
    """What holds in every population; of scorecards only."""
    count: bool = True
    """The number of patterns. Without it the verdict rests on the search for the worst one alone."""


@dataclass(frozen=True)
class ByAttribute:
    """The patterns that disclose one sensitive attribute."""

    attribute: int
    any: Figure
    alone: Figure
    """Of those that disclose it alone or with others, and of those that disclose it alone."""
    count: tuple[int, int]
    """At least and at most so many of the first kind are discrimination patterns."""


@dataclass(frozen=True)
class Illustration:
    """Patterns to be drawn; nothing is decided by them."""

    points: tuple[Point, ...]
    sampled: bool
    """Whether the points are a uniform sample rather than all patterns."""
    front: Summary
    """Patterns that no other beats in both."""
    marked: tuple[tuple[RankBy, Ranking], ...]
    """The first of each ranking."""


@dataclass(frozen=True)
class HowFar:
    """How far the verdict reaches beyond the model itself."""

    sets: tuple[tuple[ModelSet, Reach, SetCounts], ...]
    cards: tuple[tuple[Margin, CardReach, SetCounts], ...]
    largest_box: LargestBox | None
    """None if not wanted, or the verdict is inconclusive."""
    populations: PopulationReach | None


@dataclass(frozen=True)
class Answer:
    """What is known: for each figure what was found and what was proved."""

    question: Question
    wanted: Wanted
    rank_by: RankBy
    """Of the top list."""
    model: Classifier
    """With the attributes of the question marked as sensitive."""
    verdict: Verdict
    largest: Figure
    """Of all patterns in scope."""
    count: PatternCount
    """The number of discrimination patterns in scope, and how each set of attributes was decided."""
    solved: int
    total: int
    """Combinations of sensitive values that were searched one by one for `largest`, and all of them."""
    group: Figure | None
    individual: Figure | None
    """Of patterns without context, and of those that disclose every attribute; None if not wanted."""
    by_attribute: tuple[ByAttribute, ...]
    by_share: tuple[tuple[Share, Figure], ...]
    by_pair: tuple[tuple[tuple[int, int], Figure], ...]
    """Of patterns that disclose no sensitive attributes but these; empty if there are too many pairs."""
    top: Ranking | None
    minimal: Summary | None
    """None if not wanted, or where no population is assumed: the list is by probability."""
    groups: tuple[Groups, ...]
    illustration: Illustration | None
    approvals: Approvals | None
    """A measure beside the search."""
    how_far: HowFar | None
    """None if nothing of it is wanted."""
    by_threshold: tuple[tuple[Share, tuple[int, int]], ...]
    """At least and at most how many patterns there are above other thresholds; empty unless illustrated."""
    out_of_time: bool
    """Whether the limit of time was reached."""


def answer(
    model: Classifier,
    question: Question,
    wanted: Wanted = Wanted(),
    progress: Progress = lambda stage: None,
) -> Answer:
    """Answer a question about a model, by the search for the worst pattern and by the count of all.

    Parameters
    ----------
    progress : callable, optional
        Called with a few words at the start of each part of the work.

    Raises
    ------
    InputError
        If the question is about attributes that the model hasn't, or about probabilities or approvals and
        the model assumes no population; or something is wanted that goes with another kind of model.
    RuntimeError
        If the two algorithms disagree. That is a bug, and no verdict may stand on it.
    """
    model = question.put_to(model)
    rank_by, populated = ranking(model, wanted.rank_by), has_population(model)
    # Refuses what can't be measured before the search begins.
    scores = _scores(model, wanted.cutoff)
    populations = _populations(model, question, wanted)
    groups = groups_of(model) if wanted.details else ()
    engine = _engine(model, question)
    attributes = model.sensitive if wanted.details else ()
    pairs = _pairs(model) if wanted.illustration else ()
    shares = _shares(question) if wanted.details and populated else ()
    progress("searching the worst pattern")
    worst = engine.worst()
    figures = Figures()
    figures.add(ALL, worst)
    top = minimal = illustration = None
    if wanted.top:
        progress(f"searching the top {wanted.top} by {rank_by}")
        top = engine.top(wanted.top, rank_by)
        figures.seen += top.patterns
    if wanted.minimal and populated:
        progress("searching subset-minimal patterns")
        minimal = engine.minimal(wanted.minimal)
        figures.seen += minimal.patterns
    if wanted.details:
        progress("searching the worst patterns of each kind")
        figures.add(GROUP, engine.group_level())
        figures.add(individual(model), engine.worst(individual=True))
        searched = len(attributes) <= _SEARCHED
        for i in attributes:
            figures.add(disclosing(i), engine.worst(disclosing=i, searched=searched))
            figures.add(among(i, i), engine.worst(only=(i,), searched=searched))
        if shares:
            by_share = engine.worst_by_share([share.value for share in shares[:-1]])
            for share, found in zip(shares, (*by_share, worst), strict=True):
                figures.add(probable(share), found)
    if wanted.illustration:
        progress("drawing patterns")
        for pair in pairs:
            figures.add(among(*pair), engine.worst(only=pair))
        if populated:
            illustration = _illustration(engine)
            figures.seen += illustration.front.patterns
            figures.seen += chain.from_iterable(ranking.patterns for _, ranking in illustration.marked)
    # A longer search must not know less: what it left for a worse pattern stays known of other figures.
    figures.seen += engine.seen
    progress("counting patterns")
    # Counting comes last: it can take longest, and nothing else needs it.
    threshold = question.criterion.threshold
    # If the search has shown that there is no pattern, an enclosure of their number has nothing to add.
    count = PatternCount(0, model.total_patterns(), "it was not asked for", ())
    if wanted.count:
        count = engine.count(enclosed=worst.upper > threshold)
    if count.lower and not any(abs(pattern.degree) > threshold for pattern in figures.seen):
        # The searches ended too early to find one of the patterns that were counted.
        figures.seen += engine.among(count)
    seen = {(frozenset(p.sensitive_values), frozenset(p.context_values)): p for p in figures.seen}
    sizes = [abs(pattern.degree) for pattern in seen.values()]
    count = count.having_seen(
        tuple(sorted(i for i, _ in x)) for (x, _), size in zip(seen, sizes, strict=True) if size > threshold
    )
    sets = _sets(model, question, wanted, figures.seen, count, progress)
    cards = _cards(model, question, wanted, figures.seen, count, progress)
    uppers = [found.upper for _, found, _ in sets] + [found.upper for _, found, _ in cards]
    uppers += [populations.upper] if populations else []
    ceiling = min([*uppers, threshold if count.upper == 0 else Fraction(1)])
    figures.settle(ceiling, [disclosing(i) for i in attributes], engine.is_probable)
    largest = figures[ALL]
    verdict = _verdict(largest, count, threshold)
    if verdict == "delta-fair" and (
        count.upper or any(entry.method == "enclosed" for entry in count.coverage)
    ):
        # The search for the worst pattern has shown that there is none to count.
        count = engine.no_patterns()
    return Answer(
        question=question,
        wanted=wanted,
        rank_by=rank_by,
        model=model,
        verdict=verdict,
        largest=largest,
        count=count,
        solved=worst.solved,
        total=worst.total,
        group=figures.get(GROUP),
        individual=figures.get(individual(model)),
        by_attribute=tuple(
            ByAttribute(i, figures[disclosing(i)], figures[among(i, i)], count.disclosing(i))
            for i in attributes
        ),
        by_share=tuple((share, figures[probable(share)]) for share in shares),
        by_pair=tuple((pair, figures[among(*pair)]) for pair in pairs),
        top=top,
        minimal=minimal,
        groups=groups,
        illustration=illustration,
        approvals=_approvals(scores, groups, largest.witness, top, minimal),
        how_far=_how_far(model, question, wanted, verdict, sets, cards, populations, progress),
        by_threshold=_by_threshold(engine, question, largest, count, sizes) if wanted.illustration else (),
        out_of_time=question.limits.expired(),
    )


def list_patterns(
    model: Classifier, question: Question, choose: ListName, limit: int, rank_by: RankBy | None = None
) -> Ranking | Summary:
    """Discrimination patterns of one kind, as many as asked for.

    Raises
    ------
    InputError
        If a sample is asked of patterns that can't be counted, or a list by probability of a model that
        assumes no population.
    """
    model = question.put_to(model)
    engine = _engine(model, question)
    if choose not in ("top", "sample") and not has_population(model):
        raise InputError(
            f"summary: a list that is {choose} goes by probability, and no population is assumed where what "
            f"isn't disclosed is {undisclosed(model)}; list the top patterns, which are ranked by degree"
        )
    match choose:
        case "top":
            return engine.top(limit, ranking(model, rank_by))
        case "minimal":
            return engine.minimal(limit)
        case "pareto":
            return engine.pareto(limit)
        case "maximal":
            return engine.maximal(limit)
        case "sample":
            if question.min_probability is not None:
                raise InputError("a sample is drawn from all patterns; leave out the minimum probability")
            sample = engine.sample(limit)
            if sample is None:
                raise InputError("the patterns are too many to be counted, and so to be sampled uniformly")
            return Summary(sample, complete=True)


def measured(model: Classifier, criterion: Criterion, x: Assignment, y: Assignment) -> Pattern:
    """The pair (x, y) of a model of any family, exactly, or to 40 digits where its degree is irrational.

    Raises
    ------
    ValueError
        If it can't occur, ``P(xy) = 0``.
    """
    return exact_of(model).measure(criterion, x, y)


def rounded(model: AdditiveModel, pattern: Pattern, places: int) -> tuple[Fraction, ...]:
    """Figures of a pattern of a scorecard to decimal places, as `Exponentials.rounded` gives them."""
    return Exponentials(model).rounded(pattern, places)


def is_probable(model: Classifier, x: Assignment, least: Fraction) -> bool:
    """Whether a pair (x, ∅) has a minimum probability, exactly."""
    return exact_of(model).probable(x, (), least)


def ranking(model: Classifier, rank_by: RankBy | None) -> RankBy:
    """By what the top patterns of a model are ranked.

    Raises
    ------
    InputError
        If that takes probabilities, and the model assumes no population.
    """
    if has_population(model):
        return rank_by or "divergence"
    if rank_by not in (None, "discrimination"):
        raise InputError(
            f"rank by: {rank_by} takes probabilities, and no population is assumed where what isn't "
            f"disclosed is {undisclosed(model)}; rank by discrimination, which is the degree"
        )
    return "discrimination"


def _engine(model: Classifier, question: Question) -> Engine:
    least = None if question.min_probability is None else question.min_probability.value
    return Engine(model, question.criterion, least, question.limits)


def _verdict(largest: Figure, count: PatternCount, threshold: Fraction) -> Verdict:
    refuted, proved = largest.lower > threshold, largest.upper <= threshold
    if (refuted and count.upper == 0) or (proved and count.lower):
        raise RuntimeError("the search for the worst pattern and the count of all patterns disagree")
    if refuted or count.lower:
        return "not-delta-fair"
    return "delta-fair" if proved else "inconclusive"


def _shares(question: Question) -> tuple[Share, ...]:
    """The shares of people that narrow the scope, the largest first; at the end the one that doesn't."""
    least = question.min_probability or Share.of("0")
    return (*(share for share in _SHARES if share.value > least.value), least)


def _by_threshold(
    engine: Engine, question: Question, largest: Figure, count: PatternCount, seen: Sequence[Fraction]
) -> tuple[tuple[Share, tuple[int, int]], ...]:
    """At least and at most how many patterns there are above each threshold, the lowest first.

    What isn't counted is bounded by the thresholds beside it, since the number falls as the threshold rises,
    and by the |degrees| of the patterns that searches have seen.
    Nothing where the question has a minimum probability: each threshold would take a count of its own.
    """
    if question.min_probability is not None:
        return ()
    delta = question.delta
    others = [share for share in _THRESHOLDS if share.value != delta.value]
    shares = sorted([*others, delta], key=lambda share: share.value)
    open_ones = [share for share in others if share.value < largest.upper]
    found = dict(zip(open_ones, engine.counts([share.value for share in open_ones]), strict=True))
    found[delta] = count.lower, count.upper
    bounds = [found.get(share, (0, 0)) for share in shares]
    # What searches have found is there as well, whatever was counted.
    known = (sum(size > share.value for size in seen) for share in reversed(shares))
    lows = map(max, (low for low, _ in reversed(bounds)), known)
    lowers = list(accumulate(lows, max))
    uppers = accumulate((high for _, high in bounds), min)
    return tuple(zip(shares, zip(reversed(lowers), uppers, strict=True), strict=True))


def _pairs(model: Classifier) -> tuple[tuple[int, int], ...]:
    """Every sensitive attribute with itself and with every later one; none at all if there are too many."""
    if len(model.sensitive) > _PAIRED:
        return ()
    return tuple(combinations_with_replacement(model.sensitive, 2))


def _scores(model: Classifier, cutoff: Cutoff | None) -> Scores | None:
    if cutoff is None:
        return None
    if not isinstance(model, AdditiveModel):
        raise InputError("cutoff: rates of approval are a scorecard's; leave the cut-off out")
    from auditor.search.approvals import Scores

    return Scores(model, cutoff)


def _approvals(
    scores: Scores | None,
    groups: tuple[Groups, ...],
    worst: Pattern | None,
    *lists: Ranking | Summary | None,
) -> Approvals | None:
    if scores is None:
        return None
    from auditor.search.approvals import approvals_of

    listed = chain(filter(None, [worst]), *(found.patterns for found in lists if found))
    return approvals_of(scores, groups, listed)


def _populations(model: Classifier, question: Question, wanted: Wanted) -> PopulationReach | None:
    """What holds in every population, if that is wanted; refuses what doesn't go with the model."""
    of_others = {
        "sets": wanted.sets and isinstance(model, AdditiveModel),
        "margins": wanted.margins and isinstance(model, NaiveBayes),
        "any population": wanted.every_population and isinstance(model, NaiveBayes),
    }
    if not any([wanted.sets, wanted.margins, wanted.largest_box, wanted.every_population]):
        return None
    others = "naive Bayes models" if isinstance(model, AdditiveModel) else "scorecards"
    problems = [f"{name}: it is of {others}; leave it out" for name, asked in of_others.items() if asked]
    if question.min_probability is not None:
        problems.append(
            "minimum probability: other models give patterns other probabilities; leave it out where the "
            "question is about many models or populations"
        )
    if problems:
        raise InputError(problems)
    if not wanted.every_population:
        return None
    assert isinstance(model, AdditiveModel), "others were refused"
    from auditor.search.populations import in_every_population

    return in_every_population(model, question.criterion)


def _sets(
    model: Classifier,
    question: Question,
    wanted: Wanted,
    seen: Sequence[Pattern],
    count: PatternCount,
    progress: Progress,
) -> tuple[tuple[ModelSet, Reach, SetCounts], ...]:
    """What holds for all models of each set that is wanted, the audited one among them."""
    if not isinstance(model, NaiveBayes) or not wanted.sets:
        return ()
    from auditor.search.reach import extreme_of, reach
    from auditor.search.reach_counts import count_in_set

    worst = max(seen, key=lambda pattern: abs(pattern.degree), default=None)
    known = extreme_of(model, worst) if worst else None
    criterion, limits = question.criterion, question.limits
    found = []
    for models in wanted.sets:
        progress("searching a set of models")
        ranges = replace(models.ranges, sensitive=model.sensitive)
        reached = reach(ranges, criterion, limits, known)
        progress("counting patterns in a set of models")
        counts = count_in_set(ranges, criterion, reached.verdict, (count.lower, count.upper), limits)
        found.append((models, reached, counts))
    return tuple(found)


def _cards(
    model: Classifier,
    question: Question,
    wanted: Wanted,
    seen: Sequence[Pattern],
    count: PatternCount,
    progress: Progress,
) -> tuple[tuple[Margin, CardReach, SetCounts], ...]:
    """What holds for all scorecards of each set that is wanted, the audited one among them.

    Raises
    ------
    RuntimeError
        If a pattern of the audited one contradicts that. That is a bug, and no verdict may stand on it.
    """
    if not isinstance(model, AdditiveModel) or not wanted.margins:
        return ()
    from auditor.search.card_counts import count_in_cards
    from auditor.search.card_reach import card_reach

    progress("searching a set of scorecards")
    criterion, limits = question.criterion, question.limits
    worst = max(seen, key=lambda pattern: abs(pattern.degree), default=None)
    found = []
    for margin in wanted.margins:
        reached = card_reach(model, margin, criterion, limits)
        if worst and abs(worst.degree) > reached.upper:
            raise RuntimeError("the audited scorecard has a pattern whose degree is above the proved bound")
        if worst and abs(worst.degree) > (abs(reached.largest.degree) if reached.largest else 0):
            # The search of the set ended before it came to the scorecard itself.
            reached = replace(reached, largest=_as_audited(worst))
        progress("counting patterns in a set of scorecards")
        counts = count_in_cards(model, margin, criterion, reached.verdict, (count.lower, count.upper), limits)
        found.append((margin, reached, counts))
    return tuple(found)


def _as_audited(pattern: Pattern) -> CardExtreme:
    """A pattern in the audited scorecard, which each set has."""
    from auditor.search.card_reach import CardExtreme

    return CardExtreme(
        pattern.sensitive_values,
        pattern.context_values,
        0,
        Decimal(0),
        pattern.favourable_given_pattern,
        pattern.favourable_given_context,
        pattern.degree,
    )


def _how_far(
    model: Classifier,
    question: Question,
    wanted: Wanted,
    verdict: Verdict,
    sets: tuple[tuple[ModelSet, Reach, SetCounts], ...],
    cards: tuple[tuple[Margin, CardReach, SetCounts], ...],
    populations: PopulationReach | None,
    progress: Progress,
) -> HowFar | None:
    if not (sets or cards or wanted.largest_box or wanted.every_population):
        return None
    from auditor.search.card_reach import card_box, holds_for_cards
    from auditor.search.ranges import box
    from auditor.search.reach import decided, largest_box

    largest, fair = None, verdict == "delta-fair"

    def holds(share: Fraction) -> bool | None:
        criterion, limits = question.criterion, question.limits
        if isinstance(model, NaiveBayes):
            return decided(box(model, share), criterion, fair=fair, limits=limits)
        return holds_for_cards(model, card_box(share), criterion, fair=fair, limits=limits)

    if wanted.largest_box and verdict != "inconclusive":
        progress("searching the largest box")
        largest = largest_box(holds, fair=fair)
    return HowFar(sets, cards, largest, populations)


def _illustration(engine: Engine) -> Illustration:
    rankings: Sequence[RankBy] = get_args(RankBy)
    points = engine.sample_points(_CLOUD) or ()
    return Illustration(
        points=points,
        sampled=len(points) == _CLOUD,
        front=engine.pareto(_FRONT),
        marked=tuple((rank_by, engine.top(_MARKED, rank_by)) for rank_by in rankings),
    )
