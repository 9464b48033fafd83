"""Questions that a person saved with their queries: written as snippets, and found again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from preflights_es.features.metrics.domain.question import content
from preflights_es.features.metrics.domain.values import Saved
from preflights_es.features.metrics.use.catalogue_files import QUESTION
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import late_pattern, one_line
from preflights_es.redaction.masking import redact
from preflights_es.system import files as atomic_file

NEAREST_MAX: Final = 3
SHARED_MIN: Final = 2  # words that a near question shares with another
_NAME: Final = late_pattern(r"[a-z0-9][a-z0-9_-]{0,63}")


def nearest(text: str, saved: Sequence[Saved]) -> tuple[Saved, ...]:
    """The saved questions that share the most words with a text; none that holds a secret."""
    words = content(text)
    shared = {one.name: len(words & content(one.question)) for one in saved}
    near = [one for one in saved if shared[one.name] >= SHARED_MIN]
    near = [one for one in near if not redact(f"{one.question} {one.sql}").kinds]
    return tuple(sorted(near, key=lambda one: -shared[one.name])[:NEAREST_MAX])


def checked_name(name: str) -> str:
    """A name under which a question may be saved.

    Raises:
        Refused: a file could not be called so.
    """
    if _NAME.fullmatch(name) is None:
        message = f"found {name!r} as the name of a question, expected such as orders-by-month"
        raise Refused(message, code="bad_name")
    return name


def save(folder: Path, name: str, question: str, sql: str) -> Path:
    """Write a question and its query as a snippet, whole or not at all; where it lies.

    Raises:
        Refused: a snippet has the name, or the folder cannot be written.
    """
    path = folder / f"{checked_name(name)}.sql"
    text = f"{QUESTION}{one_line(question)}\n{sql.strip()}\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_file.opened(folder) as place, place.new(path.name) as file:
            file.write(text.encode())
    except FileExistsError as error:
        message = f"{path} exists: choose another name, or remove the file"
        raise Refused(message, code="name_taken") from error
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        raise Refused(message, code="unwritable") from error
    return path
