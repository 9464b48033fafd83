"""Files in a repository that make other programs use Preflights, and whether a person edited them.

The only writer of such files. The first line of what is written bears a digest of the rest: where
it still fits, no person edited it, and a newer version may write it anew. Edits of a person stay.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from preflights_es.kernel.errors import Refused, StoreUnavailable
from preflights_es.records.session_files import FOLDER
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.load import Settings, record_places
from preflights_es.settings.signing import REPOSITORY, repository_made
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

State = Literal["missing", "current", "stale", "edited", "unclear", "present"]
"""Of what is written. `stale`: another version wrote it, and nothing was edited. `unclear`: the
file has a shape in which no place for it is found. `present`: a person's, begun here or not."""

_STAMP: Final = "# Written by Preflights (digest {}). You may edit it: your edits are kept."
_STAMPED: Final = re.compile(r"[ ]*# Written by Preflights \(digest (?P<digest>[0-9a-f]{16})\).*")
_LIST: Final = re.compile(r"repos:[ ]*(?P<empty>\[[ ]*\])?[ ]*(#.*)?")
_ITEM: Final = re.compile(r"(?P<indent>[ ]*)-([ ]|$)")
_KEY: Final = re.compile(r"[^\s#-]")
_UNCLEAR: Final = re.compile(r"[{\[&*!|>'\"%@?]|[ ]*\t")
"""Begins a line of a file in another style than the usual one."""
_BEGIN: Final = "<!-- Written by Preflights (digest {}). You may edit it: your edits are kept. -->"
_END: Final = "<!-- Preflights ends -->"
_BLOCK: Final = re.compile(
    r"^<!-- Written by Preflights \(digest (?P<digest>[0-9a-f]{16})\)[^\r\n]*-->\r?\n"
    rf"(?P<body>.*?)^{_END}",
    re.MULTILINE | re.DOTALL,
)
_MARK: Final = re.compile(r"<!-- Written by Preflights|<!-- Preflights ends")


class FilePlan(NamedTuple):
    """How a file stands, and what it should hold."""

    state: State
    content: str
    """The whole file; the text to paste where the state is `unclear`."""
    why: str = ""
    """Of `unclear`: what the matter is, where it is known."""


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
    updated = partial(update_project_file, settings.root, writes=writes)
    return ProjectFiles(files=tuple(map(updated, _templates_for_host(settings, host))))


def repository_file(settings: Settings) -> ProjectFile:
    """The id by which what is signed names this repository, made where it is missing.

    Raises:
        SettingsError: its file holds no id, or cannot be read or written.
    """
    found, is_new = repository_made(settings.root)
    state: State = "missing" if is_new else "present"
    return ProjectFile(path=REPOSITORY, state=state, written=is_new, content=f"{found}\n")


def plan_files(settings: Settings, *, writes: bool = True) -> ProjectFiles:
    """Starters of the documents that plans are made from; a file that is there stays.

    Args:
        writes: whether what is missing is written.

    Raises:
        StoreUnavailable: a file cannot be written.
    """
    starts = partial(_ensure_starter_file, settings.root, writes=writes)
    wanted = msgspec.structs.asdict(settings.plans).items()
    return ProjectFiles(files=tuple(starts(path, f"{name}.v1.md") for name, path in wanted))


def _ensure_starter_file(root: Path, path: str, template: str, *, writes: bool) -> ProjectFile:
    """A starter, where nothing lies there."""
    *folders, name = path.split("/")
    content = (_STARTERS / template).read_text("utf-8")
    try:
        with files.open_folder_below(root, folders, makes=writes) as folder:
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


def _templates_for_host(settings: Settings, host: Host) -> tuple[Template, ...]:
    filings = (one.filed.filing for one in WORKFLOWS.values())
    places = record_places(settings)
    filed = [
        *dict.fromkeys((places.new, *(one.path for one in places.folders))),
        *(filing.folder for filing in filings if filing),
    ]
    kept = [f"{folder}/{FOLDER}" for folder in filed]
    # Any other name would have to be quoted in three languages.
    folders = [_RECORDINGS, *filter(_PLAIN.fullmatch, kept)]
    said = {"SOURCE": installed_source.find_install_source().requirement}
    said |= {"FOLDERS": " ".join(folders), "PATTERN": "|".join(map(re.escape, folders))}
    workflow, hook = (_fill_ci_template(name, said) for name in (f"{host}.yml", "pre-commit.yml"))
    return (
        Template(
            (".github", "workflows", "preflights.yml"),
            lambda found: plan_whole_file(found, workflow),
        ),
        Template(
            (".pre-commit-config.yaml",),
            lambda found: entry(found, hook, "- id: preflights-regress"),
        ),
    )


def _fill_ci_template(name: str, said: dict[str, str]) -> str:
    text = (_TEMPLATES / name).read_text("utf-8")
    return re.sub(r"@([A-Z]+)@", lambda found: said[found[1]], text)


def update_project_file(root: Path, wanted: Template, *, writes: bool) -> ProjectFile:
    """A file as it is found, and written where it is missing or stale.

    Raises:
        Refused: it cannot be read as text.
        StoreUnavailable: it cannot be written.
    """
    plan = wanted.content(_found_text(root, wanted))
    writes = writes and plan.state in ("missing", "stale")
    if writes:
        _write_project_file(root, wanted, plan)
    return as_file(wanted, plan, written=writes)


def as_file(wanted: Template, plan: FilePlan, *, written: bool) -> ProjectFile:
    """What is told of a file."""
    path, state, content, why = wanted.path, *plan[:3]
    return ProjectFile(path=path, state=state, written=written, content=content, why=why)


def _write_project_file(root: Path, wanted: Template, plan: FilePlan) -> None:
    """Give a file its content, whole or not at all.

    Raises:
        StoreUnavailable: it cannot be written.
    """
    *folders, name = wanted.parts
    try:
        with (
            files.open_folder_below(root, folders, makes=True) as folder,
            folder.new(name, replacing=True) as file,
        ):
            file.write(plan.content.encode())
    except OSError as error:
        raise StoreUnavailable(f"{wanted.path} cannot be written: {error.strerror}") from error


def _found_text(root: Path, wanted: Template) -> str | None:
    """What a file holds; None where there is none.

    Raises:
        Refused: it cannot be read as text.
    """
    *folders, name = wanted.parts
    try:
        with files.open_folder_below(root, folders) as folder:
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


# 1. A whole file, and an item of a list in YAML ---------------------------------------------------


def stamped(body: str) -> str:
    """The text with its digest in front."""
    return f"{_STAMP.format(digest_of_body(body))}\n{body}"


def plan_whole_file(found: str | None, body: str) -> FilePlan:
    """A file of which everything is written here.

    Args:
        found: what the file holds; None where there is none.
    """
    content = stamped(body)
    if found is None:
        return FilePlan("missing", content)
    return FilePlan(_state_of_stamped_content(found.replace("\r\n", "\n"), content), content)


def entry(found: str | None, body: str, mark: str) -> FilePlan:
    """A file with a list `repos`, of which one item is written here.

    Every other byte stays. Only the plain shape of such files is changed: a list in block style.

    Args:
        body: the item, without indent.
        mark: a line of the item that tells whose it is.
    """
    if found is None:
        return FilePlan("missing", f"repos:\n{_indented(stamped(body), '  ')}")
    newline = "\r\n" if "\r\n" in found else "\n"
    lines = found.replace("\r\n", "\n").split("\n")
    if any(line.strip() == mark for line in lines):
        return _plan_replaced_item(found, lines, body, newline)
    if not any("repos" in line for line in lines):
        lines = [*lines[: len(lines) - (not lines[-1])], "repos:", ""]
    place = _find_item_place(lines)
    if place is None:
        return FilePlan("unclear", stamped(body))
    at, indent, head = place
    added = _indented(stamped(body), indent).rstrip("\n").split("\n")
    if head is not None:
        lines[head] = lines[head].replace("[", "").replace("]", "").rstrip()
    after = lines[at:]
    return FilePlan("missing", newline.join([*lines[:at], *added, *(after or [""])]))


def _plan_replaced_item(found: str, lines: list[str], body: str, newline: str) -> FilePlan:
    """The item anew, where it was not edited."""
    starts = [i for i, line in enumerate(lines) if _STAMPED.fullmatch(line)]
    if len(starts) != 1:
        return FilePlan("edited", found)
    start = starts[0]
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip(" "))]
    end, begins = start + 1, f"{indent}- "
    while end < len(lines) and lines[end].startswith(begins):
        end, begins = end + 1, f"{indent}  "
    there = "\n".join(line.removeprefix(indent) for line in lines[start:end]) + "\n"
    content = stamped(body)
    state = _state_of_stamped_content(there, content)
    if state != "stale":
        return FilePlan(state, found)
    anew = _indented(content, indent).rstrip("\n").split("\n")
    return FilePlan("stale", newline.join([*lines[:start], *anew, *lines[end:]]))


def _state_of_stamped_content(found: str, content: str) -> State:
    if found == content:
        return "current"
    head, _, rest = found.partition("\n")
    stamp = _STAMPED.fullmatch(head)
    is_ours = stamp is not None and stamp["digest"] == digest_of_body(rest)
    return "stale" if is_ours else "edited"


def _find_item_place(lines: list[str]) -> tuple[int, str, int | None] | None:
    """Where an item goes, its indent, and the line of an empty list; None where that is unclear."""
    heads = [i for i, line in enumerate(lines) if line.lstrip("\ufeff").startswith("repos:")]
    several = any(line.startswith(("---", "...")) for line in lines[1:])
    if len(heads) != 1 or several or any(map(_UNCLEAR.match, lines)):
        return None
    head = heads[0]
    matched = _LIST.fullmatch(lines[head].lstrip("\ufeff"))
    if matched is None:
        return None
    end = next((i for i in range(head + 1, len(lines)) if _KEY.match(lines[i])), len(lines))
    section = lines[head + 1 : end]
    while section and (not section[-1].strip() or (end < len(lines) and section[-1][:1] == "#")):
        section.pop()
    at = head + 1 + len(section)
    item = next(filter(None, map(_ITEM.match, section)), None)
    if matched["empty"]:
        return None if item else (at, "  ", head)
    if item is None:
        is_empty = all(not line.strip() or line.lstrip().startswith("#") for line in section)
        return (at, "  ", None) if is_empty else None
    return at, item["indent"], None


def _indented(text: str, indent: str) -> str:
    return "".join(f"{indent}{line}\n" if line else "\n" for line in text.rstrip("\n").split("\n"))


def digest_of_body(body: str) -> str:
    """Of what is written, to tell whether it was edited."""
    return sha256(body.encode()).hexdigest()[:16]


# 2. A block of Markdown ---------------------------------------------------------------------------


def block(found: str | None, body: str) -> FilePlan:
    """A text with one block of ours, at its end or where the block is.

    Args:
        found: what the file holds; None where there is none.
    """
    wanted = f"{_BEGIN.format(digest_of_body(body))}\n{body}{_END}"
    if found is None:
        return FilePlan("missing", f"{wanted}\n")
    there = _unedited(found)
    if there is None:
        is_edited = _MARK.search(found)
        return FilePlan("edited", found) if is_edited else _plan_appended_part(found, wanted)
    wanted = wanted.replace("\n", _newline(there[0]))
    if there[0] == wanted:
        return FilePlan("current", found)
    return FilePlan("stale", f"{found[: there.start()]}{wanted}{found[there.end() :]}")


def _unedited(found: str) -> re.Match[str] | None:
    there = _BLOCK.search(found)
    if there is None or len(_MARK.findall(found)) != 2:  # where it begins, and where it ends
        return None
    body = there["body"].replace("\r\n", "\n")
    return there if digest_of_body(body) == there["digest"] else None


# 3. A table of TOML -------------------------------------------------------------------------------


def plan_toml_table(found: str | None, path: tuple[str, str], body: str) -> FilePlan:
    """A file of TOML with a table of ours at its end.

    Args:
        found: what the file holds; None where there is none.
        path: the table's name, in two parts.
        body: the table with its header.
    """
    if found is None:
        return FilePlan("missing", body)
    try:
        there = _read_toml_table(found, path)
        if there is not None:
            return FilePlan("current" if there == _read_toml_table(body, path) else "edited", found)
        plan = _plan_appended_part(found, body.rstrip("\n"))
        _read_toml_table(plan.content, path)  # an inline table, for example, takes no more keys
    except _NoTable as error:
        return FilePlan("unclear", body, str(error))
    return plan


class _NoTable(Exception):
    """The file is no TOML, or has no place for the table."""


def _read_toml_table(text: str, path: tuple[str, str]) -> Any:
    try:
        above = tomllib.loads(text.removeprefix("\ufeff")).get(path[0], {})
    except tomllib.TOMLDecodeError as error:
        raise _NoTable(f"it is no TOML, or takes no more tables: {error}") from error
    except RecursionError as error:
        raise _NoTable("it is nested too deep") from error
    if not isinstance(above, dict):
        raise _NoTable(f"{path[0]!r} is no table")
    return above.get(path[1])


# 4. Any text --------------------------------------------------------------------------------------


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _plan_appended_part(found: str, part: str) -> FilePlan:
    """The part at the end, behind an empty line; a text without a last line break gets none."""
    newline = _newline(found)
    part = part.replace("\n", newline)
    if found and not found.endswith("\n"):
        return FilePlan("missing", f"{found}{newline}{newline}{part}")
    return FilePlan("missing", f"{found}{newline}{part}{newline}")
