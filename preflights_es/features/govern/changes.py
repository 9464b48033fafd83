"""Which files a change touches, what stands in them, and which of them are session files: git is
asked, and runs no program. Names of files are bytes of strangers: what of them is no UTF-8 is a
surrogate here. Git compares by plumbing alone: `git diff` itself runs filters that a repository
configures.
"""

from __future__ import annotations

import codecs
import os
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha1, sha256
from pathlib import Path
from typing import Final, NamedTuple

from preflights_es.features.govern.domain.imports import OR
from preflights_es.kernel.errors import PreflightsError, StoreUnavailable
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import escaped_text, late_pattern
from preflights_es.records.session_files import FOLDER, SIZE_MAX
from preflights_es.settings.load import surroundings
from preflights_es.store import jsonl
from preflights_es.store.stored_events import verified
from preflights_es.system import files, git
from preflights_es.system.files import Unreadable
from preflights_es.use.request import Request

CONTENT_MAX: Final = 2_000_000  # bytes of a file that is read
READ_MAX: Final = 256_000_000  # bytes of all that is read of git at once
GIT_S: Final = 60  # seconds
_DIFF: Final = tuple(
    """
    diff-index --raw -z --no-abbrev --no-renames --no-ext-diff --no-textconv
    --ignore-submodules=dirty --relative
    """.split()  # noqa: SIM905  a command
)
_REGULAR: Final = (b"100644", b"100755")
ENCODING: Final = "working-tree-encoding"
_CONVERTING: Final = (ENCODING, "filter", "ident")
_USUAL: Final = ("100644 ", "100755 ")
"""How `git ls-tree` begins the line of such a file."""


class ChangedFile(NamedTuple):
    """A file that a change adds, edits or deletes; a renamed one is two."""

    path: str
    """Relative to the project's root, with `/`."""
    is_gone: bool = False
    is_text: bool = True
    """False for a link and a submodule, of which nothing is read."""
    old: str = ""
    """Git's id of what stood there; empty where nothing did, or no file."""
    new: str = ""
    """Git's id of what is there; empty where the work tree is read."""

    @property
    def folder(self) -> str:
        """Where it lies; empty at the root."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """Without its folder."""
        return self.path.rpartition("/")[2]


class ChangeSet(NamedTuple):
    """Files that are checked."""

    files: tuple[ChangedFile, ...] = ()
    base: str = ""
    """The commit that they are compared with; empty without one."""
    tip: str = ""
    """The commit that is the base's now: what is decided there counts; empty without one."""
    trouble: str = ""
    """Why there is nothing to compare with, and what to do."""
    others: tuple[str, ...] = ()
    """Further commits in which the branches parted: each was merged into the other."""
    doubt: str = ""
    """Why a later commit than the base may be the one in which the branches parted."""


def read_change_set(root: Path, base: str = "", *, staged: bool = False) -> ChangeSet:
    """What differs from a base, in the work tree or in what is staged.

    Args:
        base: a revision: what it has in common with HEAD is the base; else it is HEAD.
    """
    head = commit_of(root, "HEAD")
    revision, trouble = _resolve_base_revision(root, base) if base else ("HEAD", "")
    if trouble:
        return ChangeSet(trouble=trouble)
    tip = commit_of(root, revision) if base else head
    common = [head]
    if base and head and tip:
        common = _read_git_output(root, "merge-base", "--all", tip, "HEAD").split()
    found, *others = common or [""]
    if base and not (found and tip):
        why = "has no commit in common with HEAD" if tip else "is no commit, branch or tag here"
        return ChangeSet(trouble=_missing(base, why))
    of_nothing = ("hash-object", "-t", "tree", "--stdin")  # no commit yet
    tree = found or _read_git_output(root, *of_nothing)
    listed = _files_that_differ(root, tree, staged=staged) if tree else None
    if listed is None:
        why = "git finds no repository here: name the files that are to be checked"
        return ChangeSet(trouble=why)
    for other in others:
        listed |= {**(_files_that_differ(root, other, staged=staged) or {}), **listed}
    if others:  # what one of them has may be what the change takes back from another one
        differ = _files_that_differ(root, tip, staged=staged) or {}
        listed = {path: one for path, one in listed.items() if path in differ}
    is_cut = base and _read_git_output(root, "rev-parse", "--is-shallow-repository") == "true"
    why = "may have parted from HEAD later: this clone is shallow"
    doubt = _missing(base, why) if is_cut else ""
    files = {*listed.values()}
    if not (base or staged):
        new = _output(root, "ls-files", "-z", "--others", "--exclude-standard") or b""
        files |= {ChangedFile(path) for path in _split_file_names(new)}
    return ChangeSet(tuple(sorted(files)), found, tip, others=tuple(others), doubt=doubt)


def with_linked_files(root: Path, change: ChangeSet) -> ChangeSet:
    """Also what changed behind links that were there, by the names that lead to it."""
    listed = _output(root, "ls-files", "--stage", "-z") if change.base else None
    names = (line.partition(b"\t")[2] for line in (listed or b"").split(b"\0") if line[:2] == b"12")
    found, real = [*change.files], str(root.resolve())
    files = {one.path: one for one in change.files}
    for link in map(os.fsdecode, names):
        if link in files:
            continue  # it is looked at itself
        to = os.path.relpath(os.path.realpath(root / link), real).replace(os.sep, "/")
        found += [files[to]._replace(path=link)] if to in files else []
        inside = "" if to == "." else f"{to}/"
        for one in change.files[bisect_left(change.files, (inside,)) :]:
            if not one.path.startswith(inside):
                break
            found.append(one._replace(path=f"{link}/{one.path.removeprefix(inside)}"))
    return change._replace(files=tuple(found))


def _files_that_differ(root: Path, tree: str, *, staged: bool) -> dict[str, ChangedFile] | None:
    """From a commit, by path; None where git cannot say."""
    words = (*_DIFF, *(("--cached",) if staged else ()), tree, "--")
    raw = git.output(words, root, _unfiltered(root), GIT_S)
    if raw is None:
        return None
    return {
        one.path: one
        for one, has_its_mode in _parse_diff_index(raw)
        if staged or one.new or not (has_its_mode and _has_same_content(root, one))
    }


_NAME: Final = late_pattern(r"([^~^:@*?\[]+)([~^:@].*)?", re.DOTALL)
_SHORT: Final = late_pattern(r"[0-9a-f]{4,39}")


def _resolve_base_revision(root: Path, base: str) -> tuple[str, str]:
    """The revision that is meant, and why none is: git takes a tag before a branch of its name.

    A person who pushes a tag, or names a branch as a remote's is named, must not choose the base.
    """
    if (said := _NAME.fullmatch(base)) is None:
        return base, ""
    name, rest = said[1], said[2] or ""
    tag, first = f"refs/tags/{name}", f"refs/{name}"
    heads = (f"refs/heads/{name}", f"refs/remotes/{name}", f"refs/remotes/{name}/HEAD")
    words = ("for-each-ref", "--format=%(refname)%00", tag, first, *heads)
    listed = (_output(root, *words) or b"").replace(b"\n", b"")
    known = [one.strip() for one in _split_file_names(listed)]
    branches, is_tag = [one for one in heads if one in known], tag in known
    if first in known or not (branches or is_tag):
        return base, ""  # git takes the first, and no other thing is called so
    asked = ("rev-parse", f"--disambiguate={name}")
    is_commit = _SHORT.fullmatch(name) and _read_git_output(root, *asked)
    if is_commit or len({commit_of(root, one) for one in branches}) > 1:
        several = ", ".join((*branches, *((tag,) if is_tag else ())))
        found = f"the base {escaped_text(name)!r} means several: {escaped_text(several)}"
        return "", f"{found}{', a commit' if is_commit else ''}. Say one by its whole name"
    return (branches[0] + rest if branches and is_tag else base), ""


def _missing(base: str, why: str) -> str:
    return (
        f"the base {escaped_text(base)!r} {why}: fetch the whole history (in GitHub Actions "
        "`fetch-depth: 0` of actions/checkout, elsewhere `git fetch --unshallow`)"
    )


def _parse_diff_index(raw: bytes) -> Iterator[tuple[ChangedFile, bool]]:
    """The lines of `git diff-index --raw -z`: two modes, two ids and a letter, then the name.

    Also whether the mode is as it was.
    """
    fields = iter(raw.split(b"\0"))
    for head in fields:
        if head:
            before, after, old, new, _ = head[1:].split(b" ")
            is_gone = after == b"000000"
            one = ChangedFile(
                os.fsdecode(next(fields)),
                is_gone,
                is_text=(before if is_gone else after) in _REGULAR,
                old=old.decode() if before in _REGULAR else "",
                new=new.decode() if new.strip(b"0") else "",
            )
            yield one, before == after


def _has_same_content(root: Path, one: ChangedFile) -> bool:
    """Whether a file was touched alone: the index knows its former time."""
    if one.is_gone or not one.old or not one.is_text:
        return False
    content = _of_work_tree(root, one.path, READ_MAX)
    if content is None:
        return False
    hashed = sha1 if len(one.old) == 40 else sha256
    texts = (content, content.replace(b"\r\n", b"\n"))
    return one.old in (hashed(b"blob %d\0%b" % (len(t), t)).hexdigest() for t in texts)


def read_changed_texts(root: Path, change: ChangeSet) -> Iterator[tuple[ChangedFile, str | None]]:
    """Each text that is new or edited; None of a binary, a link, and of what is too large."""
    yield from ((one, None) for one in change.files if not (one.is_text or one.is_gone))
    wanted = [one for one in change.files if one.is_text and not one.is_gone]
    for one, content in contents(root, wanted):
        yield one, None if content is None else decode_file_text(content)


_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # which begins as the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_POINTER: Final = b"version https://git-lfs."
_SAYS_ENCODING: Final = late_pattern(
    rb"\A(?:[^\n\r]*[\r\n]+)?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
)
"""PEP 263: a comment on one of the first two lines."""


def decode_file_text(content: bytes) -> str | None:
    """What stands in a file, by its byte order mark or the encoding that it says; None of a binary.

    None also of a pointer to what git LFS keeps elsewhere. A file that says an encoding is read as
    UTF-8, too: not every language heeds such a comment, or such a mark. The two stand apart by
    `OR`.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            bare = content[len(mark) :]
            forms = [content.decode(encoding, "replace"), bare.decode("utf-8", "replace")]
            return _joined_forms(forms[-1:] if encoding == "utf-8" else forms)
    if content.startswith(b"#!") and b"PK\3\4" not in content:
        content = content.replace(b"\0", b"")  # a shell passes over it
    if b"\0" in content or content.startswith(_POINTER):
        return None
    forms = [content.decode("utf-8", "replace")]
    if said := _SAYS_ENCODING.match(content):
        with suppress(LookupError, ValueError):  # it is unknown, or encodes no text
            forms.append(content.decode(said[1].decode("ascii", "replace"), "replace"))
    return _joined_forms(forms)


def _joined_forms(forms: Iterable[str]) -> str:
    return OR.join(form.replace(OR, " ") for form in forms)


def was_there(root: Path, path: str) -> bool:
    """Whether HEAD has a file."""
    return bool(_read_git_output(root, "rev-parse", "--verify", "--quiet", f"HEAD:./{path}"))


def content_of(root: Path, one: ChangedFile, most: int = CONTENT_MAX) -> bytes | None:
    """What stands in a file now; None of what cannot be read, or has more bytes."""
    return next(contents(root, [one], most))[1]


def contents(
    root: Path, changed: Sequence[ChangedFile], most: int = CONTENT_MAX
) -> Iterator[tuple[ChangedFile, bytes | None]]:
    """The same of several files; git is asked once for all."""
    stored = objects(root, [one.new for one in changed], most)
    for one in changed:
        yield one, stored.get(one.new) if one.new else _of_work_tree(root, one.path, most)


def objects(root: Path, ids: Sequence[str], most: int = CONTENT_MAX) -> Mapping[str, bytes]:
    """What git has under ids, as far as it is there and has no more bytes."""
    asked = "".join(f"{one}\n" for one in dict.fromkeys(filter(None, ids))).encode()
    sizes = _answer(root, "cat-file", "--batch-check", given=asked) if asked else b""
    room, fitting = READ_MAX, list[bytes]()
    for name, kind, *size in map(bytes.split, sizes.splitlines()):
        if kind == b"blob" and int(size[0]) <= min(most, room):
            room -= int(size[0])
            fitting.append(name)
    given = b"".join(b"%b\n" % name for name in fitting)
    content = _answer(root, "cat-file", "--batch", given=given) if fitting else b""
    found, at = dict[str, bytes](), 0
    while at < len(content):
        end = content.index(b"\n", at)
        name, _, length = content[at:end].split()
        at = end + 1 + int(length) + 1
        found[name.decode()] = content[end + 1 : at - 1]
    return found


def commit_of(root: Path, revision: str) -> str:
    """The id of a commit; empty where it is not in this clone."""
    return _read_git_output(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")


def committed_at(root: Path, commit: str) -> int:
    """When a commit was made, in seconds since 1970, as it says."""
    return int(_read_git_output(root, "show", "--no-patch", "--format=%ct", commit) or 0)


def at_commit(root: Path, commit: str, path: str) -> bytes | None:
    """What stands in a file at a commit; None where nothing does.

    Raises:
        Unreadable: it is no file, or too large.
    """
    lies = _read_git_output(root, "ls-tree", commit, "--", path)
    if not lies:
        return None
    id_ = lies.split()[2]
    content = objects(root, [id_]).get(id_) if lies.startswith(_USUAL) else None
    if content is None:
        raise Unreadable("it is no file of a usual size")
    return content


def files_at(root: Path, commit: str) -> dict[str, str]:
    """The files of a commit, relative to the project's root, with git's ids; no links."""
    found = {}
    for line in filter(None, _answer(root, "ls-tree", "-r", "-z", commit).split(b"\0")):
        about, _, name = line.partition(b"\t")
        mode, _, id_ = about.split(b" ")
        if mode in _REGULAR:
            found[os.fsdecode(name)] = id_.decode()
    return found


def changed_between(root: Path, older: str, newer: str) -> dict[str, str]:
    """What differs between two commits, with git's id in the older one; empty of what is new."""
    words = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--relative")
    listed = _parse_diff_index(_answer(root, *words, older, newer))
    return {one.path: one.old for one, _ in listed}


def converted(
    root: Path, paths: Sequence[str], by: Sequence[str] = _CONVERTING
) -> Mapping[str, str]:
    """Files of which git may keep other bytes than lie here, each with the attribute for it."""
    if not paths:
        return {}
    # Of the index: a checkout takes them from there.
    words = ("check-attr", "--cached", "-z", "--stdin", *by)
    given = b"".join(os.fsencode(path) + b"\0" for path in paths)
    fields = iter(_answer(root, *words, given=given).split(b"\0"))
    told = zip(fields, fields, fields, strict=False)
    said = ((path, name) for path, name, value in told if value not in (b"unspecified", b"unset"))
    return {os.fsdecode(path): name.decode() for path, name in said}


def printable(path: str) -> str:
    """A name of a file as any terminal and any JSON takes it."""
    return escaped_text(os.fsencode(path).decode("utf-8", "backslashreplace"))


def _of_work_tree(root: Path, path: str, limit: int) -> bytes | None:
    try:
        return files.regular(root / path, limit, follows=False)
    except (OSError, Unreadable):
        return None


def _split_file_names(said: bytes) -> Iterator[str]:
    return (os.fsdecode(one) for one in said.split(b"\0") if one)


def _read_git_output(root: Path, *words: str) -> str:
    return (_output(root, *words) or b"").decode("ascii", "replace").strip()


def _answer(root: Path, *words: str, given: bytes = b"") -> bytes:
    """What git says; without it, what a change hides would not be known.

    Raises:
        StoreUnavailable: git fails, or takes too long.
    """
    if (said := _output(root, *words, given=given)) is None:
        why = f"`git {words[0]}` fails here, or takes more than {GIT_S} s"
        raise StoreUnavailable(f"{why}: take a clone that is whole, without `--filter`")
    return said


def _output(root: Path, *words: str, given: bytes = b"") -> bytes | None:
    return git.output(words, root, surroundings(), GIT_S, given=given)


def _unfiltered(root: Path) -> Mapping[str, str]:
    """The environment, without the filters through which git would read a file that was touched."""
    words = ("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    env = dict(surroundings())
    said = git.output(words, root, env, GIT_S) or b""
    count = int(env.get("GIT_CONFIG_COUNT") or 0)
    for at, key in enumerate(_split_file_names(said), count):
        env[f"GIT_CONFIG_KEY_{at}"] = key
        env[f"GIT_CONFIG_VALUE_{at}"] = "false" if key.endswith(".required") else ""
        env["GIT_CONFIG_COUNT"] = str(at + 1)
    return env


class SessionChanges:
    """The session files of a change, wherever they lie."""

    def __init__(self, request: Request, change: ChangeSet, woken: Iterable[str] = ()) -> None:
        """Args:
        woken: paths of those that lay there unread, and are read since the change.
        """
        self.change = change
        self._root = request.process.settings.root
        folders = {folder.path for folder in request.process.session_folders}
        files = (one for one in change.files if _is_session(one, folders))
        now = (one for one in files if not one.is_gone)
        self.now = (*now, *map(ChangedFile, woken))

    def contents(self) -> Iterator[tuple[ChangedFile, bytes | None]]:
        """What each holds now; None of one that is too large, or no file."""
        return contents(self._root, self.now, SIZE_MAX)


def _is_session(one: ChangedFile, folders: Collection[str]) -> bool:
    is_there = one.folder in folders or f"/{one.folder}".endswith(f"/{FOLDER}")
    return is_there and one.name.endswith(".jsonl")


def events_of(content: bytes) -> tuple[Stored, ...]:
    """The events of a session file; none where its chain does not hold."""
    try:
        stored = tuple(jsonl.stored(content.splitlines(keepends=True), ""))
        verified(stored)
    except PreflightsError:
        return ()
    return stored
