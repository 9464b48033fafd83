"""Where the project is, where its log lies, and who is at work.

A folder is what git says of it; an environment is a coding agent's or a CI's by what that agent
sets for its commands, never by what a person keeps in a profile or an editor sets.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from preflights_es.settings.file import (
    KEYS,
    TEXT_MAX,
    FoundSetting,
    Layers,
    PlansTable,
    SettingsFileSource,
)
from preflights_es.system.files import Unreadable, regular, resolved

NAMED: Final = "AI_AGENT"  # https://github.com/vercel/vercel/pull/13762: holds the agent's name


SIGNS: Final = (
    ("amp", "AGENT=amp"),  # it set CLAUDECODE, too
    ("claude-code", "CLAUDECODE"),
    ("claude-code", "CLAUDE_CODE_CHILD_SESSION"),
    ("claude-code", "CLAUDE_CODE_SESSION_ID"),
    ("claude-code", NAMED),
    ("cursor", "CURSOR_AGENT"),
    ("cursor", "CURSOR_EXTENSION_HOST_ROLE=agent-exec"),
    ("codex", "CODEX_CI"),
    ("codex", "CODEX_SESSION_ID"),
    ("codex", "CODEX_THREAD_ID"),
    ("codex", "CODEX_TOOL_CALL_ID"),
    # Only within its sandbox.
    ("codex", "CODEX_SANDBOX"),
    ("codex", "CODEX_SANDBOX_NETWORK_DISABLED"),
    ("gemini-cli", "GEMINI_CLI"),
    ("opencode", "OPENCODE"),  # for itself: a terminal within it inherits it
    ("copilot-cli", "COPILOT_CLI"),
    ("copilot-vscode", "COPILOT_AGENT"),
    ("augment", "AUGMENT_AGENT"),
    # The terminals that it opens in the editor, which a person may use as well.
    ("cline", "CLINE_ACTIVE"),
    ("goose", "GOOSE_TERMINAL"),
    ("goose", "AGENT=goose"),
)
"""Pairs of an agent and a variable that it sets for the commands that it runs, in the order of the
search; with `=`, it counts with this value only. docs/agents.md says where each was seen."""

CI: Final = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "TEAMCITY_VERSION", "TF_BUILD")
"""https://github.com/watson/ci-info/blob/master/vendors.json; most set `CI`, too."""

_VERSIONED: Final = late_pattern(r"([a-z][a-z-]*[a-z])[_/@ ]v?(\d+(?:[-._]\d+){1,3})(?=_|\W|\Z)")
_UNSET: Final = ("", "0", "false", "no")
_YES: Final = ("1", "true", "yes")


def agent_of(env: Mapping[str, str]) -> str:
    """The agent whose environment this is, with a version where it says one; empty without one."""
    said = env.get(NAMED, "").strip()
    found = next((name for name, _ in signs(env)), "")
    return _format_agent_version(said) if found and _is_agent_name(said) else found


def _format_agent_version(said: str) -> str:
    """Name and version, where it is so written: `claude-code_2-1-330_harness`, `codex/0.169.0`."""
    name = _VERSIONED.match(said)
    return f"{name[1]} {re.sub('[-_]', '.', name[2])}" if name else said


def signs(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Pairs of an agent's name and a variable that shows it."""
    for agent, variable in SIGNS:
        name, equals, value = variable.partition("=")
        is_seen = env.get(name) == value if equals else _is_value_set(env.get(name, ""))
        if name != NAMED and is_seen:
            yield agent, name
    if _is_value_set(env.get(NAMED, "")):
        yield "agent", NAMED


def is_ci(env: Mapping[str, str]) -> bool:
    """Whether a CI runs the program."""
    return any(_is_value_set(env.get(name, "")) for name in CI)


def _is_value_set(value: str) -> bool:
    return value.strip().lower() not in _UNSET


def _is_agent_name(text: str) -> bool:
    return _is_value_set(text) and text.lower() not in _YES and not problem(text, NAME_MAX)


FOLDER: Final = "preflights"
POINTER_MAX: Final = 65_536  # bytes of a `.git`, `commondir` or `gitdir` file: a path
_WORKTREE: Final = late_pattern(r"^[ \t]*worktree[ \t]*=[ \t]*(.+)$", re.MULTILINE)
_BARE: Final = late_pattern(r"^[ \t]*bare[ \t]*=[ \t]*true[ \t]*$", re.MULTILINE | re.IGNORECASE)
_SECTION: Final = late_pattern(r"^[ \t]*\[", re.MULTILINE)
_NAME: Final = late_pattern(r"^[ \t]*name[ \t]*=[ \t]*(.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_PLAIN: Final = late_pattern(r"[^\"\\#;\t\r\udc80-\udcff]+")
"""A value that git takes as it stands."""
_NO_SYSTEM: Final = "GIT_CONFIG_NOSYSTEM"
"""The variable by which git leaves the file of the whole machine out."""
_ELSEWHERE: Final = late_pattern(r"user|include|worktreeconfig", re.IGNORECASE)
_HEAD: Final = late_pattern(r"ref:[ \t\r\n]*refs/|[0-9a-fA-F]{40}")
INSTEAD: Final = "name the log with --db or PREFLIGHTS_DATABASE_URL"


def is_git_s(folder: Path) -> bool:
    """Whether git would take a folder for one of its own, by the rule that git itself has.

    Source: `is_git_directory` and `validate_headref` of git's setup.c and path.c.
    """
    common = common_of(folder)
    if common is None or not _is_head(folder / "HEAD"):
        return False
    return all(os.access(common / name, os.X_OK) for name in ("objects", "refs"))


def _is_head(path: Path) -> bool:
    try:
        if path.is_symlink():
            return os.readlink(path).startswith("refs/")
    except (OSError, ValueError):
        return False
    return _HEAD.match(read_git_pointer(path)) is not None


def common_of(folder: Path) -> Path | None:
    """What all work trees share: another folder where git's folder of a linked one names it."""
    if not os.path.lexists(folder / "commondir"):
        return folder
    told = read_git_pointer(folder / "commondir").rstrip("\r\n")
    return folder / told if told else None


def named_by(dot: Path) -> Path | None:
    """The folder that a `.git` file names; None where git calls it no such file, or no folder."""
    key, _, path = read_git_pointer(dot).partition("gitdir: ")
    pointed = dot.parent / path.rstrip("\r\n")
    return pointed if not key and path.strip() and is_git_s(pointed) else None


def git_index(root: Path) -> Path:
    """The index of a work tree, which is another file in each linked one."""
    dot = root / ".git"
    return ((named_by(dot) if dot.is_file() else None) or dot) / "index"


def is_others(*paths: Path) -> bool:
    """Whether one of these belongs to another user, whose configuration git does not read."""
    if sys.platform == "win32":
        return False
    return any(os.lstat(path).st_uid != os.geteuid() for path in paths)


def own_folder(root: Path, common: Path) -> Path:
    """The folder of the log in git's common directory.

    Raises:
        SettingsError: it is another repository's, or a link leads to it or to its log.
    """
    if not is_own(root, common):
        todo = f"if this is a work tree of it, run `git worktree repair` there; else {INSTEAD}"
        raise SettingsError(f"{root / '.git'} points at another repository, {common}: {todo}")
    folder = common / FOLDER
    for path in (folder, folder / "log.db"):
        if path.is_symlink():
            from shlex import quote

            raise SettingsError(
                f"{path} is a link, and may lead to any file: if you made it, name what it leads "
                f"to with --db or PREFLIGHTS_DATABASE_URL; else remove it: rm {quote(str(path))}"
            )
    return folder


def is_own(root: Path, common: Path) -> bool:
    """Whether git's directory itself names this work tree as one of its own.

    A directory that `git init --separate-git-dir` made names none, so one of those is believed.
    """
    root, common = root.resolve(), common.resolve()
    if root in common.parents:
        return True
    config, linked = read_git_pointer(common / "config"), common / "worktrees"
    if found := _WORKTREE.search(config):  # of a submodule
        return resolved(common / found[1].strip()) == root
    if linked.is_dir():
        return any(_pointed(path) == root / ".git" for path in linked.glob("*/gitdir"))
    return common.name != ".git" and is_git_s(common) and not _BARE.search(config)


def _pointed(path: Path) -> Path | None:
    """The `.git` of a linked work tree, as git keeps it; links of its folders followed."""
    told = Path(path.parent, read_git_pointer(path).strip())
    folder = resolved(told.parent)
    return folder / told.name if folder else None


def read_git_pointer(path: Path) -> str:
    """What one of git's small files says; empty where it says nothing that git would take."""
    try:
        text = os.fsdecode(regular(path, POINTER_MAX))
    except (OSError, Unreadable):
        return ""
    return "" if "\0" in text else text


def plain_name(env: Mapping[str, str], common: Path | None) -> str | None:
    """The name in the user's file of git, empty where no file can say one; None: git has to say it.

    Args:
        common: git's common directory; None outside of git.
    """
    if common is not None and (
        not (told := read_git_pointer(common / "config")) or _ELSEWHERE.search(told)
    ):
        return None
    if any("GIT_CONFIG" in key and key != _NO_SYSTEM for key in env):
        return None
    home = Path(env.get("HOME") or os.devnull)
    folder = env.get("XDG_CONFIG_HOME") or home / ".config"
    files = (home / ".gitconfig", Path(folder, "git/config"))
    if env.get(_NO_SYSTEM) in ("1", "true") and not any(map(os.path.lexists, files)):
        return ""
    own = read_git_pointer(files[0])
    if "\\" in own or "include" in own.lower():
        return None
    sections = (part for part in _SECTION.split(own) if part[:5].lower() == "user]")
    names = _NAME.findall("\n".join(part[5:] for part in sections))
    return names[-1] if names and _PLAIN.fullmatch(names[-1]) else None


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
    return own_folder(*git) if git is not None else _state_folder(env) / "preflights"


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
    try:
        home = Path(env.get("HOME") or env.get("USERPROFILE") or Path.home())
    except RuntimeError as error:
        raise SettingsError("your home folder cannot be found: set HOME") from error
    if sys.platform == "win32":
        return Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(env.get("XDG_STATE_HOME") or home / ".local" / "state")


def cache_folder(env: Mapping[str, str]) -> Path | None:
    """Where what can be made again is kept; None where the environment names no absolute folder."""
    mac = ("Library", "Caches")
    return _user_folder(env, "XDG_CACHE_HOME", (".cache",), mac, windows="LOCALAPPDATA")


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
