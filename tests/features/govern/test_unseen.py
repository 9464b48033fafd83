"""Edits that their authors wrote without the code: how many are told, and how many falsely.

At their first run, 54 of 60 were told and 10 of 100 falsely in the first set, 55 and one in the
second, 60 and none in the third. All three are regression tests since.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from preflights_es.features.govern.domain.imports import installed, used
from preflights_es.features.govern.domain.products import find_option_use
from tests.each import each

FOLDER: Final = Path(__file__).parent / "unseen"
SETS: Final = {"edits_1": (0, 2), "edits_2": (2, 1), "edits_3": (0, 0)}
"""Files of cases, and how many each may miss and tell falsely."""


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
    return any(
        find_option_use(o, found, chosen) and not find_option_use(o, before, chosen) for o in others
    )


@each(("name", "limits"), SETS.items())
def test_unseen_edits_are_told_and_few_falsely(name: str, limits: tuple[int, int]) -> None:
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    all_cases = [json.loads(line) for line in lines]
    of_imports = [one for one in all_cases if any(not each["paths"] for each in one["decisions"])]
    by_path = [one for one in of_imports if any(each["paths"] for each in one["decisions"])]
    cases = [one for one in of_imports if one not in by_path]
    missed = [one["id"] for one in cases if one["concerned"] and not is_told(one)]
    false = [one["id"] for one in cases if not one["concerned"] and is_told(one)]
    assert (len(missed), len(false)) <= limits, (missed, false)
    assert len(false) <= limits[1], false
