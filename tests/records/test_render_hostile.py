"""Any text can stand in a document and forge nothing, and a brief stays short."""

from __future__ import annotations

import re
from typing import Final

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.kernel.text import escaped_text, one_line, shown_lines
from preflights_es.records.foreign_records import foreign_record
from preflights_es.records.record_brief import BRIEF_BYTES_MAX, render_record_brief
from preflights_es.records.render import render_document
from preflights_es.words.decisions import (
    AttributedReason,
    NotChosen,
    Rationale,
    Record,
    RecordField,
    Related,
    ShownQuestion,
)
from preflights_es.words.questions import EvidenceLines, Option, Recommended
from tests.each import each
from tests.filed_cases import filed_cases
from tests.records.reading import RECORD, body, every, front_matter, headings, section

FILED = filed_cases(__file__)

# 1. Text that forges nothing -----------------------------------------------------------------

HOSTILE: Final = tuple(FILED["HOSTILE"])

MARKUP = st.text("#*_-+=~`<>[]()!&|\\/\n\t :;.,'\"$09azé🛫", min_size=1, max_size=40)
ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
TEXTS = st.one_of(st.sampled_from(HOSTILE), MARKUP, ANY).filter(str.strip)

PERMITTED: Final = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text"),
    *("blockquote_open", "blockquote_close", "softbreak", "text_special"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    *("strong_open", "strong_close"),
}


def hostile(text: str) -> Record:
    """A record of which every text was typed by an attacker."""
    return replace(
        RECORD,
        title=one_line(text),
        intention=text,
        decided_by=text,
        category=f"of {text}",
        fields=(RecordField(name=text, value=text, source="custom", by="user"),),
        missing=(text,),
    )


def line(text: str) -> str:
    """How a text looks on one line."""
    return escaped_text(one_line(text))


@given(TEXTS)
@example("~~~\nfence")
@example("1. one")
@example("Learn C #")
@example("&amp;")
@example("__init__")
def test_no_text_makes_anything_but_text(text: str) -> None:
    for template in ("adr.v1", "task.v1"):
        tokens = body(render_document(template, hostile(text)))
        assert {token.type for token in every(tokens)} <= PERMITTED
        assert headings(tokens)[0] == ("h1", line(text) if len(one_line(text)) <= 120 else "")
        assert {tag for tag, _ in headings(tokens)[1:]} == {"h2"}
        expected = render_document(template, hostile("plain"))
        assert headings(tokens)[1:] == headings(body(expected))[1:]


@given(TEXTS)
def test_no_reason_makes_anything_but_text(text: str) -> None:
    for template in ("adr.v1", "task.v1"):
        found = render_document(template, reasoned(text))
        tokens = body(found)
        assert {token.type for token in every(tokens)} <= PERMITTED
        assert (
            headings(tokens)[1:] == headings(body(render_document(template, reasoned("plain"))))[1:]
        )
        assert front_matter(found) == front_matter(
            render_document(template, replace(reasoned("plain"), decided_by=text))
        )
        by, consequence = section(found, "Consequences")
        assert (by, consequence) == (f"Offered by {line(text)}:", line(text))
    options = section(render_document("adr.v1", reasoned(text)), "Considered Options")
    assert options[:2] == [f"{line(text)}: {line(text)}", "b"] or text.casefold() == "b"
    assert line(text) in options, "the second question"


def reasoned(text: str) -> Record:
    """A record of which every text was typed by an attacker, the reasons too."""
    said = AttributedReason(text, "model")
    why = Rationale(said, (said,), (NotChosen(text, text, "agent"),))
    shown = ShownQuestion(
        question=text,
        by=text,
        why=text,
        options=(Option(text, text, text), Option("b")),
        recommended=Recommended(text, text),
        quote=text,
        evidence=(EvidenceLines(text),),
    )
    return replace(
        hostile(text),
        status="proposed",
        rationale=why,
        considered=(text, "b", "c"),
        scope=text,
        shown=(shown, shown),
        offered_by=(("model", text), ("agent", text)),
    )


@given(TEXTS)
def test_every_text_is_shown_as_it_was_typed(text: str) -> None:
    adr, task = render_document("adr.v1", hostile(text)), render_document("task.v1", hostile(text))
    quoted = section(adr, "Context and Problem Statement")
    assert "\n".join(quoted).split("\n") == [
        one_line(part) for part in _lines(text) if one_line(part)
    ]
    *category, value = section(adr, "Decision Outcome")
    assert category == [f"Category: {line(f'of {text}')}"]
    assert value == f"{line(text)}: {line(text)} (answered by a person, in their own words)"
    assert section(task, "Still Open") == [line(text)]


def _lines(text: str) -> list[str]:
    return shown_lines(text).split("\n")


@given(TEXTS)
def test_no_text_makes_a_line_of_the_front_matter(text: str) -> None:
    for template in ("adr.v1", "task.v1"):
        assert front_matter(render_document(template, hostile(text))) == {
            "status": "accepted",
            "date": "2026-11-21",
            "decision-makers": [line(text)],
            "uid": RECORD.uid,
            "session": RECORD.session_id,
        }


@given(TEXTS)
def test_no_text_makes_a_heading_or_a_last_line_of_nygards_form(text: str) -> None:
    found = render_document("nygard.v1", replace(reasoned(text), number=7, decided_by=text))
    tokens = body(found)
    assert {token.type for token in every(tokens)} <= PERMITTED | {"hr"}
    names = ("Status", "Context", "Decision", "Consequences")
    assert headings(tokens)[1:] == [("h2", name) for name in names]
    read = foreign_record("0007-x.md", found.encode())
    assert (read.session, read.number, read.status) == (RECORD.session_id, 7, "proposed")
    assert read.tool == "nygard"
    assert not read.applies_to


@given(TEXTS)
def test_a_related_title_makes_one_link_and_no_other(text: str) -> None:
    record = replace(RECORD, supersedes=Related("a1", text, 7), superseded_by=Related(text, text))
    tokens = body(render_document("adr.v1", record))
    links = [token for token in every(tokens) if token.type == "link_open"]
    assert len(links) == 1
    assert re.fullmatch(
        r"0007(-[^\W_][\w%-]*)?\.md", str(links[0].attrGet("href")).replace("%", "x")
    )
    assert {token.type for token in every(tokens)} <= PERMITTED | {"link_open", "link_close"}
    found = section(render_document("adr.v1", record), "More Information")
    assert found[0] == f"Supersedes ADR-0007, {line(text)}"
    assert found[1] == f"Superseded by task {line(text)}, {line(text)}"


@given(TEXTS)
def test_no_text_makes_anything_but_text_in_a_brief(text: str) -> None:
    text_of_brief = render_record_brief(replace(hostile(text), status="open"))
    tokens = body(text_of_brief)
    assert {token.type for token in every(tokens)} <= PERMITTED - {"strong_open", "strong_close"}
    assert headings(tokens) == headings(
        body(render_record_brief(replace(hostile("plain"), status="open")))
    )
    assert section(text_of_brief, "Not decided") == [line(text)]


def test_a_long_title_is_cut_and_the_intention_is_not() -> None:
    text = "long " * 100
    found = render_document("adr.v1", hostile(text))
    ((_, title), *_) = headings(body(found))
    assert len(title) == 120
    assert title.endswith("…")
    assert section(found, "Context and Problem Statement") == [one_line(text)]


# 2. The length of a brief --------------------------------------------------------------------


@each("letter", ["a", "é", "漢", "🛫", "*", "\\", "\u202e", "\x1b", "a\n", "# \n"])
@each("count", [1, 50])
def test_a_brief_is_short_whatever_was_typed(letter: str, count: int) -> None:
    text = (letter * 4_000)[:4_000]
    record = replace(
        hostile(text),
        status="open",
        fields=tuple(
            RecordField(name=text[:300], value=text[:2_000], source="custom", by="user")
            for _ in range(count)
        ),
        missing=(text[:300],) * count,
    )
    found = render_record_brief(record)
    assert len(found.encode()) <= BRIEF_BYTES_MAX
    plain = replace(hostile("plain"), status="open")
    assert headings(body(found)) == headings(body(render_record_brief(plain)))
    assert f"session {RECORD.session_id[-8:]}" in found


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4_000),
    st.lists(TEXTS, max_size=8),
    st.lists(TEXTS, max_size=4),
)
def test_a_brief_keeps_to_its_limit(intention: str, values: list[str], missing: list[str]) -> None:
    record = replace(
        RECORD,
        intention=intention,
        fields=tuple(
            RecordField(name=f"Field {n}", value=value * 40, source="typed", by="user")
            for n, value in enumerate(values)
        ),
        missing=tuple(missing),
    )
    assert len(render_record_brief(record).encode()) <= BRIEF_BYTES_MAX


def test_a_brief_says_what_it_left_out_and_a_short_one_leaves_nothing_out() -> None:
    fields = tuple(
        RecordField(name=f"Field number {n}", value="v" * 200, source="typed", by="user")
        for n in range(50)
    )
    found = render_record_brief(replace(RECORD, fields=fields))
    assert "Field number 0" in found
    assert "Field number 49" not in found
    assert re.search(r"and \d+ more", found)
    found = render_record_brief(replace(RECORD, intention="Add login " + "x" * 600))
    assert "x" * 600 in found
    assert "…" not in found
