"""Environment and files become frozen settings; the only place that reads either.

Order, first wins: an option of the command line, `PREFLIGHTS_*`, `preflights.toml`,
`[tool.preflights]` of `pyproject.toml`, the default. The compiler's specification calls some of
them `LLM_*`: those names are known too, each right behind ours. Keys come from variables alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast, get_args

import msgspec

from preflights_es.core.errors import SettingsError
from preflights_es.core.events import ActorKind
from preflights_es.core.keys import Secret
from preflights_es.core.text import NAME_MAX, shortened
from preflights_es.heuristics_settings import heuristics_of
from preflights_es.price_settings import PriceTable, prices_of
from preflights_es.provider_settings import SEED_NAMES, Layer, asked_whom, keys_of
from preflights_es.providers.capabilities import MAX_TOKENS, TIMEOUT_S, Api
from preflights_es.settings_file import File, Source, line_trouble, read, wrong_setting
from preflights_es.settings_places import (
    actor_of,
    beside,
    folder,
    git_folders,
    log_folder,
    project_named,
    project_of,
)
from preflights_es.workflows.clarification.values import (
    HeuristicsConfig,
)
from preflights_es.workflows.extraction.values import Language


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the program was told, from outside."""

    root: Path
    """Of the project: where documents are written."""
    project: str
    database: str
    """A URL, or the path of a SQLite file."""
    is_database_named: bool = True
    """Whether anybody said so; else it is the place where a log lies unless told otherwise."""
    decisions: str
    """Folder of the records, relative to the root."""
    tasks: str
    provider: str
    model: str = ""
    """The provider's default where nobody said; empty for one that has no models."""
    base_url: str = ""
    """Of another server than the provider's own; empty without one."""
    base_url_in: str = ""
    """The file that says so; empty where an option or a variable does."""
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
    """Of whoever is at work; empty when nobody said."""
    actor_kind: ActorKind | None
    """Where it is an agent's or a script's; None lets the terminal decide."""
    language: Language = "en"
    """Of the sentences that a person reads of a note."""
    heuristics: HeuristicsConfig
    prices: tuple[PriceTable, ...] = ()
    """What models cost, as far as somebody has said so."""
    source: str
    """The file that was read; empty without one."""


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


def load(
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    database: str | None = None,
    options: Options | None = None,
    language: str | None = None,
) -> Settings:
    """The settings that hold in a folder.

    Args:
        environment: instead of the process's own.
        database: what `--db` said.
        options: what the command line said of a provider.
        language: what `--language` said.

    Raises:
        SettingsError: names the key, its line and what was expected.
    """
    env = os.environ if environment is None else environment
    git = git_folders(cwd)
    root = git[0] if git else cwd
    source, table = read(cwd, root)
    if source and not git:
        root = source.path.parent
    project = project_named(env, table.project, source) or project_of(root, git)
    if found := line_trouble(project, NAME_MAX):
        raise wrong_setting(None, "project", found)
    kind, name = actor_of(env, table.actor, source, cwd)
    named = database or env.get("PREFLIGHTS_DATABASE_URL") or beside(source, table.database)
    return Settings(
        root=root,
        project=project,
        database=named or str(log_folder(git, env) / "log.db"),
        is_database_named=bool(named),
        decisions=folder(source, "decisions", table.decisions, "docs/decisions"),
        tasks=folder(source, "tasks", table.tasks, "docs/tasks"),
        actor_name=name,
        actor_kind=kind,
        heuristics=heuristics_of(source, table.clarification) if source else HeuristicsConfig(),
        prices=prices_of(source, table.prices),
        source=str(source.path) if source else "",
        language=_language(language, env, source, table.language),
        keys=keys_of(env),
        **asked_whom(_layers(options or Options(), env, source, table)),
    )


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


def _layers(
    options: Options, env: Mapping[str, str], source: Source | None, table: File
) -> tuple[Layer, ...]:
    """The places that speak of providers, the first to be heard first."""
    names = options.__struct_fields__
    ours = {name: env.get(f"PREFLIGHTS_{name.upper()}") or None for name in names}
    seeds = {name: env.get(alias) or None for name, alias in SEED_NAMES.items()}
    in_file = {name: getattr(table, name) for name in names}
    seeds_in_file = {name: getattr(table, SEED_NAMES[name].lower()) for name in SEED_NAMES}
    file = source.path.name if source else ""
    found = (
        (msgspec.structs.asdict(options), lambda name: f"--{name.replace('_', '-')}", ""),
        (ours, lambda name: f"PREFLIGHTS_{name.upper()}", ""),
        (seeds, lambda name: SEED_NAMES[name], ""),
        (in_file, lambda name: name, file),
        (seeds_in_file, lambda name: SEED_NAMES[name], file),
    )
    return tuple(
        Layer(_said(values), _blamed(label, source if file else None), file)
        for values, label, file in found
    )


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _blamed(
    label: Callable[[str], str], source: Source | None
) -> Callable[[str, str], SettingsError]:
    def wrong(name: str, found: str) -> SettingsError:
        if source is None:
            return SettingsError(f"{label(name)}: {found}")
        return source.wrong((label(name),), found)

    return wrong
