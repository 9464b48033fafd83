"""A list of five hundred signed decisions, held against the same unsigned."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shutil import rmtree
from subprocess import run
from typing import Final

import preflights_es
from tests.benchmarks.measure import Figure, Pair, quickest
from tests.benchmarks.startup import PREFLIGHTS, VALUES, process_seconds
from tests.cli.program import environment

DECISIONS: Final = 500
ROUNDS: Final = 5
SETTINGS: Final = '[sign]\nkey = "~/key"\nsigners = "~/signers"\n'


def figures() -> list[Figure]:
    """As it is read every day, and where nothing was checked before."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        person(home)
        for name in ("plain", "signed"):
            made(home, home / name, signs=name == "signed")
        floor, listed = (partial(_listed, home, home / name) for name in ("plain", "signed"))
        known = quickest(listed, floor, ROUNDS)
        anew = quickest(partial(_forgotten, home), floor, 1)
        return [_figure("found before", known, 1.3), _figure("checked by ssh-keygen", anew, 60.0)]


def _figure(what: str, pair: Pair, limit: float) -> Figure:
    return pair.figure(
        f"list of {DECISIONS} signed decisions, {what}", limit, lambda taken: f"{taken:.2f} s CPU"
    )


def _listed(home: Path, folder: Path) -> float:
    # A home within the repository could not say who signs.
    command = ["env", f"HOME={home}", *PREFLIGHTS, "decisions", "--json"]
    return process_seconds(command, str(folder))


def _forgotten(home: Path) -> float:
    """The same of signed ones without the memory."""
    rmtree(home / ".cache" / "preflights" / "signatures")
    return _listed(home, home / "signed")


def person(home: Path) -> None:
    """One with a key."""
    (home / ".config" / "preflights").mkdir(parents=True)
    (home / ".config" / "preflights" / "settings.toml").write_text(SETTINGS)
    key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "key"]
    run(key, cwd=home, check=True)
    (home / "signers").write_text(f"ada@example.org {(home / 'key.pub').read_text()}")


def made(home: Path, folder: Path, *, signs: bool) -> None:
    """A repository with so many decisions."""
    folder.mkdir()
    run(["git", "init", "--quiet", "--template="], cwd=folder, check=True)
    with _surroundings(environment(home)), preflights_es.open(folder) as log:
        for n in range(DECISIONS):
            begun = log.start(f"Use {VALUES[n % len(VALUES)]} for module{n} of area{n}")
            log.accept(begun.session_id, by="Ada", sign=signs)


@contextmanager
def _surroundings(env: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
