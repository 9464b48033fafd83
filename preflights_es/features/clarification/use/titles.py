"""What the title of a record of another tool states: topic, value and scope (RESOLUTIONS 0.24)."""

from __future__ import annotations

from preflights_es.features.clarification.domain.pack import loaded
from preflights_es.features.clarification.domain.topics import find
from preflights_es.records.record_header import Said


def said(title: str) -> Said:
    """By the forms and names of the rules alone; nothing where no form covers the title."""
    found = find(title)
    if not found.stated:
        return Said()
    (one,) = found.stated
    topics = {topic.id: topic.category for topic in loaded().topics}
    return Said(topics.get(one.topic, ""), one.value, found.scope)
