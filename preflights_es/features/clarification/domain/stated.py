"""What a session knows of its topics, and the values that were stated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preflights_es.features.clarification.domain.state import State
from preflights_es.kernel.questions import Language

if TYPE_CHECKING:  # imported where a session has a pack: its classes cost time
    from preflights_es.features.clarification.domain.pack import Topic


def topics_of(state: State) -> dict[str, Topic]:
    """The topics of the session's pack, by id; none without a pack."""
    if state.pack is None:
        return {}
    from preflights_es.features.clarification.domain.pack import loaded

    return {topic.id: topic for topic in loaded(state.inlined).topics}


def topic_of(state: State, key: str) -> Topic | None:
    """The topic whose question has a key."""
    return next((topic for topic in topics_of(state).values() if topic.key == key), None)


def language_of(state: State) -> Language:
    """Of questions, options and titles."""
    return state.topics.language if state.topics is not None else "en"


def named_for(state: State, key: str) -> tuple[str, ...]:
    """The values that the intention names for a question."""
    topic, found = topic_of(state, key), state.topics
    if topic is None or found is None:
        return ()
    named = (*found.stated, *found.replaced, *found.mentioned)
    return tuple(topic.said(one.value, found.language) for one in named if one.topic == topic.id)


def stated_by_key(state: State) -> dict[str, str]:
    """The values that the intention states, by the key of the question they answer."""
    if state.topics is None:
        return {}
    topics, language = topics_of(state), state.topics.language
    found: dict[str, str] = {}
    for named in state.topics.stated:
        topic = topics.get(named.topic)
        if topic is None:
            found[state.heuristics.description.id] = named.value
        else:
            found[topic.key] = topic.said(named.value, language)
    return found
