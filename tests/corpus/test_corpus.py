"""The labelled intentions are well formed, and the split follows from their ids."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

HERE: Final = Path(__file__).parent

_NAMES: Final = """
analytics api_versioning audit_logging auth authorization background_jobs backend_api backup
caching cdn ci containers data_pipeline database deployment_strategy email error_handling
feature_flags file_storage frontend hosting i18n llm_provider migrations mobile monorepo
multi_tenancy observability orm package_manager pagination payments queue rate_limiting
realtime rendering scheduling search secrets state_management styling testing_strategy
validation webhooks
"""
TOPICS: Final = frozenset(_NAMES.split())

Expected: TypeAlias = Literal["choice", "stated", "none", "open"]

_LEAST: Final[dict[Expected, float]] = {"choice": 0.3, "stated": 0.2, "none": 0.15, "open": 0.08}
"""The smallest share of each class."""


class Intention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the corpus; README.md beside it says what the fields mean."""

    id: str
    text: str
    language: Literal["en", "de"]
    expect: Expected
    also: list[Expected]
    topics: list[str]
    stated: dict[str, str]
    replaced: list[str]
    note: str


def intentions() -> list[Intention]:
    """Every line, in the order of the file."""
    lines = (HERE / "intentions.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Intention) for line in lines]


def test_ids_and_texts_are_unique() -> None:
    found = intentions()
    assert [one.id for one in found] == sorted({one.id for one in found})
    texts = Counter(" ".join(one.text.casefold().split()) for one in found)
    assert [text for text, count in texts.items() if count > 1 or not text] == []


def test_labels_agree_with_each_other() -> None:
    for one in intentions():
        assert {*one.topics, *one.stated} <= TOPICS, one.id
        assert len(set(one.topics)) == len(one.topics), one.id
        assert one.expect not in one.also, one.id
        assert bool(one.topics) == (bool({"choice", "stated"} & {one.expect, *one.also})), one.id
        match one.expect:
            case "stated":
                assert set(one.stated) == set(one.topics), one.id
            case "choice":
                assert not set(one.stated) & set(one.topics), one.id
            case _:
                assert not one.stated, one.id
                assert not one.replaced, one.id


def test_every_class_language_and_topic_is_there() -> None:
    found = intentions()
    assert len(found) >= 360
    share = Counter(one.expect for one in found)
    assert all(share[kind] >= len(found) * least for kind, least in _LEAST.items()), share
    assert {topic for one in found for topic in one.topics} == TOPICS


def test_the_held_out_fifth_follows_from_the_ids() -> None:
    held_out = (HERE / "held_out.txt").read_text(encoding="utf-8").split()
    ids = [one.id for one in intentions()]
    fresh = [one for one in ids if one[0] in "np"]  # no earlier look was taken
    fifth = [one for one in fresh if _digest(one) % 5 == 0]
    assert held_out == fifth + [one for one in ids if one[0] == "u"]


def _digest(text: str) -> int:
    return int(sha256(text.encode()).hexdigest(), 16)
