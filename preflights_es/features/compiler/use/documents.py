"""The documents of a pass: files of the repository, read within limits and refused in one line."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from preflights_es.features.compiler.domain.forbidden import why_forbidden
from preflights_es.features.compiler.domain.values import BYTES_MAX, DOCUMENT_MAX, Document, Pass
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import escaped_text, is_git, problem, visible
from preflights_es.settings.load import Settings
from preflights_es.system import files as atomic_file
from preflights_es.system.files import Unreadable

PATH_MAX: Final = 1_000  # characters of a path
PLANS: Final = (".preflights", "artifacts")
"""The folder of plan files, which count by what the log says of them."""
_CIRCLE: Final = "its links lead in a circle"


class _PassDocumentFile(NamedTuple):
    """A file as it lies there."""

    path: str
    """As it was named, relative to the root."""
    real: str
    """Behind all links."""
    content: bytes


# 1. Documents ------------------------------------------------------------------------------


def documents(settings: Settings, pass_: Pass, use: Iterable[str] = ()) -> tuple[Document, ...]:
    """What a pass reads of the project's documents, and the files that the caller adds.

    Args:
        use: paths, relative to the project's root.

    Raises:
        Refused: one is missing, is no text, is too long, or must not be read.
    """
    named = [getattr(settings.plans, name) for name in pass_.documents]
    more = dict.fromkeys(resolve_document_path(settings.root, path) for path in use)
    paths = (*named, *(path for path in more if path not in named))
    return tuple(
        _read_pass_document(
            settings.root, path, "document_missing" if path in named else "file_missing"
        )
        for path in paths
    )


def target_file(root: Path, path: str) -> Document | None:
    """The file that an implementation is planned for; None where it does not exist yet.

    Raises:
        Refused: it is no text of the repository.
    """
    try:
        file = _read_document_file(root, path)
    except FileNotFoundError:
        return None
    return Document(
        path=path, sha256=sha256(file.content).hexdigest(), text=_decode_document_text(file)
    )


def resolve_document_path(root: Path, path: str) -> str:
    """A path relative to the project's root, without `.` and `..`.

    Raises:
        Refused: it leads out of the project, or is no path.
    """
    if found := problem(path, PATH_MAX):
        raise _document_refusal(path, found)
    if not path.strip() or "\n" in path:
        raise _document_refusal(path, "is no path of a file")
    inside = os.path.relpath(os.path.normpath(root / path), root).replace(os.sep, "/")
    if inside == ".." or inside.startswith("../") or os.path.isabs(inside):
        raise _document_refusal(path, "lies outside of the repository", "document_outside")
    if any(map(is_git, inside.split("/"))):
        raise _document_refusal(path, "belongs to git")
    return inside


def _read_pass_document(root: Path, path: str, missing: str) -> Document:
    """A document; refused with a code of its own where there is none."""
    try:
        file = _read_document_file(root, path)
    except FileNotFoundError:
        raise _document_refusal(path, "does not exist", missing) from None
    text = _decode_document_text(file)
    if not visible(text):
        raise _document_refusal(path, "is empty: write what it should say")
    if tuple(file.real.split("/"))[: len(PLANS)] == PLANS:
        raise _document_refusal(path, "is the file of an artifact: name the artifact by its id")
    for name in dict.fromkeys((file.path, file.real)):
        if why := why_forbidden(name):
            raise _document_refusal(path, f"is no document: {why}", "forbidden_input")
    return Document(path=path, sha256=sha256(file.content).hexdigest(), text=text)


# 2. Files ----------------------------------------------------------------------------------


def _read_document_file(root: Path, path: str) -> _PassDocumentFile:
    """A regular file of the repository; no link leads out of it.

    Raises:
        FileNotFoundError: there is none.
        Refused: it cannot be read.
    """
    top = root.resolve()
    try:
        real = (top / path).resolve(strict=True)
        if not real.is_relative_to(top):
            raise _document_refusal(
                path, "is a link that leads out of the repository", "document_outside"
            )
        *folders, name = parts = real.relative_to(top).parts or ("",)
        if any(map(is_git, parts)):
            raise _document_refusal(path, "is a link to what belongs to git")
        with atomic_file.open_folder_below(top, folders) as folder:
            return _PassDocumentFile(
                path, "/".join(parts), _read_document_content(path, folder, name)
            )
    except FileNotFoundError:
        raise
    except NotADirectoryError as error:
        raise FileNotFoundError from error
    except Unreadable as error:
        raise _document_refusal(path, f"cannot be read: {error}") from error
    except RuntimeError as error:  # of Python before 3.13
        raise _document_refusal(path, f"cannot be read: {_CIRCLE}") from error
    except OSError as error:
        why = _CIRCLE if error.errno == errno.ELOOP else error.strerror
        raise _document_refusal(path, f"cannot be read: {why}") from error


def _read_document_content(path: str, folder: atomic_file.Folder, name: str) -> bytes:
    found = folder.lies(name) if name else os.stat(folder.path)
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise _document_refusal(path, "is a folder: name a file")
    if found is not None and stat.S_ISREG(found.st_mode) and found.st_size > BYTES_MAX:
        raise _too_long(path, f"{found.st_size:,} bytes", f"{BYTES_MAX:,}")
    return folder.content(name, BYTES_MAX)


def _decode_document_text(file: _PassDocumentFile) -> str:
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"is not UTF-8, at byte {error.start + 1:,}: save it as UTF-8"
        raise _document_refusal(file.path, why) from error
    if found := problem(text, BYTES_MAX):
        raise _document_refusal(file.path, found)
    return text


def check_length(document: Document) -> None:
    """Refuse a document whose text is too long, once its secrets are out.

    Raises:
        Refused: it is.
    """
    if (found := len(document.text)) > DOCUMENT_MAX:
        raise _too_long(document.path, f"{found:,} characters", f"{DOCUMENT_MAX:,}")


def _too_long(path: str, found: str, most: str) -> Refused:
    why = f"has {found}, at most {most} are read: split it"
    return _document_refusal(path, why, "document_too_long")


def _document_refusal(path: str, why: str, code: str = "document_unfit") -> Refused:
    name = escaped_text(path)[:PATH_MAX]
    return Refused(f"{name if visible(path) else repr(path)} {why}", code=code, path=name)
