"""Records that a person edited, so that they differ from their session.

Title, status, chosen value, scope and the files that it holds for are compared, as the reader of
records reads them in the file and in the text that the session gives. Any other prose is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from preflights_es.kernel.errors import ArtifactOutside, PreflightsError
from preflights_es.kernel.text import escaped_text, late_pattern, one_line, shortened
from preflights_es.records.documents import Documents
from preflights_es.records.foreign_records import foreign_record
from preflights_es.records.record_names import RECORD_MAX
from preflights_es.system.files import Unreadable, regular
from preflights_es.use.decisions import log_decisions
from preflights_es.use.filed_sessions import FiledSessions
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow

VALUE_MAX: Final = 80  # characters of a value that is quoted
_ROW: Final = late_pattern(
    r"^[*+-][ \t]+(?P<name>[^\n:]{1,200}?):[ \t]*(?P<mark>\*\*|__)?(?P<value>.+?)(?:(?P=mark)|$)",
    re.MULTILINE,
)
_SCOPE: Final = ("For", "F\u00fcr")


class DifferingRecord(NamedTuple):
    """A record that does not say what its session says."""

    row: DecisionRow
    path: str
    why: str
    line: int | None


def differing_records(
    request: Request,
    rows: Iterable[DecisionRow],
    gone: Iterable[str] = (),
    touched: Iterable[str] = (),
) -> Iterator[DifferingRecord]:
    """The records of these decisions that were edited so that they say something else.

    Args:
        gone: files that were deleted; another one that is not there is of another branch.
        touched: files that are compared even where a session says that they were written so: no
            signature covers that.
    """
    process, deleted, places = request.process, {*gone}, dict[str, Path | None]()
    changed, filed = {*touched}, process.file_log
    written = {(one.session_id, one.artifact): one for one in rows if one.sha256}
    for row in written.values():
        if row.artifact is None:
            continue
        documents = (filed if row.file else process).documents
        try:
            folder, _, name = row.artifact.rpartition("/")
            if folder not in places:
                places[folder] = _folder_of_record(documents, row.artifact)
            if (place := places[folder]) is None:
                continue  # the log of another checkout has another folder
            content = regular(place / name, RECORD_MAX, follows=False)
            if row.artifact not in changed and sha256(content).hexdigest() == row.sha256:
                continue
            texts = _texts_of_session(request, documents, row, row.artifact in changed)
            former = [_read_compared_values(row, said.encode()) for said in texts]
            found, wanted = _read_compared_values(row, content), former[-1]
        except FileNotFoundError:
            if row.artifact in deleted:
                yield DifferingRecord(row, row.artifact, "it was deleted", None)
            continue
        except (OSError, Unreadable, PreflightsError) as error:
            yield DifferingRecord(row, row.artifact, f"it cannot be compared: {error}", None)
            continue
        others = [name for name, said in wanted.items() if found.get(name, "") != said]
        if others and found not in former:
            said = {name: _quote_record_value(wanted[name]) for name in others}
            now = {name: _quote_record_value(found.get(name, "")) for name in others}
            each = (f"its {n} is {now[n]}, and its session says {said[n]}" for n in others)
            why = "; ".join(each)
            line = _find_differing_line(content, others[0], found)
            yield DifferingRecord(row, row.artifact, why, line)


def _texts_of_session(
    request: Request, documents: Documents, row: DecisionRow, is_changed: bool
) -> Sequence[str]:
    """What a record may say; last, what its session says now.

    On a branch that parted before a decision was replaced, the session's file is behind the log,
    and the record agrees with it. Where no file lies, any document of the log may be the branch's.
    """
    filed = None if row.file else FiledSessions(request.process).file_of(row.session_id)
    upto = filed.version if filed and filed.compared == "behind" else 0
    _, now = documents.text(row.session_id, upto=upto)
    return (now,) if filed or row.file or is_changed else (*documents.texts(row.session_id), now)


def _folder_of_record(documents: Documents, path: str) -> Path | None:
    """The folder of a record; None where it is none of this project."""
    try:
        return documents.target(path).parent
    except ArtifactOutside:
        return None


def edited_records(request: Request) -> tuple[str, ...]:
    """What `sync` says of records that were edited, one line each."""
    rows = log_decisions(request.process, everything=True)
    return tuple(map(describe_differing_record, differing_records(request, rows)))


def describe_differing_record(one: DifferingRecord) -> str:
    """What is wrong, and what to do."""
    return (
        f"{escaped_text(one.path)} says something else than its session: {one.why}. "
        f"Undo that edit, or accept a decision that replaces {one.row.name}"
    )


def _read_compared_values(row: DecisionRow, content: bytes) -> Mapping[str, str]:
    """What is compared of a text, by the words for it."""
    one = foreign_record(row.artifact or "", content)
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    rows = [
        (_unescaped_line(one["name"]), _unescaped_line(one["value"]), one["mark"])
        for one in _ROW.finditer(text)
    ]
    return {
        "title": one.title,
        "status": one.status + (f" by {one.superseded_by.text}" if one.superseded_by else ""),
        "applies-to": ", ".join(one.applies_to),
        "chosen value": one.chosen,
        "scope": next((value for name, value, _ in rows if name in _SCOPE), ""),
        **{field: _stated_field_value(field, rows) for field, _ in row.fields},
    }


def _stated_field_value(field: str, rows: Iterable[tuple[str, str, str | None]]) -> str:
    """What is said of a field: in bold, as records have it, else in any list."""
    said = [(value, mark) for name, value, mark in rows if name == one_line(field)]
    return ", ".join(value for value, mark in said if mark or not any(m for _, m in said))


def _unescaped_line(text: str) -> str:
    return one_line(text.replace("\\", ""))


def _find_differing_line(content: bytes, name: str, found: Mapping[str, str]) -> int | None:
    """Where a value stands that differs; None where it stands nowhere."""
    key = {"title": "# ", "status": "status:", "applies-to": "applies-to:"}.get(name, found[name])
    lines = content.decode("utf-8", "replace").splitlines()
    places = (at for at, line in enumerate(lines, 1) if key and key in line)
    return next(places, None)


def _quote_record_value(text: str) -> str:
    return repr(shortened(escaped_text(one_line(text)), VALUE_MAX)) if text else "missing"
