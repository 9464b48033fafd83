"""Plans: a list of two hundred against as many decisions, and the replay of a large pass."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import preflights_es
from preflights_es.features.compiler.artifacts import approve, lock_tests
from preflights_es.features.compiler.domain.events import PASSES, PassName
from preflights_es.features.compiler.passes import WantedPass, run_pass
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store import jsonl, stored_events
from preflights_es.use.replays import own_code
from preflights_es.use.request import Request
from tests.benchmarks.measure import Figure, paired, quickest
from tests.benchmarks.startup import PREFLIGHTS, process_seconds
from tests.cli.program import environment
from tests.record_goldens import Recorder
from tests.record_passes import DOCUMENTS, GOOD, MODEL, House

MANY = 200
LISTED = 1.25
DOCUMENTS_KB = 300
REPLAYED, REPLAYED_STRETCH = 3.0, 1.5
ROUNDS = 15
LINE = "* A customer orders book number {}, and the shop keeps what the customer said of it.\n"


def figures() -> list[Figure]:
    """A list of artifacts, and the strict replay of a pass."""
    with tempfile.TemporaryDirectory() as folder:
        return [_listed(Path(folder)), _replayed(Path(folder) / "large")]


def _listed(folder: Path) -> Figure:
    planned, decided = folder / "planned", folder / "decided"
    _plan_many(planned)
    _decide_many(decided)

    program = [*PREFLIGHTS, "--db", "log.db"]
    for words, where in (("artifacts", planned), ("decisions", decided)):
        command, env = [*program, words, "--json"], environment(where)
        done = subprocess.run(command, cwd=where, env=env, capture_output=True, check=True)
        assert len(json.loads(done.stdout)[words]) == MANY, "all of them are listed"

    def seconds(words: str, where: Path) -> float:
        return process_seconds([*program, words], str(where))

    pair = quickest(
        lambda: seconds("artifacts", planned), lambda: seconds("decisions", decided), ROUNDS
    )
    return pair.figure(
        f"preflights artifacts over {MANY}, against decisions over {MANY}",
        LISTED,
        lambda taken: f"{taken * 1000:.0f} ms CPU",
    )


def _plan_many(folder: Path) -> None:
    """A project with four plans, and a refactoring for each of many goals."""
    for path, text in {
        **{f".preflights/{name}.md": text for name, text in DOCUMENTS.items()},
        "src/orders.py": "orders = []\n",
        "tests/test_orders.py": "# tests of orders\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    for words in (("init", "--quiet"), ("add", ".")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    with _opened(folder) as log:

        def made(name: PassName, goal: str = "") -> None:
            session = run_pass(_ada(log), WantedPass(name, goal=goal))
            artifact = _ada(log).sessions.load(session.session_id).session.state.plan
            approve(_ada(log), artifact.id)

        for name in [*PASSES][:4]:
            made(name)
        lock_tests(_ada(log))
        for number in range(MANY - 4):
            made("refactor", f"Move src/orders.py to src/part_{number}/orders.py")


def _decide_many(folder: Path) -> None:
    folder.mkdir()
    with _opened(folder) as log:
        for number in range(MANY):
            session = log.start(f"Use Redis for part{number}")
            log.accept(session.session_id, by="Ada")


def _opened(folder: Path) -> preflights_es.Preflights:
    return preflights_es.open(folder, database=str(folder / "log.db"))


def _ada(log: preflights_es.Preflights) -> Request:
    return log.request(actor="Ada", kind="user")


# Replay --------------------------------------------------------------------------------------


def _replayed(folder: Path) -> Figure:
    lines = _lines(folder)
    pair = paired(lambda: _ours(lines), lambda: _floor(lines), ROUNDS)
    size = sum(map(len, lines)) / 1_000
    return pair.figure(
        f"strict replay of a pass over {DOCUMENTS_KB} KB of documents, {size:.0f} KB of lines",
        REPLAYED,
        lambda taken: f"{taken * 1000:.1f} ms",
        REPLAYED_STRETCH,
    )


def _lines(folder: Path) -> list[bytes]:
    """A pass that a model led over long documents."""
    folder.mkdir()
    house = House(Recorder(folder))
    for name in DOCUMENTS:
        size = DOCUMENTS_KB * 1_000 // len(DOCUMENTS)
        text = DOCUMENTS[name] + "".join(LINE.format(n) for n in range(size // len(LINE)))
        house.write(f".preflights/{name}.md", text)
    with closing(house.process):
        session = house.plan("project", MODEL, GOOD)
        stored: tuple[Stored, ...] = house.runner.store.read(session.session_id)
    return jsonl.encode_event_file(stored).splitlines()


def _ours(lines: list[bytes]) -> float:
    began = time.process_time()
    for events in stored_events.group_events_by_session(jsonl.stored(lines, "bench")).values():
        assert Replayer(WORKFLOWS, own_code()).replay(events).status == "identical"
    return time.process_time() - began


def _floor(lines: list[bytes]) -> float:
    began = time.process_time()
    for line in lines:
        assert json.loads(line)
        sha256(line).digest()
    return time.process_time() - began
