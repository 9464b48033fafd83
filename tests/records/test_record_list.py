"""The records of a folder: which files they are, what they say, and what the cache holds."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from preflights_es.records.foreign_records import CHOSEN_MAX, foreign_record
from preflights_es.records.record_folder import RecordFolder
from preflights_es.records.record_list import RACE_NS, Records, WordHit, records_in
from preflights_es.records.record_names import (
    RECORD_MAX,
    ForeignRecord,
    Reference,
    day_of_file_name,
    number_of,
)
from tests.each import each

RECORD: Final = "# 1. Use Redis\n\n## Status\n\nAccepted\n\n## Context\n\n## Decision\n\nRedis.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "adr"
    made.mkdir()
    return made


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "records.cache"


def listed(folder: Path, cache: Path | None = None) -> Records:
    """The records of one folder, of which no subfolder is read."""
    return records_in(folder, (RecordFolder("."),), cache)


def names(found: Records) -> list[str]:
    return [one.path for one in found.records]


def aged(cache: Path) -> None:
    """As if the records had been read a while after they were written."""
    later = cache.stat().st_mtime_ns + 2 * RACE_NS
    os.utime(cache, ns=(later, later))


def test_a_list_keeps_what_was_chosen_without_the_reason(folder: Path, cache: Path) -> None:
    text = RECORD.replace("Redis.\n", f"Redis, because {'it is fast ' * 90}\n")
    (folder / "0001-x.md").write_text(text)
    (folder / "0002-x.md").write_text(RECORD.replace("Redis.\n", "Redis " * CHOSEN_MAX))
    for _ in range(2):
        first, second = listed(folder, cache).records
        assert first.chosen == "Redis"
        assert len(second.chosen) <= CHOSEN_MAX


# 1. Which files ------------------------------------------------------------------------------


def test_a_name_with_a_number_is_a_records(folder: Path) -> None:
    given = (
        *("0001-use-redis.md", "1-x.md", "001_x.md", "0001.md", "ADR-001-x.md", "adr001-x.md"),
        *("2021-06-05-x.md", "20210605-x.md", "0012-use-a-template-engine.md"),
        *("0001-x.markdown", "0001-X.MD", "0001-x.adoc"),
    )
    for name in given:
        (folder / name).write_text("Nothing but prose.\n")
    assert {*names(listed(folder))} == {*given}


@each(
    "name",
    [
        *("README.md", "index.md", "template.md", "0000-template.md", "adr-template.md"),
        *("ADRXXX-architecture-decision-record-template.md", "DR-nnn-template.md"),
        *("adr.template.md", "decision-record-template.md", "adr-template-long.md", "toc.md"),
        *(".0001-x.md", "0001-x.txt", "0001-x.md.new", "NNNN-title.md", "adr-xxx-title.md"),
    ],
)
def test_templates_and_lists_are_no_records(folder: Path, name: str) -> None:
    (folder / name).write_text(RECORD)
    (folder / "plantilla.md").write_text("# [Your title]\n\nStatus: accepted\n")
    assert listed(folder) == Records(())


def test_another_name_is_a_records_where_its_text_is_one(folder: Path, tmp_path: Path) -> None:
    (folder / "caching.md").write_text(RECORD)
    (folder / "glossary.md").write_text("# Glossary\n\nADR: a record.\n")
    (tmp_path / "secret.md").write_text(RECORD)
    (folder / "0001-x.md").symlink_to(tmp_path / "secret.md")
    (folder / "0002-x.md").mkdir()
    os.mkfifo(folder / "0003-x.md")
    assert names(listed(folder)) == ["caching.md"]
    assert listed(folder / "none", tmp_path / "records.cache") == Records(())


def test_a_huge_file_is_named_and_left_out(folder: Path, cache: Path) -> None:
    (folder / "0001-x.md").write_text(RECORD)
    with (folder / "0002-x.md").open("wb") as file:
        file.truncate(100 * RECORD_MAX)
    found = listed(folder, cache)
    assert names(found) == ["0001-x.md"]
    assert [(one.path, one.why) for one in found.unread] == [
        ("0002-x.md", "it has more than 1,000,000 bytes")
    ]
    assert listed(folder, cache) == found


def test_a_name_that_is_no_utf_8_can_be_shown(folder: Path, cache: Path) -> None:
    (folder / os.fsdecode(b"0001-gr\xfcn.md")).write_text(RECORD)
    assert names(listed(folder, cache)) == ["0001-gr\\xfcn.md"]
    aged(cache)
    assert names(listed(folder, cache)) == ["0001-gr\\xfcn.md"]


# 2. The cache --------------------------------------------------------------------------------


def test_a_record_is_read_again_as_it_or_its_text_changes(folder: Path, cache: Path) -> None:
    path = folder / "0001-x.md"
    path.write_text(RECORD)
    first = listed(folder, cache)
    aged(cache)
    made = cache.stat()
    assert listed(folder, cache) == first
    assert cache.stat().st_ino == made.st_ino, "nothing is written where nothing changed"
    path.write_text(RECORD.replace("Accepted", "Rejected"))
    assert listed(folder, cache).records[0].status == "rejected"
    before = path.stat()
    aged(cache)
    path.write_text(RECORD)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert listed(folder, cache).records[0].status == "accepted", "it kept size and time"


def test_what_changed_when_the_cache_was_written_is_read_again(folder: Path, cache: Path) -> None:
    (folder / "0001-x.md").write_text(RECORD)
    listed(folder, cache)
    first = cache.stat().st_ino
    listed(folder, cache)
    assert cache.stat().st_ino != first


def test_a_gone_record_is_forgotten_and_a_cache_costs_time_only(folder: Path, cache: Path) -> None:
    for n in (1, 2):
        (folder / f"000{n}-x.md").write_text(RECORD)
    listed(folder, cache)
    (folder / "0001-x.md").unlink()
    assert names(listed(folder, cache)) == ["0002-x.md"]
    cache.unlink()
    cache.mkdir()
    assert names(listed(folder, cache)) == ["0002-x.md"]


@pytest.mark.parametrize("content", [b"", b"\x93", b"\xff" * 50, b"\x93\xa1x\xa1y\x80"])
def test_a_damaged_or_foreign_cache_is_ignored(folder: Path, cache: Path, content: bytes) -> None:
    (folder / "0001-x.md").write_text(RECORD)
    cache.write_bytes(content)
    assert names(listed(folder, cache)) == ["0001-x.md"]
    other = folder.with_name("other")
    other.mkdir()
    aged(cache)
    assert listed(other, cache) == Records(())


@pytest.mark.slow("fuzzing")
def test_one_byte_that_is_no_utf_8_in_the_cache_changes_nothing(folder: Path, cache: Path) -> None:
    (folder / "0001-x.md").write_text(RECORD)
    expected = words(listed(folder, cache))
    aged(cache)
    whole, times = cache.read_bytes(), (cache.stat().st_atime_ns, cache.stat().st_mtime_ns)
    for place, is_more in product(range(len(whole)), (False, True)):
        cache.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
        os.utime(cache, ns=times)
        if is_more:  # so that the kept words are read, else the kept index is
            (folder / "0002-x.md").write_text(RECORD)
        assert words(listed(folder, cache))["redis"][0] == expected["redis"][0], place
        (folder / "0002-x.md").unlink(missing_ok=True)


def words(found: Records) -> dict[str, list[WordHit]]:
    """The records that have a word, by the word."""
    return {word: found.index.hits(of) for word, of in found.index.words().items()}


# 3. The name of a file ------------------------------------------------------------------------


@each(
    ("name", "number", "day"),
    [
        *(("0012-x", 12, ""), ("12-x", 12, ""), ("ADR-012-x", 12, ""), ("adr_012_x", 12, "")),
        *(("ADR012-x", 12, ""), ("0012", 12, ""), ("0000-x", 0, ""), ("2021-use-x", 2021, "")),
        *(("20201021-x", None, "2020-10-21"), ("2020-10-21-x", None, "2020-10-21")),
        *(("20201021", None, "2020-10-21"), ("20209999-x", None, ""), ("1234567-x", None, "")),
        *(("ADR-2026-001-x", 1, ""), ("2026-0012-x", 12, ""), ("rfc-0007", 7, "")),
        *(("ADR-2026-02-x", 2, ""), ("2026-02-x", None, ""), ("adr-2026-02-03-x", None, "")),
        *(("ODH-ADR-0012-x", 12, ""), ("odh_adr_web_012", 12, ""), ("sha-256-x", None, "")),
        *(("12factor", None, ""), ("x-12", None, ""), ("adrift-12", None, ""), ("", None, "")),
    ],
)
def test_a_date_in_a_name_is_no_number(name: str, number: int | None, day: str) -> None:
    assert (number_of(name), day_of_file_name(name)) == (number, day)


@each(
    ("name", "text", "number", "title"),
    [
        ("2021-06-05_003-x.md", "---\ntitle: |\n  3. Use X\n---\n", 3, "Use X"),
        ("20210605-003-x.md", "# 3. Use X\n", 3, "Use X"),
        ("20210605-x.md", "# ADR 3: Use X\n", 3, "Use X"),
        ("20210605-3-tiers.md", "# 3. Tier of caches\n", None, "3. Tier of caches"),
        ("20210605-003-x.md", "# 4. Use X\n", None, "4. Use X"),
        ("DR003-x.md", "# DR003: Use X\n", 3, "Use X"),
        ("ODH-ADR-Web-003-x.md", "# ODH-ADR-Web-003: Use X\n", 3, "Use X"),
        ("ADR003-x.md", "# ADD003: Use X\n", 3, "Use X"),
        ("ADR003-x.md", "# ADR004: Use X\n", 3, "Use X"),
        ("0003-x.md", "# 0003 Use X\n", 3, "Use X"),
        ("0003-x.md", "# ADR-0003\uff1a\u9009\u62e9\n", 3, "\u9009\u62e9"),
        ("0003-x.md", "# ADR-3: ~~Use X~~\n", 3, "Use X"),
        ("0003-x.md", "# 0012 Use X\n", 3, "0012 Use X"),
        ("0003-x.md", "# ADR-4 revisited\n", 3, "ADR-4 revisited"),
        ("0003-x.md", "# 4. Use X\n", 3, "Use X"),
        ("0010-x.md", "# 10 Use X\n", 10, "Use X"),
        ("0003-x.md", "# Architecture Decision Record 3: Use X\n", 3, "Use X"),
        ("0003-x.md", "# ADR 0003 | Use X\n", 3, "Use X"),
        ("0003-x.md", "# ADR-XXXX: Use X\n", 3, "Use X"),
        ("0003-x.md", "# 10 caches at most\n", 3, "10 caches at most"),
        ("0003-x.md", "# DR004: Use X\n", 3, "DR004: Use X"),
        ("0002-x.md", "# HTTP2: Use X\n", 2, "HTTP2: Use X"),
        ("0003-x.md", "---\ntitle: Use X\n---\n\n## Status\n\n# Decision\n", 3, "Use X"),
        ("0003-x.md", "## 0003. Use X\n\n- Status: proposed\n\n## Context\n", 3, "Use X"),
        ("0003-x.md", "## 1. Goals\n\n## 2. Context\n", 3, "x"),
        ("0003-x.md", "Words.\n\n## 0003. Use X\n", 3, "x"),
        ("2021-06-05-use-x/README.md", "# Decision\n\nWe use X.\n", None, "use x"),
    ],
)
def test_a_title_has_no_label_in_it(name: str, text: str, number: int | None, title: str) -> None:
    found = foreign_record(name, text.encode())
    assert (found.number, found.title) == (number, title)
    assert found.status == ("proposed" if "Status: proposed" in text else "none")


# 4. Records as a person reads them -----------------------------------------------------------


RECORDS: Final = Path(__file__).with_name("records")
EXPECTED: Final[dict[str, dict[str, Any]]] = msgspec.json.decode(
    (RECORDS / "expected.json").read_bytes()
)


def test_a_folder_says_the_status_where_the_record_says_none() -> None:
    for folder, text, status in (
        ("proposed", "# X\n", "proposed"),
        ("proposed", "# X\n\nStatus: Rejected\n", "rejected"),
        ("0002-done", "# X\n", "none"),
        ("web", "# X\n", "none"),
    ):
        assert foreign_record(f"{folder}/0001-x.md", text.encode()).status == status


ASCIIDOC: Final = b"""// A comment
:toc:
= ADR-3: Use Oracle
:date: 2020-01-02

== Status

Superseded by xref:0009-use-postgresql.adoc[ADR 9]

== Context

----
== No heading
----
We need joins.

== Decision

We use Oracle because they pay.
"""


def test_asciidoc_is_read_as_markdown_is() -> None:
    found = foreign_record("0003-use-oracle.adoc", ASCIIDOC)
    assert (found.number, found.title, found.date) == (3, "Use Oracle", "2020-01-02")
    assert (found.status, found.tool) == ("superseded", "nygard")
    assert found.superseded_by == Reference(
        "0009-use-postgresql.adoc", 9, "0009-use-postgresql.adoc"
    )
    assert (found.context, found.because) == ("We need joins.", "they pay.")


@each("path", EXPECTED)
def test_a_record_is_read_as_a_person_reads_it(path: str) -> None:
    expected = msgspec.convert({"path": path, **EXPECTED[path]}, ForeignRecord)
    assert foreign_record(path, (RECORDS / path).read_bytes()) == expected
