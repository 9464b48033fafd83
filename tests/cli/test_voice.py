"""Help, errors, completion and exit codes: how the program speaks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from preflights_cli.commands import commands
from preflights_es.kernel import __version__
from preflights_es.store.sql import SqlStore
from tests.cli.forked import forked
from tests.cli.program import TIMEOUT_S, Project, environment
from tests.cli.tampering import flipped, tampered
from tests.each import each
from tests.fixed import Clock, salt
from tests.projections.given import recorded
from tests.projections.recording import golden

ALL = (*commands(), "admin db status", "admin db upgrade")


def test_the_version_is_one_line_and_no_command_at_all_is_no_success(house: Project) -> None:
    for program in (("preflights",), ("python", "-m", "preflights_cli")):
        assert house.run("--version", program=program).out == f"preflights {__version__}\n"
    done = house.call()
    assert (done.code, done.out) == (2, "")
    assert done.err == house.call("--help").out


@each("command", ["", *ALL])
def test_help_explains_every_command_with_examples(house: Project, command: str) -> None:
    done = house.call(*command.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert f"\n  Examples:\n    {'eval ' if command == 'admin completion' else ''}" in done.out
    assert "preflights " in done.out.split("Examples:")[1]
    assert all(len(line) <= 100 for line in done.out.splitlines())
    assert house.call(*command.split(), "-h").out == done.out


@each(
    ("words", "message"),
    [
        (("strat", "x"), "Did you mean 'start'?"),
        (("sesions",), "Did you mean one of: 'sessions'"),
        (("admin", "db", "stats"), "Did you mean 'status'?"),
        (("show", "--jsonn"), "Did you mean '--json'?"),
        (("zzz",), "No such command 'zzz'"),
        (("show", "last", "more"), "Got unexpected extra argument (more)"),
        (("admin", "completion", "tcsh"), "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
        (("admin", "completion"), "'{bash|zsh|fish}'. Choose from: bash, zsh, fish (see"),
        (("note", "add"), "'task|event|idea'. Choose from: task, event, idea (see"),
        (("-v", "sessions"), "-v stands behind the command: preflights COMMAND -v (see"),
        (("--json", "sessions"), "--json stands behind the command: preflights COMMAND --json"),
        (("-q", "show", "last"), "-q stands behind the command: preflights COMMAND -q"),
    ],
)
def test_a_slip_is_said_in_one_line(house: Project, words: tuple[str, ...], message: str) -> None:
    done = house.call(*words)
    assert (done.code, done.out) == (2, "")
    assert message.removeprefix("Did you mean one of: ") in done.err
    assert done.err.startswith("preflights: ")
    assert done.err.count("\n") == 1


def test_hints_can_be_left_out_and_details_be_asked_for(house: Project) -> None:
    loud, quiet = house.call("start", "Add login"), house.call("start", "Add login", "-q")
    assert "Answer with:" in loud.out
    assert "Answer with:" not in quiet.out
    assert "Which authentication approach?" in quiet.out
    detailed = house.call("show", "-v")
    own = house.home / ".config" / "preflights" / "settings.toml"
    assert detailed.err == f"project house, log {house.log}\nsettings from {own}\n"
    (house.folder / "preflights.toml").write_text("")
    assert "settings from " in house.call("show", "-v").err


def test_a_traceback_is_shown_only_when_asked_for(house: Project) -> None:
    house.started_session()
    (house.folder / "broken.py").write_text(
        "from preflights_cli.main import main\n"
        "from preflights_es.store.sql import SqlStore\n"
        "SqlStore.heads = None\n"
        "main()\n"
    )
    broken = ("python", "broken.py")
    done = house.run("sessions", program=broken)
    assert done.code == 70
    assert "preflights: a bug of ours: TypeError: 'NoneType' object is not callable (" in done.err
    assert done.err.endswith("Run it again with --debug for the traceback.\n")
    for words in (("--debug", "sessions"), ("sessions", "--debug")):
        house.run(*words, program=broken).refused(70, "Traceback (most recent call last)")


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_speaks_no_unicode_is_no_reason_to_fail(
    house: Project, encoding: str
) -> None:
    house.call("start", "Füge Login hinzu ✓ login", "--answer", "auth_strategy=Pässe ✓")
    env = {"PYTHONIOENCODING": encoding}
    for command, code in ((("show",), 0), (("sessions",), 0), (("start", "a ✓"), 3)):
        assert house.run(*command, env=env).code == code
    shape = house.run("sessions", "--json", env=env)
    assert "Füge Login hinzu ✓ login" in shape.out, "JSON is UTF-8 anywhere"


@each(("shell", "words"), [("bash", "complete "), ("zsh", "#compdef"), ("fish", "complete ")])
def test_shells_are_taught_our_words(house: Project, shell: str, words: str) -> None:
    done = house.call("admin", "completion", shell)
    assert done.code == 0
    assert words in done.out
    assert "_PREFLIGHTS_COMPLETE" in done.out


def completed(house: Project, words: str, at: int) -> list[str]:
    env = {"_PREFLIGHTS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    done = house.run(env=env)
    assert (done.code, done.err) == (0, "")
    return [line.partition(",")[2] for line in done.out.splitlines() if line]


def test_completion_offers_sessions_decisions_and_topics_and_changes_nothing(
    house: Project,
) -> None:
    assert completed(house, "preflights show ", 2) == ["last"]
    decided = house.decided()["session_id"][-8:]
    note = house.call("note", "milk", "--json").json["session_id"][-8:]
    before = house.recorded()
    assert completed(house, "preflights show ", 2) == ["last", note, decided]
    assert completed(house, f"preflights diff last {decided[:3]}", 3) == [decided]
    assert completed(house, "preflights start x --supersedes ", 4) == ["ADR-0001"]
    assert completed(house, "preflights why st", 2) == ["Strategy"]
    assert completed(house, "preflights decisions --category ", 3) == ["Authentication"]
    assert house.recorded() == before
    (house.folder / "preflights.toml").write_text("nonsense")
    assert completed(house, "preflights show ", 2) == []


def test_completion_offers_names_with_blanks_as_the_shell_takes_them(house: Project) -> None:
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')
    given = ("--answer", "vector_database=Qdrant", "--accept", "--by", "Ada")
    house.call("start", "Choose a vector database", *given)
    assert completed(house, "preflights decisions --category Vec", 3) == [r"Vector\\ Database"]
    assert completed(house, "preflights decisions --category 'Vec", 3) == ["Vector Database"]


def test_completion_finds_an_older_session_and_passes_over_recorded_calls(
    house: Project, tmp_path: Path
) -> None:
    decided = house.decided()["session_id"][-8:]
    calls = tmp_path / "calls.jsonl"
    line = '{"request": {"model": "m", "messages": []}, "response": {"n": %d}}'
    calls.write_text("\n".join(line % n for n in range(40)))
    assert house.call("calls", "import", str(calls)).code == 0
    assert completed(house, "preflights show ", 2) == ["last", decided]


def test_completion_knows_commands_and_options_without_importing_them(house: Project) -> None:
    assert completed(house, "preflights s", 1) == ["start", "show", "sessions", "sync"]
    assert completed(house, "preflights admin re", 2) == ["render", "renumber"]
    assert completed(house, "preflights note a", 2) == ["add"]
    assert "--supersedes" in completed(house, "preflights start --", 2)
    assert completed(house, "preflights nosuch --", 2) != []
    code = (
        "import sys; from preflights_cli.main import preflights; import click\n"
        "below = [preflights.get_command(None, name) for name in ('admin', 'note')]\n"
        "for group in (preflights, *below):\n"
        "    list(group.shell_complete(click.Context(group), ''))\n"
        "print([m for m in sys.modules if m in ('sqlalchemy', 'preflights_cli.common')])"
    )
    assert house.run("-c", code, program=("python",)).out == "[]\n"


@pytest.mark.slow("whole runs")
def test_every_exit_code_is_reached(house: Project) -> None:
    """All but 70, 130 and 141, which have tests of their own."""
    codes = {
        0: ("sessions",),
        1: ("show", "nosuch"),
        2: ("nosuch",),
        3: ("start", "Add login"),
        4: ("admin", "import", "/dev/null"),
        5: ("show", "--db", "."),
    }
    for code, words in codes.items():
        assert house.run(*words).code == code


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("times", [1, 2])
def test_control_c_without_a_terminal_ends_with_130(house: Project, times: int) -> None:
    fifo = house.folder / "answers"
    os.mkfifo(fifo)
    process = house.started("start", "Add login", "--answers-file", "answers")
    writer = _opened_for_writing(fifo)  # only once the program reads
    time.sleep(0.5)  # and waits
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT_S)
    os.close(writer)
    if times == 1:
        assert (process.returncode, err.strip()) == (130, b"interrupted")
    else:
        assert process.returncode in (130, -signal.SIGINT)  # a shell says 130 for both
    assert (out, b"Traceback" in err) == (b"", False)
    assert house.call("sessions", "--json").json["sessions"] == []


def _opened_for_writing(fifo: Path) -> int:
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            assert time.monotonic() < deadline, "the output is not read"
            time.sleep(0.01)


def test_errors_leave_stdout_to_json(house: Project) -> None:
    for words in (("show", "nosuch"), ("admin", "import", "/dev/null"), ("start", "")):
        done = house.call(*words, "--json")
        assert done.out == ""
        assert done.err.startswith("preflights: ")
    house.started_session()
    done = house.call("answer", "last", "tbd", "--json")
    (refused,) = json.loads(done.out)["refused"]
    assert (refused["key"], refused["reason"]) == ("auth_strategy", "placeholder")
    assert refused["message"].startswith("'auth_strategy' was given a placeholder, which decides ")
    assert done.err.startswith("Not taken: ")


# Pipes that are closed ------------------------------------------------------------------------


def unread(house: Project, *args: str, stream: str = "stdout") -> tuple[int, bytes]:
    """Exit code of a process whose output is not read, and what its other stream says."""
    reader, writer = os.pipe()
    os.close(reader)
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writer}
    env = environment(house.home)
    done = subprocess.run(
        ["preflights", *args],
        cwd=house.folder,
        env=env,
        stdin=subprocess.DEVNULL,
        timeout=TIMEOUT_S,
        preexec_fn=partial(forked, args, env),
        **streams,
    )
    os.close(writer)
    return done.returncode, (done.stderr if stream == "stdout" else done.stdout) or b""


@each(
    "words",
    [
        *("--help", "--version", "admin completion bash", "start --help", "start y", "sessions"),
        *("show", "show --json", "log last --json", "admin export last", "decisions"),
        "admin db status",
        *("audit verify", "audit trail", "audit trail --json", "replay last"),
    ],
)
def test_a_command_whose_reader_has_gone_ends_with_141_and_no_word(
    house: Project, words: str
) -> None:
    house.started_session()
    assert unread(house, *words.split()) == (141, b"")


@each("words", ["show nosuch", "nosuch", "show --jsn"])
def test_an_error_without_a_reader_ends_with_141(house: Project, words: str) -> None:
    assert unread(house, *words.split(), stream="stderr") == (141, b"")


def test_a_pipe_that_is_closed_says_nothing_of_damage_that_it_did_not_see(house: Project) -> None:
    tampered(house, house.started_session(), flipped)
    assert house.run("audit", "verify").code == 4
    assert unread(house, "audit", "verify")[0] == 141, "neither 0 nor 1: it is unknown"


@pytest.mark.slow("whole runs")
def test_what_head_takes_of_a_long_result_is_whole(house: Project) -> None:
    with closing(SqlStore(str(house.log), Clock(), salt)) as store:
        recorded(store, golden("keyword_skips_the_generic_question") * 200)
    script = 'preflights audit trail $1 | head -n 2; echo "${PIPESTATUS[0]}"'
    for form in ("", "--json"):
        done = house.run(form, program=("bash", "-c", script, "bash"))
        first, second, code = done.out.splitlines()
        assert (code, done.err) == ("141", ""), form
        assert first
        assert second


def test_what_was_recorded_before_the_pipe_closed_stays(house: Project) -> None:
    assert unread(house, "start", "Add login") == (141, b"")
    (session,) = house.call("sessions", "--json").json["sessions"]
    assert session["intention"] == "Add login"
