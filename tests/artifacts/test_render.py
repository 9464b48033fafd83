"""Documents from records: frozen templates, and text that can show itself and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

from preflights_es.artifacts import render
from preflights_es.artifacts.render import BRIEF_BYTES_MAX, brief, document
from preflights_es.core.artifacts import Record, RecordField, Related
from preflights_es.core.errors import LogFromFuture
from preflights_es.core.text import one_line, shown, shown_lines

# 1. Templates --------------------------------------------------------------------------------

FROZEN: Final = {
    "adr.v1": "1aa95ed3737ba72dcd823c3f9916702684a769edc54daf9bb65f13d0798f5e5c",
    "brief.v1": "9e49fc07272c651bc14f094ee94a405b457fde05385b962baf6ef2212acfd108",
    "task.v1": "82541792066df219f400b5f22949abb8f597ef38433db98af2392fd2aecfcadc",
}
"""Once a session may have used one, it never changes; a change is a new version beside it."""

TEMPLATES: Final = Path(render.__file__).parent / "templates"


@pytest.mark.parametrize("name", FROZEN)
def test_a_template_is_frozen(name: str) -> None:
    assert sha256((TEMPLATES / f"{name}.md").read_bytes()).hexdigest() == FROZEN[name]


def test_every_template_is_among_the_frozen() -> None:
    assert {path.name.removesuffix(".md") for path in TEMPLATES.iterdir()} == {*FROZEN}


@pytest.mark.parametrize(
    "name", ["adr.v99", "adr", "", "../templates/adr.v1", "/etc/passwd", "adr.v1\0", "ADR.v1"]
)
def test_a_template_that_this_version_does_not_have_is_of_the_future(name: str) -> None:
    with pytest.raises(LogFromFuture, match="upgrade preflights"):
        document(name, RECORD)


# 2. Reading documents ------------------------------------------------------------------------

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
    category_source="detected",
    fields=(
        RecordField(
            name="Strategy",
            value="OAuth",
            source="chosen",
            by="user",
            options=("OAuth", "Email/Password", "Magic Link"),
        ),
    ),
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


# 3. What a document says ---------------------------------------------------------------------


def test_a_value_that_a_model_read_is_no_answer_of_a_person() -> None:
    read = RecordField(name="Library", value="authlib", source="suggested", by="agent")
    text = document("adr.v1", replace(RECORD, fields=(*RECORD.fields, read)))
    assert "* Library: **authlib** (a model read it out of what was said)\n" in text
    assert "an agent" not in text


def test_a_record_is_written_as_people_know_it() -> None:
    assert document("adr.v1", RECORD) == (
        "---\n"
        'status: "accepted"\n'
        "date: 2026-11-21\n"
        'decision-makers: ["Ada Lovelace"]\n'
        'uid: "3f9a12c4d5e6"\n'
        'session: "01a20012-3456-7abc-8def-3f9a12c4d5e6"\n'
        "---\n"
        "\n"
        "# Add login\n"
        "\n"
        "## Context and Problem Statement\n"
        "\n"
        "> Add login\n"
        "\n"
        "## Considered Options\n"
        "\n"
        "For Strategy:\n"
        "\n"
        "* OAuth\n"
        "* Email/Password\n"
        "* Magic Link\n"
        "\n"
        "## Decision Outcome\n"
        "\n"
        "* Category: Authentication (named by the intention)\n"
        "* Strategy: **OAuth** (one of the options offered, answered by a person)\n"
    )


def test_a_task_is_written_with_what_is_open() -> None:
    task = replace(RECORD, missing=("Which library?",), status="proposed", proposed_by="agent")
    text = document("task.v1", replace(task, decided_by="", date=""))
    assert front_matter(text) == {
        "status": "proposed",
        "uid": RECORD.uid,
        "session": RECORD.session_id,
    }
    assert section(text, "Still Open") == ["Which library?"]
    assert section(text, "Decided")[-1] == ("Proposed by an agent; no person has confirmed it yet.")


@pytest.mark.parametrize("template", ["adr.v1", "task.v1"])
def test_a_section_without_content_is_left_out(template: str) -> None:
    bare = Record(uid="u", session_id="s", title="Think", intention="Think", status="open")
    text = document(template, bare)
    intention = "Context and Problem Statement" if template == "adr.v1" else "Intention"
    assert headings(body(text)) == [("h1", "Think"), ("h2", intention)]
    assert front_matter(text) == {"status": "open", "uid": "u", "session": "s"}
    assert "$" not in text


def test_a_brief_without_a_decision_says_so() -> None:
    bare = Record(uid="u", session_id="s" * 8, title="Think", intention="Think", status="open")
    text = brief(bare)
    assert headings(body(text)) == [
        ("h1", "Task"),
        ("h2", "Not decided"),
        ("h2", "Before you code"),
    ]
    assert section(text, "Not decided") == [
        "Nothing was decided: ask before you choose a technology."
    ]


def test_a_brief_says_what_is_decided_and_what_is_not() -> None:
    text = brief(replace(RECORD, missing=("Which library?",)))
    assert section(text, "Task") == ["Add login"]
    assert section(text, "Decided, do not reconsider") == [
        "Category: Authentication",
        "Strategy: OAuth",
    ]
    assert section(text, "Not decided") == ["Which library?"]
    assert section(text, "Before you code") == [
        "Ask the person before you decide anything that is not decided above.\n"
        "Source: Preflights session d5e6abcd.".replace("d5e6abcd", RECORD.session_id[-8:])
    ]


@pytest.mark.parametrize(
    ("status", "warning"),
    [
        ("open", "No person has accepted this yet"),
        ("proposed", "No person has accepted this yet"),
        ("superseded", "This decision was superseded"),
    ],
)
def test_a_brief_warns_of_what_no_person_stands_for(status: str, warning: str) -> None:
    (text,) = section(brief(replace(RECORD, status=status)), "Before you code")
    assert text.startswith(warning)


def test_related_records_are_linked_and_tasks_are_named() -> None:
    record = replace(
        RECORD,
        status="superseded",
        supersedes=Related("a1", "Use cookies", 3),
        superseded_by=Related("b2", "Use passkeys [now]"),
    )
    text = document("adr.v1", record)
    assert front_matter(text)["status"] == "superseded by task b2"
    assert section(text, "More Information") == [
        "Supersedes ADR-0003, Use cookies",
        "Superseded by task b2, Use passkeys [now]",
    ]
    links = [token for token in every(body(text)) if token.type == "link_open"]
    assert [link.attrGet("href") for link in links] == ["0003-use-cookies.md"]


def test_a_related_record_without_a_latin_title_is_linked_by_its_number() -> None:
    text = document("adr.v1", replace(RECORD, supersedes=Related("a1", "漢字", 12)))
    (link,) = [token for token in every(body(text)) if token.type == "link_open"]
    assert link.attrGet("href") == "0012.md"


def test_a_document_is_the_same_each_time() -> None:
    assert document("adr.v1", RECORD) == document("adr.v1", RECORD)
    assert document("adr.v1", RECORD).endswith("\n")
    assert "\r" not in document("adr.v1", replace(RECORD, intention="a\r\nb\rc"))


# 4. Text that forges nothing -----------------------------------------------------------------

HOSTILE: Final = (
    "# Heading",
    "Title #",
    "Learn C # and F ##",
    "###### deep",
    "a\n# Heading\nb",
    "a\n===\nb\n---\n***\n___",
    "---\nstatus: accepted\n---",
    '"\nstatus: "accepted',
    "<script>alert(1)</script>",
    "a <b onclick=x>bold</b> <!-- comment",
    "<https://evil.example> <ada@example.org>",
    "[click](https://evil.example) ![image](x.png)",
    "[reference]\n\n[reference]: https://evil.example",
    "```\nfence\n```",
    "~~~\nfence\n~~~",
    "    indented code\n\tand a tab",
    "`code` and ``more``",
    "~~struck~~ and ~once~",
    "_emphasis_ __strong__ *a* **b** snake_case __init__.py",
    "&lt;b&gt; &amp; &#35; &copy; AT&T a&b",
    "1. one\n2) two\n- three\n+ four\n* five",
    "10. ten",
    "2026. a year",
    "123456789) many",
    "> quote\n>> deeper",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "hard break  \nnext\\\nnext",
    "ends with a backslash \\",
    "\\# \\* \\\\",
    "$title ${uid} $$ $open",
    "tab\there\x0b\x0c\x1b[31mred\x1b[0m\x07\x00\x7f\x85",
    "right \u202eto\u202c left \u2066x\u2069 \ufeffbom",
    "lines\u2028and\u2029paragraphs",
    "flag 🏴\U000e0067\U000e0062\U000e007f tags \U000e0000",
    "漢字 🛫 é ñ ﷽",
    "   spaced   out   ",
    "-",
    "+",
    "=",
    "~",
    "#",
    "1.",
    "&",
    "*",
    "_",
)

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
        category=text,
        fields=(
            RecordField(name=text, value=text, source="custom", by="user", options=(text, "b")),
        ),
        missing=(text,),
    )


def line(text: str) -> str:
    """How a text looks on one line."""
    return shown(one_line(text))


@given(TEXTS)
@example("~~~\nfence")
@example("1. one")
@example("Learn C #")
@example("&amp;")
@example("__init__")
def test_no_text_makes_anything_but_text(text: str) -> None:
    for template in ("adr.v1", "task.v1"):
        tokens = body(document(template, hostile(text)))
        assert {token.type for token in every(tokens)} <= PERMITTED
        assert headings(tokens)[0] == ("h1", line(text) if len(one_line(text)) <= 120 else "")
        assert {tag for tag, _ in headings(tokens)[1:]} == {"h2"}
        expected = document(template, hostile("plain"))
        assert headings(tokens)[1:] == headings(body(expected))[1:]


@given(TEXTS)
def test_every_text_is_shown_as_it_was_typed(text: str) -> None:
    adr, task = document("adr.v1", hostile(text)), document("task.v1", hostile(text))
    quoted = section(adr, "Context and Problem Statement")
    assert "\n".join(quoted).split("\n") == [
        one_line(part) for part in _lines(text) if one_line(part)
    ]
    assert section(adr, "Considered Options") == [f"For {line(text)}:", line(text), "b"] or (
        text == "b"
    )
    category, value = section(adr, "Decision Outcome")
    assert category == f"Category: {line(text)} (named by the intention)"
    assert value == f"{line(text)}: {line(text)} (in their own words, answered by a person)"
    assert section(task, "Still Open") == [line(text)]


def _lines(text: str) -> list[str]:
    return shown_lines(text).split("\n")


@given(TEXTS)
def test_no_text_makes_a_line_of_the_front_matter(text: str) -> None:
    for template in ("adr.v1", "task.v1"):
        assert front_matter(document(template, hostile(text))) == {
            "status": "accepted",
            "date": "2026-11-21",
            "decision-makers": [line(text)],
            "uid": RECORD.uid,
            "session": RECORD.session_id,
        }


@given(TEXTS)
def test_a_related_title_makes_one_link_and_no_other(text: str) -> None:
    record = replace(RECORD, supersedes=Related("a1", text, 7), superseded_by=Related(text, text))
    tokens = body(document("adr.v1", record))
    links = [token for token in every(tokens) if token.type == "link_open"]
    assert len(links) == 1
    assert re.fullmatch(r"0007(-[a-z0-9]+)*\.md", str(links[0].attrGet("href")))
    assert {token.type for token in every(tokens)} <= PERMITTED | {"link_open", "link_close"}
    found = section(document("adr.v1", record), "More Information")
    assert found[0] == f"Supersedes ADR-0007, {line(text)}"
    assert found[1] == f"Superseded by task {line(text)}, {line(text)}"


@given(TEXTS)
def test_no_text_makes_anything_but_text_in_a_brief(text: str) -> None:
    text_of_brief = brief(replace(hostile(text), status="open"))
    tokens = body(text_of_brief)
    assert {token.type for token in every(tokens)} <= PERMITTED - {"strong_open", "strong_close"}
    assert headings(tokens) == headings(body(brief(replace(hostile("plain"), status="open"))))
    assert section(text_of_brief, "Not decided") == [line(text)]


def test_a_long_title_is_cut_and_the_intention_is_not() -> None:
    text = "long " * 100
    found = document("adr.v1", hostile(text))
    ((_, title), *_) = headings(body(found))
    assert len(title) == 120
    assert title.endswith("…")
    assert section(found, "Context and Problem Statement") == [one_line(text)]


# 5. The length of a brief --------------------------------------------------------------------


@pytest.mark.parametrize(
    "letter", ["a", "é", "漢", "🛫", "*", "\\", "\u202e", "\x1b", "a\n", "# \n"]
)
@pytest.mark.parametrize("count", [1, 50])
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
    found = brief(record)
    assert len(found.encode()) <= BRIEF_BYTES_MAX
    assert headings(body(found)) == headings(body(brief(hostile("plain"))))
    assert f"session {RECORD.session_id[-8:]}" in found


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4_000),
    st.lists(TEXTS, max_size=8),
    st.lists(TEXTS, max_size=4),
)
def test_a_brief_is_never_longer_than_its_limit(
    intention: str, values: list[str], missing: list[str]
) -> None:
    record = replace(
        RECORD,
        intention=intention,
        fields=tuple(
            RecordField(name=f"Field {n}", value=value * 40, source="typed", by="user")
            for n, value in enumerate(values)
        ),
        missing=tuple(missing),
    )
    assert len(brief(record).encode()) <= BRIEF_BYTES_MAX


def test_a_brief_that_had_to_leave_something_out_says_so() -> None:
    fields = tuple(
        RecordField(name=f"Field number {n}", value="v" * 200, source="typed", by="user")
        for n in range(50)
    )
    found = brief(replace(RECORD, fields=fields))
    assert "Field number 0" in found
    assert "Field number 49" not in found
    assert re.search(r"and \d+ more", found)


def test_a_short_brief_leaves_nothing_out() -> None:
    found = brief(replace(RECORD, intention="Add login " + "x" * 600))
    assert "x" * 600 in found
    assert "…" not in found
