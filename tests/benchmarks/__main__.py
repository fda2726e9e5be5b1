"""Speed, growth and memory of the engine: ``python -m tests.benchmarks``.

Prints a table of what was measured beside what is to be reached. Seconds depend on the machine and are only
shown; counts, ratios and memory are checked, and the exit code is 1 where one is missed. The run is kept in
build/bench.json, or in another FILE that is named; what the run before left there is shown beside it.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf
from pathlib import Path
from random import Random
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from auditor.model.reading import load_naive_bayes
from auditor.search.additive.counting import count_patterns
from auditor.search.additive.engine import Engine
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.summaries import Summary
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Difference
from auditor.search.limits import Limits
from auditor.usecases.auditing import repair
from tests import vectorised
from tests.oracle import PlainAttribute, PlainModel
from tests.search.comparing import model_of, naive_bayes, plain

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
GERMAN = EXAMPLES / "german.json"


@dataclass(frozen=True)
class Row:
    """A line of the table; `met` is None where the figure is only shown."""

    what: str
    measured: str
    reach: str
    met: bool | None = None


def seconds(run: Callable[[], object], repeats: int = 9) -> float:
    """The shortest of a few runs."""

    def once() -> float:
        start = perf_counter()
        run()
        return perf_counter() - start

    return min(once() for _ in range(repeats))


def shown(duration: float) -> str:
    return f"{duration * 1000:.0f} ms" if duration < 1 else f"{duration:.2f} s"


def example(name: str, alpha: int = 0) -> LogOdds:
    spec = load_naive_bayes(EXAMPLES / f"{name}.json").model_copy(update={"smoothing": Decimal(alpha)})
    return tables_of(spec.naive_bayes())


def random_binary(number: int, sensitive: int, seed: str) -> PlainModel:
    random = Random(seed)

    def attribute(i: int) -> PlainAttribute:
        p, q = (Fraction(random.randint(5, 95), 100) for _ in range(2))
        return PlainAttribute(((p, q), (1 - p, 1 - q)), i < sensitive)

    return PlainModel(Fraction(1, 2), tuple(attribute(i) for i in range(number)))


def random_values(number: int, sensitive: int, values: int, seed: str) -> PlainModel:
    random = Random(seed)

    def row() -> list[Fraction]:
        weights = [random.randint(5, 95) for _ in range(values)]
        return [Fraction(weight, sum(weights)) for weight in weights]

    def attribute(i: int) -> PlainAttribute:
        return PlainAttribute(tuple(zip(row(), row(), strict=True)), i < sensitive)

    return PlainModel(Fraction(1, 2), tuple(attribute(i) for i in range(number)))


def in_process() -> list[Row]:
    """German, within a process that has read it."""
    german, tenth, hundredth = example("german"), Difference(Fraction("0.1")), Difference(Fraction("0.01"))
    return [
        Row(
            "German: count of 70 billion patterns",
            shown(seconds(lambda: count_patterns(german, tenth))),
            "500 ms",
        ),
        Row(
            "German: top 100 by |Δ|",
            shown(seconds(lambda: worst_patterns(german, tenth, 100, only_patterns=True))),
            "50 ms",
        ),
        Row(
            "German: top 100 by divergence, δ = .01",
            shown(seconds(lambda: top_patterns(german, hundredth, 100))),
            "100 ms",
        ),
    ]


def ten_and_twenty() -> PlainModel:
    """Ten sensitive attributes of ten values, with 2.6 × 10^10 combinations, and twenty others of five."""
    sensitive, others = random_values(10, 10, 10, "ten"), random_values(20, 0, 5, "twenty")
    return PlainModel(sensitive.prior, sensitive.attributes + others.attributes)


def copies() -> PlainModel:
    """Three hundred copies of an attribute beside five sensitive ones."""
    few, one = random_values(5, 5, 3, "few"), random_values(1, 0, 2, "one")
    return PlainModel(few.prior, few.attributes + one.attributes * 300)


def first_hundred(found: Summary) -> bool:
    """Whether the hundred most probable were found, or all where there are fewer."""
    return found.complete or len(found.patterns) == 100


#: Parts of an answer, and what each is to say to be shown as complete.
PARTS: dict[str, Callable[[Engine], bool]] = {
    "largest degree": lambda engine: engine.worst().complete,
    "top 10 by divergence": lambda engine: engine.top(10).complete,
    "top 10 by probability": lambda engine: engine.top(10, "probability").complete,
    "top 10 by |Δ|": lambda engine: engine.top(10, "discrimination").complete,
    "100 minimal patterns": lambda engine: first_hundred(engine.minimal(100)),
    "worst degree by share of people": lambda engine: all(
        worst.complete for worst in engine.worst_by_share([Fraction(1, 10**k) for k in (1, 2, 3, 4)])
    ),
}


def seconds_from_now(number: float) -> Limits:
    end = monotonic() + number
    return Limits(expired=lambda: monotonic() > end)


def many_values() -> list[Row]:
    """Models as people bring them: many values, many combinations, many attributes."""
    adult = load_naive_bayes(EXAMPLES / "adult_categories.json").naive_bayes()
    rows = []
    for title, model in (
        ("Adult, original categories", adult),
        ("German, original categories", load_naive_bayes(EXAMPLES / "german_categories.json").naive_bayes()),
        ("12 attributes of 20 values, 4 sensitive", naive_bayes(random_values(12, 4, 20, "twelve"))),
        ("10 sensitive of 10 values, 20 of 5", naive_bayes(ten_and_twenty())),
        ("200 attributes of 5 values, 8 sensitive", naive_bayes(random_values(200, 8, 5, "200"))),
        ("300 copies of an attribute", naive_bayes(copies())),
    ):
        engine = Engine(model, Difference(Fraction("0.1")), limits=seconds_from_now(60))
        for what, part in PARTS.items():
            start = perf_counter()
            complete = part(engine)
            taken = shown(perf_counter() - start) + ("" if complete else ", not complete")
            rows.append(
                Row(f"{title}: {what}" if what == "largest degree" else f"the same: {what}", taken, "")
            )
    engine = Engine(adult, Difference(Fraction("0.1")))
    start = perf_counter()
    total = engine.count().total
    rows.append(
        Row(
            f"Adult, original categories: {total:,} patterns counted",
            shown(perf_counter() - start),
            "282785863149",
            total == 282_785_863_149,
        )
    )
    for title, large, reach in (
        ("200 attributes of 5 values, 8 sensitive", random_values(200, 8, 5, "200"), 5e-3),
        ("10 sensitive of 10 values, 20 of 5", ten_and_twenty(), 0.1),
    ):
        start = perf_counter()
        count = Engine(naive_bayes(large), Difference(Fraction("0.1"))).count()
        duration = perf_counter() - start
        relative = float(Fraction(count.upper, max(count.lower, 1)) - 1)
        rows.append(
            Row(
                f"{title}: count enclosed in {shown(duration)}",
                f"{relative:.1e}",
                f"{reach:.0e}",
                relative <= reach,
            )
        )
    return rows


def growth_in_values() -> list[Row]:
    """Time against values per attribute, and against combinations x, drawn into build/growth.png."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    def taken(model: PlainModel) -> list[float]:
        engine = Engine(naive_bayes(model), Difference(Fraction("0.1")))
        times = []
        for part in ("largest degree", "top 10 by divergence", "100 minimal patterns"):
            start = perf_counter()
            PARTS[part](engine)
            times.append(perf_counter() - start)
        return times

    by_values = {m: taken(random_values(8, 3, m, f"{m} values")) for m in (2, 5, 10, 20, 50)}
    by_combinations = {
        11**n - 1: taken(
            PlainModel(
                Fraction(1, 2),
                random_values(n, n, 10, "x").attributes + random_values(8, 0, 3, "y").attributes,
            )
        )
        for n in (2, 4, 6, 8, 10)
    }
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for ax, found, label in zip(
        axes, (by_values, by_combinations), ("values per attribute", "combinations x"), strict=True
    ):
        ax.loglog(list(found), list(found.values()), marker="o")
        ax.set_xlabel(label)
    axes[0].set_ylabel("seconds")
    axes[0].legend(("largest degree", "top 10 by divergence", "100 minimal patterns"))
    path = ROOT / "build" / "growth.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    worst = max(map(max, by_combinations.values()))
    return [Row("10^2 to 10^10 combinations x: the longest part; see build/growth.png", shown(worst), "")]


def nodes() -> list[Row]:
    """Nodes that the search by divergence expands."""
    rows = []
    for alpha in (0, 1):
        tables = example("german", alpha)
        for k, reach in ((1, 300), (100, 3500)):
            found = top_patterns(tables, Difference(Fraction("0.1")), k)
            rows.append(
                Row(
                    f"German, α = {alpha}: nodes for the top {k} by divergence, δ = .1",
                    f"{found.nodes:,}",
                    f"{reach:,}",
                    found.complete and found.nodes <= reach,
                )
            )
    return rows


def two_hundred() -> list[Row]:
    """Up to 200 binary attributes, five of them sensitive."""
    return [
        Row(
            f"{number} binary attributes: verdict and top 10 by divergence",
            shown(seconds(lambda: verdict_and_top(random_binary(number, 5, "two hundred")), 1)),  # noqa: B023
            "5 s" if number == 200 else "",
        )
        for number in (10, 20, 50, 100, 200)
    ]


def more_values() -> list[Row]:
    """Twelve attributes, three of them sensitive, with more and more values."""
    return [
        Row(
            f"12 attributes of {values} values: verdict and top 10 by divergence",
            shown(seconds(lambda: verdict_and_top(random_values(12, 3, values, "values")), 1)),  # noqa: B023
            "",
        )
        for values in (2, 5, 10, 20)
    ]


def verdict_and_top(model: PlainModel) -> None:
    """What an audit can't do without; here on models that are not fair."""
    tables, criterion = tables_of(naive_bayes(model)), Difference(Fraction("0.1"))
    assert worst_patterns(tables, criterion).upper > criterion.threshold
    assert top_patterns(tables, criterion, 10).complete


def against_brute_force() -> list[Row]:
    """COMPAS, and Adult with 10.7 million pairs, against looking at every one of them in NumPy."""
    # COMPAS has so few pairs that either takes milliseconds: nothing is to be reached.
    return [*beside_brute_force("compas", "COMPAS", None), *beside_brute_force("adult", "Adult", 4)]


def beside_brute_force(name: str, title: str, least: int | None) -> list[Row]:
    """The engine beside brute force, which is to take at least so many times as long."""
    tables = example(name)
    model = plain(model_of(tables))
    criterion = Difference(Fraction("0.1"))
    rows = []
    for what, search, brute in (
        (
            "count",
            lambda: count_patterns(tables, criterion),
            lambda: vectorised.count_patterns(model, 0.1),
        ),
        (
            "top 100 by |Δ|",
            lambda: Engine(model_of(tables), criterion).top(100, "discrimination"),
            lambda: vectorised.top_degrees(model, 100),
        ),
        (
            "top 100 by divergence",
            lambda: Engine(model_of(tables), criterion).top(100),
            lambda: vectorised.top_divergences(model, 0.1, 100),
        ),
    ):
        fast, slow = seconds(search), seconds(brute, 1)
        rows.append(
            Row(
                f"{title}: {what}, against vectorised brute force",
                f"{shown(fast)} / {shown(slow)} = {fast / slow:.3f}",
                f"{1 / least:.3f}" if least else "",
                slow > least * fast if least else None,
            )
        )
    return rows


def growth() -> list[Row]:
    """Counting meets in the middle: its time grows like the square root of the number of pairs."""
    few, many = (tables_of(naive_bayes(random_binary(number, 3, "growth"))) for number in (19, 25))
    criterion = Difference(Fraction("0.1"))
    pairs = many.total_patterns() / few.total_patterns()
    ratio = seconds(lambda: count_patterns(many, criterion), 3) / seconds(
        lambda: count_patterns(few, criterion), 3
    )
    return [
        Row(
            f"{pairs:.0f} times as many pairs to count, times as long",
            f"{ratio:.1f}",
            f"{3 * pairs**0.5:.0f}",
            ratio < 3 * pairs**0.5,
        )
    ]


@dataclass(frozen=True)
class Process:
    """What a command took."""

    seconds: float
    megabytes: float
    exit_code: int


def run(*arguments: str) -> Process:
    """Run the command line, with its own peak of resident memory."""
    start = perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "auditor", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Process(perf_counter() - start, kilobytes / 1024, process.returncode)


def whole_processes() -> list[Row]:
    """From the shell and back."""
    audits = [run("audit", str(GERMAN), "--delta", "0.1") for _ in range(3)]
    categories = {
        name: run("audit", str(EXAMPLES / f"{name}.json"), "--delta", "0.1")
        for name in ("adult_categories", "german_categories")
    }
    helps = [run("--help") for _ in range(5)]
    megabytes = max(audit.megabytes for audit in audits)
    return [
        Row(
            "auditor audit examples/german.json --delta 0.1",
            shown(min(audit.seconds for audit in audits)),
            "1.5 s",
            None if all(audit.exit_code == 1 for audit in audits) else False,
        ),
        Row("the same: peak memory", f"{megabytes:.0f} MB", "200 MB", megabytes < 200),
        *(
            Row(
                f"auditor audit examples/{name}.json --delta 0.1: {audit.megabytes:.0f} MB",
                shown(audit.seconds),
                f"{seconds} s, 500 MB",
                audit.exit_code == 1 and audit.megabytes < 500,
            )
            for (name, audit), seconds in zip(categories.items(), (4, 2), strict=True)
        ),
        Row(
            "auditor --help",
            shown(min(one.seconds for one in helps)),
            "350 ms",
            None if all(one.exit_code == 0 for one in helps) else False,
        ),
    ]


#: Data set and δ to the log-likelihood to reach and the seconds of the whole process.
REPAIRS = {
    ("compas", "0.1"): (-207394.6, 3),
    ("german", "0.1"): (-12635.3, 10),
    ("adult", "0.1"): (-228764.0, 20),
    ("compas", "0.01"): (-207693.16, 60),
    ("german", "0.01"): (-12644.44, 60),
    ("adult", "0.01"): (-230446.68, 60),
}


def repairs() -> list[Row]:
    """The fair learner: likelihood, work and time; all solvers on one problem each."""
    rows = []
    for (name, delta), (least, reach) in REPAIRS.items():
        path = EXAMPLES / f"{name}.json"
        summary = repair(load_naive_bayes(path), delta).summary
        likelihood = summary.log_likelihoods.repaired or -inf
        rows.append(
            Row(
                f"Repair of {name}, δ = {delta}: log-likelihood",
                f"{likelihood:,.2f}",
                f"{least:,.1f}",
                likelihood >= least and summary.patterns_after == 0,
            )
        )
        process = run("repair", str(path), "--delta", delta)
        work = f"{summary.rounds} rounds, {summary.constraints} cuts"
        met = None if process.exit_code == 0 else False
        rows.append(Row(f"the same: {work}; whole process", shown(process.seconds), f"{reach} s", met))
    for solver in ("sqp", "signomial"):
        start = perf_counter()
        found = (
            repair(load_naive_bayes(GERMAN), "0.1", solver=solver).summary.log_likelihoods.repaired or -inf
        )
        rows.append(
            Row(
                f"Repair of german, δ = 0.1, by {solver}: {shown(perf_counter() - start)}; log-likelihood",
                f"{found:,.2f}",
                "-12,635.3",
                found >= -12635.3,
            )
        )
    return rows


def machine() -> str:
    """Processor, cores, system and versions, without names of people or hosts."""
    information = Path("/proc/cpuinfo")
    models = []
    if information.is_file():
        lines = information.read_text(encoding="utf-8").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = models[0] if models else platform.processor() or platform.machine()
    return (
        f"{processor}, {os.cpu_count()} cores; {platform.system()}; Python {platform.python_version()}; "
        f"NumPy {np.__version__}"
    )


def kept(path: Path) -> dict[str, Any]:
    """The run that a file holds: its machine and its rows, in order."""
    if not path.is_file():
        return {"machine": None, "rows": []}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def main() -> int:
    """Measure everything, print the table, and keep it."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "bench.json"
    before, here = kept(path), machine()
    earlier = {alike(row["what"]): row["measured"] for row in before["rows"]}
    print(here)
    if earlier:
        print(f"before: {before['machine']}")
    rows = []
    print(f"{'':64} {'measured':>28} {'reach':>10}     {'before' if earlier else '':>28}".rstrip())
    # Whole processes first: a new process starts with the memory of this one, which would count as its peak.
    for part in (
        whole_processes,
        in_process,
        nodes,
        two_hundred,
        more_values,
        many_values,
        growth_in_values,
        against_brute_force,
        growth,
        repairs,
    ):
        group = ""
        for row in part():
            mark = "" if row.met is None else "yes" if row.met else "NO"
            # "the same" is said of the row above it.
            group = group if row.what.startswith("the same") else row.what
            what = row.what.replace("the same", group.partition(":")[0], 1)
            old = earlier.get(alike(what), "")
            line = f"{row.what:64} {row.measured:>28} {row.reach:>10} {mark:3} {old:>28}"
            print(line.rstrip(), flush=True)
            rows.append({"what": what, "measured": row.measured, "reach": row.reach, "met": row.met})
    path.parent.mkdir(parents=True, exist_ok=True)
    run = {"machine": here, "rows": rows}
    path.write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(any(row["met"] is False for row in rows))


def alike(what: str) -> str:
    """What a row measures, without what it tells of the run: rounds, cuts and seconds."""
    return re.sub(r"[\d.]+ (rounds|cuts|m?s)\b", r"\1", what)


if __name__ == "__main__":
    sys.exit(main())
