"""Rows say what the audits of their models say; what fails is a row; what is done is not done again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from pydantic import ValidationError

from auditor import InputError, audit, load_model
from auditor.documents.fleet import Answered, Failure, FleetQuestion, FleetRow
from auditor.output import append_line
from auditor.search.answer import Answer
from auditor.usecases import fleet as fleets
from auditor.usecases.fleet import Backend, expanded, fleet

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = ("compas", "figure1", "german")
TENTH = FleetQuestion(delta="0.1")


@pytest.fixture
def models(tmp_path: Path) -> list[str]:
    """Models that can be audited."""
    folder = tmp_path / "models"
    folder.mkdir()
    return [shutil.copy(EXAMPLES / f"{name}.json", str(folder)) for name in MODELS]


def rows(files: list[str], question: FleetQuestion = TENTH, **options: object) -> dict[str, FleetRow]:
    """Run a fleet in this process, unless the options say otherwise; the rows by file."""
    found = list(fleet(files, question, **{"jobs": 1, **options}))  # type: ignore[arg-type]
    by_file = {row.file: row for row in found}
    assert len(by_file) == len(found)
    return by_file


def answered(row: FleetRow) -> Answered:
    """The answer of a row that has one."""
    assert row.answer is not None
    assert row.failure is None
    return row.answer


def failed(row: FleetRow) -> Failure:
    """The failure of a row that has no answer."""
    assert row.failure is not None
    assert row.answer is None
    return row.failure


@pytest.fixture
def nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks the engine gets a failure."""

    def refuse(*_: object) -> Answer:
        raise AssertionError("asked again")

    monkeypatch.setattr(fleets, "answer", refuse)


@pytest.mark.parametrize(
    "question",
    [
        TENTH,
        FleetQuestion(delta="0.5"),
        FleetQuestion(delta="0.2", criterion="ratio", min_probability="0.05"),
    ],
)
def test_rows_say_what_audits_say(models: list[str], question: FleetQuestion) -> None:
    found = rows(models, question)
    assert set(found) == set(models)
    for file in models:
        model = load_model(file)
        alone = audit(
            model,
            question.delta,
            criterion=question.criterion,
            min_probability=question.min_probability,
        )
        row = answered(found[file])
        assert row.verdict == alone.verdict
        assert row.model == alone.model
        assert row.largest.max_degree == alone.max_degree
        assert row.largest.max_degree_bounds == alone.max_degree_bounds
        assert row.largest.worst_pattern is not None
        assert alone.worst_pattern is not None
        assert abs(row.largest.worst_pattern.degree) == abs(alone.worst_pattern.degree)
        assert row.pattern_count == alone.pattern_count
        assert row.pattern_count_bounds == alone.pattern_count_bounds
        assert row.total_patterns == alone.total_patterns
        assert row.complete


def test_sensitive_attributes_are_those_of_the_question(models: list[str]) -> None:
    found = rows(models[:2], FleetQuestion(delta="0.1", sensitive=("Sex,Age",)))
    assert answered(found[models[0]]).model.sensitive == ("Sex", "Age")
    assert failed(found[models[1]]).exit_code == 3
    assert '"Sex"' in " ".join(failed(found[models[1]]).problems)


def test_a_question_about_no_pattern_at_all_is_a_row_that_says_so(models: list[str]) -> None:
    found = rows(models, FleetQuestion(delta="0.1", min_probability="0.9"))
    rare = [failed(row).problems[0] for row in found.values() if row.failure]
    assert rare
    assert all("no pattern is as probable as 0.9" in problem for problem in rare)


def test_what_fails_is_a_row_and_not_the_end(models: list[str], tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"kind": "auditor/model"', encoding="utf-8")
    missing = str(tmp_path / "missing.json")
    found = rows([str(bad), missing, *models])
    assert {file: row.answer is not None for file, row in found.items()} == {
        str(bad): False,
        missing: False,
        **dict.fromkeys(models, True),
    }
    assert failed(found[str(bad)]).exit_code == failed(found[missing]).exit_code == 3
    assert "no such file" in failed(found[missing]).problems[0]
    assert found[missing].file_sha256 is None


@pytest.mark.usefixtures("nothing_is_asked")
def test_a_bug_is_a_row_without_a_verdict(models: list[str]) -> None:
    for row in rows(models).values():
        assert failed(row).exit_code == 70
        assert "a bug in auditor" in failed(row).problems[0]


def test_a_limit_is_never_fair(models: list[str]) -> None:
    limited = FleetQuestion(delta="0.411622501", time_limit=0)
    row = answered(rows([models[2]], limited)[models[2]])
    assert row.verdict == "inconclusive"
    assert not row.complete
    assert row.largest.max_degree_bounds is not None
    assert row.largest.max_degree_bounds[1] > 0.411622501


def test_a_row_has_an_answer_or_a_failure() -> None:
    with pytest.raises(ValidationError, match="either an answer or a failure"):
        FleetRow(file="m.json", file_sha256=None, question=TENTH, seconds=0)


def test_the_question_is_checked_before_the_work(models: list[str]) -> None:
    with pytest.raises(InputError, match="not a decimal number from 0 to 1"):
        rows(models, FleetQuestion(delta="2"))


def test_what_is_done_is_not_done_again(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "fleet.jsonl"
    missing = str(tmp_path / "missing.json")
    first = rows([*models, missing], state=state)
    assert {json.loads(line)["file"] for line in state.read_text().splitlines()} == {*models, missing}

    asked = []

    def counting(job: tuple[str, object, object, object]) -> tuple[FleetRow, None]:
        asked.append(job[0])
        row, _ = original(job)  # type: ignore[arg-type]
        return row, None

    original = fleets._audited
    monkeypatch.setattr(fleets, "_audited", counting)
    renamed = shutil.copy(models[0], tmp_path / "renamed.json")
    changed = json.loads(Path(models[1]).read_text())
    changed["name"] = "Changed"
    Path(models[1]).write_text(json.dumps(changed))
    again = rows([*models, missing, str(renamed)], state=state)
    assert sorted(asked) == sorted([models[1], missing])
    assert again[models[0]] == first[models[0]]
    assert answered(again[str(renamed)]) == answered(first[models[0]])
    assert answered(again[models[1]]).model.name == "Changed"


def test_what_is_open_or_of_another_version_is_asked_again(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, file = tmp_path / "fleet.jsonl", models[2]
    done = rows([file])[file]
    found = answered(done)
    monkeypatch.setattr(fleets, "answer", None)

    def is_taken(row: FleetRow, question: FleetQuestion = TENTH) -> bool:
        state.unlink(missing_ok=True)
        append_line(state, row.model_dump_json())
        return rows([file], question, state=state)[file] == row

    longer = TENTH.model_copy(update={"time_limit": 5.0})
    is_open = found.model_copy(update={"complete": False})
    assert is_taken(done)
    # What is proved needs no other time.
    assert is_taken(done, longer)
    assert is_taken(done.model_copy(update={"question": longer, "answer": is_open}), longer)
    assert not is_taken(done.model_copy(update={"answer": is_open}), longer)
    assert not is_taken(done.model_copy(update={"question": longer, "answer": is_open}))
    assert not is_taken(done.model_copy(update={"tool": done.tool.model_copy(update={"version": "0.0.1"})}))


def test_the_half_of_a_last_line_is_cut_off(models: list[str], tmp_path: Path) -> None:
    state = tmp_path / "fleet.jsonl"
    first = rows(models[:2], state=state)
    whole = state.read_bytes()
    state.write_bytes(whole + whole[:100])
    assert rows(models[:2], state=state) == first
    assert state.read_bytes() == whole


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{}", "line 2: .*kind"),
        ("no row", "line 2: "),
        (None, "line 2: it answers another question"),
    ],
)
def test_a_state_that_is_none_is_refused_and_kept(
    models: list[str], tmp_path: Path, line: str | None, problem: str
) -> None:
    state = tmp_path / "fleet.jsonl"
    rows(models[:1], state=state)
    other = FleetRow(
        file="m",
        file_sha256=None,
        question=FleetQuestion(delta="0.2"),
        failure=Failure(exit_code=3, problems=("none",)),
        seconds=0,
    )
    append_line(state, other.model_dump_json() if line is None else line)
    before = state.read_bytes()
    with pytest.raises(InputError, match=problem):
        rows(models, state=state)
    assert state.read_bytes() == before


def test_reports_are_written_and_not_again(models: list[str], tmp_path: Path) -> None:
    state, folder = tmp_path / "fleet.jsonl", tmp_path / "reports"
    plain = rows(models[:2], state=state)
    found = rows(models[:2], state=state, reports=folder)
    for file, row in found.items():
        assert answered(row) == answered(plain[file])
        assert row.report is not None
        assert Path(row.report).parent == folder
        assert "</html>" in Path(row.report).read_text()
    assert rows(models[:2], state=state, reports=folder) == found


def _same(found: dict[str, FleetRow], expected: dict[str, FleetRow]) -> None:
    def timeless(row: FleetRow) -> FleetRow:
        return row.model_copy(update={"seconds": 0.0})

    assert {f: timeless(r) for f, r in found.items()} == {f: timeless(r) for f, r in expected.items()}


def test_processes_find_the_same(models: list[str], tmp_path: Path) -> None:
    files = [*models, str(tmp_path / "missing.json")]
    _same(rows(files, jobs=2), rows(files))


def test_dask_finds_the_same(models: list[str]) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    backend: Backend = "dask"
    _same(rows(models, jobs=2, backend=backend), rows(models))


@pytest.mark.parametrize("backend", ["ray", "spark"])
def test_a_cluster_that_is_not_installed_is_named(
    models: list[str], backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("ray", "ray.util.joblib", "joblibspark"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=f"--backend {backend}: .* pip install"):
        rows(models, backend=backend)


def workers() -> list[int]:
    """The processes that joblib has started, by Linux's own list of this one's children."""
    children = " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children")).split()
    return [int(child) for child in children if b"popen_loky" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are found in Linux's /proc")
def test_a_process_that_dies_costs_no_row(models: list[str]) -> None:
    files = models + [shutil.copy(models[0], f"{models[0]}{i}.json") for i in range(4)]
    found: dict[str, FleetRow] = {}
    for row in fleet(files, TENTH, jobs=2):
        if not found:
            os.kill(workers()[0], signal.SIGKILL)
        assert row.file not in found
        found[row.file] = row
    assert set(found) == set(files)
    assert all(answered(row).complete for row in found.values())


def test_a_model_whose_process_always_dies_is_a_row(
    models: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(calls: Iterator[object], jobs: int, name: str) -> Iterator[object]:
        for _ in calls:
            raise BrokenProcessPool
        yield from ()

    monkeypatch.setattr(fleets, "_parallel", dying)
    for row in rows(models).values():
        assert failed(row).exit_code == 70
        assert "ended from outside" in failed(row).problems[0]


def test_files_globs_and_folders_are_expanded_each_once(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models" / "deep").mkdir()
    (tmp_path / "models" / "deep" / "m.YML").write_text("")
    (tmp_path / "models" / ".hidden.json").write_text("")
    (tmp_path / "models" / "notes.txt").write_text("")
    every = ["models/compas.json", "models/deep/m.YML", "models/figure1.json", "models/german.json"]
    assert expanded(["models"]) == every
    assert expanded(["models/g*.json", "./models/german.json", "none.json", "models"]) == [
        "models/german.json",
        "none.json",
        *every[:3],
    ]


def test_nothing_to_audit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        expanded([str(tmp_path), f"{tmp_path}/*.json", "-"])
    assert len(caught.value.problems) == 3
    with pytest.raises(InputError, match="there are none"):
        expanded([])
