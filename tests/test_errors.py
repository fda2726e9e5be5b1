"""The errors explain themselves and know the exit code."""

from __future__ import annotations

import pickle

import pytest

from auditor.errors import AuditorError, InputError, OutputError, RepairError


@pytest.mark.parametrize(("kind", "code"), [(InputError, 3), (OutputError, 3), (RepairError, 5)])
def test_exit_codes(kind: type[AuditorError], code: int) -> None:
    assert kind("x").exit_code == code


def test_one_line_per_problem() -> None:
    error = InputError(line for line in ("a: wrong", "b: wrong"))
    assert error.problems == ("a: wrong", "b: wrong")
    assert str(error) == "a: wrong\nb: wrong"
    assert InputError("a: wrong").problems == ("a: wrong",)


def test_errors_survive_pickling() -> None:
    error = pickle.loads(pickle.dumps(RepairError(["a", "b"])))
    assert isinstance(error, RepairError)
    assert error.problems == ("a", "b")
