"""Environment and files become frozen settings; the only place that reads either.

Order, first wins: an option of the command line, `PREFLIGHTS_*`, the repository's file
(`preflights.toml`, or `[tool.preflights]` of `pyproject.toml`), the user's own file, the default.
A repository's file may set some keys only when a person trusts it. The compiler's specification
calls some of them `LLM_*`: those names are known too, each right behind ours. Keys come from
variables alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

import msgspec

from preflights_es.artifacts.record_folder import record_folder
from preflights_es.core.errors import SettingsError
from preflights_es.core.events import ActorKind
from preflights_es.core.secret import Secret
from preflights_es.core.session import Workflow
from preflights_es.core.text import shortened
from preflights_es.core.views import Language
from preflights_es.providers.capabilities import MAX_TOKENS, TIMEOUT_S, Api
from preflights_es.settings.file import (
    Source,
    Told,
    held_back,
    own,
    read,
    wrong_setting,
)
from preflights_es.settings.git import is_own
from preflights_es.settings.places import (
    OWN,
    actor_of,
    beside,
    config_folder,
    folder,
    git_folders,
    log_folder,
    project_named,
    project_of,
)
from preflights_es.settings.prices import PriceTable, prices_of
from preflights_es.settings.project import Repository
from preflights_es.settings.providers import SEED_NAMES, Layer, asked_whom, keys_of

if TYPE_CHECKING:
    from preflights_es.settings.trust import Trusted


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the program was told, from outside."""

    root: Path
    """Of the project: where documents are written."""
    project: str
    repository: Repository | None = None
    """Which one it is, where others may share the log; None where its name is enough."""
    database: str
    """A URL, or the path of a SQLite file."""
    is_database_named: bool = True
    """Whether the user named it; else it is the default place of a log."""
    decisions: str
    """Folder of the records, relative to the root."""
    tasks: str
    provider: str
    model: str = ""
    """The provider's default unless the user names one; empty for one that has no models."""
    base_url: str = ""
    """Of another server than the provider's own; empty without one."""
    base_url_in: str = ""
    """The repository's file that says so; empty where the user does."""
    api: Api = "chat"
    """Which of OpenAI's APIs is asked."""
    timeout_s: float = TIMEOUT_S
    """Of one call, in seconds."""
    max_tokens: int = MAX_TOKENS
    """That a response may have, with what the model thinks."""
    temperature: float | None = None
    top_p: float | None = None
    """Both are sent only where the model takes them."""
    seed: int = 0
    """Of the simulator."""
    faults: str = "none"
    """Of the simulator, as `FaultConfig.parsed` reads them."""
    keys: Mapping[str, Secret] = {}
    """By the provider's name, as far as the environment has them."""
    actor_name: str
    """Of the person, agent or script at work; empty when not configured."""
    actor_kind: ActorKind | None
    """Where it is an agent's or a script's; None lets the terminal decide."""
    language: Language = "en"
    """Of the sentences that a person reads of a note."""
    workflows: Mapping[str, Any] = {}
    """By the name of a workflow that a file has a table for: what it comes to."""
    prices: tuple[PriceTable, ...] = ()
    """What models cost, as far as configured."""
    source: str
    """The repository's file that was read; empty without one."""
    own: str = ""
    """The user's own file, where there is one."""

    def of(self, workflow: Workflow[Any]) -> Any:
        """What a workflow is told: its table in a file, else its default; None without either."""
        if workflow.name in self.workflows or workflow.settings is None:
            return self.workflows.get(workflow.name)
        return workflow.settings().default


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says of a provider, as it was typed; None where it says nothing."""

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api: str | None = None
    timeout_s: str | None = None
    max_tokens: str | None = None
    temperature: str | None = None
    top_p: str | None = None
    seed: str | None = None
    faults: str | None = None


# 1. Loading ----------------------------------------------------------------------------------


def load_settings(
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    database: str | None = None,
    options: Options | None = None,
    language: str | None = None,
    *,
    trusting: bool = False,
) -> Settings:
    """The settings that hold in a folder.

    Args:
        environment: instead of the process's own.
        database: what `--db` said.
        options: what the command line said of a provider.
        language: what `--language` said.
        trusting: reads the repository's file as if a person trusted it.

    Raises:
        SettingsError: names the key, its line and what was expected.
    """
    env = os.environ if environment is None else environment
    asked = options or Options()
    git = git_folders(cwd)
    root = git[0] if git else cwd
    here = read(cwd, root)
    if here and not git:
        root = here.source.path.parent
    if here and not trusting:
        here = _believed(here, env, database, asked)
    mine = _own(env)
    files = Files(tuple(filter(None, (here, mine))))
    named_project = project_named(env, *files.first("project"))
    # Another repository's folder of git says nothing of this one, wherever its log is named.
    ours = git if git and is_own(*git) else None
    project = named_project or project_of(root, ours)
    kind, name = actor_of(env, *files.first("actor"), cwd)
    named = database or env.get("PREFLIGHTS_DATABASE_URL") or beside(*files.first("database"))
    return Settings(
        root=root,
        project=project,
        repository=Repository(ours[1], env) if ours and named and not named_project else None,
        database=named or str(log_folder(git, env) / "log.db"),
        is_database_named=bool(named),
        decisions=_decisions(root, *files.first("decisions")),
        tasks=folder("tasks", *files.first("tasks"), "docs/tasks"),
        actor_name=name,
        actor_kind=kind,
        workflows=files.workflows(),
        prices=prices_of(*files.first("prices")),
        source=str(here.source.path) if here else "",
        own=str(mine.source.path) if mine else "",
        language=_language(language, env, *files.first("language")),
        keys=keys_of(env),
        **asked_whom(_layers(asked, env, files)),
    )


def repository_file(cwd: Path) -> Told | None:
    """The settings file of the repository or folder, trusted or not.

    Raises:
        SettingsError: it cannot be read, or is wrong.
    """
    git = git_folders(cwd)
    return read(cwd, git[0] if git else cwd)


def check_trustable(cwd: Path) -> None:
    """See that a repository's file says nothing that is refused in a trusted one, too.

    Raises:
        SettingsError: names the key, its line and what was expected.
    """
    load_settings(
        cwd, {"GIT_AUTHOR_NAME": "-"}, trusting=True
    )  # nothing outranks what the file says


def trusted_files(environment: Mapping[str, str] | None = None) -> Trusted:
    """The user's list of trusted files.

    Raises:
        SettingsError: it cannot be read.
    """
    from preflights_es.settings.trust import Trusted

    return Trusted.of(os.environ if environment is None else environment)


def speaks_for_a_person(environment: Mapping[str, str] | None = None) -> bool:
    """Whether no variable says that an agent or a script is at work."""
    env = os.environ if environment is None else environment
    kind, colon, _ = env.get("PREFLIGHTS_ACTOR", "").partition(":")
    return not colon or kind == "user"


class Files(NamedTuple):
    """The settings files, the first to be heard first."""

    each: tuple[Told, ...]

    def first(self, key: str) -> tuple[Source | None, Any]:
        """The file that sets a key, and what it says; None twice where no file does."""
        for told in self.each:
            if (value := getattr(told.table, key)) is not None:
                return told.source, value
        return None, None

    def workflows(self) -> dict[str, Any]:
        """What the tables of workflows come to, each as the first file that has it says."""
        return {name: made for told in reversed(self.each) for name, made in told.workflows.items()}


def _own(env: Mapping[str, str]) -> Told | None:
    """The user's own file; a folder that may not be entered holds none of ours."""
    lies = config_folder(env)
    return own(lies / OWN) if lies and os.access(lies, os.X_OK) else None


def _believed(here: Told, env: Mapping[str, str], database: str | None, options: Options) -> Told:
    """The repository's file, as far as a person trusts it or no trust is needed."""
    if not held_back(here):
        return here
    from preflights_es.settings.trust import believed

    said = {
        "project": env.get("PREFLIGHTS_PROJECT"),
        "database": database or env.get("PREFLIGHTS_DATABASE_URL"),
        "actor": env.get("PREFLIGHTS_ACTOR"),
        "base_url": options.base_url or env.get("PREFLIGHTS_BASE_URL"),
    }
    provider = options.provider or env.get("PREFLIGHTS_PROVIDER") or env.get("LLM_PROVIDER")
    said |= {"provider": provider, "LLM_PROVIDER": provider}
    return believed(here, [key for key, value in said.items() if value], env)


def _decisions(root: Path, source: Source | None, told: str | None) -> str:
    """The folder that a file names, else the one that holds records."""
    if told is not None:
        return folder("decisions", source, told, told)
    return record_folder(root).path


def _language(
    asked: str | None, env: Mapping[str, str], source: Source | None, in_file: str | None
) -> Language:
    """What is asked for, configured, or what the locale speaks; English where it is another."""
    said = asked or env.get("PREFLIGHTS_LANGUAGE") or in_file
    if said is None:
        locales = (env.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
        return "de" if next(filter(None, locales), "").lower().startswith("de") else "en"
    for language in get_args(Language):
        if said.strip().lower() == language:
            return cast("Language", language)
    found = f"found {shortened(said, 100)!r}, expected {' or '.join(get_args(Language))}"
    if asked:
        raise SettingsError(f"--language: {found}")
    raise wrong_setting(source if said == in_file else None, "language", found)


# 2. Providers --------------------------------------------------------------------------------


def _layers(options: Options, env: Mapping[str, str], files: Files) -> tuple[Layer, ...]:
    """The places that speak of providers, the first to be heard first."""
    names = options.__struct_fields__
    ours = {name: env.get(f"PREFLIGHTS_{name.upper()}") or None for name in names}
    seeds = {name: env.get(alias) or None for name, alias in SEED_NAMES.items()}
    return (
        Layer(
            _said(msgspec.structs.asdict(options)),
            _blamed(lambda name: f"--{name.replace('_', '-')}"),
        ),
        Layer(_said(ours), _blamed(lambda name: f"PREFLIGHTS_{name.upper()}")),
        Layer(_said(seeds), _blamed(lambda name: SEED_NAMES[name])),
        *(layer for told in files.each for layer in _layers_of(told, names)),
    )


def _layers_of(told: Told, names: tuple[str, ...]) -> tuple[Layer, Layer]:
    """What a file says of providers by our names, and by those of the compiler's specification."""
    source, table = told.source, told.table
    ours = {name: getattr(table, name) for name in names}
    seeds = {name: getattr(table, alias.lower()) for name, alias in SEED_NAMES.items()}
    return (
        Layer(_said(ours), _blamed(str, source), source),
        Layer(_said(seeds), _blamed(lambda name: SEED_NAMES[name], source), source),
    )


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _blamed(
    label: Callable[[str], str], source: Source | None = None
) -> Callable[[str, str], SettingsError]:
    def wrong(name: str, found: str) -> SettingsError:
        if source is None:
            return SettingsError(f"{label(name)}: {found}")
        return source.wrong((label(name),), found)

    return wrong
