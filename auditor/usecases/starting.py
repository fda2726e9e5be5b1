"""The first hour: data that were made up, a model learnt from them, a policy, and the shipped examples."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from random import Random

from auditor.errors import OutputError
from auditor.messages import escaped
from auditor.output import make_folder, write_new
from auditor.resources import resource

#: Models that are put beside the made-up data.
EXAMPLES = ("compas.json", "figure1.json", "german.json", "german_scorecard.csv")
#: Rows that are made up; the seed makes them the same every time.
_ROWS, _SEED = 2_000, 20
_COLUMNS = ("id", "sex", "age", "housing", "savings", "job", "credit")


def start(folder: Path) -> tuple[Path, ...]:
    """Write what there is to play with into a folder; no file that is there is touched.

    Parameters
    ----------
    folder : Path
        Made if there is none.

    Returns
    -------
    tuple of Path
        ``people.csv``, ``model.json``, ``auditor.toml`` and the examples.

    Raises
    ------
    OutputError
        If one of them is there already; then none is written.
    """
    from auditor.model.writing import dump_model
    from auditor.usecases.learning import learn

    examples = {f"examples/{name}": resource("examples", name).read_bytes() for name in EXAMPLES}
    names = ["people.csv", "model.json", "auditor.toml", *examples]
    if there := [name for name in names if (folder / name).exists()]:
        raise OutputError(
            f"{escaped(str(folder / name))}: is there already; name another folder" for name in there
        )
    make_folder(folder / "examples")
    write_new(folder / "people.csv", people().encode())
    learned = learn(
        folder / "people.csv",
        decision="credit",
        favourable="good",
        sensitive=("sex", "age"),
        drop="id",
        bins={"age": (30, 50)},
        smoothing="1",
    )
    write_new(folder / "model.json", dump_model(learned.model).encode())
    write_new(folder / "auditor.toml", resource("templates", "start", "auditor.toml").read_bytes())
    for name, content in examples.items():
        write_new(folder / name, content)
    return tuple(folder / name for name in names)


def people() -> str:
    """Make up people who asked for a credit, as CSV; nobody is described by a row."""
    random, text = Random(_SEED), io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for number in range(1, _ROWS + 1):
        sex = random.choice("fm")
        age = min(80, 18 + int(random.expovariate(1 / 18)))
        housing = "own" if random.random() < (0.25 + age / 120) else "rent"
        savings = random.choices(("none", "some", "much"), (5 - age / 25, 4, 1 + age / 25))[0]
        job = random.choices(("unskilled", "skilled", "manager"), (2, 5, 2 if sex == "m" else 1))[0]
        points: float = (housing == "own") + {"none": 0, "some": 1, "much": 2}[savings] + (job != "unskilled")
        points += (age >= 30) + 0.7 * (sex == "m")
        rows.writerow(
            (number, sex, age, housing, savings, job, "good" if random.random() < points / 5.5 else "bad")
        )
    return text.getvalue()
