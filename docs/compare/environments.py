"""The peers: what is installed of each, where, and how a command of one is run."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
INSTALL_S: Final = 900  # seconds; npm takes minutes for a tool with a site
COMMAND_S: Final = 1_800
REASON: Final = 90  # characters


MOVED: Final = r'sed -i "s#/usr/\(libexec\|share\)/adr-tools#$PWD&#" usr/bin/adr usr/libexec/*/*'
"""So that its parts find each other below another folder than /usr."""


class Package(NamedTuple):
    """A peer, and the packages that hold it; the first one is the peer's own."""

    name: str
    group: str
    """Of cases, for which it is installed."""
    kind: str
    pinned: tuple[str, ...]
    runs: tuple[str, ...]
    """A command of it that ends with 0 where it runs."""

    @property
    def version(self) -> str:
        """Of the peer's own package."""
        return re.split("==|[@=]", self.pinned[0])[-1]


SDK: Final = "openai==3.54.0"
IMPORTED: Final = ("python", "-c")
PACKAGES: Final = (
    Package(
        "Temporal",
        "regressions",
        "pip",
        ("temporalio==1.35.0",),
        (*IMPORTED, "import temporalio.worker"),
    ),
    Package(
        "Inspect", "regressions", "pip", ("inspect-ai==0.3.285",), (*IMPORTED, "import inspect_ai")
    ),
    Package(
        "TruLens",
        "regressions",
        "pip",
        ("trulens-core==2.16.0",),
        (*IMPORTED, "import trulens.core.run"),
    ),
    # Newer ones need a newer Node.js than most machines have.
    Package("promptfoo", "regressions", "npm", ("promptfoo@0.121.20",), ("promptfoo", "--version")),
    Package("vcrpy", "recorders", "pip", ("vcrpy==9.4.2", SDK), (*IMPORTED, "import vcr")),
    Package("reeltime", "recorders", "pip", ("reeltime==1.0.0", SDK), ("tape", "--version")),
    Package("log4brains", "decisions", "npm", ("log4brains@1.1.0",), ("log4brains", "--version")),
    Package("adr-tools", "decisions", "apt", ("adr-tools=3.0.0-2",), ("adr", "help")),
    Package("spec-kit", "decisions", "pip", ("specify-cli==1.2.3",), ("specify", "--version")),
)


class Installed(NamedTuple):
    """A peer in its folder; without programs, with the reason why."""

    package: Package
    folder: Path
    programs: Path | None
    missing: str = ""

    def program(self, name: str) -> str:
        """The path of one of its programs."""
        assert self.programs
        return str(self.programs / name)

    def how(self) -> str:
        """How it was installed, and what it takes on the disk; or why it is missing."""
        if not self.programs:
            return f"not run: {self.missing}"
        files = (one for one in self.folder.rglob("*") if one.is_file() and not one.is_symlink())
        megabytes = sum(one.stat().st_size for one in files) / 1_000_000
        return f"{self.package.kind}, {megabytes:,.{int(megabytes < 1)}f} MB"


class Done(NamedTuple):
    """A command that ended: seconds of CPU with its children, and of the wall."""

    code: int
    out: str
    err: str
    cpu_s: float
    wall_s: float


def install_peer(package: Package, home: Path) -> Installed:
    """Install a peer below a folder, where it is not there yet, and see that it runs."""
    folder = home / package.name
    programs = folder / {"pip": "bin", "npm": "node_modules/.bin", "apt": "usr/bin"}[package.kind]
    mark, wanted = folder / "installed.txt", " ".join(package.pinned)
    if not mark.exists() or mark.read_text("utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        program, *words = package.runs
        for command in (*_commands(package), (str(programs / program), *words)):
            say(f"{package.name}: {' '.join(command)}")
            try:
                done = run_measured(command, folder, seconds=INSTALL_S)
            except (OSError, subprocess.TimeoutExpired) as error:
                return Installed(package, folder, None, _reason(str(error)))
            if done.code:
                return Installed(package, folder, None, _reason(done.err or done.out))
        mark.write_text(wanted, "utf-8")
    return Installed(package, folder, programs)


def _commands(package: Package) -> Sequence[Sequence[str]]:
    match package.kind:
        case "pip":
            pip = ("bin/python", "-m", "pip", "install", "--quiet", *package.pinned)
            return ((sys.executable, "-m", "venv", "."), pip)
        case "npm":
            return (("npm", "install", "--silent", "--no-fund", "--no-audit", *package.pinned),)
        case _:
            return (
                ("apt-get", "download", *package.pinned),
                ("sh", "-ec", f"dpkg-deb --extract *.deb . && {MOVED}"),
            )


def _reason(said: str) -> str:
    """The last line, without colours and addresses."""
    said = re.sub(r"\x1b\[[\d;]*m", "", said)
    lines = [line for line in said.splitlines() if line.strip()] or ["ended without a word"]
    return re.sub(r"\S*://\S+", "...", lines[-1]).replace("|", "/").strip()[:REASON]


def run_measured(
    command: Sequence[str], folder: Path, env: Mapping[str, str] = {}, seconds: int = COMMAND_S
) -> Done:
    """Run a command in a folder; its environment is ours, and some variables of its own."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(  # noqa: S603  commands of these files
        command,
        cwd=folder,
        env={**os.environ, **env},  # noqa: TID251  handed on
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        timeout=seconds,
        check=False,
    )
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Done(done.returncode, done.stdout, done.stderr, cpu, wall)


def say(what: str) -> None:
    """To stderr: what is done now."""
    sys.stderr.write(what + "\n")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of Markdown."""
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
