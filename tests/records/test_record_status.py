"""A record is marked as superseded in its own format, and every other byte stays."""

from __future__ import annotations

import re
from typing import Final, get_args

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from preflights_es.records.foreign_records import foreign_record
from preflights_es.records.record_edits import NewStatus, with_status
from preflights_es.records.record_names import Reference, Tool
from tests.each import each
from tests.records.test_record_list import EXPECTED, RECORDS

BY: Final = NewStatus("ADR-0112", "0112-use-something-new.md")
LINK: Final = "[ADR-0112](0112-use-something-new.md)"
ASCIIDOC: Final = "link:0112-use-something-new.md[ADR-0112]"


def changed(text: str, tool: Tool = "other") -> str:
    return with_status(text.encode(), tool, BY).decode()


def difference(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """What was taken out, and what was put in, between what both have in common."""
    start = common(before, after)
    rest = common(before[start:][::-1], after[start:][::-1])
    return before[start : len(before) - rest], after[start : len(after) - rest]


def common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


# 1. Forms ------------------------------------------------------------------------------------


@each(
    ("before", "after"),
    [
        ("## Status\n\nAccepted\n\n## C\n", f"## Status\n\nSuperseded by {LINK}\n\n## C\n"),
        ("## Status\r\n\r\nAccepted\r\n", f"## Status\r\n\r\nSuperseded by {LINK}\r\n"),
        (
            "## Status\n\nAccepted\n\nAmends [2. Two](0002-two.md)\n",
            f"## Status\n\nSuperseded by {LINK}\n\nAmends [2. Two](0002-two.md)\n",
        ),
        (
            "## Status\n\nAmended by [3. Three](0003-three.md)\n\nAccepted",
            f"## Status\n\nAmended by [3. Three](0003-three.md)\n\nSuperseded by {LINK}",
        ),
        (
            "## Status\n\nAccepted, supersedes [2. Two](0002-two.md)\n",
            f"## Status\n\nSuperseded by {LINK}, supersedes [2. Two](0002-two.md)\n",
        ),
        (
            "# T\n\n**Status**: Accepted (supersedes ADR-0001)\n",
            f"# T\n\n**Status**: Superseded by {LINK} (supersedes ADR-0001)\n",
        ),
        (
            "## Status\n\nAccepted by the guild,\nafter two meetings.\n",
            f"## Status\n\nSuperseded by {LINK}\n\nAccepted by the guild,\nafter two meetings.\n",
        ),
        ("## Status\n\n## Context\n", f"## Status\n\nSuperseded by {LINK}\n\n## Context\n"),
        ("## Status: Accepted\n\nx\n", f"## Status: Superseded by {LINK}\n\nx\n"),
        ("# T\n\n* Status: accepted\n", f"# T\n\n* Status: superseded by {LINK}\n"),
        (
            "# T\n\n* Status: accepted <!-- optional -->\n",
            f"# T\n\n* Status: superseded by {LINK} <!-- optional -->\n",
        ),
        ("# T\n\n- Status: accepted  \n", f"# T\n\n- Status: superseded by {LINK}  \n"),
        ("# T\n\n- Status:\n- Date: x\n", f"# T\n\n- Status: superseded by {LINK}\n- Date: x\n"),
        ("# T\n\n**Status:** Accepted\\\nx\n", f"# T\n\n**Status:** Superseded by {LINK}\\\nx\n"),
        ("= T\n\n== Status\n\nAccepted\n", f"= T\n\n== Status\n\nSuperseded by {ASCIIDOC}\n"),
        ("= T\n:status: accepted\n", f"= T\n:status: superseded by {ASCIIDOC}\n"),
        ("= T\n\n*Status*: Done\n", f"= T\n\n*Status*: Superseded by {ASCIIDOC}\n"),
        ("= T\n\nStatus:: Done\n", f"= T\n\nStatus:: Superseded by {ASCIIDOC}\n"),
        ("= T\n|===\n|Status |Done\n|===", f"= T\n|===\n|Status |Superseded by {ASCIIDOC}\n|==="),
        ("= T\n\nText.\n", f"= T\n\nStatus: Superseded by {ASCIIDOC}\n\nText.\n"),
        (
            "**Status**: Accepted (supersedes ADR-0001)\n",
            f"**Status**: Superseded by {LINK} (supersedes ADR-0001)\n",
        ),
        (
            "# T\n\n| Date | Status |\n| --- | --- |\n| 2026-02-03 | Accepted |\n",
            f"# T\n\n| Date | Status |\n| --- | --- |\n| 2026-02-03 | Superseded by {LINK} |\n",
        ),
        (
            "## Status\n\n|Status|By|\n|---|---|\n|Accepted|Ada|\n",
            f"## Status\n\n|Status|By|\n|---|---|\n|Superseded by {LINK}|Ada|\n",
        ),
        (
            "## Status\n\n- [ ] Proposed\n- [x] Accepted\n- [ ] Deprecated\n",
            f"## Status\n\n- [ ] Proposed\n- [x] Superseded by {LINK}\n- [ ] Deprecated\n",
        ),
        (
            "# T\n\n**Status**\n\nAccepted\n\n**Context**\n",
            f"# T\n\n**Status**\n\nSuperseded by {LINK}\n\n**Context**\n",
        ),
        (
            "# T\n\n**Status:** Accepted | **Date:** x\n",
            f"# T\n\n**Status:** Superseded by {LINK} | **Date:** x\n",
        ),
        (
            "## Status\n\nPartly superseded\n\n## C\n",
            f"## Status\n\nSuperseded by {LINK}\n\n## C\n",
        ),
        ("## Status\n\n**Accepted** (2020-01-02)\n", f"## Status\n\nSuperseded by {LINK}\n"),
        ("# T\n\n| Status | Done |\n", f"# T\n\n| Status | Superseded by {LINK} |\n"),
        ('+++\nstatus = "accepted"\n+++\n', '+++\nstatus = "superseded by ADR-0112"\n+++\n'),
        ("+++\na = 1\n+++\n", '+++\nstatus = "superseded by ADR-0112"\na = 1\n+++\n'),
        ("---\nstatus: accepted\n---\n", '---\nstatus: "superseded by ADR-0112"\n---\n'),
        ("---\nstatus: 'accepted' # x\n---\n", '---\nstatus: "superseded by ADR-0112" # x\n---\n'),
        ("---\nstatus:\r\na: b\n---\n", '---\nstatus: "superseded by ADR-0112"\r\na: b\n---\n'),
        (
            "---\nstatus:\n  - accepted\na: b\n---\n",
            '---\nstatus: "superseded by ADR-0112"\na: b\n---\n',
        ),
        (
            "---\nstatus: accepted\n---\n\n## Status\n\nAccepted\n",
            '---\nstatus: "superseded by ADR-0112"\n---\n\n## Status\n\nAccepted\n',
        ),
    ],
)
def test_the_status_changes_where_it_stands(before: str, after: str) -> None:
    assert changed(before) == after


@each(
    ("tool", "before", "after"),
    [
        ("nygard", "# T\n\nx\n", f"# T\n\n## Status\n\nSuperseded by {LINK}\n\nx\n"),
        ("madr2", "# T\n\nx\n", f"# T\n\n* Status: superseded by {LINK}\n\nx\n"),
        ("log4brains", "# T\r\nx", f"# T\r\n\r\n- Status: superseded by {LINK}\r\n\r\nx"),
        ("madr3", "---\na: b\n---\n", '---\nstatus: "superseded by ADR-0112"\na: b\n---\n'),
        ("madr4", "\ufeff# T\n", '\ufeff---\nstatus: "superseded by ADR-0112"\n---\n\n# T\n'),
        ("other", "# T", f"# T\n\nStatus: Superseded by {LINK}"),
        ("other", "prose\n", f"Status: Superseded by {LINK}\n\nprose\n"),
        ("other", "", f"Status: Superseded by {LINK}\n\n"),
    ],
)
def test_a_record_without_status_gets_one_of_its_tool(tool: Tool, before: str, after: str) -> None:
    assert changed(before, tool) == after


def test_a_task_that_replaces_a_record_has_no_link() -> None:
    by = NewStatus("task 3f9a12c45d6e")
    assert with_status(b"* Status: accepted", "madr2", by) == (
        b"* Status: superseded by task 3f9a12c45d6e"
    )


# 2. All records ------------------------------------------------------------------------------


@each("path", EXPECTED)
def test_a_record_says_what_replaced_it_and_else_what_it_said(path: str) -> None:
    before = (RECORDS / path).read_bytes()
    read = foreign_record(path, before)
    after = with_status(before, read.tool, BY)
    again = foreign_record(path, after)
    assert again.status == "superseded"
    assert again.superseded_by in (
        Reference("ADR-0112", 112),
        Reference("ADR-0112", 112, "0112-use-something-new.md"),
    )
    if read.title != "empty":  # of its name, since no text says one
        like = msgspec.structs.replace(
            again, status=read.status, superseded_by=read.superseded_by, date=read.date,
            tool=read.tool, chosen=read.chosen, status_text=read.status_text,
        )  # fmt: skip
        assert like == read


@each("path", EXPECTED)
def test_a_status_that_is_set_again_is_the_same(path: str) -> None:
    tool = EXPECTED[path]["tool"]
    once = with_status((RECORDS / path).read_bytes(), tool, BY)
    assert with_status(once, tool, BY) == once


NEW: Final = re.compile(rb"[Ss]uperseded by|ADR-0112|0112-use-something-new\.md")
ENCODINGS: Final = ("utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16")


@given(
    path=st.sampled_from(sorted(set(EXPECTED) - {"other/0037-empty.md"})),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(ENCODINGS),
    is_cut=st.booleans(),
)
@example(path="madr2/0020-monorepo.md", ends="\r\n", encoding="utf-16", is_cut=True)
def test_every_other_byte_stays(path: str, ends: str, encoding: str, is_cut: bool) -> None:
    text = re.sub(r"\r\n?", "\n", (RECORDS / path).read_bytes().decode("utf-8", "replace"))
    text = text.lstrip("\ufeff").rstrip("\n") + ("" if is_cut else "\n")
    before = text.replace("\n", ends).encode(encoding, "replace")
    read = foreign_record(path, before)
    after = with_status(before, read.tool, BY)
    out, put = difference(before, after)
    is_wide = encoding == "utf-16"
    gone = out.decode("utf-16-le", "replace").encode() if is_wide and len(out) % 2 == 0 else out
    assert gone.strip().count(b"\n") + gone.strip().count(b"\r") == 0, "one line at most"
    assert len(put) <= len(before) + 400
    if not is_wide:
        assert NEW.search(after)
        assert after.count(b"\r\n") - before.count(b"\r\n") == put.count(b"\r\n") - out.count(
            b"\r\n"
        )
        assert (b"\n" in after) == (ends != "\r"), "no line ends in another way"
    again = foreign_record(path, after)
    assert (again.status, again.tool if again.number != 37 else "other") != ("accepted", "")
    assert again.status == "superseded"


LINES: Final = (
    *("---", "status: accepted", "Status:", "status: >", "  accepted", "- accepted", "date: x"),
    *("# T", "# ", "## Status", "## Status: done", "### Context", "Status", "======", "---"),
    *(
        "* Status: accepted",
        "- **Status**: proposed",
        "Status: a | b",
        "| Status | Done |",
        "| x |",
    ),
    *("Accepted", "Proposed, then", "accepted by all", "Supersedes [2. x](0002-x.md)", "", " "),
    *("```", "~~~", "<!--", "-->", "<!-- Status: x -->", "> Status: offen", "\u00e9\u2026", "\x00"),
)


@given(
    lines=st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=5)), max_size=12),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    tool=st.sampled_from(get_args(Tool)),
)
@example(lines=["---", "---", "", "date: x", "---", "# T"], ends="\n", tool="madr2")
def test_any_record_can_be_marked(lines: list[str], ends: str, tool: Tool) -> None:
    before = ends.join(lines).encode("utf-8", "replace")
    after = with_status(before, tool, BY)
    read = foreign_record("0001-x.md", after)
    assert (read.status, read.superseded_by and read.superseded_by.number) == ("superseded", 112)
    assert with_status(after, tool, BY) == after


@given(st.binary(max_size=200), st.sampled_from(get_args(Tool)))
def test_any_bytes_can_be_marked(content: bytes, tool: Tool) -> None:
    before = content.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
    assert foreign_record("1.md", with_status(before, tool, BY)).status == "superseded"
