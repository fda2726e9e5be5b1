"""Says what is wrong with a document in the words of the auditor's messages, all problems at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pydantic import BaseModel, ModelWrapValidatorHandler, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from auditor.errors import InputError
from auditor.messages import Place, Problem, items, lines, part, shown
from auditor.model import checks

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_Spec = TypeVar("_Spec", bound=BaseModel)

#: A longer key is no misspelled one.
_LONGEST_KEY = 500

#: With this begins the tag of one of several forms of an object, which is no part of a place in a file.
ALTERNATIVE = "\0"


def validated(
    kind: type[_Spec],
    data: object,
    handler: ModelWrapValidatorHandler[_Spec],
    across: Callable[[object], Iterable[Problem]],
) -> _Spec:
    """Run a validator; raise one error that carries every problem.

    Parameters
    ----------
    kind : type
        The class of the document, which says its ``kind`` and ``version``.
    data, handler
        What is to be validated, and by what.
    across : callable
        Finds what is wrong between the parts of a specification, or of the tree of one.

    Raises
    ------
    ValidationError
    """
    # What is too large is refused at once: to look into all of it could take minutes.
    problems = foreign(kind, data) or list(checks.too_many(items(part(data, "attributes"))))
    if not problems:
        try:
            spec = handler(data)
        except ValidationError as error:
            problems = [*explained(kind, error), *across(data)]
        else:
            problems = list(across(spec))
            if not problems:
                return spec
    problems.sort(key=lambda problem: _order(kind, problem))
    raise ValidationError.from_exception_data(
        kind.__name__, [_line_error(problem, data) for problem in problems]
    )


def accept(
    kind: type[_Spec],
    tree: object,
    source: str,
    *,
    known: Sequence[Problem] = (),
    json: str | bytes | None = None,
) -> _Spec:
    """Take what was read of a file as a document of this kind.

    Parameters
    ----------
    tree : object
        Mappings, lists, texts and numbers.
    source : str
        What the document is called in messages.
    known : sequence of Problem
        What is wrong with it already.
    json : str or bytes, optional
        The same as JSON, where dates are texts and tuples are lists.

    Raises
    ------
    InputError
        With one line per problem, each of which begins with the source's name.
    """
    try:
        found = kind.model_validate(tree) if json is None else kind.model_validate_json(json)
    except ValidationError as error:
        raise InputError(lines(source, (*known, *explained(kind, error)), tree)) from error
    if known:
        raise InputError(lines(source, known, tree))
    return found


def foreign(kind: type[BaseModel], tree: object, *, required: bool = False) -> list[Problem]:
    """Find that a tree is another kind of document or version, of which nothing else can be said.

    Where kind and version are required, a tree without them is another kind too.
    """
    (wanted, *_), versions = (get_args(kind.model_fields[key].annotation) for key in ("kind", "version"))
    found = part(tree, "kind")
    word = wanted.rpartition("/")[2].replace("-", " ")
    noun = f"a list of {word}" if word.endswith("s") else f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
    if found is None and required:
        return [Problem((), f'"kind" is missing; {noun} says "{wanted}"')]
    if found != wanted and (required or isinstance(found, str)):
        return [Problem(("kind",), f'{shown(found)} is not {noun}; {noun} says "{wanted}"')]
    found = part(tree, "version")
    # True equals 1, but is no version.
    if (found not in versions or isinstance(found, bool)) and (required or isinstance(found, int)):
        read = "version" + "s" * (len(versions) > 1) + " " + " and ".join(map(str, versions))
        message = f"{shown(found)} is not supported; this auditor reads {read}"
        return [Problem(("version",), message)]
    return []


def explained(kind: type[BaseModel], error: ValidationError) -> list[Problem]:
    """Say what pydantic found wrong with a document of this kind."""
    return [_explained(kind, details) for details in error.errors(include_url=False)]


def not_text(value: object) -> str:
    """Say that a value should be text."""
    match value:
        case bool():
            remedy = "put it in quotes, spelled as in the data"
        case int() | Decimal():
            remedy = f'put it in quotes: "{shown(value)}"'
        case _:
            remedy = "write a text"
    return f"{shown(value)} is not text; {remedy}"


def _explained(kind: type[BaseModel], details: ErrorDetails) -> Problem:
    place = tuple(part for part in details["loc"] if not str(part).startswith(ALTERNATIVE))
    value, context = details["input"], details.get("ctx", {})
    match details["type"]:
        case "missing":
            return Problem(place[:-1], f"{shown(place[-1])} is missing; add it")
        case "extra_forbidden":
            return Problem(place[:-1], f"unknown key {shown(place[-1])}; {_suggestion(kind, place)}")
        case "value_error":
            return Problem(place, str(context["error"]))
        case "explained":
            return Problem(place, details["msg"])
        case "string_type":
            message = not_text(value)
        case "bool_type":
            message = f"{shown(value)} is neither true nor false; write one of them without quotes"
        case "int_type" | "float_type" | "greater_than_equal" | "less_than_equal":
            message = f"{shown(value)} is not {_number(kind, place)}; write one"
        case "finite_number":
            message = f"{shown(value)} is not a finite number; write one"
        case "too_short":
            message = f"has {context['actual_length']} items; give at least {context['min_length']}"
        case "literal_error":
            message = f"{shown(value)} is not known; write {context['expected']}".replace("'", '"')
        case "string_pattern_mismatch":
            message = f"{shown(value)} does not match {context['pattern']}; correct it"
        case "tuple_type" | "list_type":
            message = f"{shown(value)} stands where a list belongs; write [ … ]"
        case "model_type" | "model_attributes_type":
            keys = ", ".join(_fields(kind, place))
            message = f"{shown(value)} stands where a mapping belongs; give its keys: {keys}"
        case "date_type" | "date_parsing" | "date_from_datetime_parsing" | "date_from_datetime_inexact":
            message = f"{shown(value)} is not a date; write one, such as 2026-01-31"
        case _:
            message = f"{shown(value)} is not accepted: {details['msg']}"
    return Problem(place, message)


def _suggestion(kind: type[BaseModel], place: Place) -> str:
    known, key = _fields(kind, place[:-1]), str(place[-1])
    close = get_close_matches(key.lower(), known, n=1, cutoff=0.7) if len(key) < _LONGEST_KEY else []
    return f"did you mean {shown(close[0])}?" if close else f"take it out; known are {', '.join(known)}"


def _fields(kind: type[BaseModel], place: Place) -> list[str]:
    found = next((t for t in _types(_annotation(kind, place)) if issubclass(t, BaseModel)), None)
    return list(found.model_fields) if found is not None else []


def _annotation(kind: type[BaseModel], place: Place) -> Any:
    """Return the annotation of the field at a place, or nothing if there is none; indices are passed over."""
    annotation: Any = kind
    for step in place:
        if isinstance(step, str):
            parent = next((t for t in _types(annotation) if issubclass(t, BaseModel)), None)
            field = parent.model_fields.get(step) if parent is not None else None
            annotation = (field.annotation, *field.metadata) if field is not None else None
    return annotation


def _leaves(annotation: Any) -> Iterator[Any]:
    """Yield the parts of an annotation that have no parts."""
    parts = annotation if isinstance(annotation, tuple) else get_args(annotation)
    if not parts:
        yield annotation
    for inner in parts:
        yield from _leaves(inner)


def _types(annotation: Any) -> list[type]:
    return [leaf for leaf in _leaves(annotation) if isinstance(leaf, type)]


def _number(kind: type[BaseModel], place: Place) -> str:
    """Describe the numbers that a field takes."""
    annotation = _annotation(kind, place)
    metadata = [*_leaves(annotation)]
    least, most = (
        next((limit for leaf in metadata if (limit := _limit(leaf, name)) is not None), None)
        for name in ("ge", "le")
    )
    bounds = (f" from {least}" if least is not None else "") + (f" to {most}" if most is not None else "")
    return ("a number" if float in _types(annotation) else "a whole number") + bounds


def _limit(leaf: Any, name: str) -> object:
    inner = getattr(leaf, "metadata", ())
    own = getattr(leaf, name, None)
    return own if own is not None else next((getattr(m, name) for m in inner if hasattr(m, name)), None)


def _order(kind: type[BaseModel], problem: Problem) -> tuple[int, int]:
    fields = list(kind.model_fields)
    top, second, *_ = (*problem.place, "", "")
    return fields.index(str(top)) if top in fields else -1, second if isinstance(second, int) else -1


def _line_error(problem: Problem, data: object) -> InitErrorDetails:
    explained = PydanticCustomError("explained", "{problem}", {"problem": problem.message})
    return InitErrorDetails(type=explained, loc=problem.place, input=data)
