"""Workflows by name: those that ship, and those of other packages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from preflights_es.kernel.errors import LogFromFuture, SettingsError, WorkflowMissing
from preflights_es.runtime.features import Features, Registry
from preflights_es.use import leads as own_providers
from tests import toy
from tests.installed import TOY, installed

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "preflights_es" / "features"
SHIPPED: Final = tuple(
    path.parent.name
    for path in sorted(FOLDER.glob("*/__init__.py"))
    if "workflow=" in path.read_text("utf-8")
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def why(name: str = "toy") -> str:
    """Why a workflow is not here; one line."""
    with pytest.raises(WorkflowMissing) as caught:
        Registry()[name]
    assert "\n" not in str(caught.value)
    assert str(caught.value) == f"the workflow {name!r} is not known here: {caught.value.why}"
    return caught.value.why


# 1. What is found ----------------------------------------------------------------------------


def test_those_that_ship_are_those_of_the_folder() -> None:
    assert {"clarification", "extraction"} <= {*SHIPPED}
    assert tuple(Registry()) == SHIPPED


def test_those_that_ship_are_listed_without_importing_them() -> None:
    code = (
        "import sys; from preflights_es.runtime.features import WORKFLOWS;"
        "print(*WORKFLOWS, len(WORKFLOWS));"
        "print(*(m for m in sys.modules if m.startswith('preflights_es.') and '.domain' in m))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines() == [f"{' '.join(SHIPPED)} {len(SHIPPED)}", ""], done.stderr


def test_a_workflow_of_another_package_is_found_by_its_name(site: Path) -> None:
    installed(site, "toys", {"toy": "toys:FEATURE"}, {"toys/__init__.py": TOY})
    registry = Registry()
    assert tuple(registry) == SHIPPED
    assert registry["toy"].decider.version == toy.WORKFLOW.decider.version
    assert registry["toy"] is registry["toy"]
    assert tuple(registry) == (*SHIPPED, "toy")
    assert len(registry) == len(SHIPPED) + 1


def test_a_package_that_is_found_twice_on_the_path_is_one(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editable installation and what an older one left behind."""
    installed(site, "my-toys", {"toy": "toys:FEATURE"}, {"toys/__init__.py": TOY})
    installed(tmp_path / "old", "my_toys", {"toy": "gone:WORKFLOW"})
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "old")])
    assert Registry()["toy"].name == "toy"


# 2. What is not ------------------------------------------------------------------------------


def test_a_name_that_no_package_has_says_what_to_do_and_is_looked_for_once(site: Path) -> None:
    assert why("weather") == "install the package that has it"
    registry = Registry()
    assert registry.get("weather") is None
    assert issubclass(WorkflowMissing, LogFromFuture)
    assert "toy" not in registry
    installed(site, "toys", {"toy": "toys:FEATURE"}, {"toys.py": TOY})
    assert "toy" not in registry
    assert "toy" in Registry()


def test_a_name_that_two_packages_have_is_neither_s(site: Path) -> None:
    for package in ("toys", "other-toys"):
        file = f"{package.replace('-', '_')}.py"
        installed(site, package, {"toy": f"{file[:-3]}:FEATURE"}, {file: TOY})
    assert why() == "several packages have it (other-toys, toys): keep one of them"
    assert "toys" not in sys.modules


MADE: Final = "from preflights_es.kernel.feature import Feature\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("raise OSError('no\\nline')", "does not load: OSError: no line"),
        ("import sys; sys.exit(3)", "does not load: SystemExit: 3"),
        ("x = (", "does not load: SyntaxError: "),
        ("", "does not load: AttributeError: "),
        (f"raise ValueError('x' * {10**6})", "does not load: ValueError: xxx"),
        ("FEATURE = 'toy'", "gives str, expected a Feature of that name"),
        (f"{MADE}FEATURE = Feature('x', __name__)", "gives the feature 'x', expected a Feature"),
        (f"{MADE}FEATURE = Feature('toy', __name__, workflow='no:W')", "does not load: ModuleNot"),
        (f"{MADE}FEATURE = Feature('toy', __name__, workflow=':W')", "does not load: Attribute"),
    ],
)
def test_a_package_without_it_is_named_and_others_go_on(site: Path, text: str, found: str) -> None:
    installed(site, "my-toys", {"toy": "toys:FEATURE"}, {"toys.py": text})
    assert why().startswith(f"the package my-toys {found}")
    assert len(why()) < 400
    assert Registry()["extraction"].name == "extraction"


def test_a_feature_without_a_workflow_has_no_sessions(site: Path) -> None:
    installed(
        site, "toys", {"toy": "toys:FEATURE"}, {"toys.py": f"{MADE}FEATURE = Feature('toy', '')"}
    )
    assert why() == "the feature of that name has no sessions"
    other = f"{MADE}W = 1\nFEATURE = Feature('toy', __name__, workflow=':W')"
    (site / "toys.py").write_text(other)
    sys.modules.pop("toys")
    assert why() == "toys gives int, expected a Workflow of that name"


# 3. Where nothing is looked for --------------------------------------------------------------


def test_a_name_that_ships_is_no_other_package_s(site: Path) -> None:
    for name in SHIPPED:
        points = {name: f"evil_{name}:FEATURE"}
        installed(site, f"evil-{name}", points, {f"evil_{name}.py": "raise SystemExit"})
        assert Registry()[name].led.package == f"preflights_es.features.{name}"


def scanned(code: str, folder: Path, *words: str) -> bool:
    """Whether a program opens a file of entry points."""
    hook = "import sys; sys.addaudithook(lambda event, about: event == 'open' and "
    hook += "'entry_points.txt' in str(about[0]) and print('SCANNED', file=sys.stderr))\n"
    env = {"PYTHONPATH": f"{ROOT}:{ROOT / 'cli'}", "HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", hook + code, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env=env,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    return "SCANNED" in done.stderr


def test_a_name_that_does_not_ship_has_packages_scanned(tmp_path: Path) -> None:
    code = "from preflights_es.runtime.features import WORKFLOWS; WORKFLOWS.get('toy')"
    assert scanned(code, tmp_path)
    assert not scanned(code.replace("'toy'", "'extraction'"), tmp_path)


@pytest.mark.slow("whole runs")
def test_no_command_about_shipped_workflows_scans_packages(tmp_path: Path) -> None:
    code = (
        "from preflights_cli.main import run_command_line; sys.exit(run_command_line(sys.argv[1:]))"
    )
    scanned(code, tmp_path, "note", "call Bob")  # Alembic may, once, for plugins of its own
    for words in ("--help", "--version", "start --help", "sessions", "note list"):
        assert not scanned(code, tmp_path, *words.split()), words


@pytest.mark.parametrize("entry", ["", ".", "clone", "absolute", "link"])
def test_nothing_is_found_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    clone = tmp_path / "clone"
    files = {"toys.py": "raise SystemExit", "toy.py": "raise SystemExit"}
    installed(clone, "toys", {"toy": "toys:FEATURE"}, files)
    (tmp_path / "link").symlink_to(clone)
    places = {"absolute": str(clone), "link": str(tmp_path / "link")}
    monkeypatch.chdir(tmp_path if entry == "clone" else clone)
    monkeypatch.setattr(sys, "path", [places.get(entry, entry), *sys.path])
    assert why() == "install the package that has it"
    assert {"toys", "toy"}.isdisjoint(sys.modules)


# 4. Its simulation ---------------------------------------------------------------------------


def test_a_taken_route_names_its_package(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = (
        "from preflights_es.words.simulation import Route\n"
        "BANK = {'extraction': Route(lambda *_: '{}'), 'own': Route(lambda *_: '{}')}\n"
    )
    brings = TOY.replace("')\n", "', bank='simulation:BANK')\n")
    files = {"toys/__init__.py": brings, "toys/simulation.py": simulation}
    installed(site, "toys", {"toy": "toys:FEATURE"}, files)
    features = Features()
    registry = Registry(features)
    monkeypatch.setattr(own_providers, "FEATURES", features)
    shipped = own_providers.bank()
    with pytest.raises(SettingsError, match=r"the package toys has the route 'extraction', which"):
        own_providers.refuse_taken_route(registry["toy"])
    together = own_providers.bank()
    assert {name: together[name] for name in shipped} == shipped
    assert set(together) == {*shipped, "own"}
    own_providers.refuse_taken_route(registry["extraction"])


def test_a_workflow_without_a_feature_has_no_simulation() -> None:
    assert "clarify" in own_providers.bank()
    own_providers.refuse_taken_route(toy.WORKFLOW)
