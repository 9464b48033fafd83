"""Edits that contradict a decision, and edits that contradict none, as agents make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from preflights_es.kernel.events import Actor
from preflights_es.use import sessions
from preflights_es.use.bootstrap import Opened
from preflights_es.use.use_cases import NewAcceptance, NewSession
from preflights_es.words.decisions import Hold, RejectedAlternative, StatedReasons
from preflights_es.words.questions import written_question
from tests.filed_cases import filed_cases

ADA: Final = Actor("user", "Ada")


class Decided(NamedTuple):
    """A decision in force: its topic, and its options, the chosen one first."""

    topic: str
    options: tuple[str, ...]


FILED: Final = filed_cases(__file__)
DECISIONS: Final = tuple(Decided(topic, tuple(options)) for topic, *options in FILED["DECISIONS"])


def decide(
    house: Opened,
    topic: str,
    options: tuple[str, ...],
    *paths: str,
    hold: Hold = "tell",
    by: Actor | None = ADA,
) -> None:
    """A decision between options, the first of which was chosen.

    Args:
        by: who accepts it; None leaves it open.
    """
    request = house.request(ADA)
    written = written_question(f"Which {topic}?", options, topic)
    others = tuple(map(RejectedAlternative, options[1:]))
    reasons = StatedReasons("it is known here", alternatives=others, paths=paths, hold=hold)
    workflow = next(name for name, w in house.process.runner.workflows.items() if w.asked.written)
    new = NewSession(f"Choose: {topic}", workflow, written=written, reasons=reasons)
    begun = sessions.start_session(request, new)
    sessions.answer_session(request, begun.session_id, {"": options[0]})
    if by is not None:
        sessions.accept_session(house.request(by), NewAcceptance(begun.session_id))


def edit(path: str, new: str, old: str = "") -> dict[str, Any]:
    """A call of Edit, as Claude Code tells of it."""
    said = {"file_path": path, "old_string": old, "new_string": new}
    return {"tool_name": "Edit", "tool_input": said}


def write(path: str, content: str) -> dict[str, Any]:
    """A call of Write."""
    return {"tool_name": "Write", "tool_input": {"file_path": path, "content": content}}


def patch(path: str, *lines: str) -> dict[str, Any]:
    """A call of apply_patch, as Codex tells of it."""
    text = "\n".join(("*** Begin Patch", f"*** Update File: {path}", *lines, "*** End Patch"))
    return {"tool_name": "apply_patch", "tool_input": {"command": text}}


def run(command: str, tool: str = "Bash") -> dict[str, Any]:
    """A command of a shell."""
    return {"tool_name": tool, "tool_input": {"command": command}}


TOOLS: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    "edit": edit,
    "write": write,
    "patch": patch,
    "run": run,
}
TRUE: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    *((option, TOOLS[tool](*said)) for option, tool, *said in FILED["TRUE"]),
    (
        "MySQL",
        {
            "tool_name": "MultiEdit",
            "tool_input": {
                "file_path": "app/db.py",
                "edits": [
                    {"old_string": "x", "new_string": "y"},
                    {"old_string": "a", "new_string": "import mysql"},
                ],
            },
        },
    ),
    (
        "MySQL",
        {
            "tool_name": "write_file",
            "tool_input": {"file_path": "app/db.py", "content": "import mysql\n"},
        },
    ),
    (
        "MySQL",
        {
            "tool_name": "replace_string_in_file",
            "tool_input": {"filePath": "app/db.py", "oldString": "", "newString": "import mysql"},
        },
    ),
)
"""Pairs of the option that is named and the call of a tool."""

INNOCENT: Final[tuple[dict[str, Any], ...]] = (
    *(TOOLS[tool](*said) for tool, *said in FILED["INNOCENT"]),
    {"tool_name": "Read", "tool_input": {"file_path": "app/mysql.py"}},
    {"tool_name": "Edit", "tool_input": {"file_path": "app/db.py"}},
    {"tool_name": "Edit", "tool_input": None},
    {"tool_name": "Write", "tool_input": {"file_path": ["x"], "content": {"a": "mysql"}}},
)
"""Calls of tools that raise no question."""
