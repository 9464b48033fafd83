"""`regress --workflow calls`: calls of any program, asked again with and without a change."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Final

import pytest

from preflights_es.features.regress.commands import announced
from preflights_es.features.regress.regress import Announced
from tests.cli.program import Project
from tests.cli.terminal import terminal
from tests.providers import server
from tests.providers.server import FakeAPI, Reply
from tests.redaction.test_redaction import OPENAI, SHAPES

REGRESS: Final = ("regress", "--workflow", "calls")
LIVE: Final = (*REGRESS, "--model", "new", "--live")
SESSIONS: Final = 100
WORDS: Final = ("parcel", "refund", "complaint")
"""Of questions and answers."""


def write_calls(house: Project, count: int = SESSIONS) -> None:
    """One call a session, in lines of a log."""
    lines = []
    for number in range(count):
        messages = [{"role": "user", "content": f"Where is parcel {number}?"}]
        choice = {"message": {"role": "assistant", "content": "refund"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1_000, "completion_tokens": 1_000}
        request = {"model": "old", "messages": messages, "stream": True}
        lines.append({"request": request, "response": {"choices": [choice], "usage": usage}})
    (house.folder / "calls.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))


@pytest.fixture
def here(empty: Project, api: FakeAPI) -> Callable[..., Any]:
    """Runs commands of a person who took in calls; their provider is a server of this machine."""
    env = {
        "PREFLIGHTS_PROVIDER": "openai",
        "PREFLIGHTS_BASE_URL": api.openai,
        "PREFLIGHTS_OPENAI_API_KEY": "sk-test-0123456789",
    }
    write_calls(empty)
    assert empty.call("calls", "import", "calls.jsonl").code == 0

    def call(*words: str) -> Any:
        return empty.call(*words, env=env)

    return call


def losing(share: int) -> Reply:
    """The new model answers one of so many parcels otherwise; 0 for none."""

    def reply(request: server.Request) -> server.Sent:
        number = int(request.body["messages"][0]["content"].strip("?").split()[-1])
        lost = request.body["model"] == "new" and share and number % share == 0
        return server.text("complaint" if lost else "refund")(request)

    return reply


@pytest.mark.slow("whole runs")
def test_a_model_that_answers_the_same_passes_without_any_judgement(
    here: Callable[..., Any], empty: Project, api: FakeAPI
) -> None:
    api.script(losing(0))
    prices = [
        f'[[prices]]\nprovider = "openai"\nmodel = "{model}"\nfrom = 2020-01-01\n'
        f'input_per_million = 1\noutput_per_million = {output}\ncurrency = "EUR"\n'
        for model, output in (("old", 9), ("new", 4))
    ]
    settings = empty.folder / "preflights.toml"
    settings.write_text(prices[0])
    few = (*LIVE, "--max-calls", "20")
    assert "20 calls in all, each once more where no answer comes, cost unknown" in here(*few).err
    settings.write_text("".join(prices))
    assert "cost 0.15 EUR" in here(*few).err
    api.requests.clear()
    done = here(*LIVE)
    assert done.code == 0, done
    assert "100 pairs can at best show a loss of 5 points or more, or that" in done.err
    assert "asking models for 100 sessions: at most 200 calls in all" in done.err
    assert "cost 1.50 EUR" in done.err
    assert done.out.startswith("100 sessions: 100 same.\nChange: model new.\n")
    assert "PASS: The change can land" in done.out
    assert "below 5 points" in done.out
    assert len(api.requests) == 200


@pytest.mark.slow("whole runs")
def test_what_differs_waits_for_a_judgement_and_then_blocks(
    here: Callable[..., Any], empty: Project, api: FakeAPI, tmp_path: Path
) -> None:
    api.script(losing(10))
    waits = here(*LIVE, "--json")
    assert waits.code == 6, waits
    assert waits.json["counts"]["changed"] == 10
    assert waits.json["verdict"]["tests"][0]["unknown"] == 10
    assert "10 pairs with answers that differ" in waits.json["notes"][0]
    log = empty.log.parent
    (answers,) = (log / "log.db-answers").iterdir()
    assert answers.stat().st_mode & 0o777 == 0o600

    erased = waits.json["cases"][-1]["session_id"]
    assert erased in answers.read_text()
    assert empty.call("calls", "erase", erased, "--yes").code == 0
    assert erased not in answers.read_text()

    differing = [case for case in waits.json["cases"] if case["is_undecided"]]
    rows = "".join(f"{case['session_id']},1,refund,Ada\n" for case in differing)
    (empty.folder / "right.csv").write_text(f"session,call,expected,by\n{rows}")
    assert here("calls", "judge", "--from", "right.csv").code == 0
    files = [f"{kind}={tmp_path / kind}" for kind in ("html", "junit", "json")]
    reports = [word for file in files for word in ("--report", file)]
    done = here(*LIVE, "--resume", *reports)
    assert (done.code, len(api.requests)) == (1, 200), "nothing was asked twice"
    assert "BLOCK: The change is worse" in done.out
    assert 'call 1: "refund" -> "complaint"' in done.out
    assert '"Where is parcel ' in done.out
    for kind in ("html", "junit", "json"):
        text = (tmp_path / kind).read_text()
        assert "call 1" in text
        assert not [word for word in WORDS if word in text.partition("<script")[0]], kind
    assert not answers.exists(), "they go with the verdict"
    assert "no answer of an earlier run is kept: all are asked" in here(*LIVE, "--resume").err


@pytest.mark.slow("whole runs")
def test_an_erasure_while_models_are_asked_takes_the_answers_that_come_later(
    here: Callable[..., Any], empty: Project, api: FakeAPI
) -> None:
    newest = here("calls", "--json").json["sessions"][0]["session_id"]
    lock, codes = Lock(), list[int]()

    def erasing(request: server.Request) -> server.Sent:
        with lock:
            if not codes:
                codes.append(empty.run("calls", "erase", newest, "--yes").code)
        return losing(1)(request)

    api.script(erasing)
    assert (here(*LIVE).code, codes) == (6, [0])
    (answers,) = (empty.log.parent / "log.db-answers").iterdir()
    kept = answers.read_text()
    assert kept.count("chatcmpl") == 2 * (SESSIONS - 1)
    assert newest not in kept


def ask(*messages: tuple[str, str]) -> str:
    """Words of a program that asks the model once."""
    turns = [{"role": role, "content": said} for role, said in messages]
    return json.dumps({"model": "old", "messages": turns})


@pytest.mark.slow("whole runs")
def test_a_program_that_was_recorded_once_can_be_judged(
    empty: Project, api: FakeAPI, tmp_path: Path
) -> None:
    mails = [ask(("user", f"Where is parcel {number}?")) for number in range(1, 61)]
    goes_on = (("user", "Where is parcel 3?"), ("assistant", "refund"), ("user", "And parcel 99?"))
    bodies = [*mails, mails[6], ask(*goes_on)]
    program = (
        "import os, urllib.request as u\n"
        "url = os.environ['OPENAI_BASE_URL'] + '/chat/completions'\n"
        f"for body in {bodies!r}: u.urlopen(u.Request(url, body.encode()), timeout=30).read()"
    )
    env = {
        "PREFLIGHTS_PROVIDER": "openai",
        "PREFLIGHTS_OPENAI_API_KEY": "sk-test-0123456789",
        "OPENAI_BASE_URL": api.openai,
    }
    api.script(losing(0))
    for _ in range(2):
        record = ("calls", "record", "--", sys.executable, "-c", program)
        assert empty.run(*record, env=env).code == 0
    done = empty.call(*LIVE, env=env)
    assert done.code == 0, done
    assert "60 pairs can at best show a loss of 8.4 points or more" in done.err
    assert "asking models for 60 pairs of 1 session: at most 124 calls in all" in done.err
    assert done.out.startswith("60 pairs of 1 session: 60 same.\n")
    assert "\n62 calls left out: another recording of the same questions is compared.\n" in done.out

    api.script(losing(10))
    waits = empty.call(*LIVE, "--json", env=env)
    differing = [case["call"] for case in waits.json["cases"] if case["is_undecided"]]
    assert differing == [10, 20, 30, 40, 50, 60]
    assert (waits.json["sessions"], waits.json["unit"]) == (1, "pair")
    run = waits.json["cases"][0]["session_id"]
    sample = empty.call(*LIVE, "--sample", "40", "--recorded", env=env)
    assert "40 pairs of 1 session: " in sample.out
    assert "A sample of 40 of 60 pairs.\n" in sample.out
    rows = "".join(f"{run[-8:]},{call},refund,Ada\n" for call in differing)
    (empty.folder / "right.csv").write_text(f"session,call,expected,by\n{rows}")
    assert empty.call("calls", "judge", "--from", "right.csv").code == 0
    done = empty.call(*LIVE, "--resume", "--report", f"junit={tmp_path / 'junit'}", env=env)
    assert done.code == 1, done
    assert f"{run[-8:]} call 10 and 5 more pairs failed (result) [failed-" in done.out, done.out
    assert "BLOCK: The change is worse: keep what you have. Of 60 pairs, 6 no" in done.out
    assert f'name="{run} call 20"' in (tmp_path / "junit").read_text()


@pytest.mark.slow("whole runs")
def test_a_report_holds_no_word_unless_it_is_asked_to(
    here: Callable[..., Any], api: FakeAPI, tmp_path: Path
) -> None:
    def failing(request: server.Request) -> server.Sent:
        said = request.body["messages"][0]["content"]
        return server.status(400, f"complaint about {said}")(request)

    files = {kind: tmp_path / kind for kind in ("junit", "html", "json")}
    reports = [word for kind in files for word in ("--report", f"{kind}={files[kind]}")]
    for reply in (losing(3), failing):
        api.script(reply)
        here(*LIVE, *reports, "--replace")
        for file in files.values():
            assert not [word for word in WORDS if word in file.read_text()], file
        here(*LIVE, *reports, "--replace", "--words")
        for kind, file in files.items():
            assert ("complaint" in file.read_text()) is (kind != "junit"), kind


def test_without_live_a_run_says_how_many_calls_it_takes(
    here: Callable[..., Any], api: FakeAPI
) -> None:
    done = here(*REGRESS, "--model", "new", "--json")
    assert (done.code, api.requests) == (6, [])
    assert {case["calls_needed"] for case in done.json["cases"]} == {2}
    assert done.json["cases"][0]["repeat"].endswith(" --workflow calls --model new")
    assert "--live" in done.json["notes"][0]


def test_a_strict_run_replays_calls_and_a_plain_one_leaves_them_out(
    here: Callable[..., Any],
) -> None:
    assert "100 sessions: 100 same." in here(*REGRESS).out
    here("regress").refused(1, "no session matches")


@pytest.mark.slow("whole runs")
def test_exported_calls_are_read_from_their_file(
    here: Callable[..., Any], empty: Project, api: FakeAPI
) -> None:
    api.script(losing(0))
    newest = here("calls", "--json").json["sessions"][0]["session_id"]
    text = here("admin", "export", newest).out
    (empty.folder / "exported.jsonl").write_text(text)
    done = here(*LIVE[:3], "exported.jsonl", *LIVE[3:], "--json")
    assert (done.json["sessions"], done.json["counts"]["same"]) == (1, 1)
    assert here("calls", "judge", newest, "1", "--expect", "refund", "--by", "Ada").code == 0
    judged = here("admin", "export", "--workflow", "calls", "--judged").out
    assert {json.loads(line).get("session_id", newest) for line in judged.splitlines()} == {newest}
    (empty.folder / "judged.jsonl").write_text(judged)
    done = here(*LIVE[:3], "judged.jsonl", *LIVE[3:], "--json")
    assert (done.json["sessions"], done.json["counts"]["same"]) == (1, 1)

    api.script(losing(1))
    empty.log.unlink()
    asked = len(api.requests)
    waits = here(*LIVE[:3], "exported.jsonl", *LIVE[3:], "--json")
    assert waits.code == 6, waits
    assert "Judge them where their log is" in waits.json["notes"][0]
    assert here(*LIVE[:3], "exported.jsonl", *LIVE[3:], "--resume").code == 6
    assert len(api.requests) == asked + 2, "without a log, too, nothing is asked twice"


def test_sessions_that_are_named_and_all_calls_are_taken_as_calls(
    here: Callable[..., Any], empty: Project
) -> None:
    folder = empty.folder / "judged"
    folder.mkdir()
    assert here("admin", "export", "--workflow", "calls", "-o", "judged/calls.jsonl").code == 0
    newest = here("calls", "--json").json["sessions"][0]["session_id"]
    for named, sessions in (("judged/", SESSIONS), (newest, 1)):
        done = here("regress", named, "--set", "/temperature=0.2", "--json")
        assert (done.code, done.json["sessions"]) == (6, sessions), done
        assert "all of these sessions are of --workflow calls" in done.err
    assert here("regress", "last", "--workflow", "calls", "--model", "new", "--json").code == 6
    for command in (("replay",), ("admin", "export"), ("regress", "--prompt", "old.md=new.md")):
        here(*command, "last").refused(1, f"name its newest, of calls, by the id {newest[-8:]}")
    decided = ("start", "Choose a database", "--answer", "db_type=PostgreSQL", "--accept")
    assert here(*decided, "--by", "Ada").code == 0
    assert here("admin", "export", "last", "-o", "judged/decision.jsonl").code == 0
    for named in ("last", "judged/"):
        mixed = here("regress", named, "--prompt", "old.md=new.md")
        mixed.refused(2, "calls are changed with --workflow calls")


def test_a_change_that_touches_no_call_promises_nothing(here: Callable[..., Any]) -> None:
    done = here("regress", "--workflow", "calls", "--set", "/no/such=1", "--live")
    assert done.code == 6
    assert "can at best" not in done.err


def test_a_dead_provider_ends_the_run_without_a_verdict(
    here: Callable[..., Any], api: FakeAPI
) -> None:
    api.script(server.status(404))
    done = here(*LIVE, "--json")
    assert (done.code, done.json["verdict"]["word"]) == (5, "could not run")
    assert any("--from-model" in note for note in done.json["notes"])


def test_a_run_says_that_a_session_counts_once() -> None:
    told = "asking models for 2 sessions, each one pair whatever its calls: at most 5 calls"
    assert announced(Announced(2, 5, None, "", power="what is seen")).startswith(told)


def test_a_person_at_a_terminal_agrees_first(
    here: Callable[..., Any], empty: Project, api: FakeAPI
) -> None:
    env = {"PREFLIGHTS_PROVIDER": "openai", "PREFLIGHTS_BASE_URL": api.openai}
    with terminal(empty, *LIVE, env=env) as t:
        t.expect(r"Ask them now\? \[y/N\]: ")
        t.type("n")
        assert t.code() == 1
    assert api.requests == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "new", "--provider", "openai"), "2 --provider is not for --workflow calls"),
        (("--model", "new", "--repeat", "3", "--live"), "2 --repeat is not for --workflow calls"),
        (("--from-model", "older"), "2 give a change"),
        (("--prompt", "none.md=none.md"), "1 none.md cannot be read"),
        (("--set", "temperature=1"), "1 expected a JSON Pointer"),
    ],
)
def test_what_is_nothing_to_calls_is_refused(
    here: Callable[..., Any], words: tuple[str, ...], said: str
) -> None:
    code, _, message = said.partition(" ")
    here(*REGRESS, *words).refused(int(code), message)


@pytest.mark.slow("whole runs")
def test_no_secret_of_an_answer_a_judgement_or_a_change_is_written(
    here: Callable[..., Any], empty: Project, api: FakeAPI, tmp_path: Path
) -> None:
    """Each answer has the credential of another vendor."""
    secrets = [secret for secret, _ in SHAPES]

    def leaking(request: server.Request) -> server.Sent:
        number = int(request.body["messages"][0]["content"].strip("?").split()[-1])
        said = json.dumps({"use": secrets[number % len(secrets)], "of": "kim@example.com"})
        return server.text(said if request.body["model"] == "new" else "none")(request)

    api.script(leaking)
    files = [tmp_path / kind for kind in ("html", "junit", "json")]
    reports = [word for file in files for word in ("--report", f"{file.name}={file}")]
    change = ("--set", f"/api_key={OPENAI}")
    done = here(*LIVE, *change, "--words", *reports)
    cases = json.loads(files[2].read_text())["cases"]
    rows = [
        f'{case["session_id"]},1,"{secret}",Ada,"of {OPENAI}, kim@example.com"'
        for case, secret in zip(cases, secrets, strict=False)
    ]
    (empty.folder / "right.csv").write_text("session,call,expected,by,why\n" + "\n".join(rows))
    assert here("calls", "judge", "--from", "right.csv").code == 0
    shown = here(
        "calls", "judge", cases[-1]["session_id"], "1", "--expect", json.dumps({"use": OPENAI})
    )
    written = {file.name: file.read_text() for file in files}
    written |= {"terminal": f"{done}", "judged": f"{shown}"}
    for file in filter(Path.is_file, empty.log.parent.rglob("log.db*/*")):
        written[file.name] = file.read_text()
    for file in empty.log.parent.glob("log.db*"):
        written |= {file.name: file.read_bytes().decode(errors="replace")} if file.is_file() else {}
    assert [name for name in written if name.endswith(".jsonl")], "answers are kept"
    leaks = {
        (name, secret)
        for name, text in written.items()
        for secret in (*secrets, "kim@example.com")
        if secret in text or json.dumps(secret)[1:-1] in text
    }
    assert not leaks
