"""Sixty and more conversations, in both formats, over all that can come of a question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.features.agents.transcripts.writing import OPTIONS, QUESTION, Case

PG, FILE, MONGO = OPTIONS
SAID: Final = f'User has answered your questions: "{QUESTION}"="{PG}". You can now continue.'
AWAY: Final = "No response after 60s - the user may be away from keyboard. Use your best judgment."
REFUSED: Final = "The user doesn't want to proceed with this tool use. The tool use was rejected."
LATER: Final = "The user wants to clarify these questions. They said: what about cost?"


def _attached(kind: str, **more: Any) -> dict[str, Any]:
    told = {"type": kind, "toolUseID": "toolu_1", "hookEvent": "PreToolUse", **more}
    return {"type": "attachment", "uuid": "a1", "cwd": "/work/shop", "attachment": told}


def _answers(*said: str, **more: Any) -> dict[str, Any]:
    return {"questions": [], "answers": {QUESTION: ", ".join(said)}, **more}


def _claude() -> Iterator[Case]:
    def case(name: str, outcome: Any, answers: Any = (), result: Any = None, **more: Any) -> Case:
        return Case(name, "claude", outcome, tuple(answers), result, **more)

    for label in OPTIONS:
        yield case(f"chose {label}", "answered", [label], _answers(label))
    yield case("chose with blanks around", "answered", [PG], _answers(f"  {PG} "))
    yield case("chose with a preview", "answered", [PG], _answers(PG, annotations={QUESTION: {}}))
    yield case("typed", "typed", ["Whatever ops run"], _answers("Whatever ops run"))
    yield case("typed in another script", "typed", ["邮局"], _answers("邮局"))
    yield case("typed a label in other letters", "typed", [PG.lower()], _answers(PG.lower()))
    note = {QUESTION: {"notes": "but only for tests"}}
    yield case("a note", "typed", [f"{PG} (but only for tests)"], _answers(PG, annotations=note))
    yield case("only a note", "typed", ["but only for tests"], _answers("", annotations=note))
    reply = {"answers": {}, "response": "Use what the other service uses."}
    yield case("a reply", "typed", ["Use what the other service uses."], reply)
    echo = "No response after 5s is the time-out I want"
    yield case("typed what a time-out says", "typed", [echo], _answers(echo), text="Your questions")
    two = {"several": True}
    yield case("chose two", "several", [PG, MONGO], _answers(PG, MONGO), **two)
    yield case("chose two with a comma", "several", [FILE, PG], _answers(FILE, PG), **two)
    yield case("chose all", "several", OPTIONS, _answers(*OPTIONS), **two)
    yield case("one of several", "answered", [FILE], _answers(FILE), **two)
    yield case("one and own words", "several", [PG, "and Redis"], _answers(PG, "and Redis"), **two)
    yield case("several as a list", "several", [PG, MONGO], {"answers": {QUESTION: [PG, MONGO]}})
    yield case("before results had answers", "answered", [PG], text=SAID)
    yield case("older, typed", "typed", ['a "b", c'], text=SAID.replace(PG, 'a "b", c'))
    yield case("a label cut by the agent's text", "typed", ["Postgre"], _answers("Postgre"))
    yield case("an option as a text", "answered", ["A"], _answers("A"), question={"options": ["A"]})
    yield case("without options", "typed", ["yes"], _answers("yes"), question={"options": None})
    # Silence.
    yield case("away", "timed_out", [], {"answers": {}, "afkTimeoutMs": 60000}, text=AWAY)
    yield case("away, with a default", "timed_out", [], _answers(PG, afkTimeoutMs=60000), text=AWAY)
    yield case("away, by the text alone", "timed_out", [], {"answers": {}}, text=AWAY)
    yield case("away, and a default in the text", "timed_out", [], _answers(PG), text=AWAY)
    yield case("away, before results had answers", "timed_out", [], text=AWAY)
    yield case("nothing", "empty", [], {"answers": {}})
    yield case("no answers at all", "empty", [], {"questions": []})
    yield case("an empty answer", "empty", [], _answers(""))
    yield case("blanks", "empty", [], _answers("   "))
    yield case("invisible", "empty", [], _answers("\u200b\u2060"))
    yield case("null", "empty", [], {"answers": {QUESTION: None}})
    yield case("a number", "empty", [], {"answers": {QUESTION: 1}})
    yield case("answers to another question", "empty", [], {"answers": {"Which cache?": PG}})
    yield case("did not answer", "empty", [], text="The user did not answer the questions.")
    # Refused, or never put to a person.
    refused = {"is_error": True}
    yield case("refused", "denied", [], "User rejected tool use", text=REFUSED, **refused)
    yield case("refused, by the text", "denied", [], text=REFUSED, **refused)
    yield case("refused, by the result", "denied", [], f"Error: {REFUSED}")
    yield case("wants to talk", "denied", [], text=LATER, **refused)
    yield case("refused with answers", "denied", [], _answers(PG), text=REFUSED, **refused)
    wrong = "<tool_use_error>InputValidationError: questions</tool_use_error>"
    yield case("a wrong call", "unattended", [], text=wrong, **refused)
    yield case("not allowed", "unattended", [], text="Permission was denied.", **refused)
    # Programs.
    own = {"asks": {"answers": {QUESTION: PG}}}
    yield case("the model's own answer", "by_hook", [], _answers(PG), **own)
    hooked = _attached("hook_success", stdout='{"hookSpecificOutput":{"updatedInput":{}}}')
    yield case("a hook answered", "by_hook", [], _answers(PG), between=(hooked,))
    allowed = _attached("hook_permission_decision", decision="allow")
    yield case("a hook allowed", "by_hook", [], _answers(PG), between=(allowed,))
    blocked = _attached("hook_blocking_error")
    yield case("a hook refused", "by_hook", [], text=REFUSED, between=(blocked,), **refused)
    logged = _attached("hook_success", stdout="logged")
    yield case("a hook looked on", "answered", [PG], _answers(PG), between=(logged,))
    other = _attached("hook_permission_decision", toolUseID="toolu_9")
    yield case("a hook of another call", "answered", [PG], _answers(PG), between=(other,))
    for entry in ("sdk-cli", "sdk-py"):
        line = {"entrypoint": entry}
        yield case(f"{entry} answered", "by_hook", [], _answers(PG), line=line)
        yield case(f"{entry} refused", "unattended", [], text=REFUSED, line=line, **refused)
    for entry in ("cli", "claude-vscode"):
        yield case(entry, "answered", [PG], _answers(PG), line={"entrypoint": entry})


def _codex() -> Iterator[Case]:
    def case(name: str, outcome: Any, answers: Any = (), result: Any = None, **more: Any) -> Case:
        return Case(name, "codex", outcome, tuple(answers), result, **more)

    def said(*answers: Any, **more: Any) -> dict[str, Any]:
        return {"answers": {"db": {"answers": list(answers)}}, **more}

    for label in OPTIONS:
        yield case(f"chose {label}", "answered", [label], said(label))
    yield case("typed", "typed", ["what ops run"], said("what ops run"))
    yield case("a note", "typed", [f"{PG} (for tests)"], said(PG, "user_note: for tests"))
    yield case("only a note", "typed", ["for tests"], said("user_note: for tests"))
    yield case(
        "none, with a note", "typed", ["Redis"], said("None of the above", "user_note: Redis")
    )
    yield case("several", "several", [PG, MONGO], said(PG, MONGO))
    yield case("twice the same", "answered", [PG], said(PG, PG))
    yield case("a text for an answer", "answered", [PG], {"answers": {"db": PG}})
    yield case("a list for an answer", "answered", [PG], {"answers": {"db": [PG]}})
    blocks = [{"type": "input_text", "text": '{"answers":{"db":{"answers":["MongoDB"]}}}'}]
    yield case("an output in blocks", "answered", [MONGO], blocks)
    line = {"source": "vscode"}
    yield case("in an editor", "answered", [PG], said(PG), line=line)
    yield case(
        "by the question", "answered", [PG], {"answers": {QUESTION: PG}}, question={"id": ""}
    )
    # Silence.
    yield case("away", "timed_out", [], {"answers": {}})
    yield case("away, with a default", "timed_out", [], said(PG, autoResolved=True))
    yield case("no answers at all", "timed_out", [], {})
    yield case("skipped", "empty", [], said())
    yield case("blank", "empty", [], said("  "))
    yield case("a blank note", "empty", [], said("user_note:  "))
    yield case("none of them", "empty", [], said("None of the above"))
    yield case("another question", "empty", [], {"answers": {"cache": {"answers": [PG]}}})
    yield case("a number", "empty", [], said(7))
    # Refused, or never put to a person.
    cancelled = "request_user_input was cancelled before receiving a response"
    yield case("cancelled", "denied", [], cancelled)
    yield case("interrupted", "denied", [], said(PG, interrupted=True))
    yield case("aborted", "denied", [], "aborted by user after 3.1s")
    unavailable = "request_user_input is unavailable in Default mode"
    yield case("unavailable", "unattended", [], unavailable)
    yield case("exec", "unattended", [], cancelled, line={"source": "exec"})
    yield case("exec answered", "unattended", [], said(PG), line={"source": "exec"})
    yield case("a server answered", "unattended", [], said(PG), line={"source": "mcp"})


CASES: Final = (*_claude(), *_codex())
