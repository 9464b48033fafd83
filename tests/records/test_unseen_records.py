"""Repositories with records of other tools, by an author who had not seen the reader."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

from preflights_es.records.record_list import records_in
from preflights_es.records.record_names import RecordHeader
from preflights_es.records.record_places import RecordPlaces
from tests.persons import git_repository

REPOSITORIES: Final = Path(__file__).with_name("unseen") / "repositories.json"
RIGHT_MIN: Final = 276
"""Of 281 records, those of which all that is compared is right."""
PARTLY: Final = "partly_superseded"
"""What the author calls accepted: it is in force."""


def read(root: Path, files: dict[str, str]) -> dict[str, RecordHeader]:
    """The records that are found, by path."""
    git_repository(root)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    places = RecordPlaces(root, index=root / ".git" / "index", env=os.environ)
    return {one.path: one for one in records_in(root, places.folders).records}


def is_right(one: RecordHeader | None, wanted: dict[str, Any]) -> bool:
    if one is None:
        return False
    status = "accepted" if one.status == PARTLY else one.status
    # What the newer alone says, and what no box is ticked for, stands in the list of decisions.
    is_so = status == wanted["status"] or (status, wanted["status"]) in (
        ("accepted", "superseded"),
        ("unknown", "none"),
    )
    titles = [" ".join(text.casefold().split()) for text in (one.title, wanted["title"])]
    return (
        is_so
        and titles[0] == titles[1]
        and (one.number, one.date) == (wanted["number"], wanted["date"])
    )


def test_records_of_other_tools_are_read_as_their_authors_mean_them(tmp_path: Path) -> None:
    wrong, count, others = [], 0, []
    for case in json.loads(REPOSITORIES.read_text("utf-8")):
        root = tmp_path / case["name"]
        root.mkdir()
        found = read(root, case["files"])
        wanted = {one["path"]: one for one in case["records"]}
        wrong += [path for path, one in wanted.items() if not is_right(found.get(path), one)]
        count += len(wanted)
        others += [path for path in found if path not in wanted]
    assert count - len(wrong) >= RIGHT_MIN, wrong
    assert others == []
