"""How the records of a folder look, and so a new one."""

from __future__ import annotations

from preflights_es.records.record_list import form_of, template_of
from preflights_es.records.record_names import RecordHeader
from tests.each import each


@each(
    ("names", "name"),
    [
        ((), "0007-use-redis.md"),
        (("use-x.md",), "0007-use-redis.md"),
        (("0001-a.md", "0002-b.md"), "0007-use-redis.md"),
        (("001-a.md", "0002-b.md", "003-c.md"), "007-use-redis.md"),
        (("1-a.md", "12-b.md"), "7-use-redis.md"),
        (("ADR-001-a.md", "ADR-002-b.md", "0003-c.md"), "ADR-007-use-redis.md"),
        (("adr_0001_a_b.markdown",), "adr_0007_use_redis.markdown"),
        (("ADR-2025-001-a.md", "ADR-2026-002-b.md"), "ADR-2027-007-use-redis.md"),
        (("0001 Use it.md",), "0007 use redis.md"),
        (("ODH-ADR-Web-0001-a.md",), "ODH-ADR-Web-0007-use-redis.md"),
        (("0001-a.adoc", "0002-b.adoc"), "0007-use-redis.adoc"),
        (("0001-a.rst", "0002-b.txt"), "0007-use-redis.md"),
        (("0001-a/README.md", "0002-b/README.md", "0003-c.md"), "0007-use-redis/README.md"),
        (("ADR-001-a/index.adoc", "readme.md"), "ADR-007-use-redis/index.adoc"),
        (("2026-01-05-a/index.md",), "2027-02-03-use-redis/index.md"),
        (("20260105-a.md", "20260106-b.md"), "20270203-use-redis.md"),
        (("2026-01-05-a.md",), "2027-02-03-use-redis.md"),
        (("20260105-a.md", "0002-b.md"), "0007-use-redis.md"),
        (("2025/0001-a.md", "2026/0002-b.md", "0003-c.md"), "2027/0007-use-redis.md"),
        (("2025/ADR-01-a/README.md", "README.md"), "2027/ADR-07-use-redis/README.md"),
        (("2026/2026-01-05-a.md", "2026.md"), "2027/2027-02-03-use-redis.md"),
        (("2025/0001-a.md", "0002-b.md", "web/0003-a.md"), "0007-use-redis.md"),
    ],
)
def test_a_new_name_is_as_most_names_are(names: tuple[str, ...], name: str) -> None:
    form = form_of(names)
    assert form.file_name(7, "2027-02-03", "Use Redis") == name


def test_nygards_headings_are_taken_where_all_records_of_others_have_them() -> None:
    nygard = RecordHeader(path="0001-a.md", tool="nygard", title="A")
    madr = RecordHeader(path="0002-b.md", tool="madr4", title="B")
    ours = RecordHeader(path="0003-c.md", tool="madr4", title="C", session="s")
    for records in ([nygard], [nygard, ours]):
        assert template_of(records) == "nygard.v1"
    for records in ([], [nygard, madr], [ours]):
        assert template_of(records) == "adr.v1"
    for records in ([], [nygard, madr]):
        assert template_of(records, by_adr_tools=True) == "nygard.v1"
    assert template_of([madr], by_adr_tools=True) == "adr.v1"
