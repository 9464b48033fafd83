"""What a command costs as a whole, against the least that a program of click costs, or another."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from subprocess import DEVNULL, run

import preflights_es
from tests.benchmarks.measure import Figure, quickest
from tests.cli.program import environment
from tests.cli.test_foreign_records import NYGARD

PREFLIGHTS = [str(Path(sys.executable).with_name("preflights"))]
NOTHING = "import click\n@click.command()\ndef main(): pass\nmain()\n"
OPENED = ["start", "Add OAuth login", "--no-input", "--json"]
START = [
    *("start", "Add OAuth login", "--answer", "auth_strategy=OAuth", "--accept"),
    *("--by", "Ada"),
]
DATABASE = ["start", "Keep orders in a database", "--accept", "--by", "Ada", "--answer"]
OLDER = [*DATABASE, "db_type=PostgreSQL"]
NEWER = [*DATABASE, "db_type=MySQL"]
BESIDE = ["--keep", "ADR-0001=Carts have their own"]
RELATED = 1.3
VALUES = ("PostgreSQL", "MySQL", "SQLite", "MongoDB", "Redis", "Kafka", "RabbitMQ", "Vue", "React")
LOOKS = (["show", "last"], ["prompt"], ["prompt", "last"], ["decisions"], ["log", "last"])
LOOK, LOOK_STRETCH = 2.2, 1.8
RECORD, RECORD_STRETCH = 3.6, 2.3  # an acceptance searches for what may be related
AS_FAST = 1.1  # a tenth is noise
FOREIGN, FOREIGN_LIMIT = 2_000, 3.0
HELD = 500  # decisions of ours, and as many records of another tool
AMONG = {"start": 3.8, "decisions": 4.0, "prompt": 4.0}
"""Over so many. The aim for the last two was 2.2, which a command needs for one decision alone: the
rest is 500 session files of which the end is read, and 1,000 rows."""
ROUNDS = 15
HOOK = 2.5
HOOK_LARGE = 4.0
BEGINS = {"session_id": "s", "source": "startup"}
EDITS = {
    "session_id": "s",
    "tool_name": "Edit",
    "tool_input": {"file_path": "app.py", "old_string": "x = 1", "new_string": "x = 2\ny = 3"},
}
WRITES = {
    "session_id": "s",
    "tool_name": "Write",
    "tool_input": {
        "file_path": "app.py",
        "content": "value = compute(order)  # as before\n" * 28_000,
    },
}
WAITS = 3  # the exit code of a session that waits for a person


def figures() -> list[Figure]:
    """`--version`, `--help`, commands that look, and commands that record."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "nothing.py").write_text(NOTHING)
        many, none = (_project(Path(folder) / name) for name in ("many", "none"))
        _write_foreign_records(many)  # first: a record is kept as read when it is seconds old
        db = ["--db", str(Path(folder) / "log.db")]
        process_seconds([*PREFLIGHTS, *db, *START], folder)
        figure = partial(_figure, folder)
        return [
            figure("--version", [["--version"]], 1.2, None),
            figure("--help", [["--help"]], 1.2, None),
            *(figure(" ".join(words), [[*db, *words]], LOOK, LOOK_STRETCH) for words in LOOKS),
            figure("start --answer --accept", [[*db, *START]], RECORD, RECORD_STRETCH),
            figure("answer", _answers(folder, db), RECORD, RECORD_STRETCH, WAITS),
            _beside(Path(folder)),
            _hook(folder, db, "SessionStart", BEGINS),
            _hook(folder, db, "PreToolUse", EDITS),
            _hook(folder, db, "PreToolUse", WRITES, " of 1 MB", HOOK_LARGE),
            _against("prompt, against show last", "prompt", none, "show last", none, AS_FAST),
            _against(
                f"decisions over {FOREIGN:,} records of another tool, against none",
                *("decisions", many, "decisions", none, FOREIGN_LIMIT),
            ),
            *_among(Path(folder)),
            *_placed(Path(folder) / "placed"),
        ]


def _among(folder: Path) -> Iterator[Figure]:
    """Commands in a repository with many decisions, ours and another tool's."""
    held = folder / "held"
    held.mkdir()
    (held / "pyproject.toml").write_text('[project]\ndependencies = ["psycopg", "redis"]\n')
    (held / "README.md").write_text("# Shop\n\nA shop for bicycles.\n")
    with preflights_es.open(held, database=str(held / "log.db")) as log:
        for n in range(HELD):
            value = VALUES[n % len(VALUES)]
            begun = log.start(f"Use {value} for module{n} of area{n % 37}")
            log.accept(begun.session_id, by="Ada")
    for n in range(HELD):
        text = NYGARD.format(n=n, title=f"Move the things{n} to {VALUES[n % 7]}", status="Accepted")
        (held / "docs" / "decisions" / f"{n + 2_000}-move-{n}.md").write_text(text)
    time.sleep(3)  # a file is kept as read when it is seconds old
    (held / "nothing.py").write_text(NOTHING)
    words = {"start": ["start", "Keep the basket in a database", "--no-input"]}
    for name, limit in AMONG.items():
        command = [*PREFLIGHTS, "--db", "log.db", *words.get(name, [name])]
        code = WAITS if name == "start" else 0
        yield _held(
            f"{name}, among {HELD} decisions and {HELD} records of another tool",
            partial(process_seconds, command, str(held), code),
            partial(process_seconds, [sys.executable, "nothing.py"], str(held)),
            limit,
            None,
        )


def _placed(folder: Path) -> Iterator[Figure]:
    """The hook before an edit, among many decisions with patterns: one matches, and none does."""
    folder.mkdir()
    (folder / "nothing.py").write_text(NOTHING)
    with preflights_es.open(folder, database=str(folder / "log.db")) as log:
        for n in range(HELD):
            value, place = VALUES[n % len(VALUES)], f"src/area{n % 37}/module{n}"
            paths = [f"{place}/**", f"{place}.sql"]
            begun = log.start(f"Use {value} for module{n}", paths=paths, hold="ask")
            log.accept(begun.session_id, by="Ada")
    for what, place in (("one of which matches", "area1/module1"), ("none of which matches", "x")):
        said = {"file_path": f"src/{place}/app.py", "content": "x = 2\n"}
        event = {"session_id": "s", "tool_name": "Write", "tool_input": said}
        size = f", among {HELD} decisions with patterns, {what}"
        yield _hook(str(folder), ["--db", "log.db"], "PreToolUse", event, size)


def _project(folder: Path) -> Path:
    """A folder with a log of its own, which holds one decision."""
    folder.mkdir()
    process_seconds([*PREFLIGHTS, "--db", "log.db", *START], str(folder))
    return folder


def _beside(folder: Path) -> Figure:
    """An acceptance beside a decision that differs, against one where nothing is related."""
    related = cycle(_projects(folder / "related", OLDER))
    alone = cycle(_projects(folder / "alone", START))
    program = [*PREFLIGHTS, "--db", "log.db", *NEWER]
    return _held(
        "accept related, against start --accept",
        lambda: process_seconds([*program, *BESIDE], str(next(related))),
        lambda: process_seconds(program, str(next(alone))),
        RELATED,
        None,
    )


def _projects(folder: Path, first: list[str]) -> list[Path]:
    """Projects with one decision each, one for each round and one that warms up."""
    made = [folder / str(n) for n in range(ROUNDS + 1)]
    for one in made:
        one.mkdir(parents=True)
        process_seconds([*PREFLIGHTS, "--db", "log.db", *first], str(one))
    return made


def _write_foreign_records(project: Path) -> None:
    records = project / "docs" / "decisions"
    for number in range(2, FOREIGN + 2):
        name = f"{number:04d}-choose-way-{number}.md"
        (records / name).write_text(NYGARD.format(n=number, title="Choose", status="Accepted"))


def _answers(folder: str, db: list[str]) -> list[list[str]]:
    """An answer to each of many sessions that wait for one."""
    made = []
    for _ in range(ROUNDS + 1):  # one of them warms up
        opened, env = [*PREFLIGHTS, *db, *OPENED], environment(Path(folder))
        done = run(opened, cwd=folder, env=env, capture_output=True, check=False)
        assert done.returncode == WAITS, done.stderr
        session = json.loads(done.stdout)["session_id"]
        made.append([*db, "answer", session, "auth_strategy=OAuth"])
    return made


def _figure(
    folder: str,
    what: str,
    commands: list[list[str]],
    limit: float,
    stretch: float | None,
    code: int = 0,
) -> Figure:
    each = cycle(commands)
    return _held(
        what,
        lambda: process_seconds([*PREFLIGHTS, *next(each)], folder, code),
        lambda: process_seconds([sys.executable, "nothing.py"], folder),
        limit,
        stretch,
    )


def _hook(
    folder: str,
    db: list[str],
    name: str,
    event: Mapping[str, object],
    size: str = "",
    limit: float = HOOK,
) -> Figure:
    """An event of an agent, as its hook is told it."""
    said = Path(folder) / f"{name}{size}.json"
    said.write_text(json.dumps(event))
    command = [*PREFLIGHTS, *db, "hook", name, "--agent", "claude"]
    return _held(
        f"hook {name}{size}",
        lambda: process_seconds(command, folder, stdin=said),
        lambda: process_seconds([sys.executable, "nothing.py"], folder),
        limit,
        None,
    )


def _against(
    what: str, ours: str, folder: Path, floor: str, floor_folder: Path, limit: float
) -> Figure:
    """One command against another, each with the log of its folder."""
    program = [*PREFLIGHTS, "--db", "log.db"]
    return _held(
        what,
        lambda: process_seconds([*program, *ours.split()], str(folder)),
        lambda: process_seconds([*program, *floor.split()], str(floor_folder)),
        limit,
        None,
    )


def _held(
    what: str,
    ours: Callable[[], float],
    floor: Callable[[], float],
    limit: float,
    stretch: float | None,
) -> Figure:
    pair = quickest(ours, floor, ROUNDS)
    return pair.figure(
        f"preflights {what}", limit, lambda taken: f"{taken * 1000:.0f} ms CPU", stretch
    )


def process_seconds(
    command: Sequence[str], folder: str, code: int = 0, stdin: Path = Path(os.devnull)
) -> float:
    """CPU seconds, user and system, of a whole process, whose home is its folder.

    No setting of yours and no agent that starts the benchmarks changes what is measured.
    """
    before = getrusage(RUSAGE_CHILDREN)
    env = environment(Path(folder))
    with stdin.open("rb") as said:
        done = run(command, cwd=folder, env=env, check=False, stdin=said, stdout=DEVNULL)
    assert done.returncode == code, f"{command}: ended with {done.returncode}"
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
