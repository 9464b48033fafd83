"""Reads documents as a Markdown parser does, and a record to write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from preflights_es.words.decisions import Record, RecordField

MARKDOWN: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])

RECORD: Final = Record(
    uid="3f9a12c4d5e6",
    session_id="01a20012-3456-7abc-8def-3f9a12c4d5e6",
    title="Add login",
    intention="Add login",
    status="accepted",
    date="2026-11-21",
    decided_by="Ada Lovelace",
    category="Authentication",
    fields=(RecordField(name="Strategy", value="OAuth", source="chosen", by="user"),),
)


def front_matter(text: str) -> dict[str, object]:
    """Keys and values, where every line is a key and a JSON value (or a date)."""
    lines = text.split("\n")
    assert lines[0] == "---"
    end = lines.index("---", 1)
    found: dict[str, object] = {}
    for line in lines[1:end]:
        key, value = re.fullmatch(r"([a-z-]+): (.+)", line).groups()  # type: ignore[union-attr]  # no match fails
        assert key not in found
        found[key] = value if key == "date" else json.loads(value)
    return found


def body(text: str) -> list[Token]:
    """What a Markdown parser finds behind the front matter."""
    return MARKDOWN.parse(text.split("\n---\n", 1)[1] if text.startswith("---\n") else text)


def every(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def words(token: Token) -> str:
    """What a reader sees of one block."""
    return "".join(
        "\n" if child.type in ("softbreak", "hardbreak") else child.content
        for child in token.children or ()
    )


def headings(tokens: list[Token]) -> list[tuple[str, str]]:
    return [
        (opening.tag, words(inline))
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open"
    ]


def paragraphs(tokens: list[Token]) -> list[str]:
    """Blocks of text that are no headings."""
    return [
        words(inline)
        for opening, inline in pairwise(tokens)
        if inline.type == "inline" and opening.type != "heading_open"
    ]


def section(text: str, title: str) -> list[str]:
    """The blocks below one heading."""
    tokens = body(text)
    at = next(
        n for n, token in enumerate(tokens) if token.type == "inline" and words(token) == title
    )
    end = next(
        (n for n, token in enumerate(tokens) if n > at and token.type == "heading_open"),
        len(tokens),
    )
    return paragraphs(tokens[at + 1 : end])
