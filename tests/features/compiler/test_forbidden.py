"""Source and test files are no documents, by their names."""

from __future__ import annotations

import pytest

from preflights_es.features.compiler.domain.forbidden import NAMES, SUFFIXES, why_forbidden
from tests.each import each

SOURCE = [
    *(
        "src/Orders.PY",
        "orders.py.bak",
        "orders.rs~",
        "orders.sql .",
        "a/Makefile",
        "Dockerfile.j2",
    ),
    *("test_orders.md", "orders_test.txt", "orders.spec.md", "tests/orders.md", "a/__tests__/b.md"),
]
DOCUMENTS = [
    *("requirements.md", "requirements.txt", "docs/latest.md", "specifications.md", "contest.md"),
    *("orders.yaml", "orders.json", "a.b/py.md", "README", "inspector.rst"),
]


@each("path", SOURCE)
def test_a_source_or_test_file_is_refused(path: str) -> None:
    assert why_forbidden(path)


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_document_is_taken(path: str) -> None:
    assert why_forbidden(path) == ""


@each("suffix", sorted(SUFFIXES))
def test_a_suffix_counts_in_any_case_and_behind_a_copy(suffix: str) -> None:
    for path in (f"a/b.{suffix}", f"a/B.{suffix.upper()}", f"b.{suffix}.bak", f"b.{suffix} ."):
        assert why_forbidden(path)
    assert why_forbidden(f"docs/{suffix}.md") == ""


@each("name", sorted(NAMES))
def test_a_build_file_is_known_by_its_name(name: str) -> None:
    assert why_forbidden(f"a/{name.upper()}")
