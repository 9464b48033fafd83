"""Records what a release leaves behind: `python -m tests.packaging.record_release`.

The wheel is built and installed away from the checkout; that program writes a log of every workflow
and status in SQLite and in PostgreSQL, records, session files and an export. They lie in
`replays/VERSION` from then on and are never recorded anew: a folder that exists is refused.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from preflights_es.kernel import __version__
from tests.cli.compiler.planning import documented
from tests.cli.conftest import GIT_CONFIG
from tests.cli.program import Project, Result
from tests.cli.signing import ADA
from tests.packaging.environments import ROOT, built
from tests.packaging.test_wheel import install_wheel
from tests.postgres import FAST, OwnServer, binaries, connection_words
from tests.signing.house import name_repository

SIGNERS: Final = "allowed_signers"
BUG: Final = ROOT / "tests" / "cli" / "faulting.py"
CALLS: Final = ROOT / "docs" / "example-calls" / "support.jsonl"

# 1. What is recorded -------------------------------------------------------------------------

COMMANDS: Final = """
3 start "Choose a database for the orders" --no-input
3 start "Add OAuth login" --answer auth_strategy=OAuth --no-input
0 start "Use Kafka for events" --because "It replays" --path services --accept
0 start "Use MySQL for the orders" --because Known --alternative "Redis: no joins" --accept --by Ada
0 start "Use PostgreSQL for the orders" --supersedes last --accept --by Ada
0 start "Use date-fns for dates" --accept --by Ada --sign
0 start "Wir nehmen Redis für den Cache" --accept --by Ada --language de
3 start "Use AKIAIOSFODNN7EXAMPLE as the key"
CLAUDECODE=1 3 start "Which lever?" --question "Which lever?" --option A --option B --no-input
3 answer last B
3 start "Choose a queue" --no-input
0 abandon last --reason Later
3 start "Choose a cache for the pages" --provider sim --seed 4 --no-input
3 start "Deploy the shop" --provider sim --faults malformed=1 --no-input
5 start "Add login" --provider sim --faults error=1 --strict --no-input
0 start "Use Vue for the till" --accept --by Ada
0 admin erase last --yes --sign --reason "A person asked"
3 start "Choose a hosting" --no-input
70 bug answer last Cloud
0 start "Use Elm for the shop" --accept --by Ada --db ../other.db
0 admin export last -o ../other.jsonl --db ../other.db
0 admin import ../other.jsonl --yes
0 recall "which database?"
0 recall "which database?" --provider sim --seed 1
5 recall "which queue?" --provider sim --strict --faults timeout=1
0 note "call the bank ~10m due:2030-01-02"
0 note add task "Write the report" --minutes 20
0 note done last.1
0/3 note "Pay the rent, call Bob at noon" --provider sim --seed 2
0 note "Forget this"
0 admin erase last --yes
5 note "Buy milk" --provider sim --strict --faults malformed=1
0 today --minutes 60
0 today --minutes 60 --provider sim --seed 3
0 ask "decisions this year"
3 ask "nonsense"
0/3 ask "How many decisions are there?" --provider sim --seed 1
3 plan project
0 approve last --by Ada --sign
3 plan architecture
0 reject last --reason "Too many layers" --by Ada
3 plan architecture
0 calls import calls.jsonl
0 calls judge last 1 --expect billing --by Ada
""".strip().splitlines()
_LINE: Final = re.compile(r"(?:(\w+)=(\w+) )?([\d/]+) (bug )?(.+)")
"""A variable, the exit codes that are right, whether a bug is put in, and the words."""


def run_commands(house: Project, programs: Path, env: Mapping[str, str]) -> None:
    """Run every command; each must end as its line says."""
    for line in COMMANDS:
        found = _LINE.fullmatch(line)
        assert found, line
        name, value, codes, is_faulty, words = found.groups()
        program = (str(programs / "python"), "-P", str(BUG)) if is_faulty else ()
        done = house.run(
            *shlex.split(words),
            program=program or (str(programs / "preflights"),),
            env={**env, **({name: value} if name else {})},
        )
        assert str(done.code) in codes.split("/"), (line, done)


# 2. What a log says --------------------------------------------------------------------------


def what_a_log_says(call: Callable[..., Result]) -> dict[str, Any]:
    """How each session stands and replays, what is decided, and what verifies.

    Args:
        call: runs a command.
    """
    listed = call("sessions", "--all", "--all-workflows", "--json").json["sessions"]
    replayed = call("replay", *(one["session_id"] for one in listed), "--json").json["sessions"]
    said = {}
    for one, again in zip(listed, replayed, strict=True):
        id_, status = one["session_id"], one["status"]
        assert call("show", id_, "--json").json["status"] == status, id_
        standing = (one["workflow"], status, again["status"], f"{again['events']} events")
        said[id_] = " ".join((*standing, again["trace"][:16])).rstrip()
    decided = call("decisions", "--all", "--json").json["decisions"]
    verified = call("audit", "verify", "--json")
    assert verified.code == 0, verified
    return {
        "sessions": dict(sorted(said.items())),
        "decisions": {one["session_id"]: one["title"] for one in decided},
        "signatures": verified.json["signatures"],
    }


# 3. What lies in the folder ------------------------------------------------------------------


def new_house(top: Path, signers: Path) -> Project:
    """A repository of the id of all, and the home of a person who signs and names the signers."""
    house = Project(top / "shop", top / "home")
    house.folder.mkdir(parents=True)
    (house.home / ".config" / "preflights").mkdir(parents=True)
    (house.home / ".gitconfig").write_text(GIT_CONFIG)
    own = house.home / ".config" / "preflights" / "settings.toml"
    own.write_text(f'[sign]\nkey = "{house.home / "ada"}"\nsigners = "{signers}"\n')
    house.git("init", "--quiet", "--template=")
    (house.folder / "preflights.toml").write_text('project = "shop"\n')
    name_repository(house)
    return house


def record_release(folder: Path) -> None:
    """Write all files of a release."""
    with TemporaryDirectory() as temporary:
        top = Path(temporary)
        (top / "checkout").mkdir()
        wheel = next(one for one in built(top / "checkout") if one.suffix == ".whl")
        programs = install_wheel(wheel, top / "clean")
        key = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(top / "ada"))
        subprocess.run(key, check=True)
        (folder / SIGNERS).write_text(f"{ADA} {(top / 'ada.pub').read_text()}")
        server = OwnServer(FAST)
        said = {}
        for engine, url in (("sqlite", ""), ("postgres", server.url(server.database()))):
            house = new_house(top / engine, folder / SIGNERS)
            shutil.copy(top / "ada", house.home)
            (house.folder / "calls.jsonl").write_text("".join(CALLS.open().readlines()[:3]))
            documented(house)
            env = {"PREFLIGHTS_DATABASE_URL": url} if url else {}
            run_commands(house, programs, env)
            run = partial(house.run, program=(str(programs / "preflights"),), env=env)
            said[engine] = what_a_log_says(run)
            if url:
                packed(folder / "log.sql.gz", dumped(url))
                continue
            for words in (f"db backup {top}/log.db", f"export --all -o {folder}/export.jsonl.gz"):
                done = run("admin", *words.split())
                assert done.code == 0, done
            packed(folder / "log.db.gz", (top / "log.db").read_bytes())
            with tarfile.open(folder / "repository.tar.gz", "w:gz") as made:
                for name in ("docs", ".preflights", "preflights.toml"):
                    made.add(house.folder / name, name)
        server.close()
    (folder / "expected.json").write_text(f"{json.dumps(said, indent=1)}\n", "utf-8")


def packed(path: Path, content: bytes) -> None:
    """Compress it, the same way every time."""
    path.write_bytes(gzip.compress(content, mtime=0))


def dumped(url: str) -> bytes:
    """A database as statements that any client can run: no settings, no commands of psql."""
    words = ("--inserts", "--rows-per-insert=50", "--no-owner", "--no-privileges", "--no-comments")
    done = subprocess.run(
        [binaries() / "pg_dump", *words, connection_words(url)],
        capture_output=True,
        check=True,
        text=True,
    )
    left_out = ("SET ", "SELECT pg_catalog.set_config", "--", "\\")
    kept = (line for line in done.stdout.splitlines() if not line.startswith(left_out))
    return ("\n".join(kept) + "\n").encode()


if __name__ == "__main__":
    released = ROOT / "replays" / __version__
    released.mkdir()  # one that exists stays as it is
    record_release(released)
