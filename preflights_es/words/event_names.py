"""Events as people read of them; terminal and pages take their words from this one table."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from preflights_es.kernel.events import ACTOR_WORDS
from preflights_es.kernel.ids import iso
from preflights_es.kernel.text import late_pattern, one_line, shortened

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


CLOSED: Final = frozenset(("evolution", "kind", "reason", "source", "standing", "status", "type"))
"""Fields that hold one name of a list of ours, such as `needs_answers`."""


NAMED_BY: Final = ("name", "key", "label", "field", "topic", "title", "path")
"""Fields by which people know one of several; the first that it has."""
NAME_MAX: Final = 60  # characters of such a name
PAIR: Final = ("name", "value")


def pointer_in_words(pointer: str, *values: Any) -> str:
    """`patch, field Library` of `/patch/fields/1/1`.

    Args:
        values: in which the place is; one of several has the name that all of these give it.
    """
    words, held = list[str](), [*values]
    parts = [one.replace("~1", "/").replace("~0", "~") for one in pointer.split("/")]
    for before, part in pairwise(parts):
        pair = [_name_in_list(one) for one in held if before.isdecimal() and _is_pair(one)]
        first = 0 if any(isinstance(one, dict) for one in held) else 1  # keys of objects count
        held = [below for one in held for below in _list_below(one, part)]
        if not part.isdecimal():
            said = part.replace("_", " ")
            words += [said] if words[-1:] != [said] else []
        elif pair:
            words += [PAIR[int(part)]] if len({*pair}) > 1 else []
        else:
            names = {*map(_name_in_list, held)}
            name = names.pop() if len(names) == 1 else ""
            words[-1:] = _name_one_of(words[-1:], name, int(part) + first)
    return ", ".join(words) or "the whole event"


def _name_one_of(words: list[str], name: str, number: int) -> list[str]:
    """`field Library` of `fields`; of a word that is not plural, a word of its own."""
    if not (words and words[0].endswith("s")):
        return [*words, name or f"item {number}"]
    one = f"{words[0][:-3]}y" if words[0].endswith("ies") else words[0][:-1]
    one = words[0][:-2] if words[0].endswith("hes") else one
    return [f"{one} {name or number}"]


def _list_below(held: Any, part: str) -> list[Any]:
    """What stands there; nothing where only the other value has it."""
    if isinstance(held, dict):
        return [held[part]] if part in held else []
    is_place = isinstance(held, list) and part.isdecimal() and int(part) < len(held)
    return [held[int(part)]] if is_place else []


def _is_pair(one: Any) -> bool:
    return isinstance(one, list) and len(one) == len(PAIR) and isinstance(one[0], str)


def _name_in_list(one: Any) -> str:
    """What one of several is called; empty where nothing names it."""
    known = one[:1] if _is_pair(one) else []
    if isinstance(one, dict):
        known = [one.get(field) for field in NAMED_BY]
    name = next((name for name in known if name and isinstance(name, str)), "")
    return shortened(one_line(name), NAME_MAX)


def value_of_pointer(pointer: str, value: Any) -> Any:
    """The value that stands there: a name of a closed list as its words, a time to the second, the
    beginning of a digest.
    """
    field = pointer.rpartition("/")[2]
    match value:
        case dict():
            return {name: value_of_pointer(name, one) for name, one in value.items()}
        case list():
            return [value_of_pointer(field, one) for one in value]
        case int() if field.endswith("_at") and not isinstance(value, bool):
            return value_of_pointer("", iso(value))
        case str() if field in CLOSED and _NAME.fullmatch(value):
            return value.replace("_", " ")
        case str() if _TIME.fullmatch(value):
            return f"{value[:19].replace('T', ' ')} UTC"
        case str() if _DIGEST.fullmatch(value):
            return f"{value[:8]}…"
    return value


_NAME: Final = late_pattern("[a-z]+(_[a-z]+)+")
_TIME: Final = late_pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_DIGEST: Final = late_pattern("[0-9a-f]{64}")


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


_IN_A_SENTENCE: Final = {
    "decision marked kept": "The decision was marked as kept",
    "decision marked superseded": "The decision was marked as superseded",
    "document due": "A document is due",
    "late answer ignored": "An answer that came too late was ignored",
    "missing counted": "The calls that are missing were counted",
    "not taken": "The question was not taken",
    "sql answered": "The question was answered with SQL",
    "turns exhausted": "All turns were used",
}
"""Names of which the rule below makes no English."""
_ACTS: Final = late_pattern(
    "(?:model|agent|person|rules|step) (?:answered|failed|waits|took over)"
    "|questions ended|[a-z]+ stopped"
)
_DONE: Final = late_pattern(
    r"(?P<noun>.+?) (?P<done>(?:[a-z]+ed|begun|built|chosen|found|given|heard|kept|made|put"
    r"|rewritten|sent|set|taken|told|written)\b.*)"
)


def name_in_sentence(name: str) -> str:
    """`The answer was refused` of `answer refused`."""
    if plain := _IN_A_SENTENCE.get(name):
        return plain
    if _ACTS.fullmatch(name):
        return f"The {name}"
    if found := _DONE.fullmatch(name):
        noun = found["noun"]
        were = "were" if noun.endswith("s") and not noun.endswith("ss") else "was"
        return f"The {noun} {were} {found['done']}"
    return f'The session recorded "{name}"'


ODD_NAME: Final = late_pattern(r"(?i)[(),:]|signed")
"""A name that could pass for what the program says of a signature."""


def actor_in_words(kind: str, name: str) -> str:
    """A person by name; an agent, script or model is never shown as a person."""
    if kind == "user" and ODD_NAME.search(name):
        return '"{}"'.format(name.replace('"', "'"))
    if kind == "user" and name:
        return name
    return f"{ACTOR_WORDS[kind]}{f' ({name})' if name else ''}"
