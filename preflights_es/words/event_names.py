"""Events as people read of them; terminal and pages take their words from this one table."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.kernel.ids import iso

_PLAIN: Final = {
    "artifact.due": "document due",
    "artifact.removed": "document removed",
    "artifact.written": "document written",
    "calls.judged": "call judged",
    "calls.kept": "call answered",
    "calls.recorded": "call recorded",
    "completion.failed": "model failed",
    "completion.received": "model answered",
    "completion.requested": "model asked",
    "led.fell_back": "rules took over",
    "led.response_accepted": "model's answer accepted",
    "led.response_rejected": "model's answer refused",
    "led.step_retried": "step asked again",
    "led.step_stalled": "step waits",
    "session.input_quarantined": "Input set aside",
    "session.response_ignored": "late answer ignored",
}
"""By a tag without its version; all others are named by their tag."""


NO_MODELS: Final = {"mock": "rules", "agent": "agent", "person": "person"}
"""Who writes the answers of a provider that is no model: the rules, or the actor of a command."""


CLOSED: Final = frozenset(("kind", "reason", "source", "standing", "status", "type"))
"""Fields that hold one name of a list of ours, such as `needs_answers`."""


def pointer_in_words(pointer: str) -> str:
    """`patch, field 2, library` of `/patch/fields/1/library`."""
    words: list[str] = []
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~").replace("_", " ")
        if not name.isdecimal():
            words.append(name)
        elif words and words[-1].endswith("s"):
            one = words[-1]
            singular = f"{one[:-3]}y" if one.endswith("ies") else one[:-1]
            words[-1] = f"{singular} {int(name) + 1}"
        else:
            words.append(f"item {int(name) + 1}")
    return ", ".join(words) or "the whole event"


def value_of_pointer(pointer: str, value: Any) -> Any:
    """The value that stands there; a name of a closed list as its words, microseconds as a time."""
    field = pointer.rpartition("/")[2]
    if isinstance(value, int) and field.endswith("_at"):
        return iso(value)
    is_name = isinstance(value, str) and field in CLOSED
    return value.replace("_", " ") if is_name else value


def event_in_words(tag: object, provider: str = "") -> str:
    """`answer refused` of `NAME.answer_refused.v1`; `session closed` where the tag has one word.

    Args:
        tag: of a damaged database it may be anything.
        provider: of the call that the event is part of.
    """
    name = str(tag).rsplit(".", 1)[0]
    family, _, what = name.partition(".")
    words = what if "_" in what else f"{family} {what}".rstrip()
    plain = _PLAIN.get(name)
    if plain is None:
        return words.replace("_", " ")
    who = NO_MODELS.get(provider)
    return plain.replace("model", who).replace("rules's", "rules'") if who else plain
