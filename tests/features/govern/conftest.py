"""A repository with decisions, as the tests of the command line have it."""

from __future__ import annotations

from tests.cli.conftest import home, house, template

__all__ = ["home", "house", "template"]
