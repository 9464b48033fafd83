"""Numbers of records: which ones two records of a folder bear."""

from __future__ import annotations

from preflights_es.records.record_numbers import number_clashes
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
        (("adr/0002-a.md", "adr/0002-a.de.md"), ""),
        (("adr/0000-template.md", "adr/0000-a.md"), ""),
        (("adr/2026-01-02-a.md", "adr/2026-01-02-b.md"), ""),
    ],
)
def test_a_number_counts_within_one_folder(paths: tuple[str, ...], label: str) -> None:
    found = [(one.label, one.paths) for one in number_clashes(paths)]
    assert found == ([(label, tuple(sorted(paths)))] if label else [])
