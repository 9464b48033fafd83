"""Numbers of records: which ones two records of a folder bear."""

from __future__ import annotations

from preflights_es.records.record_names import number_clashes, numbered_groups, sequence_of
from tests.each import each


@each(
    ("paths", "label"),
    [
        (("adr/0002-a.md", "adr/0002-b.md"), "ADR-0002"),
        (("adr/0002-a.md", "adr/2-b.md"), "ADR-0002"),
        (("adr/0002-a.md", "adr/ADR-002-b.md"), "ADR-0002"),
        (("adr/ADR-2026-002-a.md", "adr/ADR-2026-002-b.md"), "ADR-2026-002"),
        (("adr/0002-a/README.md", "adr/0002-b.md"), "ADR-0002"),
        (("adr/0002-a.md", "adr/web/0002-b.md"), ""),
        (("adr/ADR-2025-002-a.md", "adr/ADR-2026-002-b.md"), ""),
        (("adr/rfc-0002-a.md", "adr/0002-b.md"), ""),
        (("adr/ODH-ADR-0002-a.md", "adr/ODH-ADR-0002-b.md"), "ODH-ADR-0002"),
        (("adr/ODH-ADR-0002-a.md", "adr/ODH-ADR-Web-0002-b.md"), ""),
        (("adr/ODH-ADR-0000-template.md", "adr/ODH-ADR-0000-a.md"), ""),
        (("adr/0002-a.md", "adr/0002-a.de.md"), ""),
        (("adr/0000-template.md", "adr/0000-a.md"), ""),
        (("adr/2026-01-02-a.md", "adr/2026-01-02-b.md"), ""),
    ],
)
def test_a_number_counts_within_one_folder(paths: tuple[str, ...], label: str) -> None:
    found = [(one.label, one.paths) for one in number_clashes(paths)]
    assert found == ([(label, tuple(sorted(paths)))] if label else [])


def test_records_are_told_by_the_number_in_their_names() -> None:
    names = (
        *("0001-a.md", "0002.md", "0002-b.md", "12345-c.md", "0000-d.md"),
        *("1-short.md", "001-short.md", "00x5-g.md", "20261121-date.md", "0123456-seven.md"),
        *("README.md", ".0009-h.md.1.tmp", "\u0661\u0662\u0663\u0664-arabic.md"),
    )
    found = {number: [*stems] for (_, _, number), stems in numbered_groups(names).items()}
    assert found == {
        0: ["0000-d"],
        1: ["0001-a", "001-short", "1-short"],
        2: ["0002-b", "0002"],
        12345: ["12345-c"],
    }


@each(
    ("paths", "numbers"),
    [
        (("adr/0001-a.md", "adr/0002-b.md", "other/0009-c.md"), {1, 2}),
        (("adr/0001-a.md", "adr/web/0002-b.md", "adr/web/0003-b.md"), {1, 2, 3}),
        (("adr/0001-a.md", "adr/web/0001-b.md", "adr/web/0007-b.md"), {1}),
        (("adr/ADR-2025-001-a.md", "adr/ADR-2026-002-b.md"), {1, 2}),
    ],
)
def test_a_subfolder_that_has_no_number_twice_is_of_one_sequence(
    paths: tuple[str, ...], numbers: set[int]
) -> None:
    assert sequence_of("adr", paths) == numbers


def test_the_folders_of_years_are_of_one_sequence_where_they_repeat_no_number() -> None:
    paths = ("adr/2024/0001-a.md", "adr/2025/0002-b.md", "adr/2025/0003-b.md")
    for folder in ("adr", "adr/2024", "adr/2026"):
        assert sequence_of(folder, paths) == {1, 2, 3}
    assert sequence_of("adr/2025", (*paths, "adr/2024/0002-c.md")) == {2, 3}
