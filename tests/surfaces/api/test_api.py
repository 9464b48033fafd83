"""The Python API: one log shared by threads and by tasks of a running loop."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

import preflights_es
from preflights_es.kernel.errors import Refused, SettingsError, UnknownSession, WorkflowMissing
from preflights_es.use import sessions
from preflights_es.use.use_cases import NewSession
from preflights_es.words.workflow import View
from tests.cli.program import Project
from tests.markdown import ROOT

THREADS: Final = 16
TASKS: Final = 200


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A log of this test."""
    yield from _opened(str(tmp_path / "log.db"), tmp_path, monkeypatch)


@pytest.fixture
def shared(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The same on each engine, which wait in their own way for one another."""
    yield from _opened(database, tmp_path, monkeypatch)


def _opened(database: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("PREFLIGHTS_PROJECT", "shop")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada")
    with preflights_es.open(folder, database=database) as opened:
        yield opened


# 1. One after the other ----------------------------------------------------------------------


def test_a_session_is_begun_answered_accepted_and_asked_why(log: Any, tmp_path: Path) -> None:
    begun = log.start("Add login")
    assert (begun.status, begun.to_do) == ("needs_answers", "answer the question")
    ready = log.answer(begun.session_id, {"auth_strategy": "OAuth"})
    assert (ready.status, ready.can_accept, ready.refused) == ("ready", True, ())
    proposed = log.accept(begun.session_id)
    assert proposed.status == "proposed", "a program is no person"
    done = log.accept("last", by="Grace")
    assert (done.status, done.number) == ("accepted", 1)
    assert (tmp_path / done.document).is_file()
    assert [one.session_id for one in log.decisions(category="authentication").decisions] == [
        begun.session_id
    ]
    assert [value.value for value in log.why("ADR-0001", "Strategy")] == ["OAuth"]
    assert log.replay("last").status == "identical"
    assert log.diff("last", "ADR-0001").status == "same"
    assert len(log.export("last").splitlines()) == 1 + done.version
    trail = log.trail("last")
    assert [step.version for step in trail] == list(range(1, done.version + 1))
    assert {step.actor.name for step in trail if step.role == "input"} == {"Ada", "Grace", ""}
    assert json.loads(bytes(trail[0].data))["intention"] == "Add login"


def test_a_decision_holds_for_files(log: Any) -> None:
    begun = log.start("Add login", answers={"auth_strategy": "OAuth"}, paths=["src/auth/**"])
    assert (begun.paths, begun.paths_by, begun.hold) == (("src/auth/**",), "script", "tell")
    done = log.accept(
        begun.session_id, by="Grace", alternatives=[("Magic Link", "slow")], hold="deny"
    )
    assert (done.paths_by, done.hold) == ("user", "deny")
    (one,) = log.holds("src/auth/login.py").decisions
    assert (one.pattern, one.hold, one.accepted_by.name) == ("src/auth/**", "deny", "Grace")
    assert one.instead_of == ("Magic Link",)
    assert log.holds("src/mail.py").decisions == ()
    assert [row.uid for row in log.decisions(path="src/auth/x").decisions] == [done.uid]
    assert log.decisions(path="src/mail.py").decisions == ()
    for wrong, why in (({"paths": ["!src"]}, "begins with !"), ({"hold": "never"}, "'never'")):
        with pytest.raises(Refused, match=why):
            log.start("Add login again", **wrong)
    with pytest.raises(Refused, match="expected a file of the project"):
        log.holds("../elsewhere.py")


def test_a_program_writes_the_question(log: Any) -> None:
    begun = log.start(
        "Speed up the search",
        question="Which cache?",
        options=["Redis", "Memcached"],
        recommend=("Redis", "sessions use it"),
        topic="Caching",
    )
    assert (begun.questions[0].id, begun.offer.recommended.option) == ("caching", "Redis")
    ready = log.answer(begun.session_id, {"caching": "Redis"}, relayed=True)
    assert [value for _, value in ready.patch.fields] == ["Redis"]
    assert ready.provenance[-1].relayed_by.kind == "script"
    with pytest.raises(Refused, match="begins with no question of yours"):
        log.start("Buy milk", workflow="extraction", question="Which?")
    note = log.start("Buy milk", workflow="extraction")
    with pytest.raises(Refused, match="it takes no relayed answer"):
        log.answer(note.session_id, {"x": "y"}, relayed=True)


def test_the_calls_of_a_provider_are_summed_up(tmp_path: Path) -> None:
    database = str(tmp_path / "log.db")
    with preflights_es.open(tmp_path, database=database, provider="sim") as log:
        log.start("Add OAuth login")
        (by_provider,) = log.usage("provider").usage
        assert (by_provider.provider, by_provider.model) == ("sim", None)
        assert by_provider.calls >= 1
        assert log.usage(since=2**62).usage == ()
        with pytest.raises(Refused, match="by is 'day', expected provider, model or prompt"):
            log.usage("day")  # type: ignore[arg-type]  # what a program may say
        many = preflights_es.AsyncPreflights(log)
        assert asyncio.run(many.usage("provider")).usage == (by_provider,)
        assert len(asyncio.run(many.trail("last"))) == log.show("last").version


def test_what_cannot_be_done_is_an_error_and_records_nothing(log: Any) -> None:
    with pytest.raises(Refused, match="the intention is empty"):
        log.start("  ")
    with pytest.raises(WorkflowMissing, match="'weather' is not known here"):
        log.start("Rain?", workflow="weather")
    with pytest.raises(UnknownSession):
        log.show("last")
    note = log.start("Buy milk", workflow="extraction")
    with pytest.raises(Refused, match="nothing to accept"):
        log.accept(note.session_id)
    assert [one.status for one in log.sessions(all_workflows=True)] == ["done"]


def test_an_answer_that_does_not_count_is_told_and_the_number_of_an_option_counts(log: Any) -> None:
    with pytest.raises(Refused, match=r"placeholder.*no session was begun"):
        log.start("Add login", answers={"auth_strategy": ["TBD"]})
    session = log.start("Add login", answers={"auth_library": "Authlib"})
    session = log.answer(session.session_id, {"Strategy": ["TBD"]})
    assert [(one.key, one.code) for one in session.refused] == [("auth_strategy", "placeholder")]
    assert session.not_done
    assert log.abandon(session.session_id, "no need").status == "abandoned"
    session = log.start("Add login")
    ready = log.answer(session.session_id, {"": "1"})
    assert (ready.status, ready.patch.fields) == ("ready", (("Strategy", "OAuth"),))
    with pytest.raises(Refused) as raised:
        log.answer(session.session_id, {"": "1"})
    assert raised.value.code == "nothing_asked"
    request = log.request(actor="AKIAIOSFODNN7EXAMPLE")
    session = sessions.start_session(request, NewSession("Add login"))
    assert [one.code for one in session.notices] == ["redacted"]
    assert session.shape()["format"] == "session/1"
    assert "notices" not in session.shape()


def test_a_key_makes_a_call_happen_once_also_inside_a_running_loop(log: Any) -> None:
    first, again = (log.start("Add login", key="import-7") for _ in range(2))
    assert first.session_id == again.session_id
    assert len(log.sessions()) == 1

    async def played() -> str:
        status: str = log.start("call mom at 2:30 pm", workflow="extraction").status
        return status

    assert asyncio.run(played()) == "done", "its provider ran in a loop of its own"


# 2. At once ----------------------------------------------------------------------------------


def _decided(log: Any, number: int) -> View:
    begun = log.start(f"Add login to shop {number}")
    log.answer(begun.session_id, {"auth_strategy": "OAuth"})
    done: View = log.accept(begun.session_id, by="Ada", again=True)
    return done


@pytest.mark.slow("crowds")
def test_threads_that_share_a_log_lose_and_double_nothing(shared: Any) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        done = list(pool.map(lambda number: _decided(shared, number), range(2 * THREADS)))
    assert Counter(one.status for one in done) == {"accepted": 2 * THREADS}
    assert sorted(one.number or 0 for one in done) == list(range(1, 2 * THREADS + 1))
    assert len(shared.decisions().decisions) == 2 * THREADS
    assert {shared.replay(one.session_id).status for one in done} == {"identical"}


def test_threads_that_answer_one_session_are_heard_once_each(shared: Any) -> None:
    session = shared.start("Add login")

    def answered(_: int) -> bool:
        return not shared.answer(session.session_id, {"auth_strategy": "OAuth"}).refused

    with ThreadPoolExecutor(THREADS) as pool:
        assert Counter(pool.map(answered, range(THREADS))) == {True: 1, False: THREADS - 1}
    assert shared.replay(session.session_id).status == "identical"


@pytest.mark.slow("crowds")
def test_tasks_of_one_loop_lose_and_double_nothing(shared: Any) -> None:
    async def played() -> list[View]:
        many = preflights_es.AsyncPreflights(shared)

        async def one(number: int) -> View:
            begun = await many.start(f"Add login {number}")
            return await many.answer(begun.session_id, {"auth_strategy": "OAuth"})

        return await asyncio.gather(*map(one, range(TASKS)))

    done = asyncio.run(played())
    assert Counter(one.status for one in done) == {"ready": TASKS}
    assert len({one.session_id for one in done}) == TASKS == len(shared.sessions())


# 3. The service of the docs -------------------------------------------------------------------


async def _posted(service: Any, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Status and body of the answer to a POST, as a server would ask for it."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
        "server": ("localhost", 80),
        "client": ("localhost", 1),
        "scheme": "http",
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await service(scope, receive, send)
    content = b"".join(one.get("body", b"") for one in sent)
    return sent[0]["status"], json.loads(content)


def test_the_page_s_service_answers(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.folder)
    page = (ROOT / "docs/api.md").read_text()
    block = next(b for b in page.split("```python\n") if "Starlette(" in b).split("```")[0]
    namespace: dict[str, Any] = {"preflights_es": preflights_es}
    exec(compile(block, "docs/api.md", "exec"), namespace)
    service = namespace["service"]

    async def played() -> None:
        async with namespace["lifespan"](service):
            asked = [
                _posted(service, "/sessions", {"intention": f"Add login for shop {n}"})
                for n in range(20)
            ]
            begun = await asyncio.gather(*asked)
            assert {status for status, _ in begun} == {200}
            assert {body["question"] for _, body in begun} == {"Which authentication approach?"}
            path = f"/sessions/{begun[0][1]['session']}/answers"
            answered = await _posted(service, path, {"auth_strategy": "OAuth"})
            assert answered == (200, {"status": "ready", "refused": []})
            status, body = await _posted(service, "/sessions", {"intention": " "})
            assert (status, body["error"][:23]) == (422, "the intention is empty:")

    asyncio.run(played())


WRONG: Final[dict[str, Any]] = {
    "answers are text": lambda log: log.answer("last", "OAuth"),
    "no answers": lambda log: log.answer("last", None),
    "an intention of none": lambda log: log.start(None),
    "an intention of bytes": lambda log: log.start(b"Add login"),
    "a person of a number": lambda log: log.accept("last", by=3),
    "a session of none": lambda log: log.show(None),
    "options of one text": lambda log: log.start("Add login", question="Which?", options="OAuth"),
    "a version of text": lambda log: log.accept("last", expect="3"),
    "reasons of text": lambda log: log.accept("last", by="Ada", keep="x"),
    "a moment of text": lambda log: log.decisions(at="today"),
    "an id of a number": lambda log: log.why(3),
    "a key of a number": lambda log: log.start("Add login", key=3),
}


def test_an_argument_of_another_type_is_refused_and_nothing_is_recorded(log: Any) -> None:
    before = log.start("Add login")
    for name, call in WRONG.items():
        with pytest.raises(Refused, match=r", expected (str|int|Mapping|Sequence)") as refused:
            call(log)
        assert refused.value.code == "wrong_type", name
    assert log.show(before.session_id) == log.show("last")
    assert len(log.sessions()) == 1


def test_a_folder_that_is_not_there_has_no_log(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"there is no folder '.*shpo': name that of a project"):
        preflights_es.open(tmp_path / "shpo")


def test_a_person_without_a_name_accepts_nothing(log: Any) -> None:
    session = log.start("Add login", answers={"auth_strategy": "OAuth"})
    for by in ("", " \n"):
        with pytest.raises(Refused, match="name the person, or leave it out"):
            log.accept(session.session_id, by=by)
    assert log.show("last").status == "ready"


def test_a_loop_refuses_the_same(tmp_path: Path) -> None:
    async def asked() -> None:
        async with preflights_es.open_async(tmp_path) as log:
            with pytest.raises(Refused, match="text is None, expected str"):
                await log.start(None)  # type: ignore[arg-type]  # what a program may say

    asyncio.run(asked())
