"""Source and test files are no documents: a corpus has no misses and no false alarms."""

from __future__ import annotations

from time import perf_counter

from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.compiler.domain.forbidden import NAMES, SUFFIXES, why_forbidden
from tests.each import each
from tests.features.compiler.chain import sample
from tests.features.compiler.forbidden_corpus import (
    CODE_TEXTS,
    FORBIDDEN,
    INNOCENT,
    PROSE,
    PROSE_TEXTS,
)
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)


@each("case", FORBIDDEN)
def test_a_source_or_test_file_is_refused(case: str) -> None:
    assert why_forbidden(*FORBIDDEN[case])


@each("case", INNOCENT)
def test_a_document_is_taken(case: str) -> None:
    assert why_forbidden(*INNOCENT[case]) == ""


def test_the_corpus_has_sixty_files_half_of_them_innocent() -> None:
    assert len(FORBIDDEN) == len(INNOCENT) == 30


@each("case", CODE_TEXTS)
def test_a_source_file_is_known_by_its_content_alone(case: str) -> None:
    assert why_forbidden("orders.md", CODE_TEXTS[case])


@each("case", PROSE_TEXTS)
def test_a_text_that_looks_a_little_like_code_is_taken(case: str) -> None:
    assert why_forbidden("orders.md", PROSE_TEXTS[case]) == ""


@each("document", ["requirements", "constraints", "glossary"])
def test_the_sample_project_is_taken(document: str) -> None:
    assert why_forbidden(f".preflights/{document}.md", sample(document)) == ""


@each("suffix", sorted(SUFFIXES))
def test_a_suffix_counts_in_any_case_and_behind_a_copy(suffix: str) -> None:
    for path in (f"a/b.{suffix}", f"a/B.{suffix.upper()}", f"b.{suffix}.bak", f"b.{suffix} ."):
        assert why_forbidden(path, PROSE)
    assert why_forbidden(f"docs/{suffix}.md", PROSE) == ""


@each("name", sorted(NAMES))
def test_a_source_file_without_a_suffix_is_known_by_its_name(name: str) -> None:
    assert why_forbidden(f"a/{name.title()}", PROSE)


@each(
    "path",
    [
        "test_orders.md",
        "docs/TEST_orders",
        "orders_test.md",
        "orders_test",
        "orders.test.md",
        "orders.spec.txt",
        "test/orders.md",
        "a/Tests/b/orders.md",
        "spec/orders.md",
        "__tests__/orders.md",
    ],
)
def test_the_name_of_a_test_counts_under_any_suffix(path: str) -> None:
    assert why_forbidden(path, PROSE)


@each(
    "path",
    ["test.md", "tests.md", "spec.md", "testorders.md", "orders-test.md", "protest_.md", ".py"],
)
def test_no_other_name_counts(path: str) -> None:
    assert why_forbidden(path, PROSE) == ""


@each(
    ("path", "text", "why"),
    [
        ("a.py", "", ".py is a suffix of source files"),
        ("a/Makefile", "", "makefile is the name of a source file"),
        ("test_a.md", "", "test_a.md is the name of a test"),
        ("tests/a.md", "", "it lies in a folder of tests, tests/"),
        ("a.md", "#!/bin/sh", "its first line, #!, names an interpreter"),
        ("a.md", "<?php", "it begins as markup or a page of code does"),
        ("a.md", "import os\n", "it looks like Python, where prose is asked for"),
        ("a.md", "x = 1\ny = x + 1\n", "its lines have the form of source code"),
    ],
)
def test_it_is_said_why(path: str, text: str, why: str) -> None:
    assert why_forbidden(path, text) == why


@given(path=st.text(), text=st.text())
def test_any_name_and_content_is_judged(path: str, text: str) -> None:
    assert isinstance(why_forbidden(path, text), str)


@each("part", FILED["the_largest_document_is_judged_in_time"])
def test_the_largest_document_is_judged_in_time(part: str) -> None:
    text = (part * 200_000)[:200_000]
    began = perf_counter()
    for path in ("a.md", "a.toml"):
        why_forbidden(path, f"Some words of prose here.\n{text}")
    assert perf_counter() - began < 10
