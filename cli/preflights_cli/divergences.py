"""A difference that a replay found, in words."""

from __future__ import annotations

from typing import Any, Final

from preflights_cli.common import Voice
from preflights_es.history.divergence import ABSENT_TEXT, Divergence
from preflights_es.kernel.json import encoded
from preflights_es.kernel.text import shortened, shown

VALUE_MAX: Final = 400  # characters of a value that differs


def say_divergence(voice: Voice, id_: str, divergence: Divergence) -> None:
    """The place, the reason and both values."""
    where = divergence.pointer or "the whole event"
    voice.say(
        f"{id_} differs at version {divergence.version}, {shown(divergence.type)}, {shown(where)}"
    )
    if divergence.cause:
        voice.say(f"  cause:    {shown(divergence.cause)}")
    voice.say(f"  recorded: {value(divergence.recorded)}")
    voice.say(f"  computed: {value(divergence.computed)}")


def value(found: Any) -> str:
    """A JSON value on one line, for people."""
    text = found if found == ABSENT_TEXT else encoded(found).decode()
    return shortened(shown(text), VALUE_MAX)
