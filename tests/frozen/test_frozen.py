"""What is published stays as it is; what is new is recorded. Each failure says what to do."""

from __future__ import annotations

from typing import Final

from tests.each import each
from tests.frozen.differing import RECORD, differences
from tests.frozen.published import KINDS, ON_PAGE, recorded


def test_what_is_published_is_as_it_was_recorded() -> None:
    found = [
        one.text
        for kind, published in KINDS.items()
        for one in differences(kind, recorded(kind), published.found())
    ]
    assert not found, "\n".join(found)


NOTE: Final = {"text": "string maxLength=200", "kind": "(idea | task)", "by": "object"}
"""An event, a setting or a shape, as it was recorded."""


@each(
    ("kind", "now", "text"),
    [
        ("events", NOTE | {"due": "string, or left out"}, f"n/1, due is new: {RECORD}"),
        ("events", NOTE | {"kind": "(event | idea | task)"}, f"more than before: {RECORD}"),
        ("events", NOTE | {"due": "string"}, "written before lacks it: give the event"),
        ("events", NOTE | {"kind": "(idea)"}, "n/1, kind was (idea | task) and is (idea): give"),
        ("events", NOTE | {"text": "string maxLength=100"}, "n/1, text was string maxLength=200"),
        ("events", {"text": NOTE["text"], "kind": NOTE["kind"]}, "n/1, by is gone: give the event"),
        ("lines", NOTE | {"due": "string, or left out"}, "raise the number of the format"),
        ("json", NOTE | {"due": "string"}, f"json: n/1, due is new: {RECORD}"),
        ("json", NOTE | {"by": "string"}, "json: n/1, by was object and is string: keep the field"),
        (
            "json",
            NOTE | {"by": f"object, {ON_PAGE}"},
            "but stands on docs/api.md alone: keep the field as it is and print another one beside",
        ),
        ("commands", NOTE | {"--by": "text"}, "n/1, --by is new, and what was written before"),
    ],
)
def test_a_difference_says_what_to_do(kind: str, now: dict[str, str], text: str) -> None:
    (found,) = differences(kind, {"n/1": NOTE}, {"n/1": now})
    assert text in found.text
    assert found.is_added is (RECORD in text)


def test_a_thing_comes_goes_and_gives_way_to_one_of_the_next_number() -> None:
    came, went = (
        [*differences("json", before, now)]
        for before, now in (({}, {"n/1": NOTE}), ({"n/1": NOTE}, {}))
    )
    assert [(one.text, one.is_added) for one in came] == [(f"json: n/1 is new: {RECORD}", True)]
    assert [one.is_added for one in went] == [False]
    newer = differences("json", {"n/1": NOTE}, {"n/2": {}})
    assert [(one.text.split(": ")[1], one.is_added) for one in newer] == [
        ("n/1 gives way to n/2", True),
        ("n/2 is new", True),
    ]
