"""What a template says: every text escaped, once, whatever it is; times and numbers."""

from __future__ import annotations

import re
from typing import Any, Final

from hypothesis import example, given
from hypothesis import strategies as st
from markupsafe import Markup

from preflights_es.kernel.events import INT_MAX
from preflights_es.kernel.ids import format_date_only, format_time_only
from preflights_es.kernel.text import shown_lines, span
from preflights_es.surfaces.view import rendering
from tests.each import each
from tests.fixed import NOON
from tests.records.test_render_hostile import ANY, HOSTILE, MARKUP


@each(
    ("value", "written"),
    [
        ("""<b class="x">'&amp;""", "&lt;b class=&quot;x&quot;&gt;&#x27;&amp;amp;"),
        ("a\n\tb\x1b[0m\u202e", "a\n\tb\\x1b[0m\\u202e"),
        (Markup("<b>\n</b>"), "<b>\n</b>"),
        (3, "3"),
        (["<b>"], "[&#x27;&lt;b&gt;&#x27;]"),
        (None, "None"),
    ],
)
def test_a_value_is_written_as_text_and_markup_as_it_is(value: Any, written: str) -> None:
    assert rendering.render_template_value(value) == written
    text = rendering._environment().from_string("{{ value }}").render(value=value)
    assert text == written


@each(
    ("value", "tree"),
    [
        ("<i>", '<span class="text">&lt;i&gt;</span>'),
        (
            {"to_do": None},
            '<dl class="facts"><dt>to do</dt><dd><span class="soft">none</span></dd></dl>',
        ),
        ({"<": True}, '<dl class="facts"><dt>&lt;</dt><dd>yes</dd></dl>'),
        ([["a", "<b>"]], '<ul class="plain"><li>a: &lt;b&gt;</li></ul>'),
        ([[1, 2]], '<ul class="plain"><li><ul class="plain"><li>1</li><li>2</li></ul></li></ul>'),
        ([], '<ul class="plain"></ul>'),
    ],
)
def test_a_json_value_is_a_tree_of_facts(value: Any, tree: str) -> None:
    assert rendering._environment().from_string("{{ value|tree }}").render(value=value) == tree


RECORD: Final = """---
status: "accepted"
---

# Use *Redis*

## Outcome

> "Because"

* Cache: **Redis** \\<b\\>
* Beside: [ADR-0002, *Reports*](0002-use-mysql-for-reports.md), [b](https://example.org/b.md)
"""


def test_a_record_is_shown_as_it_reads_below_the_headings_of_its_page() -> None:
    found = rendering._environment().from_string("{{ text|read }}").render(text=RECORD)
    assert found.splitlines() == [
        "<h3>Use <em>Redis</em></h3>",
        "<h4>Outcome</h4>",
        "<blockquote>",
        "<p>&quot;Because&quot;</p>",
        "</blockquote>",
        "<ul>",
        "<li>Cache: <strong>Redis</strong> &lt;b&gt;</li>",
        "<li>Beside: ADR-0002, <em>Reports</em>, [b](https://example.org/b.md)</li>",
        "</ul>",
    ]


@given(st.one_of(st.sampled_from(HOSTILE), MARKUP, ANY))
@example("[a](javascript:alert(1)) ![i](https://example.org/i.png) <https://example.org>")
@example("<script>alert(1)</script>\n\n<b onclick=x>\n\n```html\n<i>\n```")
@example("&#8238; &lt;b&gt; \u202e \x1b[0m \0")
@example("###### six\n\n# one\n\nsetext\n===")
@example("> " * 50 + "deep\n" + "* " * 50 + "deep")
def test_a_record_becomes_no_other_elements_whatever_it_says(text: str) -> None:
    found = rendering._environment().from_string("{{ text|read }}").render(text=text)
    own = {"h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "blockquote", "em", "strong", "br"}
    for one in re.findall(r"<[^>]*>", found):
        assert re.fullmatch(r"</?([a-z]+\d?)( start=\"\d+\")?>", one), one
        assert one.strip("</>").split()[0] in own, one
    assert found.isprintable() or shown_lines(found) == found


# Words and numbers ---------------------------------------------------------------------------


@each(
    ("seconds", "said"),
    [
        (0.0, "0 ms"),
        (0.34, "340 ms"),
        (1.0, "1 s"),
        (7.94, "7.9 s"),
        (59.96, "1 min"),
        (60.0, "1 min"),
        (3_600.0, "1 h"),
        (7_830.0, "2 h 10 min"),
        (86_400.0 + 5, "1 d"),
        (3 * 86_400.0 + 7_200, "3 d 2 h"),
        (400 * 86_400.0, "400 d"),
    ],
)
def test_a_span_has_two_units_at_most(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_a_time_is_utc() -> None:
    assert (format_time_only(NOON), format_date_only(NOON)) == ("14:13:20", "2026-09-21")
    assert rendering.stamp(NOON + 42_000) == "2026-09-21 14:13:20.042"
    assert (format_time_only(None), format_date_only(None), rendering.stamp(None)) == ("", "", "")
    assert format_date_only(INT_MAX) == "9999-12-31"
    assert format_date_only(-INT_MAX) == "0001-01-01"


def test_what_is_not_known_is_a_question_mark_and_no_0() -> None:
    assert (rendering.count(None), rendering.millis(None), rendering.percent(None)) == (
        "?",
        "?",
        "",
    )
    assert (rendering.count(0), rendering.millis(0), rendering.percent(0.5)) == (
        "0",
        "0 ms",
        "50 %",
    )
