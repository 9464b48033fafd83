"""The facts of the repository, as people read them.

Source: RESOLUTIONS 0.25 and seed 0, section 9 (`LLMContext`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.runtime.sanitizing import Sanitizer
from preflights_es.settings.load import cached
from preflights_es.use.facts.repository import Repository, repository
from preflights_es.use.foreign import read_foreign_records
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import Result
from preflights_es.words.language import fold_letters, read_product_names

TEXT_MAX: Final = 10_000  # characters that are looked at for secrets
PACKAGES_MAX: Final = 1_000_000  # characters of all names of packages, looked at together
TITLE_MAX: Final = 120
RECORDS_MAX: Final = 15


class Technology(Result, frozen=True):
    """A package or an image that a file lists."""

    name: str
    product: str
    """What it stands for, by the names that Preflights knows; empty where it knows none."""
    path: str


class LanguageCount(Result, frozen=True):
    """A programming language and how many files are written in it."""

    name: str
    files: int


class NotRead(Result, frozen=True):
    """A file that says something, and was not read."""

    path: str
    why: str


class Facts(Result, frozen=True, tag_field="format", tag="facts/1"):
    """What the repository says of itself; products that Preflights knows come first."""

    readme: str
    """Its first paragraph; empty without one."""
    languages: tuple[LanguageCount, ...]
    ci: tuple[str, ...]
    technologies: tuple[Technology, ...]
    records: tuple[str, ...]
    """Titles of the records that other tools wrote."""
    not_read: tuple[NotRead, ...]


def read_known_facts(request: Request) -> Facts:
    """What is known of the repository; nothing of it is recorded."""
    return facts_of(request.process)


def facts_of(process: Process) -> Facts:
    """The same, without a request."""
    settings, sanitizer = process.settings, process.sanitizer
    found = repository(settings.root, cached("facts"), is_whole=settings.is_in_git)
    return Facts(
        readme=_clean_fact_text(found.readme, sanitizer),
        languages=tuple(LanguageCount(name=name, files=files) for name, files in found.languages),
        ci=found.ci,
        technologies=tuple(_technologies(found, sanitizer)),
        records=tuple(_titles(process)),
        not_read=tuple(NotRead(path=escaped_text(one.path), why=one.why) for one in found.unread),
    )


def _technologies(found: Repository, sanitizer: Sanitizer) -> Iterator[Technology]:
    products = {
        fold_letters(package): one.name for one in read_product_names() for package in one.packages
    }
    called = {
        fold_letters(name): one.name
        for one in read_product_names()
        for name in (one.name, *one.aliases)
    }
    first: dict[str, Technology] = {}
    fit = _fit({name for one in found.listed for name in one.names}, sanitizer)
    paths = _fit({one.path for one in found.listed}, sanitizer)
    for one in found.listed:
        if one.path not in paths:
            continue
        for name in one.names:
            bare = fold_letters(name.partition(":")[0].rpartition("/")[2])
            of = called.get(bare, "") if one.are_images else products.get(fold_letters(name), "")
            if name in fit and name not in first:
                first[name] = Technology(name=name, product=of, path=one.path)
    yield from sorted(first.values(), key=lambda one: not one.product)


def _titles(process: Process) -> Iterator[str]:
    try:
        rows = read_foreign_records(process, everything=False).rows
    except PreflightsError:
        return  # a folder that cannot be read is told of where records are listed
    # Looked at together: most have no secret, and each look has its price.
    titles = [escaped_text(one_line(row.title)) for row in rows[:RECORDS_MAX]]
    whole = _clean_fact_text("; ".join(titles), process.sanitizer)
    for title in titles:
        yield shortened(
            title if title in whole else _clean_fact_text(title, process.sanitizer), TITLE_MAX
        )


def _clean_fact_text(text: str, sanitizer: Sanitizer) -> str:
    """A text of a stranger, on one line, without secrets; empty where it cannot be recorded."""
    try:
        return sanitizer.cleaned_text("a fact", escaped_text(one_line(text)), TEXT_MAX)[0]
    except Refused:
        return ""


def _fit(packages: set[str], sanitizer: Sanitizer) -> set[str]:
    """Names of packages that can be recorded: those that hold no secret."""
    try:
        _, kinds = sanitizer.cleaned_text("packages", "\n".join(sorted(packages)), PACKAGES_MAX)
    except Refused:
        kinds = ("unfit",)
    return packages if not kinds else {one for one in packages if not _kinds(one, sanitizer)}


def _kinds(name: str, sanitizer: Sanitizer) -> tuple[str, ...]:
    try:
        return sanitizer.cleaned_text("a package", name, TEXT_MAX)[1]
    except Refused:
        return ("unfit",)
