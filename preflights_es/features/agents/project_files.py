"""Files in a repository that make other programs use Preflights; the only writer of such files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from preflights_es.features.agents import managed_files
from preflights_es.features.agents.managed_files import FilePlan, State
from preflights_es.kernel.errors import Refused, StoreUnavailable
from preflights_es.records.session_files import FOLDER
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.load import Settings
from preflights_es.system import files
from preflights_es.system.files import Unreadable
from preflights_es.use import installed_source
from preflights_es.use.results import Result

Host = Literal["github"]
SIZE_MAX: Final = 1_000_000  # bytes of a file that a person keeps by hand

_TEMPLATES: Final = Path(__file__).parent / "data" / "ci"
_STARTERS: Final = Path(__file__).parent / "data" / "starters"
_RECORDINGS: Final = "replays"
_PLAIN: Final = re.compile(r"[A-Za-z0-9._/-]+")


class ProjectFile(Result, frozen=True):
    """One file, as `init` found it."""

    path: str
    """Relative to the repository's root."""
    state: State
    written: bool
    """Whether this call wrote it."""
    content: str
    """What it should hold, by this version; the part to paste where the state is `unclear`."""
    why: str = ""
    """Of `unclear`: what the matter is, where it is known."""


class ProjectFiles(Result, frozen=True, tag_field="format", tag="init/1"):
    """All files of one call, in the order in which they are written."""

    files: tuple[ProjectFile, ...]


class Template(NamedTuple):
    """What this version does with one file."""

    parts: tuple[str, ...]
    """Of its path."""
    content: Callable[[str | None], FilePlan]
    """Given what the file holds; None where there is none."""

    @property
    def path(self) -> str:
        """Relative to the repository's root."""
        return "/".join(self.parts)


def ci_files(settings: Settings, host: Host, *, writes: bool = True) -> ProjectFiles:
    """The workflow that replays recorded sessions on a host, and the entry for pre-commit.

    Args:
        writes: whether what is missing or stale is written.

    Raises:
        Refused: a file cannot be read as text.
        StoreUnavailable: it cannot be written.
    """
    files = [kept(settings.root, one, writes=writes) for one in _wanted(settings, host)]
    return ProjectFiles(files=tuple(files))


def plan_files(settings: Settings, *, writes: bool = True) -> ProjectFiles:
    """Starters of the documents that plans are made from; a file that is there stays.

    Args:
        writes: whether what is missing is written.

    Raises:
        StoreUnavailable: a file cannot be written.
    """
    files = [
        _begun(settings.root, path, f"{name}.v1.md", writes=writes)
        for name, path in msgspec.structs.asdict(settings.plans).items()
    ]
    return ProjectFiles(files=tuple(files))


def _begun(root: Path, path: str, template: str, *, writes: bool) -> ProjectFile:
    """A starter, where nothing lies there."""
    *folders, name = path.split("/")
    content = (_STARTERS / template).read_text("utf-8")
    try:
        with files.opened(root, folders, makes=writes) as folder:
            is_there = folder.lies(name) is not None
            if writes and not is_there:
                with folder.new(name) as file:
                    file.write(content.encode())
    except FileNotFoundError:  # a folder that is not made
        is_there = False
    except FileExistsError:  # another process wrote it meanwhile
        is_there = True
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror}") from error
    state: State = "present" if is_there else "missing"
    return ProjectFile(path=path, state=state, written=writes and not is_there, content=content)


def _wanted(settings: Settings, host: Host) -> tuple[Template, ...]:
    filings = (one.filing for one in WORKFLOWS.values())
    filed = [settings.decisions, *(filing.folder for filing in filings if filing)]
    kept = [f"{folder}/{FOLDER}" for folder in filed]
    # Any other name would have to be quoted in three languages.
    folders = [_RECORDINGS, *filter(_PLAIN.fullmatch, kept)]
    said = {
        "SOURCE": installed_source.source().requirement,
        "FOLDERS": " ".join(folders),
        "PATTERN": "|".join(re.escape(folder) for folder in folders),
    }
    workflow, hook = (_filled(name, said) for name in (f"{host}.yml", "pre-commit.yml"))
    return (
        Template(
            (".github", "workflows", "preflights.yml"),
            lambda found: managed_files.whole(found, workflow),
        ),
        Template(
            (".pre-commit-config.yaml",),
            lambda found: managed_files.entry(found, hook, "- id: preflights-regress"),
        ),
    )


def _filled(name: str, said: dict[str, str]) -> str:
    text = (_TEMPLATES / name).read_text("utf-8")
    return re.sub(r"@([A-Z]+)@", lambda found: said[found[1]], text)


def kept(root: Path, wanted: Template, *, writes: bool) -> ProjectFile:
    """A file as it is found, and written where it is missing or stale.

    Raises:
        Refused: it cannot be read as text.
        StoreUnavailable: it cannot be written.
    """
    plan = wanted.content(found_text(root, wanted))
    writes = writes and plan.state in ("missing", "stale")
    if writes:
        write(root, wanted, plan)
    return as_file(wanted, plan, written=writes)


def as_file(wanted: Template, plan: FilePlan, *, written: bool) -> ProjectFile:
    """What is told of a file."""
    path, state, content, why = wanted.path, *plan[:3]
    return ProjectFile(path=path, state=state, written=written, content=content, why=why)


def write(root: Path, wanted: Template, plan: FilePlan) -> None:
    """Give a file its content, whole or not at all, or remove it with folders left empty.

    Raises:
        StoreUnavailable: it cannot be written.
    """
    *folders, name = wanted.parts
    try:
        with files.opened(root, folders, makes=not plan.goes) as folder:
            if plan.goes:
                folder.remove(name)
            else:
                with folder.new(name, replacing=True) as file:
                    file.write(plan.content.encode())
    except OSError as error:
        raise StoreUnavailable(f"{wanted.path} cannot be written: {error.strerror}") from error
    if plan.goes:
        with contextlib.suppress(OSError):  # a folder that holds something else stays
            for depth in range(len(folders), 0, -1):
                root.joinpath(*folders[:depth]).rmdir()


def found_text(root: Path, wanted: Template) -> str | None:
    """What a file holds; None where there is none.

    Raises:
        Refused: it cannot be read as text.
    """
    *folders, name = wanted.parts
    try:
        with files.opened(root, folders) as folder:
            return folder.content(name, SIZE_MAX).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    except Unreadable as error:
        why = str(error)
    except OSError as error:
        why = error.strerror or str(error)
    raise Refused(f"{wanted.path} is left as it is: {why}")
