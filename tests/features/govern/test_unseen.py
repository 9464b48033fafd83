"""Edits that their authors wrote without the code: how many are told, and how many falsely.

The first run told 54 of 60 and raised 10 false alarms of 100; the set is a regression test since.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from preflights_es.features.govern.domain.imports import installed, used
from preflights_es.features.govern.domain.products import named

SET: Final = Path(__file__).parent / "unseen" / "edits_1.jsonl"
CASES: Final = [json.loads(line) for line in SET.read_text("utf-8").splitlines()]
MISSED_MAX: Final = 0
FALSE_MAX: Final = 2


def is_told(case: dict[str, Any]) -> bool:
    """Whether what an edit newly brings in was turned down by a decision without paths."""
    said, there = case["input"], case["existing"]
    path = said.get("file_path", "").removeprefix("/repo/")
    former = there.get(path, "")
    new = said.get(
        "content", former.replace(said.get("old_string", ""), said.get("new_string", ""))
    )
    before = used(path, former)
    found = sorted({*installed(said.get("command", "")), *used(path, new)} - before)
    decisions = [one for one in case["decisions"] if not one["paths"]]
    chosen = [one["chosen"] for one in decisions]
    others = [o for one in decisions for o in one["options"] if o != one["chosen"]]
    return any(named(o, found, chosen) and not named(o, before, chosen) for o in others)


def test_edits_that_were_not_seen_are_told_and_few_falsely() -> None:
    of_imports = [one for one in CASES if any(not each["paths"] for each in one["decisions"])]
    by_path = [one for one in of_imports if any(each["paths"] for each in one["decisions"])]
    cases = [one for one in of_imports if one not in by_path]
    missed = [one["id"] for one in cases if one["concerned"] and not is_told(one)]
    false = [one["id"] for one in cases if not one["concerned"] and is_told(one)]
    assert len(missed) <= MISSED_MAX, missed
    assert len(false) <= FALSE_MAX, false
