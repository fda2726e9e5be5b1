"""Writes RESULTS.md and its figures from what the experiments gave; the words are in RESULTS.md.j2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from auditor.output import write_text
from auditor.search.pattern import Pattern
from examples.paper import published
from examples.paper.accuracy import FOLDS, SMOOTHING
from examples.paper.baselines import SCOPES
from examples.paper.data import named
from examples.paper.figures import (
    iterations_figure,
    likelihood_figure,
    patterns_figure,
    scatter_figure,
)
from examples.paper.learning import AIM, DELTAS, RANK_BY, Likelihoods, Optimum
from examples.paper.mining import wrong_denominator
from examples.paper.published import KS
from examples.paper.results import Results

_METHODS = ("unconstrained", "2NB", "repaired", "δ-fair")


def write(results: Results, folder: Path) -> None:
    """Write RESULTS.md and the figures."""
    for name, drawing in {
        "scatter": scatter_figure(results),
        "likelihood": likelihood_figure(results),
        "patterns_left": patterns_figure(results),
        "iterations": iterations_figure(results),
    }.items():
        write_text(folder / f"{name}.svg", drawing)
    write_text(folder / "RESULTS.md", document(results))


def document(results: Results) -> str:
    """RESULTS.md."""
    # Markdown, not HTML: nothing is escaped, and nothing comes from outside.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    comparisons = list(compared(results))
    compas = results.climbs["compas"]["discrimination", 1, "0.1"]
    return environment.get_template("RESULTS.md.j2").render(
        sizes=_sizes(results),
        total_german=results.data["german"].model.total_patterns(),
        largest_gap=f"{largest_gap():.0e}",
        effort=[(results.data[name].title, _effort(results, name)) for name in results.data],
        nodes_compared=len(comparisons),
        nodes_below=sum(c.nodes < c.theirs for c in comparisons),
        patterns_below=sum(c.evaluated < c.theirs for c in comparisons),
        not_below=[c for c in comparisons if max(c.nodes, c.evaluated) >= c.theirs],
        near=[f"{number:,}" for number in results.near],
        facts=_facts(results),
        named_facts=_named_facts(results),
        scatter=results.scatter,
        constraints=compas[-1].constraints,
        compas_patterns=f"{compas[0].patterns:,}",
        published_constraints=published.COMPAS_CONSTRAINTS,
        iterations=_iterations(results),
        most_constraints=_most_constraints(results),
        likelihoods=_likelihoods(results),
        prices=_prices(results),
        aim=f"{AIM:%}",
        optima=_optima(results),
        starts=_starts(results),
        short=list(_short(results)),
        runs=len(KS) * len(RANK_BY),
        apart=f"{_apart(results):.0e}",
        remaining=_remaining(results),
        folds=FOLDS,
        smoothing=SMOOTHING,
        accuracies=_accuracies(results),
        two=_two_naive_bayes(results),
        repaired=_repaired(results),
        differences=list(_differences(results)),
        better=list(_better(results)),
        **_majorities(results),
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A Markdown table whose first columns are aligned left, the others right."""
    lines = ["| " + " | ".join(head) + " |"]
    lines.append("|" + "|".join("---" if i < left else "--:" for i in range(len(head))) + "|")
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def _sizes(results: Results) -> str:
    rows = []
    for name, data in results.data.items():
        sensitive, others = len(data.sensitive), len(data.model.attributes) - len(data.sensitive)
        printed = "{}, {}".format(*published.SIZES[name])
        rows.append(
            [
                data.title,
                f"{len(data.codes):,}",
                sensitive,
                others,
                printed,
                f"{data.model.total_patterns():,}",
            ]
        )
    return table(["data", "rows", "S", "N", "S, N printed", "patterns"], rows)


def largest_gap() -> float:
    """The largest relative difference between the printed shares and the nodes behind them."""
    return max(
        abs(share * wrong_denominator(name) / nodes - 1)
        for name, rankings in published.SHARES.items()
        for ranking, rows in rankings.items()
        for k, shares in rows.items()
        for share, nodes in zip(shares, published.RELEASED_SWAPPED[name][ranking][k], strict=True)
    )


def _effort(results: Results, name: str) -> str:
    total = results.data[name].model.total_patterns()
    repaired = published.REPAIRED_SWAPPED.get(name, {})
    rows = []
    for (ranking, k, delta), cell in results.right[name].items():
        column = published.DELTAS.index(delta)
        share = published.SHARES[name][ranking][k][column]
        other = results.swapped[name][ranking, k, delta]
        rows.append(
            [
                ranking,
                k,
                delta,
                f"{share:.3e}",
                f"{share * wrong_denominator(name) / total:.3e}",
                f"{published.RELEASED[name][ranking][k][column]:,}",
                f"{cell.nodes:,} / {cell.evaluated:,}",
                f"{cell.evaluated / total:.1e}",
                "" if cell.combinations is None else cell.combinations,
                f"{published.RELEASED_SWAPPED[name][ranking][k][column]:,}",
                f"{repaired[ranking][k][column]:,}" if k in repaired.get(ranking, {}) else "",
                f"{other.nodes:,} / {other.evaluated:,}",
                "" if other.combinations is None else other.combinations,
            ]
        )
    head = [
        *("ranking", "k", "δ", "printed", "corrected", "released", "ours", "share", "x"),
        *("released, swapped", "mended, swapped", "ours, swapped", "x, swapped"),
    ]
    return table(head, rows)


class Comparison(NamedTuple):
    """Our search beside the nodes of another."""

    where: str
    nodes: int
    evaluated: int
    theirs: int


def compared(results: Results) -> Iterator[Comparison]:
    """Each cell beside the released code's, and beside its mended version's where that was measured."""
    for name, data in results.data.items():
        released, as_released = published.RELEASED[name], published.RELEASED_SWAPPED[name]
        mended = published.REPAIRED_SWAPPED.get(name, {})
        for model, cells, others in (
            ("right model", results.right[name], {"released": released}),
            ("swapped model", results.swapped[name], {"released": as_released, "mended": mended}),
        ):
            for (ranking, k, delta), cell in cells.items():
                for code, nodes in others.items():
                    if k in nodes.get(ranking, {}):
                        yield Comparison(
                            f"{data.title}, {model}, {ranking}, k = {k}, δ = {delta}, {code}",
                            cell.nodes,
                            cell.evaluated,
                            int(nodes[ranking][k][published.DELTAS.index(delta)]),
                        )


def _facts(results: Results) -> str:
    right, wrong = results.compas

    def size(pattern: Pattern) -> str:
        return f"{float(abs(pattern.degree)):.4f}"

    def share(pattern: Pattern) -> str:
        return f"{float(pattern.probability):.3%}"

    degree, probability = published.COMPAS_WORST
    second, more = published.COMPAS_DIVERGENT
    return table(
        ["", "published", "ours, swapped", "ours, right"],
        [
            ["P(low or medium risk)", "", f"{float(wrong.prior):.4f}", f"{float(right.prior):.4f}"],
            ["patterns", f"{published.COMPAS_PATTERNS:,}", f"{wrong.patterns:,}", f"{right.patterns:,}"],
            ["largest degree", degree, size(wrong.worst), size(right.worst)],
            ["its probability", f"{probability:.2%}", share(wrong.worst), share(right.worst)],
            ["degree of the most divergent", second, size(wrong.divergent), size(right.divergent)],
            ["its probability", f"{more:.2%}", share(wrong.divergent), share(right.divergent)],
        ],
    )


def _named_facts(results: Results) -> list[tuple[str, str, str]]:
    right, wrong = results.compas
    model = results.data["compas"].model
    return [
        ("Largest degree", named(model, wrong.worst), named(model, right.worst)),
        ("Most divergent", named(model, wrong.divergent), named(model, right.divergent)),
    ]


def _iterations(results: Results) -> str:
    return table(
        ["data", "ranking", "k", *(f"δ = {delta}" for delta in DELTAS)],
        (
            [results.data[name].title, rank_by, k, *(found[rank_by, k, delta][-1].number for delta in DELTAS)]
            for name, found in results.climbs.items()
            for rank_by in RANK_BY
            for k in KS
        ),
        left=2,
    )


def _most_constraints(results: Results) -> str:
    most, where = max(
        (rounds[-1].constraints, f"{results.data[name].title}, {rank_by}, k = {k}, δ = {delta}")
        for name, found in results.climbs.items()
        for (rank_by, k, delta), rounds in found.items()
    )
    return f"{most:,} ({where})"


def _likelihoods(results: Results) -> str:
    rows = []
    for name, found in results.likelihoods.items():
        free, fair, same = (f"{value:,}" for value in published.LIKELIHOODS[name])
        ours = (found.unconstrained, found.fair, found.independent_mean, found.independent)
        first, second, third, fourth = (f"{value:,.2f}" for value in ours)
        most = _most(results.optima[name]["0.1"])
        rows.append([results.data[name].title, free, first, fair, second, most, same, third, fourth])
    head = [
        *("data", "unconstrained, published", "ours", "δ-fair, published", "ours", "any at most: proved"),
        *("independent, published", "ours, the same", "ours, most likely"),
    ]
    return table(head, rows)


def _most(optimum: Optimum) -> str:
    """A proved bound, rounded up."""
    return f"{optimum.bound.quantize(Decimal('0.01'), ROUND_CEILING):,}"


def _optima(results: Results) -> str:
    return table(
        ["data", "δ", "found", "any at most: proved", "gap, nats", "gap, of what fairness costs", "branches"],
        (
            [
                results.data[name].title,
                delta,
                f"{o.found:,.2f}",
                _most(o),
                _up(o.gap, 3),
                f"{_up(100 * o.share, 4)}%",
                f"{o.branches:,}",
            ]
            for name, found in results.optima.items()
            for delta, o in found.items()
        ),
        left=2,
    )


def _starts(results: Results) -> str:
    rows = []
    for name, found in results.optima.items():
        for delta, o in found.items():
            for solver, ends in o.arrivals.items():
                best, least = max(ends), min(ends)
                below = [_up(float(o.bound) - end, 3) for end in (best, least)]
                rows.append(
                    [
                        results.data[name].title,
                        delta,
                        solver,
                        len(ends),
                        f"{best:,.3f}",
                        f"{least:,.3f}",
                        *below,
                    ]
                )
    head = [
        *("data", "δ", "solver", "starts", "best start", "worst start"),
        *("best below the bound by", "worst below it by"),
    ]
    return table(head, rows, left=3)


def _up(number: float, digits: int) -> str:
    """A number rounded up."""
    return f"{ceil(number * 10**digits) / 10**digits:,.{digits}f}"


def _prices(results: Results) -> str:
    return table(
        ["data", "price", "by the published independent model", "rounds", "constraints", "largest degree"],
        (
            [
                results.data[name].title,
                f"{(f.unconstrained - f.fair) / (f.unconstrained - f.independent):.1%}",
                f"{(f.unconstrained - f.fair) / (f.unconstrained - f.independent_mean):.1%}",
                f.rounds,
                f.constraints,
                _rounded_up(f.fair_degree),
            ]
            for name, f in results.likelihoods.items()
        ),
    )


def _rounded_up(degree: Fraction) -> str:
    """Eleven decimals, never below the number."""
    units = -(-degree.numerator * 10**11 // degree.denominator)
    return f"{units / 10**11:.11f}"


class Short(NamedTuple):
    """A likelihood below the published one, and the threshold that would give the published one."""

    title: str
    ours: str
    theirs: str
    delta: str
    looser: str
    needed: str | None
    cut_off: bool
    excluded: bool


def short(title: str, theirs: int, found: Likelihoods, bound: Decimal) -> Short | None:
    """Tell whether ours is below a published value by more than its rounding."""
    if found.fair >= theirs - 0.5:
        return None
    delta, looser = found.looser
    needed = None
    if looser >= theirs:
        step = (theirs - found.fair) / (looser - found.fair) * float(Fraction(delta) - Fraction("0.1"))
        needed = f"{0.1 + step:.6f}"
    return Short(
        title,
        f"{found.fair:,.2f}",
        f"{theirs:,}",
        delta,
        f"{looser:,.2f}",
        needed,
        cut_off=int(found.fair) == theirs,
        excluded=bound < theirs - Decimal("0.5"),
    )


def _short(results: Results) -> Iterator[Short]:
    for name, found in results.likelihoods.items():
        bound = results.optima[name]["0.1"].bound
        below = short(results.data[name].title, published.LIKELIHOODS[name][1], found, bound)
        if below is not None:
            yield below


def _apart(results: Results) -> float:
    """The largest difference between the log-likelihoods to which runs of other rankings and k came."""
    return max(
        abs(rounds[-1].log_likelihood - found["discrimination", 1, delta][-1].log_likelihood)
        for found in results.climbs.values()
        for (_, _, delta), rounds in found.items()
    )


def _remaining(results: Results) -> str:
    rows: list[list[object]] = []
    for name, found in results.remaining.items():
        title = results.data[name].title
        rows.append([title, "published", *published.REMAINING[name]])
        rows += [
            [title, f"ours, {scope}", *("not counted" if n is None else f"{n:,}" for n in left)]
            for scope, left in found.items()
        ]
    return table(["data", "repair", *(f"λ = {strength}" for strength in published.LAMBDAS)], rows, left=2)


def _accuracies(results: Results) -> str:
    rows: list[list[object]] = []
    for name, found in results.accuracies.items():
        title = results.data[name].title
        means = sorted(spread.mean for spread in found.two_naive_bayes.values())
        rows.append([title, "published", *(f"{value:.3f}" for value in published.ACCURACIES[name]), ""])
        rows.append(
            [
                title,
                "ours",
                found.unconstrained,
                f"{means[0]:.3f} to {means[-1]:.3f}",
                found.repaired["sensitive too"],
                found.fair,
                f"{found.majority:.3f}",
            ]
        )
    return table(["data", "", *_METHODS, "majority"], rows, left=2)


def _two_naive_bayes(results: Results) -> str:
    return table(
        ["data", "sensitive attribute", "accuracy"],
        (
            [results.data[name].title, attribute, spread]
            for name, found in results.accuracies.items()
            for attribute, spread in found.two_naive_bayes.items()
        ),
        left=2,
    )


def _repaired(results: Results) -> str:
    return table(
        ["data", "repair", "tested on repaired rows", "on rows as they are"],
        (
            [results.data[name].title, scope, found.repaired[scope], found.repaired_training[scope]]
            for name, found in results.accuracies.items()
            for scope in SCOPES
        ),
        left=2,
    )


def _differences(results: Results) -> Iterator[str]:
    """Methods whose published accuracy is further from ours than two deviations, in the nearest variant."""
    for name, found in results.accuracies.items():
        ours = (
            [found.unconstrained],
            list(found.two_naive_bayes.values()),
            [*found.repaired.values(), *found.repaired_training.values()],
            [found.fair],
        )
        for method, theirs, spreads in zip(_METHODS, published.ACCURACIES[name], ours, strict=True):
            nearest = min(spreads, key=lambda spread: abs(spread.mean - theirs))
            if abs(nearest.mean - theirs) > 2 * nearest.deviation:
                title = results.data[name].title
                yield f"{title}, {method}: published {theirs:.3f}, the nearest of ours {nearest}"


def _better(results: Results) -> Iterator[str]:
    """Data on which fairness costs no accuracy, but gains more than the spread over folds."""
    for name, found in results.accuracies.items():
        gain = found.fair.mean - found.unconstrained.mean
        if gain > max(found.fair.deviation, found.unconstrained.deviation):
            yield results.data[name].title


def _majorities(results: Results) -> dict[str, str]:
    """Published accuracies that are those of one answer for everybody, and those below."""
    equal, below = [], []
    for name, found in results.accuracies.items():
        majority = round(found.majority, 3)
        for method, theirs in zip(_METHODS, published.ACCURACIES[name], strict=True):
            text = f"{results.data[name].title} {method} {theirs:.3f}"
            if theirs == majority:
                equal.append(text)
            elif theirs < majority:
                below.append(f"{text} (majority {majority:.3f})")
    return {"equal": "; ".join(equal) or "none", "below": "; ".join(below) or "none"}
