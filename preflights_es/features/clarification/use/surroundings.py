"""The facts of the repository as a session records them (RESOLUTIONS 0.25)."""

from __future__ import annotations

from typing import Final

from preflights_es.features.clarification.domain.signals import Signal
from preflights_es.features.clarification.domain.values import LLMContext
from preflights_es.kernel.text import shortened
from preflights_es.use.facts.facts import facts_of
from preflights_es.use.process import Process

BYTES_MAX: Final = 8_000  # of what a session records
ARCHITECTURE_MAX: Final = 2_000  # of these, of the README and the titles of records


def context_of(process: Process) -> LLMContext | None:
    """What the repository says of itself; None where it says nothing.

    Source: seed 0, section 9 (`LLMContext`).
    """
    found = facts_of(process)
    languages = ", ".join(f"{one.name} ({_files(one.files)})" for one in found.languages[:8])
    ci = f"CI: {', '.join(found.ci)}" if found.ci else ""
    titles = "; ".join(found.records)
    said = (found.readme, f"Decision records: {titles}" if titles else "")
    files = "; ".join(filter(None, (languages, ci)))
    architecture = shortened(" ".join(filter(None, said)), ARCHITECTURE_MAX)
    left = BYTES_MAX - len(files.encode()) - len(architecture.encode())
    kept: list[str] = []
    for one in found.technologies:
        text = Signal(one.product, one.name, one.path).written()
        left -= len(text.encode()) + 4  # quotes and a comma
        if left < 0:
            break
        kept.append(text)
    if not (files or architecture or kept):
        return None
    return LLMContext(files, tuple(kept), architecture)


def _files(count: int) -> str:
    return f"{count} file" if count == 1 else f"{count} files"
