"""What a status, a reference, a name and a date say."""

from __future__ import annotations

from preflights_es.records.record_header import Reference
from preflights_es.records.record_names import day_of, number_of
from preflights_es.records.record_text import iso_date, reference, references, said
from tests.each import each


@each(
    ("text", "status"),
    [
        *(("Accepted", "accepted"), ("ACCEPTED.", "accepted"), ("**Approved**", "accepted")),
        *(("accepted (2020-01-02)", "accepted"), ("🟢 accepted", "accepted")),
        *(("Accepted with conditions", "accepted"), ("The board approved it.", "accepted")),
        *(("Angenommen am 3.4.2020", "accepted"), ("in Kraft", "accepted")),
        *(("Draft", "proposed"), ("Under discussion", "proposed"), ("WIP", "proposed")),
        *(("Not yet accepted", "proposed"), ("Noch nicht beschlossen", "proposed")),
        *(("Rejected", "rejected"), ("nicht angenommen", "rejected"), ("Declined", "rejected")),
        *(("Deprecated", "deprecated"), ("no longer valid", "deprecated")),
        *(("Superseded", "superseded"), ("Superceded by 7", "superseded")),
        *(("This record is superseded.", "superseded"), ("Replaced with ADR-9", "superseded")),
        *(("Ersetzt", "superseded"), ("Abgelöst durch ADR-9", "superseded")),
        *(("Wird durch ADR-9 abgelöst", "superseded"), ("Ersetzt worden durch 9", "superseded")),
        *(("Partially superseded by ADR-9", "unknown"), ("Ersetzt ADR-3", "unknown")),
        *(("To be superseded by ADR-9", "unknown"), ("Supersedes ADR-3", "unknown")),
        *(("Proposed | Accepted | Rejected", "unknown"), ("", "unknown"), ("?", "unknown")),
        *(("Unacceptable", "unknown"), ("Proposed → Rejected", "rejected")),
        *(("2020-01-02 Proposed\n2020-02-03 Accepted", "accepted"),),
        *(("2020-02-03: Accepted\n2020-01-02: Proposed", "accepted"),),
        *(("Accepted\n\nSuperseded by [9](0009-x.md)", "superseded"),),
        *(("Accepted\n\nPartly superseded by [9](0009-x.md)", "accepted"),),
    ],
)
def test_a_status_is_one_of_six(text: str, status: str) -> None:
    assert said(text).status == status


@each(
    ("text", "named"),
    [
        ("ADR-0012", Reference("ADR-0012", 12)),
        ("adr 12.", Reference("adr 12", 12)),
        ("#12", Reference("#12", 12)),
        ("0012", Reference("0012", 12)),
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
    ("name", "number", "day"),
    [
        *(("0012-x", 12, ""), ("12-x", 12, ""), ("ADR-012-x", 12, ""), ("adr_012_x", 12, "")),
        *(("ADR012-x", 12, ""), ("0012", 12, ""), ("0000-x", 0, ""), ("2021-use-x", 2021, "")),
        *(("20201021-x", None, "2020-10-21"), ("2020-10-21-x", None, "2020-10-21")),
        *(("20201021", None, "2020-10-21"), ("20209999-x", None, ""), ("1234567-x", None, "")),
        *(("12factor", None, ""), ("x-12", None, ""), ("adrift-12", None, ""), ("", None, "")),
    ],
)
def test_a_date_in_a_name_is_no_number(name: str, number: int | None, day: str) -> None:
    assert (number_of(name), day_of(name)) == (number, day)


@each(
    ("text", "day"),
    [
        *(("2020-01-02", "2020-01-02"), ("2020/1/2", "2020-01-02"), ("2.1.2020", "2020-01-02")),
        *(("Jan 2, 2020", "2020-01-02"), ("2nd January 2020", "2020-01-02")),
        *(("2. Januar 2020", "2020-01-02"), ("3. März 2020", "2020-03-03")),
        *(("2020-01-02T03:04:05Z", "2020-01-02"), ("on 2020-01-02, by all", "2020-01-02")),
        *(("02/03/2020", ""), ("2020-13-01", ""), ("2020", ""), ("YYYY-MM-DD", ""), ("", "")),
    ],
)
def test_a_date_that_could_be_two_is_none(text: str, day: str) -> None:
    assert iso_date(text) == day
