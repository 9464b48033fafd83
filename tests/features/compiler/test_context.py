"""What a model is told, and what is cut so that it fits."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec
import pytest

from preflights_es.features.compiler.domain.context import TooLarge, fitted, said, size, system
from preflights_es.features.compiler.domain.events import PassBegun
from preflights_es.features.compiler.domain.passes import PASSES
from preflights_es.features.compiler.domain.values import (
    DOCUMENT_MAX,
    REQUEST_MAX,
    DecidedField,
    Document,
    LeftOut,
    PassName,
    ReadDecision,
)
from tests.features.compiler.cases import ELSEWHERE, GOAL, TARGET, TEXTS, Compiled, begun

WIDE: Final = "ä" * 90


def decision(n: int) -> ReadDecision:
    field = DecidedField("Type", "PostgreSQL", ("MySQL", "MongoDB"))
    return ReadDecision(f"{n:012x}", f"Which database? {WIDE}", ELSEWHERE, (field,), "we know it")


def full(name: PassName, paths: int, decisions: int, **more: Any) -> PassBegun:
    layout = tuple(f"src/{n:06d}/{WIDE}.py" for n in range(paths))
    return begun(name, layout=layout, decisions=tuple(map(decision, range(decisions))), **more)


def told(of: PassBegun) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said(of))
    return found


def cut(of: PassBegun) -> PassBegun:
    found = fitted(of)
    assert isinstance(found, PassBegun)
    return found


@pytest.mark.parametrize("name", PASSES)
def test_the_user_message_is_one_object_of_all_that_was_read(name: PassName) -> None:
    first = begun(name, decisions=(decision(1),))
    found = told(first)
    row = PASSES[name]
    assert found["pass"] == name
    assert [(one["path"], one["text"]) for one in found["documents"]] == [
        (one.path, one.text) for one in first.documents
    ]
    names = [one["name"] for one in found["documents"]]
    assert names == [*row.documents, *(["target"] if row.target else [])]
    assert [(one["type"], one["standing"]) for one in found["artifacts"]] == [
        (one.type, one.standing) for one in row.plans
    ]
    assert all(isinstance(one["payload"], dict) for one in found["artifacts"])
    (decided,) = found["decisions"]
    assert decided["fields"] == [
        {"name": "Type", "value": "PostgreSQL", "others": ["MySQL", "MongoDB"]}
    ]
    assert (decided["uid"], decided["because"]) == ("000000000001", "we know it")
    assert found["layout"] == list(first.layout)
    assert found.get("target") == (TARGET if row.target else None)
    assert found.get("goal") == (GOAL if row.goal else None)
    assert "left_out" not in found


def test_a_document_besides_those_of_the_table_is_an_other_one() -> None:
    first = begun("architecture")
    more = Document("notes/style.md", "3" * 64, "be brief")
    found = told(msgspec.structs.replace(first, documents=(*first.documents, more)))
    assert [one["name"] for one in found["documents"]] == ["constraints", "other"]


def test_hashes_sources_and_actors_are_not_told() -> None:
    text = said(begun("test", decisions=(decision(1),)))
    assert "0" * 64 not in text
    assert ELSEWHERE.session_id not in text
    assert "Ada Lovelace" not in text


def test_the_size_is_that_of_the_request() -> None:
    for name in PASSES:
        (request,) = Compiled(name=name).script.requests
        first = begun(name)
        assert size(first) == sum(len(one.content) for one in request.messages)
        assert system(first) == request.messages[0].content


def test_what_fits_stays_as_it_is() -> None:
    first = full("project", 10, 2)
    assert fitted(first) is first


def test_the_layout_is_cut_first_from_its_end() -> None:
    first = full("project", 5_000, 20)
    found = cut(first)
    assert size(found) <= REQUEST_MAX
    assert found.layout == first.layout[: len(found.layout)]
    assert found.decisions == first.decisions
    assert found.left_out == (LeftOut("layout", 5_000 - len(found.layout)),)
    assert REQUEST_MAX - size(found) < 300, "no more is cut than needed"
    assert told(found)["left_out"] == [{"what": "layout", "count": 5_000 - len(found.layout)}]


def test_then_the_oldest_decisions_are_cut() -> None:
    first = full("project", 500, 3_000)
    found = cut(first)
    assert size(found) <= REQUEST_MAX
    assert found.layout == ()
    assert found.decisions == first.decisions[: len(found.decisions)]
    assert found.left_out == (
        LeftOut("layout", 500),
        LeftOut("decisions", 3_000 - len(found.decisions)),
    )
    assert 0 < len(found.decisions) < 3_000


def test_where_the_layout_is_required_decisions_are_cut_first() -> None:
    first = full("refactor", 2_000, 2_000)
    found = cut(first)
    assert found.layout == first.layout
    assert 0 < len(found.decisions) < 2_000
    found = cut(full("refactor", 9_000, 20))
    assert found.decisions == ()
    assert {one.what for one in found.left_out} == {"layout", "decisions"}


def test_what_is_required_and_does_not_fit_is_refused_with_both_sizes() -> None:
    text = "x" * DOCUMENT_MAX
    documents = tuple(Document(f"docs/{one}.md", "0" * 64, text) for one in TEXTS)
    found = fitted(begun("project", documents=documents, layout=("a",)))
    assert isinstance(found, TooLarge)
    assert found.most == REQUEST_MAX
    assert 3 * DOCUMENT_MAX < found.size < 3 * DOCUMENT_MAX + 20_000
