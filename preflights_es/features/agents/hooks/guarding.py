"""What an agent is answered before it edits a file, or installs something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from preflights_es.features.agents.hooks.edits import command, edits
from preflights_es.features.agents.hooks.events import HookEvent, Output, answered, is_attended
from preflights_es.features.agents.hooks.memory import agreed, has_asked, remember, remembered
from preflights_es.runtime.features import FEATURES
from preflights_es.use.request import Request


def before_edit(
    request: Request,
    agent: str,
    event: HookEvent,
    folder: Path,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Output:
    """What decisions in force say of an edit, or of a command that installs something.

    A decision that tells does so once in a conversation. Where an edit brings in what was turned
    down, the person is asked once, and again as long as the file lacks the lines.
    """
    root = request.process.settings.root
    base = Path(event.cwd) if event.cwd else root
    found = edits(event.tool_name, event.tool_input, base)
    memory = remembered(folder)
    before = (dict(memory.turned), memory.files)
    conversation = event.conversation or agent
    passed = agreed(memory, conversation, base, event.tool_use_id)
    changes = [(str(base / one.path) if one.path else "", one.text, one.former) for one in found]
    said = command(event.tool_name, event.tool_input)
    concerns = FEATURES.port("edit_concerns")(request, changes, said, memory, passed)
    if concerns:
        added = {file: one.added for (file, _, _), one in zip(changes, found, strict=True)}
        about = [_asked(one, added.get(one.file, ())) for one in concerns]
        has_asked(memory, conversation, about, event.tool_use_id)
    if concerns or (memory.turned, memory.files) != before:
        remember(folder, memory)
    if not concerns:
        return {}
    reasons = "\n".join(one.line for one in concerns)
    reason = f"{reasons} `preflights why {concerns[0].name}` says why it was decided."
    return answered(agent, concerns[0].hold, reason, attended=is_attended(event, environment))


def _asked(concern: Any, added: Iterable[str]) -> tuple[str, str, Iterable[str], bool]:
    """As it is remembered: what is told needs no line in the file to be over."""
    if concern.hold == "tell":
        return concern.uid, "", (), False
    return concern.uid, concern.file, added, concern.by_path
