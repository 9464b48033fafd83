"""A person with a home, in a repository that another person may have written."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_cli.advice import error_with_advice
from preflights_es.kernel.errors import SettingsError
from preflights_es.settings.load import Settings, load_settings


def git_repository(folder: Path) -> Path:
    """A folder with the least that git takes for a repository."""
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


class Person:
    """One with a home, in a repository that another person may have written."""

    def __init__(self, top: Path) -> None:
        self.home = top / "home"
        self.folder = top / "shop"
        self.file = self.folder / "preflights.toml"
        self.own = self.home / ".config" / "preflights" / "settings.toml"
        git_repository(self.folder)
        self.own.parent.mkdir(parents=True)

    def env(self, **variables: str) -> dict[str, str]:
        return {"GIT_AUTHOR_NAME": "Ada", "HOME": str(self.home), **variables}

    def loaded(self, database: str | None = None, **variables: str) -> Settings:
        return load_settings(self.folder, self.env(**variables), database)

    def refused(self, **variables: str) -> str:
        with pytest.raises(SettingsError) as caught:
            self.loaded(**variables)
        assert "\n" not in str(caught.value)
        return error_with_advice(caught.value)
