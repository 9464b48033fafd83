"""The settings that hold in a folder: files, environment and options, in layers; and what is said
of a provider, by the first place that speaks of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.events import ActorKind
from preflights_es.kernel.text import NAME_MAX, Secret, shortened
from preflights_es.providers.capabilities import (
    ALIASES,
    BASE_URL_VARIABLES,
    DEFAULT_MODELS,
    KEY_VARIABLES,
    REAL,
    Api,
    ProviderSettings,
    another_providers,
    checked_url,
    host_of,
)
from preflights_es.records.record_names import RecordHeader
from preflights_es.records.record_places import RecordPlaces
from preflights_es.redaction.patterns import PERSONAL, PersonalKind
from preflights_es.settings.file import (
    FIELDS,
    AgentsTable,
    FileSettings,
    FoundSetting,
    Layer,
    Layers,
    PlansTable,
    PriceTable,
    Setting,
    SignTable,
    check_prices,
    outside,
    read_own_settings,
    read_project_settings,
    safe,
    settings_file_layers,
    users_keys,
)
from preflights_es.settings.places import (
    OWN,
    actor_of,
    agent_of,
    cache_folder,
    config_folder,
    document_folder_setting,
    git_folders,
    git_index,
    is_own,
    is_read_only,
    log_folder,
    plan_documents,
    project_file,
    project_named,
    project_of,
    remembered_project,
    resolve_database_path,
    signs,
    stand_in,
)
from preflights_es.store.urls import SqliteFile, file_of, parse_log_address
from preflights_es.words.questions import Language
from preflights_es.words.workflow import Workflow

PROVIDERS: Final = ("mock", "sim", *REAL)


def asked_whom(layers: Layers, env: Mapping[str, str]) -> dict[str, Any]:
    """The fields of `Settings` that choose a provider and how it is asked."""
    provider = _provider(layers)
    # A model and an address belong to the provider that is named beside them: a user who chooses
    # another provider by an option must not send it there.
    beside = Layers(one for one in layers if _named_in(one) in ("", provider))
    return {
        "provider": provider,
        "model": _check_model_name(beside.first("model")) or DEFAULT_MODELS.get(provider, ""),
        "base_url": _base_url(provider, Layers((*beside, *_of_sdk(provider, env)))),
        "api": _api(layers.first("api")),
        "faults": _faults(layers.first("faults")),
        **{one.name: _number(one, layers.first(one.name)) for one in FIELDS if one.limits},
    }


SIMULATED = ("seed", "faults")
"""Options that only a simulated provider takes."""


def check_options(provider: str, named: Mapping[str, str | None]) -> None:
    """What the command line says fits the provider that it is said of.

    Args:
        named: by the option's name; None where it was not given.

    Raises:
        SettingsError: the provider takes no such thing.
    """
    called = ("model", "base_url")
    own = {"sim": called, "mock": (*called, *SIMULATED)}
    for name in own.get(provider, SIMULATED):
        if named.get(name) is not None:
            option = name.replace("_", "-")
            todo = "add --provider sim" if name in SIMULATED else "name another --provider"
            found = f"--{option}: the provider {provider} takes none"
            raise SettingsError(f"{found}: leave it out or {todo}")


def _named_in(layer: Layer) -> str:
    said: str = layer.values.get("provider", "")
    return ALIASES.get(said, said)


def _provider(layers: Layers) -> str:
    """The provider that the user named; a key in the environment alone names none."""
    found = layers.first("provider")
    if found is None:
        return "mock"
    provider = _named_in(found.layer)
    if provider not in PROVIDERS:
        raise found.wrong(f"one of {', '.join(PROVIDERS)}")
    return provider


def _check_model_name(found: FoundSetting | None) -> str:
    if found is None:
        return ""
    model = cast("str", found.value).strip()
    if not model or not model.isprintable() or len(model) > NAME_MAX:
        raise found.wrong(f"the name of a model, of at most {NAME_MAX} characters")
    if safe(model) != model:  # it would be recorded
        raise found.wrong("the name of a model, and not what looks like a key")
    return model


def _of_sdk(provider: str, env: Mapping[str, str]) -> Iterator[Layer]:
    """What the maker's SDK would read: with a gateway's key, the maker's address would get both."""
    variable = BASE_URL_VARIABLES.get(provider, "")
    if variable in env:
        yield Layer({"base_url": env[variable]}, lambda _: variable)


def _base_url(provider: str, layers: Layers) -> str:
    found = next((one for one in layers.each("base_url") if one.value.strip()), None)
    if found is None or provider not in REAL:
        return ""
    try:
        url = checked_url(provider, found.value)
    except ValueError as error:
        raise found.refused(str(error)) from error
    if found.layer.file and (other := another_providers(provider, url)):
        # Where a file says so, a key would go to a company it is not for; a person can mean it.
        message = f"{host_of(url)} belongs to {other}, and {provider}'s key does not go there: "
        raise found.refused(f'{message}set provider = "{other}" beside it')
    return url


def _api(found: FoundSetting | None) -> Api:
    if found is None:
        return "chat"
    if found.value not in ("chat", "responses"):
        raise found.wrong("chat or responses")
    return cast("Api", found.value)


def _number(field: Setting, found: FoundSetting | None) -> Any:
    """What is said within the limits of a field, else its default."""
    if found is None:
        return field.default
    assert field.limits is not None, "it is a number"
    low, high = field.limits
    try:
        number = field.kind(found.value)
    except (ValueError, OverflowError):
        number = None
    if number is None or not low <= number <= high:
        if field.kind is int:
            raise found.wrong(f"a whole number from {low} to {high}")
        raise found.wrong(f"a number from {low:g} to {high:g}")
    return number


def _faults(found: FoundSetting | None) -> str:
    if found is None:
        return "none"
    from preflights_es.providers.faults import FaultConfig

    try:
        return FaultConfig.parsed(found.value).text()
    except ValueError as error:
        raise found.refused(shortened(safe(str(error)), 300)) from None


def keys_of(env: Mapping[str, str]) -> dict[str, Secret]:
    """The keys that lie in the environment, each with the variable it lies in."""
    return {
        provider: Secret(env[variable].strip(), variable)
        for provider, variables in KEY_VARIABLES.items()
        for variable in variables[::-1]  # ours is the last, and wins
        if env.get(variable, "").strip()
    }


READER_URL: Final = "PREFLIGHTS_READER_URL"
OWN_ELSEWHERE: Final = "the environment leads to a settings file inside the repository"


class Settings(ProviderSettings, frozen=True, kw_only=True):
    """Everything the program was told, from outside."""

    root: Path
    """Of the project: where documents are written."""
    is_in_git: bool = False
    """Whether the root is a work tree; else it may be any folder, such as a home."""
    project: str
    git_folder: Path | None = None
    """Git's common directory, where a log was named and no project; None elsewhere."""
    project_file: Path | None = None
    """Where the project's name is remembered when session files say it; None where it is known."""
    database: str
    """A URL, or the path of a SQLite file."""
    stand_in: Path | None = None
    """The log while git's folder is read-only; None where that is not, and none was needed."""
    is_read_only: bool = False
    """Whether git's folder is read-only now."""
    is_database_named: bool = True
    """Whether the user named it; else it is the default place of a log."""
    decisions: str = ""
    """Folder that new records go to, relative to the root; empty where no file says it."""
    cwd: Path = Path()
    """Where the program runs."""
    keeps_sessions: bool = True
    """Whether sessions are kept as files beside their records."""
    tasks: str
    plans: PlansTable = PlansTable()
    """Where the documents lie that plans are made from, relative to the root."""
    seed: int = 0
    """Of the simulator."""
    faults: str = "none"
    """Of the simulator, as `FaultConfig.parsed` reads them."""
    find_actor_name: Callable[[], str]
    """Asks git, where nothing else says it."""
    actor_kind: ActorKind | None
    """Where it is an agent's or a script's; None lets the terminal decide."""
    agent: str = ""
    """Of the agent in whose environment the program runs; empty elsewhere."""
    agent_variables: tuple[str, ...] = ()
    """Names of the variables that show it, sorted."""
    language: Language = "en"
    """Of the sentences that a person reads."""
    is_language_said: bool = False
    """Whether an option, a variable or a file says it; else the locale does."""
    workflows: Mapping[str, Any] = {}
    """By the name of a workflow that a file has a table for: what it comes to."""
    agents: AgentsTable = AgentsTable()
    """What agents may do in the user's name."""
    sign: SignTable = SignTable()
    """With which key the user signs, and whose signatures count."""
    beside: Path = Path()
    """Folder of this machine's own files about the log, wherever the log lies."""
    reader_url: str = ""
    """A login that can only read, for queries in a database of PostgreSQL; empty without one."""
    redact: tuple[PersonalKind, ...] = ()
    """What goes from texts besides secrets: every place that says some adds to the others."""
    redact_calls: tuple[PersonalKind, ...] = PERSONAL
    """Of what other programs said to models: all, unless the user's own settings say otherwise."""
    prices: tuple[PriceTable, ...] = ()
    """What models cost, as far as configured."""
    source: str
    """The repository's file that was read; empty without one."""
    own: str = ""
    """The user's own file, where there is one."""

    @property
    def actor_name(self) -> str:
        """Of the person, agent or script at work; empty when not configured.

        Raises:
            SettingsError: git or the system has one that cannot be recorded.
        """
        return self.find_actor_name()

    @property
    def shares_log(self) -> bool:
        """Whether the log may hold another repository's sessions, and no setting names the project.

        Raises:
            SettingsError: the log's address is invalid.
        """
        if self.git_folder is None:
            return False
        file = file_of(parse_log_address(self.database))
        own = (self.root.resolve(), self.git_folder.resolve())
        return file is None or not any(map(file.resolve().is_relative_to, own))

    def of(self, workflow: Workflow[Any]) -> Any:
        """What a workflow is told: its table in a file, else its default; None without either."""
        if workflow.name in self.workflows or workflow.asked.settings is None:
            return self.workflows.get(workflow.name)
        return workflow.asked.settings().default


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says of a provider, as it was typed; None where it says nothing."""

    provider: str | None = None
    """By its real name, whichever was typed."""
    model: str | None = None
    base_url: str | None = None
    api: str | None = None
    timeout_s: str | None = None
    max_tokens: str | None = None
    temperature: str | None = None
    top_p: str | None = None
    seed: str | None = None
    faults: str | None = None

    def __post_init__(self) -> None:
        if self.provider in ALIASES:
            msgspec.structs.force_setattr(self, "provider", ALIASES[self.provider])


def load_settings(
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    database: str | None = None,
    options: Options | None = None,
    language: str | None = None,
    actor: str | None = None,
) -> Settings:
    """The settings that hold in a folder.

    Args:
        environment: instead of the process's own.
        database: what `--db` said.
        options: what the command line said of a provider.
        language: what `--language` said.
        actor: what `--as` said.

    Raises:
        SettingsError: names the key, its line and what was expected.
    """
    env = os.environ if environment is None else environment
    asked = options or Options()
    git = git_folders(cwd)
    root = git[0] if git else cwd
    here = read_project_settings(cwd, root)
    if here and not git:
        root = here.source.path.parent
    typed = msgspec.structs.asdict(asked)
    typed |= {"database": database or None, "language": language or None, "actor": actor or None}
    ours = Layers(outside(typed, env))
    own = config_folder(env)  # a folder that may not be entered holds none of ours
    mine = read_own_settings(own / OWN) if own and os.access(own, os.X_OK) else None
    if here:
        _refuse_users_keys(here, env)
    for key in ("agents", "sign") if git or not _is_home(root, own, env) else ():
        if mine and key in mine.values and _leads_through(root, mine.source.path):
            raise mine.source.wrong((key,), f"{OWN_ELSEWHERE}: no repository says this")
    files = tuple(filter(None, (here, mine)))
    layers = Layers((*ours, *settings_file_layers(files)))
    named_project = project_named(layers.first("project"))
    # Another repository's folder of git says nothing of this one, wherever its log is named.
    own_git = git if git and is_own(*git) else None
    remembered = remembered_project(own_git) if own_git and not named_project else None
    kind, find_name = actor_of(layers.first("actor"), env, cwd, git)
    agent, agent_variables = agent_seen(env)
    log = layers.first("database")
    named = resolve_database_path(log.layer.file, log.value) if log else None
    known = named or named_project or remembered
    records, agents = layers.first("records"), layers.first("agents")
    reading, signing = layers.first("metrics"), layers.first("sign")
    redacting = [one.values["redact"] for one in layers if "redact" in one.values]
    redact = tuple(kind for kind in PERSONAL if any(kind in one for one in redacting))
    if prices := layers.first("prices"):
        check_prices(prices.value, prices.refused)
    lies = _beside_named(own_git, env) if named else log_folder(git, env)
    return Settings(
        root=root,
        is_in_git=git is not None,
        project=named_project or remembered or project_of(root, own_git),
        git_folder=own_git[1] if own_git and named and not named_project else None,
        project_file=project_file(own_git) if own_git and not known else None,
        database=named or str(lies / "log.db"),
        beside=lies,
        stand_in=stand_in(git[1], env) if git and not named else None,
        is_read_only=is_read_only(git[1]) if git and not named else False,
        is_database_named=bool(named),
        decisions=document_folder_setting("decisions", layers),
        cwd=cwd,
        tasks=document_folder_setting("tasks", layers),
        plans=plan_documents(layers),
        keeps_sessions=records is None or records.value.sessions,
        find_actor_name=find_name,
        actor_kind=kind,
        agent=agent,
        agent_variables=agent_variables,
        workflows={name: told for one in files[::-1] for name, told in one.workflows.items()},
        redact=redact,
        redact_calls=redact if mine and "redact" in mine.values else PERSONAL,
        prices=prices.value if prices else (),
        agents=agents.value if agents else AgentsTable(),
        sign=signing.value if signing else SignTable(),
        reader_url=env.get(READER_URL) or (reading.value.reader_url if reading else ""),
        source=str(here.source.path) if here else "",
        own=str(mine.source.path) if mine else "",
        language=_language(layers.first("language"), env),
        is_language_said=layers.first("language") is not None,
        keys=keys_of(env),
        **asked_whom(layers, env),
    )


def cached(
    what: Literal["regress", "facts", "values", "signatures", "records"],
    outside: Path | None = None,
) -> Path | None:
    """Where paid answers of regression runs, facts of repositories and the like are kept.

    None where no folder can be named.

    Args:
        outside: of this repository, which could bring what lies there.
    """
    folder = cache_folder(os.environ)
    if folder and outside and _leads_through(outside, folder / what):
        return None
    return folder and folder / what


def record_places(
    settings: Settings, records: Callable[[], Iterable[RecordHeader]] = tuple
) -> RecordPlaces:
    """Where the records of a project lie.

    Args:
        records: those that lie there; without them, ours are not told from others.
    """
    return RecordPlaces(
        settings.root,
        settings.decisions,
        cwd=settings.cwd,
        index=git_index(settings.root) if settings.is_in_git else None,
        env=os.environ,
        cache=lambda: records_cache(settings, "folders"),
        records=records,
    )


def records_cache(settings: Settings, what: Literal["folders", "records"]) -> Path | None:
    """Beside a log in a file; where none lies there yet, in the user's folder of caches.

    A linked work tree has its own, since it shares the log and may hold other records.
    """
    log, dot = settings.database, settings.root / ".git"
    is_beside = "://" not in log and Path(log).parent.is_dir()
    if is_beside and not dot.is_file():
        return Path(f"{log}.{what}")
    digest = sha256(os.fsencode(settings.root.resolve())).hexdigest()[:16]
    if is_beside:
        return Path(f"{log}.{digest}.{what}")
    folder = cached("records", settings.root)
    return folder and folder / f"{digest}.{what}"


def own_place(cwd: Path) -> Path:
    """Where a log lies by default, whatever the settings files of a folder say."""
    return log_folder(git_folders(cwd), os.environ)


def surroundings() -> Mapping[str, str]:
    """The environment, for a program that is started with a part of it."""
    return os.environ


def agent_seen(environment: Mapping[str, str] | None = None) -> tuple[str, tuple[str, ...]]:
    """The agent whose environment this is, and the variables that show it; empty without one."""
    env = os.environ if environment is None else environment
    return agent_of(env), tuple(sorted({name for _, name in signs(env)}))


def _leads_through(root: Path, path: Path) -> bool:
    """Whether a path leads into a folder or through it, also by links."""
    own = root.resolve()
    return any(one.resolve().is_relative_to(own) for one in (path, *path.parents))


def _is_home(root: Path, own: Path | None, env: Mapping[str, str]) -> bool:
    """Whether a folder is the user's home, or only holds the usual place of their settings."""
    home = env.get("HOME") or env.get("USERPROFILE") or ""
    is_home = os.path.isabs(home) and root.resolve() == Path(home).resolve()
    return is_home or own == config_folder({**env, "XDG_CONFIG_HOME": ""})


def _refuse_users_keys(here: FileSettings, env: Mapping[str, str]) -> None:
    """See that a repository's file says nothing that is its user's to say.

    Raises:
        SettingsError: names the first such key, its line, and the user's own file.
    """
    for key in users_keys(here)[:1]:
        lies = config_folder(env)
        own = lies / OWN if lies else "a settings file of your own"
        found = f"no repository says this: take it out, or move it to {own}"
        raise here.source.wrong((key,), found, code="own_file_only")


def _language(said: FoundSetting | None, env: Mapping[str, str]) -> Language:
    """What is asked for, configured, or what the locale speaks; English where it is another."""
    if said is None:
        locales = (env.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
        return "de" if next(filter(None, locales), "").lower().startswith("de") else "en"
    for language in get_args(Language):
        if said.value.strip().lower() == language:
            return cast("Language", language)
    found = f"found {shortened(said.value, 100)!r}, expected {' or '.join(get_args(Language))}"
    raise said.refused(found)


def _beside_named(own_git: tuple[Path, Path] | None, env: Mapping[str, str]) -> Path:
    """Where our own files about a log that was named lie; never behind a link."""
    try:
        return log_folder(own_git, env)
    except SettingsError:
        return log_folder(None, env)


def beside_log(settings: Settings) -> Path:
    """The log's folder, or where this machine keeps its own files about a log on a server."""
    if settings.stand_in is not None:
        return settings.stand_in.parent
    address = parse_log_address(settings.database)
    if isinstance(address, SqliteFile):
        return Path(address.name).absolute().parent
    return settings.beside
