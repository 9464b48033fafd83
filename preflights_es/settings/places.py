"""Where the project is, where its log lies, and who is at work."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final
from unicodedata import category

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.events import ActorKind
from preflights_es.kernel.text import (
    NAME_MAX,
    is_git,
    late_pattern,
    line_trouble,
    problem,
    shortened,
)
from preflights_es.settings.agents import is_ci
from preflights_es.settings.file import (
    KEYS,
    TEXT_MAX,
    FoundSetting,
    Layers,
    PlansTable,
    SettingsFileSource,
)
from preflights_es.settings.project import (
    FOLDER,
    common_of,
    is_git_s,
    is_others,
    named_by,
    own_folder,
    plain_name,
)
from preflights_es.system.files import Unreadable, regular

_PASSWORD: Final = late_pattern(
    r"[^:/?#]+://(?:[^:/]*:[^@]+@|.*[?&](?:ssl)?password=[^&])", re.DOTALL
)
"""A URL with a password, as SQLAlchemy would read it."""


def git_folders(cwd: Path) -> tuple[Path, Path] | None:
    """The top of the work tree, and git's common directory; None outside of git.

    It is looked for as git does, without starting git: an empty `.git` is passed over, and the
    search ends at a `.git` file that git refuses and at a repository without a work tree.

    Raises:
        SettingsError: it belongs to another user, and `safe.directory` does not name it.
    """
    for folder in (cwd, *cwd.parents):
        dot = folder / ".git"
        if dot.is_file():
            named = named_by(dot)
            return (folder, _trusted_git_folder(folder, dot, named).resolve()) if named else None
        if is_git_s(dot):
            return folder, _trusted_git_folder(folder, dot, dot)
        if is_git_s(folder):
            return None
    return None


def _trusted_git_folder(folder: Path, dot: Path, git: Path) -> Path:
    """Git's common directory, of a repository that git would read for this user.

    Git itself is asked where another user owns it: its settings may say that it is safe.
    """
    common = common_of(git)
    assert common is not None, "git_folders knows the folder as git's"
    if is_others(folder, dot, git):
        from preflights_es.system.git import read_git_text

        env = os.environ  # noqa: TID251  git finds its settings by it
        if read_git_text(("rev-parse", "--git-dir"), folder, env) is None:
            raise SettingsError(
                f"{folder} is a repository of another user, which git does not read: if you trust "
                f"it, run `git config --global --add safe.directory {folder}`"
            )
    return common


def project_named(said: FoundSetting | None) -> str | None:
    """The project's name, where a variable or the file says one."""
    if said and (found := line_trouble(said.value, NAME_MAX)):
        raise said.refused(found)
    return said.value if said else None


def project_file(git: tuple[Path, Path]) -> Path:
    """Where a repository remembers the project's name that its session files say."""
    return git[1] / FOLDER / "project"


def remembered_project(git: tuple[Path, Path]) -> str | None:
    """The name that a repository took over from session files; None where it took none."""
    try:
        name = regular(project_file(git), NAME_MAX * UTF8_MAX, follows=False).decode()
    except (OSError, Unreadable, UnicodeDecodeError):
        return None
    name = name.removesuffix("\n")
    return name if name and not line_trouble(name, NAME_MAX) else None


def project_of(root: Path, git: tuple[Path, Path] | None) -> str:
    """The name that all work trees of a repository share: that of a folder.

    Folders outside of git share one log, so that theirs needs more than a name.

    Raises:
        SettingsError: the folder's name cannot be a project's.
    """
    name = _named_after(root, git)
    if found := line_trouble(name, NAME_MAX):
        why = found.partition(": ")[0]  # what follows says to retype it
        raise SettingsError(
            f"the project is named after its folder, and the name {shortened(name, 60)!r} {why}: "
            "rename the folder, or set PREFLIGHTS_PROJECT"
        )
    return name


def _named_after(root: Path, git: tuple[Path, Path] | None) -> str:
    if git is None:
        top = root.resolve()
        return f"{top.name or 'root'}-{sha256(os.fsencode(top)).hexdigest()[:6]}"
    common = git[1].resolve()
    return (common.parent.name if common.name == ".git" else root.resolve().name) or "root"


def log_folder(git: tuple[Path, Path] | None, env: Mapping[str, str]) -> Path:
    if git is not None:
        return own_folder(*git)
    return _state_folder(env) / "preflights"


def is_read_only(common: Path) -> bool:
    """Whether git's common directory, or the log in it, cannot be written by this process."""
    places = (common / FOLDER / "log.db", common / FOLDER, common)
    return any(os.path.exists(place) and not os.access(place, os.W_OK) for place in places)


def stand_in(common: Path, env: Mapping[str, str]) -> Path | None:
    """The log of a repository while its git folder is read-only; each repository has its own.

    None where the folder can be written, and no such log is left of a time when it could not.
    """
    digest = sha256(os.fsencode(common.resolve())).hexdigest()[:12]
    log = _state_folder(env) / "preflights" / "read-only" / digest / "log.db"
    return log if is_read_only(common) or os.path.exists(log) else None


def _state_folder(env: Mapping[str, str]) -> Path:
    home = Path(env.get("HOME") or env.get("USERPROFILE") or Path.home())
    if sys.platform == "win32":
        return Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(env.get("XDG_STATE_HOME") or home / ".local" / "state")


def cache_folder(env: Mapping[str, str]) -> Path | None:
    """Where what can be made again is kept; None where the environment names no absolute folder."""
    return _user_folder(
        env, "XDG_CACHE_HOME", (".cache",), ("Library", "Caches"), windows="LOCALAPPDATA"
    )


UTF8_MAX: Final = 4  # bytes of a character
OWN: Final = "settings.toml"
"""The user's own settings, in `config_folder`."""


def config_folder(env: Mapping[str, str]) -> Path | None:
    """Where the user's own settings lie; None where the environment names no absolute folder."""
    mac = ("Library", "Application Support")
    return _user_folder(env, "XDG_CONFIG_HOME", (".config",), mac, windows="APPDATA")


def _user_folder(
    env: Mapping[str, str], said: str, usual: Sequence[str], mac: Sequence[str], windows: str
) -> Path | None:
    """Our folder below one of the user's, by the habits of each system.

    Args:
        said: the variable that names it on every system.
        usual, mac: where it lies in the home folder.
        windows: the variable that names it there.
    """
    home = env.get("HOME") or env.get("USERPROFILE") or ""
    if sys.platform == "win32":
        local = "Local" if windows.startswith("LOCAL") else "Roaming"
        base = env.get(windows) or os.path.join(home, "AppData", local)
    else:
        base = os.path.join(home, *(mac if sys.platform == "darwin" else usual))
    # A relative path would lie in the current folder, which may be a clone (XDG says so, too).
    for folder in (env.get(said, ""), base):
        if os.path.isabs(folder):
            return Path(folder) / "preflights"
    return None


def resolve_database_path(source: SettingsFileSource | None, database: str | None) -> str | None:
    """A path in a settings file is relative to that file; a URL there holds no password."""
    if source is None or database is None:
        return database
    if "://" in database:
        if _PASSWORD.match(database):
            found = "holds a password, which does not belong into a settings file: set "
            raise source.wrong(("database",), f"{found}PREFLIGHTS_DATABASE_URL, or use ~/.pgpass")
        return database
    if not database.strip() or "\0" in database:
        found = "holds a NUL character" if database.strip() else "is empty"
        raise source.wrong(("database",), found)
    return str(source.path.resolve().parent / database)


def document_folder_setting(name: str, layers: Layers) -> str:
    """A folder of documents, inside the project; empty where none is said and it is found."""
    if (said := layers.first(name)) is None:
        default: str = KEYS[name].default or ""
        return default
    return _inside(said.value, "a folder", said.refused)


def plan_documents(layers: Layers) -> PlansTable:
    """Where the documents lie that plans are made from, inside the project."""
    if (said := layers.first("plans")) is None:
        return PlansTable()
    found, source = msgspec.structs.asdict(said.value), said.layer.file
    assert source is not None, "only a file says a table"
    paths = {
        name: _inside(path, "a file", partial(source.wrong, ("plans", name)))
        for name, path in found.items()
    }
    return PlansTable(**paths)


def _inside(path: str, what: str, refused: Callable[[str], SettingsError]) -> str:
    """A path in the project, as a settings file says it."""
    parts = PurePosixPath(path)
    leads_out = parts.is_absolute() or ".." in parts.parts or "\\" in path
    if leads_out or line_trouble(path, TEXT_MAX):
        raise refused(f"found {path!r}, expected {what} inside the project, with forward slashes")
    if any(category(c) == "Cf" for c in path):
        raise refused(f"found {path!r}, with a character that is not seen: take it out")
    if any(map(is_git, parts.parts)):
        raise refused(f"found {path!r}, a folder that belongs to git: name another one")
    return parts.as_posix()


def actor_of(
    said: FoundSetting | None, env: Mapping[str, str], cwd: Path, git: tuple[Path, Path] | None
) -> tuple[ActorKind | None, Callable[[], str]]:
    """`kind:name` of `--as` or PREFLIGHTS_ACTOR, or a name from the file or, once used, from git.

    A claim alone makes no user: that takes a terminal, or `--by` with `accept`. Where no kind is
    said, a CI is a script.
    """
    text: str = said.value if said else ""
    kind, colon, name = text.partition(":")
    kinds: dict[str, ActorKind | None] = {"user": None, "agent": "agent", "script": "script"}
    if said and colon and kind not in kinds:
        raise said.refused(f"found {text!r}, expected NAME, user:NAME, agent:NAME or script:NAME")
    by_place: ActorKind | None = "script" if is_ci(env) else None
    if not said or not text:
        return by_place, cache(partial(_own_name, env, cwd, git))
    named = name if colon else text
    if found := problem(named, NAME_MAX):
        raise said.refused(f"the name {found}")
    return kinds[kind] if colon else by_place, named.strip


def _own_name(env: Mapping[str, str], cwd: Path, git: tuple[Path, Path] | None) -> str:
    """The person's, as git or the system knows it.

    Raises:
        SettingsError: it cannot be recorded.
    """
    name = _git_name(env, cwd, git) or env.get("USER", "")
    if found := problem(name, NAME_MAX):
        raise SettingsError(f"git config user.name: the name {found}, or set PREFLIGHTS_ACTOR")
    return name.strip()


def _git_name(env: Mapping[str, str], cwd: Path, git: tuple[Path, Path] | None) -> str:
    """As git knows the person; git itself is asked where more than one file could say it."""
    name = env.get("GIT_AUTHOR_NAME") or plain_name(env, git[1] if git else None)
    if name is not None:
        return name
    from preflights_es.system.git import read_git_text

    return read_git_text(("config", "user.name"), cwd, env) or ""
