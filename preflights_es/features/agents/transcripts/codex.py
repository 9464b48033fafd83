"""Transcripts of Codex ("rollouts"): `{timestamp, type, payload}` a line, in folders by day.

The function `request_user_input` asks. Its output is a text: JSON with `answers` by the id of the
question, an empty object after a time-out, or a sentence where it was cancelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from preflights_es.features.agents.transcripts.reader import (
    CALL_MAX,
    FILES_MAX,
    LABELS_MAX,
    ORIGINS_MAX,
    AgentQuestion,
    Call,
    Choice,
    QuestionLine,
    Reader,
    apart,
    chosen,
    moment,
    text_of,
)
from preflights_es.kernel.questions import AskOutcome
from preflights_es.kernel.text import late_pattern

ASKS: Final = "request_user_input"
PATCH: Final = "*** Begin Patch"
KNOWN: Final = frozenset(("compacted", "event_msg", "world_state", "inter_agent_communication"))
"""Types of lines in which nothing is asked."""
PROGRAMS: Final = ("exec", "mcp")
"""How a conversation begins in which no person is asked."""
_FILE: Final = late_pattern(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", 8)
"""A line of a patch that names a file; re.MULTILINE."""
_FAILED: Final = late_pattern(r'"exit_code":\s*[1-9]|^Exit code: [1-9]|verification failed', 8)


class _Line(msgspec.Struct):
    type: str
    timestamp: str | None = None
    payload: msgspec.Raw = msgspec.Raw(b"null")


class _Meta(msgspec.Struct):
    id: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    source: Any = None


class _Turn(msgspec.Struct):
    cwd: str | None = None


class _Item(msgspec.Struct):
    type: str = ""
    name: str = ""
    call_id: str | None = None
    arguments: Any = None
    input: Any = None
    output: msgspec.Raw = msgspec.Raw(b"null")


class _Question(QuestionLine):
    id: str = ""
    isSecret: bool | None = None  # noqa: N815  as the format has it
    is_secret: bool | None = None


class _Asks(msgspec.Struct):
    questions: list[_Question]


_line: Final = msgspec.json.Decoder(_Line)
_item: Final = msgspec.json.Decoder(_Item)


def folders(home: Path) -> Iterator[Path]:
    """Where transcripts of all projects lie."""
    return (home / name for name in ("sessions", "archived_sessions") if (home / name).is_dir())


class CodexReader(Reader):
    """Reads a transcript of Codex."""

    _meta: _Meta | None = None
    _cwd = ""
    _origins: tuple[str, ...] = ()

    def read(self, line: bytes) -> None:
        one = _line.decode(line)
        if one.type == "session_meta":
            self._begin(msgspec.json.decode(one.payload, type=_Meta))
        elif self._is_subagent:
            self.tally.subagents += 1
        elif one.type == "turn_context":
            self._cwd = msgspec.json.decode(one.payload, type=_Turn).cwd or self._cwd
        elif one.type == "response_item":
            self._take_item(_item.decode(one.payload), moment(one.timestamp or ""))
        elif one.type not in KNOWN:
            self.tally.unknown += 1

    def _begin(self, meta: _Meta) -> None:
        """The first one is this conversation's; a fork holds its origin's, too."""
        if self._meta is None:
            self._meta, self._cwd = meta, meta.cwd or ""
        elif meta.id and len(self._origins) < ORIGINS_MAX:
            self._origins = (*self._origins, meta.id)

    @property
    def _is_subagent(self) -> bool:
        source = self._meta.source if self._meta else None
        return isinstance(source, dict) and "subagent" in source

    def _take_item(self, item: _Item, at: int | None) -> None:
        call = item.call_id or ""
        match item.type:
            case "function_call" if item.name == ASKS:
                self._ask(call, item.arguments, at)
            case "function_call" | "custom_tool_call":
                self.edit(call, _patched(item), self._cwd)
            case "function_call_output" | "custom_tool_call_output":
                text = text_of(msgspec.json.decode(item.output))
                self.edited(call, done=_FAILED.search(text) is None)
                if found := self.calls.get(call):
                    self.settle(call, _came(found, text), at)

    def _ask(self, call: str, arguments: Any, at: int | None) -> None:
        said = msgspec.json.decode(arguments if isinstance(arguments, str) else b"", type=_Asks)
        meta = self._meta or _Meta()
        self.ask(
            Call(
                call=call,
                conversation=meta.id or "",
                origins=self._origins,
                version=meta.cli_version or "",
                asked_at=at,
                is_here=self.project.holds(self._cwd),
                questions=tuple(
                    one.told(one.id, is_secret=bool(one.isSecret or one.is_secret))
                    for one in said.questions[:CALL_MAX]
                ),
                # Where the first line is damaged, no line says whether a person was there.
                program="sdk" if self._meta is None or meta.source in PROGRAMS else "",
            )
        )


def _patched(item: _Item) -> Sequence[str]:
    """Files that a patch names, whichever tool applies it."""
    said = item.input if item.type == "custom_tool_call" else item.arguments
    if not isinstance(said, str) or PATCH not in said:
        return ()
    # In arguments, the lines of a patch are those of a text in JSON.
    plain = said if item.type == "custom_tool_call" else said.replace("\\n", "\n")
    return [found[1].strip() for found in islice(_FILE.finditer(plain), FILES_MAX)]


def _came(call: Call, text: str) -> AskOutcome | Sequence[Choice]:
    """What came of the questions of a call."""
    try:
        said = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        said = None
    if call.program:
        return "unattended"
    if not isinstance(said, dict):
        return "unattended" if "unavailable" in text else "denied"
    if said.get("interrupted"):
        return "denied"
    answers = said.get("answers")
    if said.get("autoResolved") or not answers or not isinstance(answers, dict):
        return "timed_out"
    return [_choice(one, answers.get(one.id)) for one in call.questions]


def _choice(one: AgentQuestion, answer: Any) -> Choice:
    said = answer.get("answers") if isinstance(answer, dict) else answer
    parts = said[:LABELS_MAX] if isinstance(said, list) else [said]
    labels, notes = apart([part for part in parts if isinstance(part, str)])
    return chosen(labels, one.options, " ".join(notes))
