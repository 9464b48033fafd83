"""By which policy and signers a change is judged, and what it changes of them.

The base branch is the trust that is given: what a change brings itself does not judge it.
"""

from __future__ import annotations

import os
import posixpath
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from preflights_es.features.govern.changes import (
    Change,
    ChangedFile,
    at_commit,
    commit_of,
    content_of,
    converted,
    is_tracked,
    names_at,
    objects,
)
from preflights_es.kernel.errors import Refused, SettingsError
from preflights_es.kernel.signing import CLAIMED
from preflights_es.records.record_folder import ADR_DIR, USUAL
from preflights_es.records.record_names import is_record_name
from preflights_es.records.session_files import FOLDER
from preflights_es.settings.file import FILE as SETTINGS
from preflights_es.settings.file import PYPROJECT
from preflights_es.settings.load import own_file, repository_file, surroundings
from preflights_es.settings.signing import BEFORE, Before, Signers, ends_in, own_signers
from preflights_es.settings.signing import FILE as SIGNERS
from preflights_es.settings.signing import FILE_MAX as SIGNERS_MAX
from preflights_es.system.files import Unreadable, regular
from preflights_es.use.policy import Policy
from preflights_es.use.request import Request
from preflights_es.use.signatures import Signatures

SIGNED: Final = "signed"


class Judge(NamedTuple):
    """What a change is held against."""

    policy: Policy | None
    """None where no signatures are asked for."""
    trouble: str = ""
    """Why that is not known; empty where it is."""
    commit: str = ""
    """That of the base, which may be newer than what the change is compared with."""


class JudgeChange(NamedTuple):
    """What a change does to a later judge."""

    file: str
    what: str
    """In words, without a full stop."""
    weakens: bool
    """Whether more would count than before."""


def judge_of(request: Request, base: str, signers: str, cwd: Path) -> Judge:
    """By what a change is judged.

    Args:
        base: a revision: its settings, signers and list of older decisions count, and no others.
        signers: the path of a file, whose signers count alone.

    Raises:
        Refused: the signers cannot be read, or lie where the change could write them.
    """
    process = request.process
    settings, env = process.settings, surroundings()
    given = Signers(_given(settings.root, cwd / signers)) if signers else None
    if not base:
        own = process.policy
        if own is None or given is None:
            return Judge(own)
        return Judge(Policy(Signatures(settings, env, signers=given), own.before))
    if not (commit := commit_of(settings.root, base)):
        return Judge(process.policy)  # that there is no base is said elsewhere
    try:
        own_says = own_file()
        needs = _asks(own_says.values if own_says else {}) or asks_at(settings.root, commit, cwd)
        if not needs:
            return Judge(None, commit=commit)
        listed = at_commit(settings.root, commit, SIGNERS, follows=False)
        before = at_commit(settings.root, commit, BEFORE, follows=False)
        ends = Before(ends_in((before or b"").decode()), lies_there=before is not None)
    except (Unreadable, SettingsError, ValueError) as error:
        trouble = f"the policy of {base!r}: {error}: mend it there"
        return Judge(process.policy, trouble, commit)
    if given is None:
        content = listed if listed is not None else own_signers(settings, env)
        given = Signers(content)
    return Judge(Policy(Signatures(settings, env, signers=given), ends), commit=commit)


def _given(root: Path, path: Path) -> bytes:
    if is_tracked(root, path):
        found = f"{path} is a file of this repository, which the change could write"
        raise Refused(
            f"{found}: name one elsewhere, or give --base alone", code="signers_of_change"
        )
    try:
        return regular(path, SIGNERS_MAX)
    except (OSError, Unreadable) as error:
        why = getattr(error, "strerror", None) or error
        raise Refused(f"the signers in {path} cannot be read: {why}") from error


# 1. The policy at a commit -------------------------------------------------------------------


def asks_at(root: Path, commit: str, cwd: Path) -> bool:
    """Whether the settings at a commit ask for signatures, as they are found from a folder.

    Raises:
        Unreadable, ValueError: they cannot be read, or say neither.
    """
    policy = settings_at(root, commit, cwd).get("policy", {})
    says = policy.get("acceptances", CLAIMED) if isinstance(policy, dict) else policy
    if says not in (SIGNED, CLAIMED):
        raise ValueError(f"it is {says!r}, expected {SIGNED!r} or {CLAIMED!r}")
    return bool(says == SIGNED)


def settings_at(root: Path, commit: str, cwd: Path) -> Mapping[str, Any]:
    """What the settings file at a commit says, as it is found from a folder; errors as above."""
    for folder in _folders(root, cwd):
        for name, prefix in ((SETTINGS, ()), (PYPROJECT, ("tool", "preflights"))):
            content = at_commit(root, commit, (folder / name).as_posix())
            if content is None or (prefix and b"preflights" not in content):
                continue
            if (table := _table(content.decode(), prefix)) is not None:
                return table
    return {}


def _folders(root: Path, cwd: Path) -> tuple[Path, ...]:
    """From a folder up to the root, relative to it."""
    top, here = root.resolve(), cwd.resolve()
    inside = here.relative_to(top) if here.is_relative_to(top) else Path()
    return (inside, *inside.parents)


def _table(text: str, prefix: tuple[str, ...]) -> Mapping[str, Any] | None:
    data: Any = tomllib.loads(text)
    for key in prefix:
        if not isinstance(data, dict) or key not in data:
            return None
        data = data[key]
    return data if isinstance(data, dict) else None


def records_at(root: Path, commit: str, cwd: Path, names: Sequence[str]) -> str:
    """The folder of records at a commit; errors as above.

    Args:
        names: of all files of the commit.
    """
    said = settings_at(root, commit, cwd).get("decisions")
    named = (at_commit(root, commit, ADR_DIR) or b"").decode("utf-8-sig").strip()
    if isinstance(said, str) or named:
        return posixpath.normpath(said if isinstance(said, str) else named)
    holding = {
        folder for folder, _, name in (one.rpartition("/") for one in names) if is_record_name(name)
    }
    return next((one for one in USUAL if one in holding), USUAL[0])


def _asks(values: Mapping[str, Any]) -> bool:
    return "policy" in values and values["policy"].acceptances == SIGNED


# 2. What a change does to it -----------------------------------------------------------------


def judge_changes(
    request: Request, change: Change, cwd: Path, judge: Judge
) -> Iterator[JudgeChange]:
    """What a change does to policy, signers and the list of older decisions."""
    root, is_on = request.process.settings.root, judge.policy is not None
    if change.base:
        yield from _of_policy(root, change, cwd, is_on=is_on)
        yield from _of_inner(root, change, cwd, judge.commit)
    if change.base and is_on:
        yield from _of_folders(request, change, cwd)
        yield from _of_attributes(request, change, cwd)
    by_path = {one.path: one for one in change.files}
    for name, what in ((SIGNERS, "signers"), (BEFORE, "decisions without a signature")):
        if name in by_path:
            newest = _newest(root, judge.commit, name)
            yield _of_lines(root, by_path[name], what, newest, is_on=is_on)


def _of_policy(root: Path, change: Change, cwd: Path, *, is_on: bool) -> Iterator[JudgeChange]:
    try:
        was = asks_at(root, change.base, cwd)
    except (Unreadable, ValueError):
        return  # it is said of the base
    told = repository_file(cwd)
    now = _asks(told.values) if told else False
    path, top = told.source.path if told else None, root.resolve()
    place = path.parent.resolve() / path.name if path else None
    is_here = place is not None and place.is_relative_to(top)
    file = place.relative_to(top).as_posix() if place and is_here else SETTINGS
    if was != now:
        does = "asks for signatures no more" if was else "begins to ask for signatures"
        yield JudgeChange(file, f"the policy {does}", was)
    elif is_on and not now and any(one.path == file and not one.old for one in change.files):
        # The branch is older than the policy, which may stand in a file that is read after this.
        yield JudgeChange(file, "it may be read instead of the settings with the policy", True)


def _of_inner(root: Path, change: Change, cwd: Path, commit: str) -> Iterator[JudgeChange]:
    """The same of folders with settings of their own, which hide a policy from who works there."""
    here = {(root / one).resolve() for one in _folders(root, cwd)}
    edited = {one.path for one in change.files if one.path.endswith((SETTINGS, PYPROJECT))}
    for folder in sorted({(root / one).parent for one in edited}):
        if folder.resolve() in here or not folder.is_dir():
            continue
        with suppress(SettingsError, Unreadable, ValueError):  # then no command goes on there
            is_on = asks_at(root, commit or change.base, folder)
            found = [*_of_policy(root, change, folder, is_on=is_on)]
            yield from (one for one in found if one.weakens and one.file in edited)


def _of_folders(request: Request, change: Change, cwd: Path) -> Iterator[JudgeChange]:
    """Sessions that settings, or a folder that looks like that of records, hide."""
    root = request.process.settings.root
    names = names_at(root, change.base)
    try:
        folder = posixpath.normpath(f"{records_at(root, change.base, cwd, names)}/{FOLDER}")
    except (Unreadable, ValueError):
        return  # it is said of the base
    read = {one.path for one in request.process.session_folders}
    if folder not in read and (hidden := [one for one in names if one.startswith(f"{folder}/")]):
        what = f"sessions there are read no more, the first is {hidden[0]}"
        yield JudgeChange(f"{folder}/", what, weakens=True)


def _of_attributes(request: Request, change: Change, cwd: Path) -> Iterator[JudgeChange]:
    """Attributes by which what lies here, and is checked, is not what git keeps and merges."""
    root = request.process.settings.root
    folders = tuple(f"{one.path}/" for one in request.process.session_folders)
    sessions = [one.path for one in change.files if one.path.startswith(folders)]
    names = [(at / name).as_posix() for at in _folders(root, cwd) for name in (SETTINGS, PYPROJECT)]
    there = [one for one in (*names, SIGNERS, BEFORE) if os.path.lexists(root / one)]
    for path, attribute in converted(root, (*there, *sessions)).items():
        found = (
            f"git may keep other bytes of it than are checked: take its attribute {attribute} away"
        )
        yield JudgeChange(path, found, weakens=True)


def _newest(root: Path, commit: str, name: str) -> bytes | None:
    """What a list says at the base itself; None where it says nothing there."""
    try:
        return at_commit(root, commit, name, follows=False) if commit else None
    except Unreadable:
        return None


def _of_lines(
    root: Path, one: ChangedFile, what: str, newest: bytes | None, *, is_on: bool
) -> JudgeChange:
    now = None if one.is_gone or not one.is_text else content_of(root, one)
    was = _lines(objects(root, [one.old]).get(one.old, b"") if one.old else b"")
    if now is None:
        gone = f"the list of {what} is {'deleted' if one.is_gone else 'no file any more'}"
        # What a link leads to could be changed without a word.
        return JudgeChange(one.path, gone, weakens=is_on and not one.is_gone)
    # A line that the base took out meanwhile, and that the change moves, comes back by the merge.
    kept = was if newest is None else was & _lines(newest)
    added, removed = len(_lines(now) - kept), len(was - _lines(now))
    counts = ((added, "added"), (removed, "taken out"))
    said = " and ".join(f"{count} {does}" for count, does in counts if count)
    told = f"lines of the list of {what}: {said or 'only comments'}"
    return JudgeChange(one.path, told, bool(added and is_on))


def _lines(content: bytes) -> frozenset[bytes]:
    # No other white space: to ssh-keygen, a # behind a form feed begins a signer.
    lines = (line.strip(b" \t\r") for line in content.split(b"\n"))
    return frozenset(line for line in lines if line and not line.startswith(b"#"))
