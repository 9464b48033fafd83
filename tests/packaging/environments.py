"""The wheel in bare environments: the lowest and the newest dependencies, each extra alone.

    python -m tests.packaging.environments python3.11 python3.13

Packages are installed without a compiler. A table says what works; exit code 1: something does not.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
TIMEOUT_S: Final = 120
RESOLUTIONS: Final = ("lowest-direct", "highest")
"""Of uv: the floors of pyproject.toml, and whatever is newest."""
LIST_TOOLS: Final = """
import asyncio, mcp
async def names():
    async with mcp.Client(mcp.StdioServerParameters(command="preflights", args=["mcp"])) as client:
        return [tool.name for tool in (await client.list_tools()).tools]
print(asyncio.run(names()))
"""


class Use(NamedTuple):
    """A command, and what shows that it worked."""

    words: str
    shown: str
    code: int = 0


STRIPE: Final = Use(
    'preflights start "Use Stripe for payments" --accept --by Ada', "accepted, 100 %"
)
CALLS: Final = (
    Use("preflights calls import model.py", "its first lines hold no JSON object", code=1),
    Use("preflights calls import support.jsonl", "40 calls added to 40 sessions"),
    Use("preflights calls judge --from right.csv", "11 judgements recorded"),
    Use(
        "python model.py preflights regress --workflow calls --model small-2 --live",
        "BLOCK: The change is worse",
        code=1,
    ),
)
BASE: Final = (
    Use("preflights --version", "preflights 0."),
    STRIPE,
    Use("preflights show last", "Provider  Stripe"),
    Use("preflights replay last", "identical: "),
    Use('preflights start "Add OAuth login" --provider sim --seed 7', "against: ", code=3),
    Use("preflights check", ""),
    Use("preflights recall payments", "Stripe"),
    *CALLS,
    Use("preflights calls show last", 'answer: {"intent": "refund"}'),
    Use("preflights doctor", "ok    log"),
    Use("preflights audit verify", "hold"),
)
"""What needs no extra: most of README's commands."""
WITHOUT_MCP: Final = (
    Use("preflights init --agent claude", "needs the extra `mcp`"),
    Use("preflights doctor", "its server needs the extra `mcp`", code=1),
)
WITH_EXTRA: Final = {
    "mcp": Use(f"python -c {shlex.quote(LIST_TOOLS)}", "start_decision"),
    "metrics": Use('preflights ask "sessions by workflow" --run', "clarification"),
    "view": Use("preflights view --export site --yes", "Wrote "),
    "postgres": Use(
        "preflights admin db status --db postgresql://127.0.0.1:1/x", "refused", code=5
    ),
    "record": Use("preflights calls record -- python -c pass", "nothing was recorded", code=1),
    "distributed": Use(
        "preflights regress --scheduler tcp://127.0.0.1:1", "cannot be reached", code=5
    ),
    "testing": Use("python -c 'import preflights_es.testing.laws'", ""),
}
"""One command for each extra, which fails without it."""


def run(*command: str | Path, folder: Path, env: dict[str, str] | None = None) -> str:
    """What a command prints.

    Args:
        env: all of its environment; this process's own when it is left out.
    """
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(copy: Path) -> list[Path]:
    """A wheel and an archive of sources, from a copy of the files that git tracks, or would."""
    assert (ROOT / ".git").exists(), "the wheel is built from what git tracks: test in a checkout"
    listed = run(
        *("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), folder=ROOT
    )
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    run(sys.executable, "-m", "build", "--no-isolation", folder=copy)
    return sorted((copy / "dist").iterdir())


def make_environment(
    folder: Path, wheel: Path, python: str, resolution: str, extras: Iterable[str] = ()
) -> Path:
    """The programs of an environment that holds a wheel and what it depends on."""
    uv = (sys.executable, "-m", "uv")
    run(*uv, "venv", "--quiet", "--python", python, folder, folder=ROOT)
    install = (*uv, "pip", "install", "--quiet", "--python", folder / "bin" / "python")
    needed = ("--only-binary", ":all:", "--resolution", resolution, "-r", "pyproject.toml")
    run(*install, *needed, *(f"--extra={extra}" for extra in extras), folder=ROOT)
    run(*install, "--no-deps", wheel, folder=ROOT)
    run(*uv, "pip", "check", "--quiet", "--python", folder / "bin" / "python", folder=ROOT)
    return folder / "bin"


def use_commands(programs: Path, folder: Path, uses: Iterable[Use]) -> None:
    """Run each in a repository that is new."""
    env = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    env |= {"PREFLIGHTS_ACTOR": "Ada", "GIT_CONFIG_NOSYSTEM": "1"}
    shutil.copytree(ROOT / "docs" / "example-calls", folder / "shop")
    run("git", "init", "--quiet", "--template=", ".", folder=folder / "shop")
    for use in uses:
        words = shlex.split(use.words)
        done = subprocess.run(
            [programs / words[0], *words[1:]],
            cwd=folder / "shop",
            env=env,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        printed = done.stdout + done.stderr
        assert done.returncode == use.code, f"{use.words}: {printed}"
        assert use.shown in printed, f"{use.words}: {printed}"


def tried_environments(wheel: Path, python: str, resolution: str) -> Iterator[tuple[str, str]]:
    """What was installed, and why it does not work; empty where it does."""
    everything = {extra: (STRIPE, use) for extra, use in WITH_EXTRA.items()}
    sets = {"base": (*BASE, *WITHOUT_MCP), **everything, "all": (*BASE, *WITH_EXTRA.values())}
    for name, uses in sets.items():
        extras = {"base": (), "all": (*WITH_EXTRA,)}.get(name, (name,))
        with TemporaryDirectory() as made:
            folder = Path(made)
            try:
                programs = make_environment(folder / "v", wheel, python, resolution, extras)
                use_commands(programs, folder, uses)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                yield name, str(error)
            else:
                yield name, ""


def main(pythons: list[str]) -> int:
    """Try all, and print a table."""
    failed = 0
    with TemporaryDirectory() as made:
        wheel = next(path for path in built(Path(made)) if path.suffix == ".whl")
        for python in pythons or [sys.executable]:
            for resolution in RESOLUTIONS:
                for name, trouble in tried_environments(wheel, python, resolution):
                    failed += bool(trouble)
                    said = " ".join(trouble.split()) or "works"
                    print(f"| {python} | {resolution} | {name} | {said} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
