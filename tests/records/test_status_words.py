"""What the words of a status say, in the forms of real repositories."""

from __future__ import annotations

from typing import Final

from preflights_es.records.foreign_records import foreign_record
from preflights_es.records.record_names import Reference
from preflights_es.records.status_words import iso_date, parse_status_text, reference, references
from tests.each import each
from tests.filed_cases import filed_cases

CASES: Final = filed_cases(__file__)


@each(("text", "status"), CASES["words"])
def test_a_status_is_one_of_eight(text: str, status: str) -> None:
    assert parse_status_text(text).status == status


@each(("record", "status", "by", "takes", "day"), CASES["records"])
def test_a_record_has_the_status_that_a_person_reads(
    record: str, status: str, by: int, takes: tuple[int, ...], day: str
) -> None:
    read = foreign_record("0050-x.md", record.encode())
    assert read.status == status
    assert (read.superseded_by.number if read.superseded_by else 0) == by
    assert tuple(one.number for one in read.supersedes) == takes
    assert read.date == day


@each(
    ("text", "words"),
    [
        ("Rechazado", "Rechazado"),
        ("Remplacé par [3](0003-x.md)", "Remplacé par 3"),
        ("Accepted\n\nAmends [2. Two](0002-two.md)", "Accepted"),
        ("Amends [2. Two](0002-two.md)\n\n**Por decidir**", "Por decidir"),
        ("Accepted, partly superseded by ADR-9", "Accepted, partly superseded by ADR-9"),
        ("x" * 100, "x" * 79 + "…"),
        ("", ""),
    ],
)
def test_the_words_of_a_status_are_kept(text: str, words: str) -> None:
    assert parse_status_text(text).text == words


@each(
    ("text", "named"),
    [
        ("ADR-0012", Reference("ADR-0012", 12)),
        ("adr 12.", Reference("adr 12", 12)),
        ("#12", Reference("#12", 12)),
        ("0012", Reference("0012", 12)),
        ("ADR-2026-002", Reference("ADR-2026-002", 2)),
        ("[ADR-0012](0012-x.md)", Reference("ADR-0012", 12, "0012-x.md")),
        ('[Use X](<./0012-x.md> "title")', Reference("Use X", 12, "./0012-x.md")),
        ("[ADR 12](../adr/use-x.md#why)", Reference("ADR 12", 12, "../adr/use-x.md")),
        ("[[0012-x]]", Reference("0012-x", 12, "0012-x")),
        ("0012-x.md", Reference("0012-x.md", 12, "0012-x.md")),
        ("[20200102-x](20200102-x.md)", Reference("20200102-x", None, "20200102-x.md")),
        ("20200102-use-x", Reference("20200102-use-x", None, "20200102-use-x")),
        ("the new guideline", Reference("the new guideline")),
        *((text, None) for text in ("", "-", "none", "n/a", "null", "[]")),
    ],
)
def test_a_reference_names_a_record(text: str, named: Reference | None) -> None:
    assert reference(text) == named


def test_several_references_are_told_apart() -> None:
    assert [one.number for one in references("ADR-0004, ADR-11 and #7")] == [4, 11, 7]
    assert [one.number for one in references("[a](0004-a.md) and [b](0011-b.md)")] == [4, 11]


@each(
    ("text", "numbers"),
    [
        *(("ADR-0001, see ADR-5", [1]), ("[a](0001-a.md), unlike [b](0005-b.md)", [1])),
        *(("0001, 0003", [1, 3]), ("1 and 3", [1, 3]), ("ADR-1 (Use A), ADR-3 (Use B)", [1, 3])),
        *(("ADR-0001, 3 votes against", [1]), ("1 since 2020-01-02", [1]), ("2020-01-02", [])),
    ],
)
def test_a_list_of_records_ends_where_other_words_begin(text: str, numbers: list[int]) -> None:
    assert [one.number for one in references(text)] == numbers


@each(
    ("text", "day"),
    [
        *(("2020-01-02", "2020-01-02"), ("2020/1/2", "2020-01-02"), ("2.1.2020", "2020-01-02")),
        *(("Jan 2, 2020", "2020-01-02"), ("2nd January 2020", "2020-01-02")),
        *(("2. Januar 2020", "2020-01-02"), ("3. März 2020", "2020-03-03")),
        *(("2020-01-02T03:04:05Z", "2020-01-02"), ("on 2020-01-02, by all", "2020-01-02")),
        *(
            ("25/12/2020", "2020-12-25"),
            ("12-25-2020", "2020-12-25"),
            ("2020-Dec-25", "2020-12-25"),
            ("2020-25-12", "2020-12-25"),
            ("1st of May 2020", "2020-05-01"),
            ("1/May/2020", "2020-05-01"),
        ),
        *(("02/03/2020", ""), ("2020-13-32", ""), ("2020", ""), ("YYYY-MM-DD", ""), ("", "")),
    ],
)
def test_a_date_that_could_be_two_is_none(text: str, day: str) -> None:
    assert iso_date(text) == day
