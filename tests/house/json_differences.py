"""What `--json` says differently in two trees: `python -m tests.house.json_differences OTHER_TREE`.

Some 400 commands run in each tree, one after the other, in a new repository of the same path.
Golden sessions are replayed; some of each workflow are taken in and read in every way, each in a
log of its own, as goldens share ids. Then sessions are written and read. Ids, times and hashes are
left out. Exit code 0: the same; 1: differences, as a diff.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.markdown import ROOT

EACH_WORKFLOW: Final = 3  # golden sessions that are read in every way
READ: Final = (
    "show {}",
    "log {}",
    "why {}",
    "replay {}",
    "replay {} --drift",
    "replay {} --simulate --seed 7",
    "audit verify {}",
    "admin render {} --stdout",
    "admin export {} -o -",
)
WRITTEN: Final = """
start "Choose a database for the orders" --no-input
answer last 1 --because "Orders change together" --alternative "Redis: no joins"
show last
accept last --by "Ada Lovelace"
check
start "Use Kafka for events" --no-input --because "Replays" --path services --accept --by Ada
start "Use RabbitMQ for events" --no-input --accept --by Ada
start "Which broker?" --task 7 --question "Which broker?" --option Kafka --option NATS --no-input
answer last NATS
abandon last --reason "Later"
start "Choose a database" --provider sim --seed 4 --no-input
resume last --no-input
decisions
recall "which database?"
why database
prompt --for "read the orders"
note "call the bank ~10m due:2030-01-02"
note add task "Write the report" --minutes 20
note list
note cancel last.1
today --minutes 60 --language en
ask "decisions this year" --run
ask "nonsense"
ask "decisions by status" --run --csv
plan project --no-input
show nothing
accept nothing
replay nothing
start ""
admin erase last --dry-run
admin renumber --check
sync --yes
audit verify
audit trail
audit checkpoint
calls import {root}/docs/example-calls/support.jsonl
calls list
sessions --all --all-workflows
sessions --workflow planning --all
decisions --all
decisions --query database
inbox --all
prompt
facts
usage
usage --by model
note list --all
artifacts list --all
prompts
regress
replay --all
admin db status
admin projections list
ask --catalog
init --agent claude --print
""".strip().splitlines()
_NEW_EACH_RUN: Final = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"  # a session's id
    r"|\b[0-9a-f]{12,64}\b|\b[0-9a-f]{8}\b"  # digests, and the ends of ids
    r"|\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r'|"\d\d:\d\d"'
    r'|"(?:duration|latency|elapsed|took|age|bytes)\w*": ?[\d.]+'
    r"|\b\d{16}\b"  # microseconds since 1970
)


def commands() -> Iterator[list[str]]:
    """The commands in their order, as words behind `preflights`."""
    for folder in sorted({path.parent for path in (ROOT / "replays").glob("*/*.jsonl")}):
        goldens = sorted(folder.glob("*.jsonl"))
        yield from (["replay", str(golden)] for golden in goldens)
        for golden in goldens[:: -(-len(goldens) // EACH_WORKFLOW)]:
            session = re.search(r'"session_id":"([^"]+)"', golden.read_text("utf-8"))
            assert session, f"{golden} names no session"
            log = f"{folder.name}-{golden.stem}.db"
            forms = (f"admin import {golden} --yes", *READ)
            yield from ([*form.format(session[1]).split(), "--db", log] for form in forms)
    yield from (shlex.split(line.format(root=ROOT)) for line in WRITTEN)


def outputs(tree: Path, folder: Path) -> list[str]:
    """What each command prints and its exit code, line by line, without what is new in each run."""
    shutil.rmtree(folder, ignore_errors=True)
    home, repository = folder / "home", folder / "shop"
    home.mkdir(parents=True)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{tree}{os.pathsep}{tree / 'cli'}",
        "HOME": str(home),
        "TZ": "UTC",
        "PREFLIGHTS_ACTOR": "Ada Lovelace",
    }
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    lines = list[str]()
    for number, words in enumerate(commands(), 1):
        print(f"\r{tree.name}: {number}", end="", file=sys.stderr)
        done = subprocess.run(
            [sys.executable, "-m", "preflights_cli", *words, "--json"],
            cwd=repository, env=environment, capture_output=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        text = (done.stdout + done.stderr).decode("utf-8", "replace")
        text = _NEW_EACH_RUN.sub("<new>", text)
        lines.append(f"$ preflights {shlex.join(words)} (exit {done.returncode})")
        lines += text.replace('", "', '",\n"').splitlines()
    print(file=sys.stderr)
    return lines


def main(other: str) -> int:
    with tempfile.TemporaryDirectory() as top:
        before, now = (outputs(tree, Path(top) / "run") for tree in (Path(other).resolve(), ROOT))
    differences = list(difflib.unified_diff(before, now, "before", "now", lineterm="", n=2))
    print(*differences, f"{len(now)} lines of {sum(1 for _ in commands())} commands", sep="\n")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
