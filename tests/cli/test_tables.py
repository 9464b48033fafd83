"""Tables of any length: what is drawn, how wide, and how much of it is held; printable text."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, redirect_stdout

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, chop_cells, set_cell_size

from preflights_cli.common import _OBEYED
from preflights_cli.table import (
    BRIEF_MAX,
    CELL_MAX,
    GAP,
    PAGE,
    PIPE_WIDTH,
    _chopped,
    _cut_to_width,
    _size,
    streamed,
)
from preflights_es.kernel import text
from preflights_es.store.sql import SqlStore
from tests.cli.program import RAW, Project
from tests.cli.terminal import terminal
from tests.each import each
from tests.fixed import Clock, salt
from tests.projections.given import recorded
from tests.projections.recording import golden

LONG = "a name of very many letters " * 8_000
WIDE = "数据库" * 100
ODD = st.text(st.sampled_from("ab 数🛫é\u0335\u202e\x1b[]\n\t"), max_size=300)


NARROW = st.text(st.sampled_from("ab  -é…"), max_size=60)


@given(NARROW, st.integers(1, 20))
def test_narrow_text_is_measured_and_cut_as_rich_does(text: str, width: int) -> None:
    assert _size(text) == cell_len(text)
    cut = text if len(text) <= width else set_cell_size(text, width - 1) + "…"
    assert _cut_to_width(text, width) == cut
    assert _chopped(f"x{text}", width) == chop_cells(f"x{text}", width)


def test_every_narrow_character_takes_one_column() -> None:
    odd = [c for c in map(chr, range(0x20, 0x3000)) if _size(c) != cell_len(c)]
    assert odd == []


def drawn(names: Sequence[str], rows: Sequence[Sequence[str]], *, whole: bool = True) -> list[str]:
    """The lines of a table whose rows come as a stream."""
    page = io.StringIO()
    with redirect_stdout(page):
        assert streamed(names, rows, whole=whole) == bool(rows)
    return page.getvalue().splitlines()


def test_columns_stand_below_their_names_and_nothing_is_drawn_of_no_rows() -> None:
    assert drawn(("id", "", "what"), [("a", "1", "x y"), ("bcd", "", "数")]) == [
        "id      what",
        "─" * 12,
        "a    1  x y",
        "bcd     数",
    ]
    assert drawn(("id", "what"), []) == []
    row = ("x" * 20, "y" * 20, "z" * (PIPE_WIDTH - 40 - 2 * len(GAP)))
    assert drawn(("a", "b", "c"), [row])[2:] == [GAP.join(row)]


@each("text", [LONG, WIDE, "e\u0335\u0335" * 50_000])
def test_one_long_cell_widens_no_line_beyond_a_limit(text: str) -> None:
    lines = drawn(("by", "what"), [(text, "x"), ("Ada", "y")])
    assert all(cell_len(line) <= CELL_MAX + len(GAP) + 4 for line in lines)
    assert all(len(line) <= 2 * CELL_MAX for line in lines)
    assert lines[2].split(GAP)[0].rstrip().endswith("…")
    assert lines[3].startswith("Ada  ")


def test_cells_go_on_between_words_and_short_columns_give_no_room_away() -> None:
    text = "one two three four five six seven " * 4
    short = text[:33]
    lines = drawn(("a", "b", "c"), [(short, short, text)])
    assert len(lines) > 4
    assert all(cell_len(line) <= PIPE_WIDTH for line in lines)
    words = [word for line in lines[3:] for word in line.split()]
    assert set(words) == set(text.split()), "no word is broken"
    assert sorted(words) == sorted([*short.split()] * 2 + text.split())
    text = "word " * 11
    lines = drawn(("id", "version", "by", "what"), [("3f9a12c4", "1", text, text * 9)])
    assert lines[3].startswith("3f9a12c4" + GAP + "1      " + GAP + "word")
    lines = drawn(("id", "what"), [("a", "x" * 300)])[2:]
    assert "".join(line[3:].strip() for line in lines).strip() == "x" * 300
    assert all(cell_len(line) <= PIPE_WIDTH for line in lines)


def test_the_last_cell_is_whole_or_cut_or_below_its_row() -> None:
    text = "word " * 100
    folded = drawn(("id", "what"), [("a", text)])
    margin = " " * len("id" + GAP)
    assert " ".join(line[len(margin) :] for line in folded[2:]).split() == text.split()
    assert all(line.startswith(f"{margin}word") for line in folded[3:])
    cut = drawn(("id", "what"), [("a", text)], whole=False)[2:]
    assert cut[-1].endswith("…")
    assert len(" ".join(line[len(margin) :] for line in cut)) <= BRIEF_MAX
    assert all(cell_len(line) <= PIPE_WIDTH for line in (*folded, *cut))
    words = ["x" * 30, "y" * 30, "auth_strategy=PostgreSQL and more of it", ""]
    assert drawn(("a", "b", "what"), [words[:3], [*words[:2], ""]]) == [
        f"a{' ' * 31}b",
        "    what",
        "─" * PIPE_WIDTH,
        f"{words[0]}  {words[1]}",
        f"    {words[2]}",
        f"{words[0]}  {words[1]}",
    ]
    assert drawn(("a", ""), [("x", "y"), ("z", "")])[2:] == ["x", "    y", "z"]
    crowded = ("2026-11-29", "clarification", "needs answers", "x" * 17, "y" * 32, "what it is")
    below = drawn(("day", "of", "stands", "model", "place", "about"), [crowded])
    assert below[-1] == "    what it is"
    assert below[3].startswith("2026-11-29  clarification  needs "), "no word is broken for it"


@given(st.lists(st.tuples(ODD, ODD, ODD), min_size=1, max_size=4), st.booleans())
def test_whatever_cells_hold_a_table_is_safe_and_as_wide_as_it_may_be(
    rows: list[tuple[str, str, str]], whole: bool
) -> None:
    lines = drawn(("a", "b", "c"), rows, whole=whole)
    assert not RAW & set("".join(lines))
    assert len(lines) >= 2 + len(rows)
    assert all(cell_len(line) <= PIPE_WIDTH for line in lines)


def test_rows_are_drawn_as_they_come_as_wide_as_was_seen_so_far() -> None:
    page = io.StringIO()
    ahead: list[int] = []

    def rows() -> Iterator[tuple[str, str]]:
        for number in range(4 * PAGE):
            ahead.append(number - page.getvalue().count("\nrow "))
            yield "row", str(number)

    with redirect_stdout(page):
        streamed(("", "number"), rows(), whole=True)
    assert max(ahead) <= PAGE
    assert page.getvalue().count("\nrow ") == 4 * PAGE
    names = ["Ada"] * PAGE + ["Grace Hopper"] + ["Ada"] * PAGE
    lines = drawn(("by", "number"), [(name, str(i)) for i, name in enumerate(names)])[2:]
    assert lines[0] == "Ada  0"
    assert lines[PAGE] == f"Grace Hopper  {PAGE}"
    assert lines[PAGE + 1] == f"Ada           {PAGE + 1}"
    assert lines[-1] == f"Ada           {2 * PAGE}", "it does not become narrower again"


def test_a_table_is_as_wide_as_its_terminal_and_has_all_of_many_steps(house: Project) -> None:
    house.started_session(" ".join(["word"] * 200))
    for command, lines in ((("audit", "trail"), 5), (("sessions",), 3)):
        with terminal(house, *command, size=(40, 110)) as person:
            shown = person.rest().splitlines()
        assert len(shown) >= lines
        assert all(len(line) <= 110 for line in shown)
    with closing(SqlStore(str(house.log), Clock(), salt)) as store:
        recorded(store, golden("keyword_skips_the_generic_question") * 120)
    done = house.call("audit", "trail")
    steps = [*map(json.loads, house.call("audit", "trail", "--json").out.splitlines())]
    assert len(steps) > 2 * PAGE
    rows = [line.split()[:2] for line in done.out.splitlines()[3:] if line[0] != " "]
    assert rows == [[step["session_id"][-8:], str(step["version"])] for step in steps]


# Characters ----------------------------------------------------------------------------------


PATTERNS = (text._UNSAFE, text._CONTROL, text._SURROGATE, _OBEYED)


def test_no_printable_character_is_one_that_a_pattern_finds() -> None:
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    assert len(printable) > 100_000
    found = [found for pattern in PATTERNS if (found := pattern.search(printable))]
    assert found == []
    assert re.search("[Aé数🛫]", printable)
