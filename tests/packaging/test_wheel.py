"""The wheel: built from what git tracks, installed away from the checkout, and used."""

from __future__ import annotations

import os
import shlex
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from preflights_es.kernel import __version__
from tests.packaging.environments import (
    CALLS,
    ROOT,
    STRIPE,
    WITH_EXTRA,
    built,
    make_environment,
    run,
    use_commands,
)

pytestmark = pytest.mark.slow("whole runs")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return next(
        path for path in built(tmp_path_factory.mktemp("checkout")) if path.suffix == ".whl"
    )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_wheel(wheel, tmp_path_factory.mktemp("clean"))


def install_wheel(wheel: Path, folder: Path) -> Path:
    """The programs of a new environment that holds the wheel; its dependencies are borrowed."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    words = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "--python", python, "install", *words, wheel, folder=folder)
    # A path named here is searched, but its own .pth files are not read: the checkout that is
    # installed there for development stays out of sight.
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(python, "-c", where, folder=folder).strip())
    (site / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder / "bin"


def test_what_is_built_twice_has_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    before = sorted(wheel.parent.iterdir())
    again = built(tmp_path)
    assert [path.name for path in again] == [path.name for path in before]
    assert all(one.read_bytes() == two.read_bytes() for one, two in zip(before, again, strict=True))


def test_everything_the_program_reads_is_inside(wheel: Path) -> None:
    with ZipFile(wheel) as file:
        names = set(file.namelist())
    for folder, kept in (
        ("preflights_es", "preflights_es"),
        ("cli/preflights_cli", "preflights_cli"),
        ("alembic", "preflights_es/store/migrations"),
    ):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"{kept}/{path.relative_to(ROOT / folder).as_posix()}" in names, path
    assert not {name.split("/")[0] for name in names} - {
        "preflights_es",
        "preflights_cli",
        f"preflights_es-{__version__}.dist-info",
    }
    assert "preflights_es/store/migrations/__init__.py" not in names, "it would hide the library"
    assert f"preflights_es-{__version__}.dist-info/licenses/LICENSE" in names
    assert "preflights_es/py.typed" in names


def test_a_session_and_its_replay_run_away_from_the_checkout(
    installed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}

    def preflights(*words: str) -> str:
        return run(installed / "preflights", *words, folder=folder, env=env)

    where = "import preflights_es, preflights_cli as c; print(preflights_es.__file__, c.__file__)"
    imported = run(installed / "python", "-c", where, folder=folder, env=env)
    assert str(ROOT) not in imported
    assert imported.count(str(installed.parent)) == 2

    assert preflights("--version") == f"preflights {__version__}\n"
    own = run(installed / "preflights-es", "--version", folder=folder, env=env)
    assert own == f"preflights {__version__}\n"
    assert "has schema" in preflights("admin", "db", "upgrade")
    begun = preflights(
        *("start", "Add OAuth login", "--answer", "auth_strategy=OAuth"),
        *("--accept", "--by", "Ada Lovelace"),
    )
    assert "accepted, 100 %" in begun
    assert 'decision-makers: ["Ada Lovelace"]' in (
        folder / "docs" / "decisions" / "0001-use-oauth-for-authentication.md"
    ).read_text("utf-8")
    env["PREFLIGHTS_ACTOR"] = "Ada"
    listed = preflights("sessions", "-q").splitlines()
    assert "identical: 11 events" in preflights("replay", listed[-1].split()[0])
    assert "* Strategy: OAuth" in preflights("prompt", listed[-1].split()[0])


def test_readme_s_first_line_installs_from_a_clone(tmp_path: Path) -> None:
    words = next(
        shlex.split(line, comments=True)
        for line in (ROOT / "README.md").read_text("utf-8").splitlines()
        if line.startswith("    uv tool install ")
    )
    home = {"HOME": str(tmp_path), "PREFLIGHTS_ACTOR": "Ada", "LC_ALL": "C.UTF-8"}
    places = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    uv = (sys.executable, "-m", "uv", *words[1:], "--quiet", "--python", sys.executable)
    run(*uv, folder=ROOT, env={**os.environ, **places})

    def preflights(*said: str) -> str:
        env = {"PATH": "/usr/bin:/bin", **home}
        return run(tmp_path / "bin" / "preflights-es", *said, folder=tmp_path, env=env)

    assert preflights("--version") == f"preflights {__version__}\n"
    begun = preflights("start", "Add OAuth login", "--answer", "auth_strategy=OAuth", "--accept")
    assert "100 %" in begun
    for module in ("mcp", "sqlglot", "jinja2", "uvicorn"):
        run(
            tmp_path / "tools" / "preflights-es" / "bin" / "python",
            "-c",
            f"import {module}",
            folder=tmp_path,
        )


def test_the_lowest_versions_that_are_allowed_do(wheel: Path, tmp_path: Path) -> None:
    made = make_environment(tmp_path / "lowest", wheel, sys.executable, "lowest-direct", WITH_EXTRA)
    named = (WITH_EXTRA[extra] for extra in ("mcp", "metrics", "view"))
    use_commands(made, tmp_path, (STRIPE, *CALLS, *named))
