"""Records of other tools: none is misread, and a new status leaves every other byte as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from preflights_es.records.foreign_records import foreign_record
from preflights_es.records.record_header import ForeignRecord
from tests.each import each

RECORDS: Final = Path(__file__).with_name("records")
EXPECTED: Final[dict[str, dict[str, Any]]] = msgspec.json.decode(
    (RECORDS / "expected.json").read_bytes()
)


@each("path", EXPECTED)
def test_a_record_is_read_as_a_person_reads_it(path: str) -> None:
    expected = msgspec.convert({"path": path, **EXPECTED[path]}, ForeignRecord)
    assert foreign_record(path, (RECORDS / path).read_bytes()) == expected
