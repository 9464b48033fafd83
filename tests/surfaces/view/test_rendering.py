"""What a template says: every text escaped, once, whatever it is."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from preflights_es.surfaces.view import rendering
from tests.each import each


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
    assert rendering.written(value) == written
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
        (
            [[1, 2]],
            '<ul class="plain"><li><ul class="plain"><li>1</li><li>2</li></ul></li></ul>',
        ),
        ([], '<ul class="plain"></ul>'),
    ],
)
def test_a_json_value_is_a_tree_of_facts(value: Any, tree: str) -> None:
    assert rendering._environment().from_string("{{ value|tree }}").render(value=value) == tree
