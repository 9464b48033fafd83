"""The title of a decision (docs/specs/clarification.md, section 13.5)."""

from __future__ import annotations

from typing import Final

from preflights_es.features.clarification.domain.state import State
from preflights_es.features.clarification.domain.stated import language_of, topic_of
from preflights_es.features.clarification.domain.values import OTHER, TITLES
from preflights_es.features.clarification.domain.written import TOPIC
from preflights_es.kernel.questions import Language
from preflights_es.kernel.text import one_line, shortened
from preflights_es.kernel.words import continued

VALUE_MAX: Final = 80  # characters of a value in a title


def title_of(state: State) -> str:
    """What is decided, in a few words; the intention while nothing is."""
    if state.patch is None or not state.patch.fields:
        return state.intention
    name, value = state.patch.fields[0]
    said = shortened(one_line(value), VALUE_MAX)
    config, category = state.heuristics, state.patch.category
    fields = {field.name: field.id for field in state.found[0].fields()} if state.found else {}
    key = fields.get(name, "")
    scope, language = state.scope, language_of(state)
    inner = continued(said) if language == "en" else said
    if category == OTHER and key == config.description.id:
        is_stated = any(one.key == key and one.source == "stated" for one in state.provenance)
        return scoped(inner, scope, language) if scope or is_stated else said
    if scope:
        return scoped(inner, scope, language)
    if (topic := topic_of(state, key)) is not None:
        return one_line(topic.title(inner, language))
    if key in TITLES:
        return TITLES[key].format(value=inner)
    if name == TOPIC and state.framed is not None:  # no topic says what it is about
        return f"{one_line(state.framed.field.question)} {said}"
    table = config.named(category)
    is_primary = table is not None and table.primary is not None and table.primary.id == key
    return f"{one_line(category if is_primary else name)}: {said}"


def scoped(value: str, scope: str, language: Language) -> str:
    """The title of a decision for a value, where no topic has one."""
    if language == "de":
        return f"{value} f\u00fcr {one_line(scope)} verwenden" if scope else f"{value} verwenden"
    return f"Use {value} for {one_line(scope)}" if scope else f"Use {value}"
