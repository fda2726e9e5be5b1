"""Says what is wrong with a document in the words of the auditor's messages, all problems at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ModelWrapValidatorHandler, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from auditor.messages import Place, Problem, part, shown
from auditor.model import checks

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_Spec = TypeVar("_Spec", bound=BaseModel)


class Explainer:
    """Validates a kind of specification, and says all that is wrong with it at once.

    Parameters
    ----------
    kind : str
        The document's own name of its kind.
    version : int
        The only one that is read.
    parts : mapping of str to type
        Each part by the last key of its place, the whole by "", to say what keys it has.
    texts : set of type
        Parts for which a plain text may stand.
    across : callable
        Finds what is wrong between the parts of a specification or of the tree of one.
    """

    def __init__(
        self,
        kind: str,
        version: int,
        parts: Mapping[str, type[BaseModel]],
        texts: Iterable[type[BaseModel]],
        across: Callable[[object], Iterable[Problem]],
    ) -> None:
        self._kind, self._version, self._across = kind, version, across
        self._parts, self._texts = parts, frozenset(texts)

    def validated(self, data: object, handler: ModelWrapValidatorHandler[_Spec]) -> _Spec:
        """Run a validator; raise one error that carries every problem.

        Raises
        ------
        ValidationError
        """
        problems = self._foreign(data)
        if not problems:
            try:
                spec = handler(data)
            except ValidationError as error:
                problems = [self._explained(details) for details in error.errors(include_url=False)]
                problems.extend(self._across(data))
            else:
                problems = list(self._across(spec))
                if not problems:
                    return spec
        problems.sort(key=self._in_order)
        raise ValidationError.from_exception_data(
            self._parts[""].__name__, [_line_error(problem, data) for problem in problems]
        )

    def _foreign(self, data: object) -> list[Problem]:
        """Find that it is another kind of document or version, of which nothing else can be said."""
        kind, version = part(data, "kind"), part(data, "version")
        if isinstance(kind, str) and kind != self._kind:
            word = self._kind.rpartition("/")[2]
            message = f'{shown(kind)} is not a {word}; a {word} says "{self._kind}"'
            return [Problem(("kind",), message)]
        # True equals 1, but is no version.
        if isinstance(version, int) and (version != self._version or isinstance(version, bool)):
            return [
                Problem(
                    ("version",),
                    f"{shown(version)} is not supported; this auditor reads version {self._version}",
                )
            ]
        return []

    def _explained(self, details: ErrorDetails) -> Problem:
        """Say what pydantic found in the words of the other messages."""
        place, value, context = details["loc"], details["input"], details.get("ctx", {})
        match details["type"]:
            case "missing":
                return Problem(place[:-1], f"{shown(place[-1])} is missing; add it")
            case "extra_forbidden":
                return Problem(place[:-1], f"unknown key {shown(place[-1])}; {self._suggestion(place)}")
            case "value_error":
                return Problem(place, str(context["error"]))
            case "string_type":
                return Problem(place, _not_text(value))
            case "model_type" if self._model(place) in self._texts:
                return Problem(place, _not_text(value))
            case "bool_type":
                return Problem(
                    place, f"{shown(value)} is neither true nor false; write one of them without quotes"
                )
            case "int_type" | "greater_than_equal":
                return Problem(place, f"{shown(value)} is not a whole number from 0; write one")
            case "literal_error":
                return Problem(
                    place, f"{shown(value)} is not known; write {context['expected']}".replace("'", '"')
                )
            case "string_pattern_mismatch":
                return Problem(place, f"{shown(value)} does not match {context['pattern']}; correct it")
            case "tuple_type":
                return Problem(place, f"{shown(value)} stands where a list belongs; write [ … ]")
            case "model_type":
                keys = ", ".join(self._fields(place))
                return Problem(place, f"{shown(value)} stands where a mapping belongs; give its keys: {keys}")
            case _:
                return Problem(place, f"{shown(value)} is not accepted: {details['msg']}")

    def _suggestion(self, place: Place) -> str:
        known, key = self._fields(place[:-1]), str(place[-1])
        close = get_close_matches(key.lower(), known, n=1) if len(key) < checks.MAX_NAME else []
        return f"did you mean {shown(close[0])}?" if close else f"take it out; known are {', '.join(known)}"

    def _model(self, place: Place) -> type[BaseModel]:
        return self._parts[next((step for step in reversed(place) if isinstance(step, str)), "")]

    def _fields(self, place: Place) -> list[str]:
        return list(self._model(place).model_fields)

    def _in_order(self, problem: Problem) -> tuple[int, int]:
        top = problem.place[0] if problem.place else ""
        fields = list(self._parts[""].model_fields)
        second = problem.place[1] if len(problem.place) > 1 else -1
        return (
            fields.index(top) if top in fields else -1,
            second if isinstance(second, int) else -1,
        )


def _not_text(value: object) -> str:
    quotable = isinstance(value, int | Decimal)
    return f"{shown(value)} is not text; " + (
        f'put it in quotes: "{shown(value)}"' if quotable else "write a text"
    )


def _line_error(problem: Problem, data: object) -> InitErrorDetails:
    explained = PydanticCustomError("model", "{problem}", {"problem": problem.message})
    return InitErrorDetails(type=explained, loc=problem.place, input=data)
