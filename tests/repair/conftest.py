"""The command line is run as in its own tests."""

from __future__ import annotations

from tests.cli.conftest import auditor

__all__ = ["auditor"]
