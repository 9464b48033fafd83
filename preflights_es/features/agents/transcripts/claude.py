"""Transcripts of Claude Code: one JSON object a line, in a folder for each working folder.

The tool `AskUserQuestion` asks. The next line that names the call holds the result: `answers` by
the text of the question, none of them after a time-out, and a text where the person refused. The
format is not documented and changes: the reader counts what it does not know, and goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from preflights_es.features.agents.transcripts.reader import (
    CALL_MAX,
    LABELS_MAX,
    AgentQuestion,
    Call,
    Choice,
    Program,
    QuestionLine,
    Reader,
    chosen,
    cut,
    moment,
    parts,
    text_of,
)
from preflights_es.kernel.questions import AskOutcome
from preflights_es.kernel.text import late_pattern

ASKS: Final = "AskUserQuestion"
EDITS: Final = ("Edit", "Write", "MultiEdit", "NotebookEdit")
KNOWN: Final = frozenset(
    """
    agent-name agent-setting ai-title attachment attribution-snapshot bridge-session
    content-replacement custom-title file-history-delta file-history-snapshot frame-link
    last-prompt marble-origami-commit marble-origami-snapshot mode permission-mode pr-link
    progress queue-operation relocated result speculation-accept summary system tag task-summary
    worktree-state
    """.split()  # noqa: SIM905  a table
)
"""Types of lines in which nothing is asked."""
REASON_MAX: Final = 300  # characters that are read of why a call failed
FOLDER_MAX: Final = 200  # characters of a folder's name; what is longer ends with a hash
_LETTER: Final = late_pattern("[^a-zA-Z0-9]")
_NO_RESPONSE: Final = late_pattern(r"\s*no response after \d+", 2)  # re.IGNORECASE
_REFUSED: Final = late_pattern(r"\buser\b", 2)
"""In the result of a call that failed: the person refused it. Else the person saw no question."""
SETTLED_BY_HOOK: Final = ("hook_permission_decision", "hook_blocking_error")


class _Origin(msgspec.Struct):
    sessionId: str = ""  # noqa: N815  as the format has it


class _Line(msgspec.Struct):
    type: str
    uuid: str | None = None
    sessionId: str | None = None  # noqa: N815
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    isSidechain: bool | None = None  # noqa: N815
    forkedFrom: _Origin | None = None  # noqa: N815
    entrypoint: str | None = None
    message: msgspec.Raw = msgspec.Raw(b"null")
    toolUseResult: msgspec.Raw = msgspec.Raw(b"null")  # noqa: N815
    attachment: msgspec.Raw = msgspec.Raw(b"null")


class _Block(msgspec.Struct):
    type: str = ""
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw(b"null")
    tool_use_id: str = ""
    content: msgspec.Raw = msgspec.Raw(b"null")
    is_error: bool | None = None


class _Message(msgspec.Struct):
    content: list[_Block] | str | None = None


class _Asks(msgspec.Struct):
    questions: list[QuestionLine]
    answers: Any = None
    """The model's own: the tool takes them for its person's."""


class _Edit(msgspec.Struct):
    file_path: str = ""
    notebook_path: str = ""


class _Hooked(msgspec.Struct):
    """What a hook said of a call."""

    type: str = ""
    toolUseID: str | None = None  # noqa: N815
    hookEvent: str | None = None  # noqa: N815
    decision: Any = None
    stdout: Any = None
    content: Any = None


_line: Final = msgspec.json.Decoder(_Line)
_message: Final = msgspec.json.Decoder(_Message)


def folder_name(root: str) -> str:
    """What Claude Code calls its folder for a working folder."""
    return _LETTER.sub("-", root)


def folders(home: Path, roots: Sequence[str]) -> Iterator[Path]:
    """Where transcripts of a project may lie: of its folder, and of those in it."""
    names = [folder_name(root)[:FOLDER_MAX] for root in roots]
    base = home / "projects"
    for folder in sorted(base.iterdir()) if base.is_dir() else ():
        if any(folder.name == n or folder.name.startswith(f"{n}-") for n in names):
            yield folder


class ClaudeReader(Reader):
    """Reads a transcript of Claude Code."""

    _cwd = ""

    def read(self, line: bytes) -> None:
        one = _line.decode(line)
        if one.isSidechain:
            self.tally.subagents += 1
            return
        self._cwd = one.cwd or self._cwd
        if one.type == "attachment":
            self._heed(one.attachment)
        elif one.type == "assistant":
            for block in _blocks(one.message):
                self._act(one, block)
        elif one.type == "user":
            for block in _blocks(one.message):
                if block.type == "tool_result":
                    self._result(one, block)
        elif one.type not in KNOWN:
            self.tally.unknown += 1

    # 1. What the agent does ------------------------------------------------------------------

    def _act(self, line: _Line, block: _Block) -> None:
        if block.type != "tool_use":
            return
        if block.name == ASKS:
            said = msgspec.json.decode(block.input, type=_Asks)
            self.ask(
                Call(
                    call=block.id or line.uuid or "",
                    conversation=line.sessionId or "",
                    origins=(line.forkedFrom.sessionId,) if line.forkedFrom else (),
                    version=line.version or "",
                    asked_at=moment(line.timestamp or ""),
                    is_here=self.project.holds(self._cwd),
                    questions=tuple(one.told() for one in said.questions[:CALL_MAX]),
                    program=_program(line, said),
                )
            )
        elif block.name in EDITS:
            edit = msgspec.json.decode(block.input, type=_Edit)
            self.edit(block.id, (edit.file_path or edit.notebook_path,), self._cwd)

    def _heed(self, attachment: msgspec.Raw) -> None:
        """Note that a hook gave the answers."""
        if not self.calls:
            return
        one = msgspec.json.decode(attachment, type=_Hooked)
        call = self.calls.get(one.toolUseID or "")
        if call is None or one.hookEvent not in ("PreToolUse", "PermissionRequest"):
            return
        said = f"{one.stdout}{one.content}"
        if one.type in SETTLED_BY_HOOK or "updatedInput" in said:
            call.program = "hook"

    # 2. What came of it ----------------------------------------------------------------------

    def _result(self, line: _Line, block: _Block) -> None:
        self.edited(block.tool_use_id, done=not block.is_error)
        call = self.calls.get(block.tool_use_id)
        if call is None:
            return
        raw = bytes(line.toolUseResult)
        result = msgspec.json.decode(raw) if raw != b"null" else None
        text = text_of(msgspec.json.decode(block.content))
        self.settle(
            call.call,
            _came(call, result, text, is_error=bool(block.is_error)),
            moment(line.timestamp or ""),
        )


def _blocks(message: msgspec.Raw) -> Sequence[_Block]:
    content = _message.decode(message).content
    return content if isinstance(content, list) else ()


def _program(line: _Line, said: _Asks) -> Program:
    """What answers in the person's place."""
    if said.answers:
        return "hook"
    return "sdk" if (line.entrypoint or "").startswith("sdk") else ""


def _came(call: Call, result: Any, text: str, *, is_error: bool) -> AskOutcome | Sequence[Choice]:
    """What came of the questions of a call."""
    if is_error or isinstance(result, str):
        return _failed(call, f"{result if isinstance(result, str) else ''} {text}")
    if call.program:
        return "by_hook"
    said: Mapping[str, Any] = result if isinstance(result, dict) else {}
    if said.get("afkTimeoutMs") or _NO_RESPONSE.match(text):
        return "timed_out"
    answers = said.get("answers") if said else _answers(text, call.questions)
    response = said.get("response")
    if len(call.questions) == 1 and isinstance(response, str) and response.strip():
        return [("typed", (cut(response.strip()),))]
    if not isinstance(answers, dict):
        return "empty"
    return [_choice(one, answers, said.get("annotations")) for one in call.questions]


def _failed(call: Call, text: str) -> AskOutcome:
    if call.program == "hook":
        return "by_hook"
    is_refused = not call.program and _REFUSED.search(text[:REASON_MAX])
    return "denied" if is_refused else "unattended"


def _choice(one: AgentQuestion, answers: Mapping[str, Any], notes: Any) -> Choice:
    said = answers.get(one.id)
    texts = [said] if isinstance(said, str) else _strings(said)
    if one.several and isinstance(said, str):
        texts = list(parts(said, one.options))
    beside = notes.get(one.id) if isinstance(notes, dict) else None
    note = beside.get("notes") if isinstance(beside, dict) else None
    return chosen(texts, one.options, note if isinstance(note, str) else "")


def _strings(said: Any) -> list[str]:
    found = said[:LABELS_MAX] if isinstance(said, list) else ()
    return [one for one in found if isinstance(one, str)]


def _answers(text: str, questions: Sequence[AgentQuestion]) -> dict[str, str]:
    """Answers as older versions tell them, in a sentence: `"question"="answer", ...`."""
    places = [(text.find(f'"{one.id}"="'), one.id) for one in questions]
    starts = sorted((at, at + len(name) + 4, name) for at, name in places if at >= 0)
    found = {}
    for number, (_, start, name) in enumerate(starts):
        upto = starts[number + 1][0] if number + 1 < len(starts) else len(text)
        end = text.rfind('"', start, upto)
        found[name] = text[start:end] if end >= 0 else ""
    return found
