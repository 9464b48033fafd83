"""Plans that a person approved, made once and copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.compiler.planning import approved, documented
from tests.cli.program import Project

Before = Callable[..., dict[str, str]]
"""As `approved`, in a house with the three documents and nothing else."""


@pytest.fixture(scope="session")
def before(tmp_path_factory: pytest.TempPathFactory, home: Path, template: Path) -> Before:
    """Gives a house the documents and passes that a person approved, and returns their ids."""
    made: dict[tuple[str, ...], tuple[Path, dict[str, str]]] = {}

    def copied(house: Project, *passes: str) -> dict[str, str]:
        if passes not in made:
            plans = Project(tmp_path_factory.mktemp("plans") / "house", home)
            shutil.copytree(template, plans.folder)
            ids = copied(plans, *passes[:-1]) if passes[1:] else {}
            made[passes] = plans.folder, ids | approved(documented(plans), passes[-1])
        folder, ids = made[passes]
        shutil.copytree(folder, house.folder, dirs_exist_ok=True)
        return dict(ids)

    return copied
