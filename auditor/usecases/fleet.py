"""The use case of fleets: many models, one question, a row for each."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Literal

from auditor.data.files import matching
from auditor.documents.audit import Audit
from auditor.documents.fleet import Answered, Failure, FleetQuestion, FleetRow
from auditor.documents.labels import labelled
from auditor.documents.reading import parse
from auditor.errors import AuditorError, InputError
from auditor.messages import escaped, shown, visible
from auditor.model.reading import parse_model, read_bytes, unreadable
from auditor.output import append_line, make_folder, write_bytes
from auditor.search.answer import Wanted, answer
from auditor.search.question import Question
from auditor.usecases import auditing, clock
from auditor.usecases.processes import SILENT, apart
from auditor.version import __version__

Backend = Literal["processes", "dask", "ray", "spark"]

_ENDINGS = (".json", ".yaml", ".yml")
#: What a full report has, and what a row alone needs.
_REPORTED = Wanted(10, None, auditing.MINIMAL_LIMIT, details=True, illustration=True)
_BRIEF = Wanted()
#: Back ends that hand over each result as it is there; from others so many are taken at a time.
_STREAMS, _AT_A_TIME = ("loky", "dask"), 256
_PACKAGES = {"dask": "'dask[distributed]'", "ray": "ray", "spark": "joblibspark"}
_ENDED = "its process was ended from outside, perhaps for want of memory; run again with fewer --jobs"

#: A file, what was read of it, the question, and whether there is to be a report; and what comes of them.
_Job = tuple[str, bytes | AuditorError, FleetQuestion, bool]
_Result = tuple[FleetRow, bytes | None]


class _Lost(AuditorError):
    """The process that audited a model is gone."""


def fleet(
    files: Sequence[str],
    question: FleetQuestion,
    *,
    state: Path | None = None,
    reports: Path | None = None,
    jobs: int | None = None,
    backend: Backend = "processes",
) -> Iterator[FleetRow]:
    """Ask many models one question; a row for each comes as soon as it is there.

    A model that can't be audited is a row that says why.

    Parameters
    ----------
    files : sequence of str
        From `expanded`.
    question : FleetQuestion
    state : Path, optional
        JSON lines to which each new row is added. Where it has the row of an equal file already, which says
        all or was given as much time, that row is taken; failures are tried again.
    reports : Path, optional
        Folder for an HTML report of each audit.
    jobs : int, optional
        Processes.  [one per processor; a cluster has its own number]
    backend : {"processes", "dask", "ray", "spark"}
        Where the work is done: here, or in a cluster through its back end of joblib.

    Raises
    ------
    InputError
        If the question is out of range, or the state can't be used.
    OutputError
        If a row or a report can't be written.
    """
    Question.of(question.delta, question.criterion, question.min_probability)
    done = {} if state is None else _done(state, question)
    if reports is not None:
        make_folder(reports)
    left = []
    for file in files:
        row = done.get(_digest(_content(file))) if done else None
        if row and (reports is None or (row.report is not None and Path(row.report).is_file())):
            yield row.model_copy(update={"file": visible(file)})
        else:
            left.append(file)
    if not left:
        return
    work = ((file, _content(file), question, reports is not None) for file in left)
    for row, report in _results(work, min(jobs or os.cpu_count() or 1, len(left)), backend):
        if reports is not None and report is not None:
            path = _report_file(reports, row.file, row.file_sha256)
            write_bytes(path, report)
            row = row.model_copy(update={"report": os.fspath(path)})
        if state is not None:
            append_line(state, row.model_dump_json())
        yield row


def report_files(files: Sequence[str], reports: Path) -> list[Path]:
    """Name the report of each model in a folder of reports, each once."""
    return list(
        dict.fromkeys(_report_file(reports, visible(file), _digest(_content(file))) for file in files)
    )


def _report_file(reports: Path, file: str, digest: str | None) -> Path:
    return reports / f"{Path(file).stem[:100]}-{digest or '':.12}.html"


def names(path: Path) -> list[str]:
    """Read a list of files, globs and folders, one a line; ``-`` is standard input.

    Raises
    ------
    InputError
        If it can't be read.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{escaped(os.fspath(path))}: is not UTF-8; give a text file of names") from error
    return [line.strip() for line in text.splitlines() if line.strip()]


def expanded(given: Iterable[str]) -> list[str]:
    """Name the files that are given as files, globs and folders, each once.

    A file that isn't there stays, and becomes a row; a folder or glob without models is refused.

    Raises
    ------
    InputError
        With a line for each that has none, or if there are no models at all.
    """
    found: dict[str, None] = {}
    problems = []
    for one in given:
        inside = [] if one == "-" else matching(one, _ENDINGS)
        if not inside:
            problems.append(f"{escaped(one)}: no models there; give JSON or YAML files, a glob or a folder")
        found |= dict.fromkeys(map(os.path.normpath, inside))
    if not found and not problems:
        problems.append("MODEL: there are none; give files, a glob or a folder")
    if problems:
        raise InputError(problems)
    return list(found)


def _content(file: str) -> bytes | AuditorError:
    try:
        return read_bytes(file)
    except AuditorError as error:
        return error


def _digest(content: bytes | AuditorError) -> str | None:
    return hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else None


def _done(state: Path, question: FleetQuestion) -> dict[str | None, FleetRow]:
    """The answers of an earlier run by the digests of their files; the half of a last line is cut off.

    Raises
    ------
    InputError
        If what is there isn't rows, or they answer another question.
    """
    done: dict[str | None, FleetRow] = {}
    anew: dict[str, object] = {"time_limit": question.time_limit}
    whole = 0
    try:
        with state.open("r+b") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    file.truncate(whole)
                    break
                whole += len(line)
                name = f"{escaped(os.fspath(state))}: line {number}"
                row = parse(FleetRow, line, name)
                if row.question.model_copy(update=anew) != question:
                    raise InputError(
                        f"{name}: it answers another question (δ = {shown(row.question.delta)}); give a new "
                        "file, or the same options"
                    )
                if row.answer is None or row.tool.version != __version__:
                    continue
                if row.answer.complete or row.question.time_limit == question.time_limit:
                    done[row.file_sha256] = row
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"{escaped(os.fspath(state))}: {unreadable(error)}") from error
    return done


def _audited(job: _Job) -> _Result:
    """Audit one model, in whichever process; whatever goes wrong is a row too."""
    file, content, question, reported = job
    started = clock.seconds()
    found, failure, report = None, None, None
    try:
        if isinstance(content, AuditorError):
            raise content
        spec = parse_model(content, file)
        if question.sensitive is not None:
            spec = auditing.marked(spec, question.sensitive)
        answered = answer(
            auditing.classifier_of(spec, question.undisclosed),
            Question.of(
                question.delta,
                question.criterion,
                question.min_probability,
                limits=clock.limits(question.time_limit),
            ),
            _REPORTED if reported else _BRIEF,
        )
        if reported:
            from auditor.usecases.reporting import of_audit

            document = labelled(Audit.of(answered, clock.seconds() - started), spec.attribute_labels)
            report = of_audit(document, spec, "html").content
        found = labelled(Answered.of(answered), spec.attribute_labels)
    except AuditorError as error:
        failure = Failure(exit_code=70 if isinstance(error, _Lost) else 3, problems=error.problems)
    except Exception as error:
        # A bug that one model brings to light must not cost the answers on all others.
        problem = f"a bug in auditor {__version__}: {type(error).__name__}: {error}; no result may be assumed"
        failure = Failure(exit_code=70, problems=(visible(problem),))
    row = FleetRow(
        file=visible(file),
        file_sha256=_digest(content),
        question=question,
        answer=found,
        failure=failure,
        seconds=clock.seconds() - started,
    )
    return row, report


def _results(work: Iterator[_Job], jobs: int, backend: Backend) -> Iterator[_Result]:
    """Do all work, in any order; what was under way when a process died is done again, each alone."""
    import joblib

    under_way: dict[str, _Job] = {}

    def calls() -> Iterator[object]:
        for job in work:
            under_way[visible(job[0])] = job
            yield joblib.delayed(_audited)(job)

    cluster, name, lost = _connected(backend, jobs)
    with cluster:
        while True:
            results = _parallel(calls(), jobs, name)
            try:
                for result in results:
                    under_way.pop(result[0].file, None)
                    yield result
                return
            except lost:
                again = list(under_way.values())
                under_way.clear()
            finally:
                # joblib warns whoever stops before all results are there; who stops here means it.
                with warnings.catch_warnings(action="ignore"):
                    results.close()
            for job in again:
                try:
                    yield from _parallel(iter([joblib.delayed(_audited)(job)]), 2, name)
                except lost:
                    yield _audited((job[0], _Lost(_ENDED), *job[2:]))


def _parallel(calls: Iterator[object], jobs: int, name: str) -> Generator[_Result]:
    """Run calls on a back end of joblib, and pass on each result as soon as that hands it over."""
    import joblib

    streams = name in _STREAMS
    with joblib.parallel_config(name, **(SILENT if name == "loky" and jobs > 1 else {})):
        do = joblib.Parallel(jobs, return_as="generator_unordered" if streams else "list")
    if streams:
        with apart():
            results = do(calls)
        yield from results
        return
    while some := list(islice(calls, _AT_A_TIME)):
        yield from do(some)


def _connected(
    backend: Backend, jobs: int
) -> tuple[AbstractContextManager[object], str, tuple[type[Exception], ...]]:
    """Reach a cluster: what to hold open, its name in joblib, and what it raises when a process dies.

    Raises
    ------
    InputError
        If the package of the cluster isn't installed.
    """
    try:
        match backend:
            case "processes":
                from concurrent.futures.process import BrokenProcessPool

                return nullcontext(), "loky", (BrokenProcessPool,)
            case "dask":
                from distributed import Client, KilledWorker

                # The scheduler that Dask's own settings name, such as DASK_SCHEDULER_ADDRESS; else one here.
                here = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
                return Client(**here), "dask", (KilledWorker,)
            case "ray":
                from ray.util.joblib import register_ray

                register_ray()
            case "spark":
                from joblibspark import register_spark

                register_spark()
    except ImportError as error:
        raise InputError(
            f"--backend {backend}: {error.name} is not installed; pip install {_PACKAGES[backend]}"
        ) from error
    except OSError as error:
        raise InputError(
            f"--backend {backend}: the cluster can't be reached: {visible(str(error))}"
        ) from error
    return nullcontext(), backend, ()
