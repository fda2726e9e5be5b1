"""Finds the files that stand beside the package in a checkout and inside it in a wheel."""

from __future__ import annotations

from pathlib import Path


def resource(*parts: str) -> Path:
    """Return the path of a shipped file or folder, such as ``resource("schemas", "model.json")``.

    A wheel has these folders inside the package; an editable install doesn't, so then the checkout is used.
    """
    package = Path(__file__).parent
    packed = package.joinpath(*parts)
    return packed if packed.exists() else package.parent.joinpath(*parts)


def names(*parts: str) -> tuple[str, ...]:
    """Return the names of the JSON files in a shipped folder, in order.

    >>> "model" in names("schemas")
    True
    """
    return tuple(sorted(path.stem for path in resource(*parts).glob("*.json")))
