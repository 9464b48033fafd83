"""`doctor`: how an installation stands, subject by subject, and what cures what is wrong.

Only looks: no model is asked, no network is used, and nothing but our caches is written.
"""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import which
from typing import Final, Literal

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.advice import cure_absent_record, error_with_advice
from preflights_cli.common import Voice, current_folder, text_option
from preflights_es.kernel import __version__
from preflights_es.kernel.errors import ExtraMissing, LogBusy, NoLog, PreflightsError, SettingsError
from preflights_es.kernel.ports import Access
from preflights_es.kernel.text import count_in_words, escaped_text
from preflights_es.providers.capabilities import KEY_VARIABLES, require_fit_key
from preflights_es.runtime.features import FEATURES
from preflights_es.settings.load import Settings, own_place, surroundings
from preflights_es.settings.places import cache_folder
from preflights_es.settings.signing import FILE_MAX, SIGNERS, Signers, signers_of, signing_key
from preflights_es.store.urls import Address, SqliteFile, file_of, parse_log_address, shown_url
from preflights_es.system.files import Unreadable, regular
from preflights_es.system.git import git_limited, program_path, read_git_text
from preflights_es.system.ssh import SshFailed, check_signing_key, key_fingerprint
from preflights_es.use.bootstrap import opened_process
from preflights_es.use.filed_sessions import FOREIGN, FiledSessions
from preflights_es.use.foreign import number_clashes_of, read_foreign_records
from preflights_es.use.installed_source import command_with, installed_extras
from preflights_es.use.request import Request
from preflights_es.use.results import Result
from preflights_es.use.sync import list_absent_records
from preflights_es.use.upkeep import projections, read_log_status

LOCAL: Final = ("", "localhost", "127.0.0.1", "::1")
"""Hosts of a log that is asked: any other is reached by a network."""
NOT_ASKED: Final = ": a server is not asked here"
SIGNER_LINE: Final = "a line is NAME TYPE KEY, such as `ada@example.org ssh-ed25519 AAAA...`"
GIT_S: Final = 5  # for all that git is asked: one that hangs answers nothing
NAMED_MAX: Final = 3  # files of one trouble that a line names
UPGRADED: Final = "`preflights admin db upgrade` brings it up to date"
"""Said of a log of an older version; commands that record do it by themselves."""

State = Literal["ok", "note", "wrong"]
"""Of a line: `note` is worth knowing, `wrong` has to be mended."""


MARKS: Final = {"ok": "ok", "note": "note", "wrong": "MEND"}
"""How a line begins; what has to be mended stands out."""


class HealthLine(Result, frozen=True):
    """What was found of one subject."""

    subject: str
    state: State
    found: str
    cure: str = ""
    """What to do; empty where nothing has to be done."""


class Health(Result, frozen=True, tag_field="format", tag="doctor/1"):
    """Every line, in the order in which a person looks."""

    lines: tuple[HealthLine, ...]

    @property
    def is_well(self) -> bool:
        """Whether nothing has to be mended."""
        return all(line.state != "wrong" for line in self.lines)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@text_option("--db", metavar="URL", help="The log's database.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of a bug.")
@click.pass_context
def doctor_command(ctx: click.Context, as_json: bool, db: str | None) -> int:
    """Look at the installation, the log, records, agents and keys; say what has to be mended.

    It asks no model and no server, and changes nothing but our caches. Exit code 1: something has
    to be mended.

    \b
    Examples:
      preflights doctor
      preflights doctor --json
    """
    voice = Voice(as_json=as_json, quiet=False, verbose=False)
    database = db or (ctx.obj or {}).get("db")
    with git_limited(GIT_S):
        health = diagnose(
            lambda: opened_process(
                current_folder(), asks=False, database=database, access=Access.READ
            ).request()
        )
    voice.json(health)
    for line in health.lines:
        mark = MARKS[line.state]
        text = f"{mark:<5} {line.subject:<14} {escaped_text(line.found)}"
        voice.say(voice.bold(text) if line.state == "wrong" else text)
        if line.cure:
            voice.say(voice.dim(f"{'':<21}{escaped_text(line.cure)}"))
    return 0 if health.is_well else EXIT_REFUSED


def diagnose(opened: Callable[[], Request]) -> Health:
    """Look at everything.

    Args:
        opened: gives a request that reads, or raises what is wrong with the settings.
    """
    lines = [*_program_lines()]
    try:
        request = opened()
    except (PreflightsError, OSError) as error:
        subject = "files" if isinstance(error, OSError) else "settings"
        cure = "mend this first: the rest was not looked at"
        lines.append(_wrong(subject, error, cure))
        return Health(lines=tuple(lines))
    try:
        for subject, look in SUBJECTS.items():
            if subject in NEEDS_LOG and _lacks_log(lines):
                lines.append(HealthLine(subject, "note", "not looked at without the log"))
                continue
            try:
                lines += look(request)
            except (PreflightsError, OSError) as error:
                lines.append(_wrong(subject, error))
    finally:
        request.close()
    return Health(lines=tuple(lines))


def _wrong(subject: str, error: PreflightsError | OSError, cure: str = "") -> HealthLine:
    if isinstance(error, ExtraMissing):
        return HealthLine(subject, "wrong", str(error), f"`{command_with(error.fields['extra'])}`")
    found = error_with_advice(error) if isinstance(error, PreflightsError) else str(error)
    return HealthLine(subject, "wrong", found, cure)


def _lacks_log(lines: Sequence[HealthLine]) -> bool:
    """Whether the log cannot be read, or was not asked; one that is only locked can be read."""
    held = [line for line in lines if line.subject in ("log", "project")]
    well = {line.subject for line in held if line.state == "ok"}
    lost = (line for line in held if line.subject not in well)
    return any(line.state == "wrong" or line.found.endswith(NOT_ASKED) for line in lost)


def _program_lines() -> Iterator[HealthLine]:
    python = f"{platform.python_version()}, {sys.executable}"
    yield HealthLine("python", "ok", python)
    program = which("preflights-es")
    there = Path(sys.executable).parent
    if program is None:
        found, cure = "not on the PATH: hooks and agents do not find it", f"add {there} to PATH"
        yield HealthLine("program", "note", f"{__version__}, {found}", cure)
    elif Path(program).resolve().parent not in (there, there.resolve(), Path(sys.prefix) / "bin"):
        cure = "remove one of the two, or put the one that you want first on the PATH"
        found = f"{__version__}, but agents start another installation: {program}"
        yield HealthLine("program", "note", found, cure)
    else:
        yield HealthLine("program", "ok", f"{__version__}, {program}")
    have, lack = installed_extras()
    cure = f"for one of them: {command_with(lack[0])}" if lack else ""
    missing = f"; not installed: {', '.join(lack)}" if lack else ""
    yield HealthLine("extras", "ok", f"{', '.join(have) or 'none'}{missing}", cure)


def _settings_lines(request: Request) -> Iterator[HealthLine]:
    told = request.process.settings
    files = [file for file in (told.source, told.own) if file]
    yield HealthLine("settings", "ok", ", ".join(files) or "none: the defaults hold")


def _git_lines(request: Request) -> Iterator[HealthLine]:
    root, env = request.process.settings.root, surroundings()
    program = program_path("git", env)
    if program is None:
        yield HealthLine("git", "note", "not on the PATH: `check` needs it", "install git")
    elif (root / ".git").exists() and not read_git_text(("rev-parse", "--git-dir"), root, env):
        yield HealthLine("git", "wrong", f"git cannot read {root}", "`git status` says why")
    else:
        yield HealthLine("git", "ok", program)


def _is_elsewhere(address: Address) -> bool:
    """Whether it may take a network to ask a log; libpq reads variables, too."""
    if isinstance(address, SqliteFile):
        return False
    env, said = surroundings(), dict(address.query)
    if address.host:
        said["host"] = address.host
    names = ("host", "hostaddr", "service")
    hosts = (str(said.get(name) or env.get(f"PG{name.upper()}", "")) for name in names)
    return any(host not in LOCAL and not host.startswith("/") for host in hosts)


def _log_lines(request: Request) -> Iterator[HealthLine]:
    told = request.process.settings
    address = parse_log_address(told.database)
    shown = shown_url(address)
    if _is_elsewhere(address):
        cure = "`preflights admin db status` asks it"
        yield HealthLine("log", "note", f"{shown}{NOT_ASKED}", cure)
        return
    if (file := file_of(address)) and file.exists() and not file.is_file():
        yield HealthLine("log", "wrong", f"{file} is no regular file", "move it away")
        return
    try:
        status = read_log_status(request)
    except NoLog:
        found = f"none at {shown}"
        cure = "`preflights admin db upgrade` makes it, or mend the address"
        yield HealthLine("log", "wrong", found, cure)
        return
    except PreflightsError as error:
        cure = "" if isinstance(address, SqliteFile) else "start the server, or mend the address"
        yield _wrong("log", error, cure)
        return
    if status.schema not in (None, status.schema_known):
        found = f"{shown} has tables of version {status.schema}, known is {status.schema_known}"
        yield HealthLine("log", "note", found, UPGRADED)
    elif status.schema:
        sessions = count_in_words(status.sessions, "session")
        events = count_in_words(status.events, "event")
        yield HealthLine("log", "ok", f"{shown}, {sessions}, {events}")
    if file and status.schema:
        yield from _file_lines(request, file)
    elif file:
        yield _no_file_line(told, file)
    usual = own_place(told.cwd) / "log.db"
    if told.is_database_named and usual.exists() and usual.resolve() != (file and file.resolve()):
        cure = f"`preflights admin export --all -o FILE --db {usual}`, then import FILE"
        yield HealthLine("log", "note", f"another log, at {usual}, is not used", cure)


def _no_file_line(told: Settings, file: Path) -> HealthLine:
    place = None if told.is_read_only else _unwritable(file)
    if place is None:
        return HealthLine("log", "ok", f"none yet; the first session makes {file}")
    found = f"none yet, and {place} is no folder that may be written"
    return HealthLine("log", "wrong", found, "move it away, or `chmod u+w` it")


def _file_lines(request: Request, file: Path) -> Iterator[HealthLine]:
    """What is wrong with the file of a log."""
    told = request.process.settings
    if told.is_read_only:
        cure = "let it be written: until then commands use a log that stands in"
        yield HealthLine("log", "note", f"{file} is read-only", cure)
    elif not os.access(file, os.W_OK):
        yield HealthLine("log", "wrong", f"{file} may not be written", "`chmod u+w` it")
    elif told.stand_in is not None:
        found = f"{told.stand_in} holds sessions that the log lacks"
        yield HealthLine("log", "wrong", found, "`preflights sync` takes them over")
    else:
        yield from _busy_line(request)


def _busy_line(request: Request) -> Iterator[HealthLine]:
    """Said where another process holds the log's one lock for longer than an append takes."""
    database = request.process.store.database
    try:
        with database.hurried():
            database.wrote(lambda _: None)
    except LogBusy as error:
        found, _, cure = str(error).partition(": ")
        yield HealthLine("log", "wrong", found, cure)


def _projection_lines(request: Request) -> Iterator[HealthLine]:
    found = projections(request)
    missing = [one for one in found.projections if one.state == "never built"]
    kept = [one for one in found.projections if one.state not in ("complete", "never built")]
    for one in kept if found.sessions else ():
        cure = f"`preflights admin projections rebuild {one.name}`"
        yield HealthLine("projections", "note", f"{one.name} is {one.state}", cure)
    if missing and found.sessions:
        shown = f"{len(missing)} are not built yet: the first command that reads them does it"
        yield HealthLine("projections", "ok", shown)
    elif not (kept or missing):
        waiting = f"; the next command that reads folds {count_in_words(found.waiting, 'append')}"
        shown = f"{len(found.projections)} are complete{waiting if found.waiting else ''}"
        yield HealthLine("projections", "ok", shown)


def _unwritable(file: Path) -> Path | None:
    """What keeps a file from being made."""
    place = next(one for one in file.absolute().parents if os.path.lexists(one))
    return None if place.is_dir() and os.access(place, os.W_OK) else place


def _project_lines(request: Request) -> Iterator[HealthLine]:
    name = request.process.project
    where = request.process.settings.root
    yield HealthLine("project", "ok", f"{name}, {where}")


def _records_lines(request: Request) -> Iterator[HealthLine]:
    process = request.process
    folders = [folder.path for folder in process.record_places.folders]
    records = process.records()
    where = ", ".join(folders) or f"none yet; the first goes to {process.record_places.new}"
    yield HealthLine("records", "ok", f"{len(records.records)} in {where}" if folders else where)
    if place := _unwritable(process.settings.root / process.record_places.new / "0001.md"):
        yield HealthLine("records", "wrong", f"{place} may not be written", "`chmod u+w` it")
    foreign = read_foreign_records(process)
    for unread in foreign.unread[:NAMED_MAX]:
        found = f"{unread.path} cannot be read: {unread.why}"
        yield HealthLine("records", "wrong", found, "mend the file, or move it out of the folder")
    for row in foreign.doubtful[:NAMED_MAX]:
        found, _, cure = row.doubt.partition(": ")
        yield HealthLine("records", "wrong", f"{row.path}: {found}", cure)
    for absent in list_absent_records(process)[:NAMED_MAX]:
        yield HealthLine("records", "note", absent.found, cure_absent_record(absent.session_id))
    for clash in number_clashes_of(process)[:NAMED_MAX]:
        cure = "`preflights admin renumber` gives the younger a new number"
        yield HealthLine("records", "wrong", clash.text, cure)


def _session_file_lines(request: Request) -> Iterator[HealthLine]:
    process = request.process
    if not process.settings.keeps_sessions:
        yield HealthLine("session files", "ok", "not kept: [records] sessions is false")
        return
    files = [one.file for one in FiledSessions(process).files(whole=True)]
    counted = Counter(file.compared for file in files)
    yield HealthLine("session files", "ok", f"{counted['same']} of {len(files)} are as the log")
    if more := sum(counted[one] for one in FOREIGN):
        found = f"{more} hold sessions or events that the log lacks"
        yield HealthLine("session files", "note", found, "`preflights sync` takes them over")
    if counted["behind"]:
        found = f"{counted['behind']} lack events of the log"
        yield HealthLine("session files", "note", found, "`preflights sync` writes them")
    for file in [file for file in files if file.told][:NAMED_MAX]:
        cure = "`preflights sync` names them all; git may hold it as it was"
        yield HealthLine("session files", "wrong", file.told, cure)


def _agent_lines(request: Request) -> Iterator[HealthLine]:
    set_up = list(FEATURES.port("agent_setup")(request.process.settings))
    if not set_up:
        cure = "`preflights init --agent NAME` sets one up"
        yield HealthLine("agents", "ok", "none seen in this repository", cure)
    for agent, state, found, cure in set_up:
        yield HealthLine("agents", state, f"{agent}: {found}", cure)


def _model_lines(request: Request) -> Iterator[HealthLine]:
    told = request.process.settings
    asked = " ".join(filter(None, (told.provider, told.model, told.host and f"at {told.host}")))
    keys = ", ".join(key.source for key in told.keys.values())
    yield HealthLine("models", "ok", f"{asked}; keys: {keys or 'none'}")
    for key in told.keys.values():
        try:
            require_fit_key(key)
        except SettingsError as error:
            yield _wrong("models", error, "set it anew")
    if told.provider in KEY_VARIABLES and told.provider not in told.keys:
        found = f"the provider {told.provider} has no key"
        cure = f"set {KEY_VARIABLES[told.provider][1]}, or choose another provider"
        yield HealthLine("models", "wrong", found, cure)


def _signing_lines(request: Request) -> Iterator[HealthLine]:
    told, env = request.process.settings, surroundings()
    if told.sign.key:
        key = signing_key(told, env)
        try:
            check_signing_key(key, env)
            yield HealthLine("signing", "ok", f"with {key[:60]}, {key_fingerprint(key, env)}")
        except SshFailed as error:
            found, _, cure = str(error).partition(": ")
            yield HealthLine("signing", "wrong", found, cure)
    else:
        yield HealthLine("signing", "ok", "off: no [sign] key in your settings")
    signers = signers_of(told, env)
    if told.sign.signers and not signers.are_known:
        found = f"{told.sign.signers} is empty: signatures are shown as not checked"
        yield HealthLine("signing", "wrong", found, SIGNER_LINE)
    else:
        known = "known" if signers.are_known else "unknown: signatures are shown as not checked"
        yield from _signers_line(signers, "the file of your signers", f"signers are {known}")
    try:
        of_repository = Signers(regular(told.root / SIGNERS, FILE_MAX, follows=False))
        yield from _signers_line(of_repository, SIGNERS, f"{SIGNERS} can be read")
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, Unreadable) as error:
        why = getattr(error, "strerror", None) or error
        found, cure = f"{SIGNERS} cannot be read: {why}", "restore the file from git"
        yield HealthLine("signing", "wrong", found, cure)


def _signers_line(signers: Signers, where: str, well: str) -> Iterator[HealthLine]:
    if line := signers.unread_line:
        found = f"{where}, line {line}, names no signer"
        yield HealthLine("signing", "wrong", found, SIGNER_LINE)
    else:
        yield HealthLine("signing", "ok", well)


def _cache_lines(_request: Request) -> Iterator[HealthLine]:
    folder = cache_folder(surroundings())
    if folder is None:
        yield HealthLine("cache", "note", "no folder can be named", "set HOME or XDG_CACHE_HOME")
    elif not folder.exists():
        place = _unwritable(folder)
        if place is None:
            yield HealthLine("cache", "ok", f"none yet; it will be {folder}")
            return
        found = f"{folder} cannot be made: commands are slower"
        cure = f"{place} is no folder that may be written: set XDG_CACHE_HOME to one"
        yield HealthLine("cache", "wrong", found, cure)
    elif not (folder.is_dir() and os.access(folder, os.W_OK)):
        found = f"{folder} may not be written: commands are slower"
        yield HealthLine("cache", "wrong", found, "`chmod u+w` it, or remove it")
    else:
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        yield HealthLine("cache", "ok", f"{folder}, {size / 1e6:.1f} MB")


SUBJECTS: Final[dict[str, Callable[[Request], Iterator[HealthLine]]]] = {
    "settings": _settings_lines,
    "git": _git_lines,
    "log": _log_lines,
    "projections": _projection_lines,
    "project": _project_lines,
    "records": _records_lines,
    "session files": _session_file_lines,
    "agents": _agent_lines,
    "models": _model_lines,
    "signing": _signing_lines,
    "cache": _cache_lines,
}
"""What is looked at, in order; a trouble of one leaves the others."""
NEEDS_LOG: Final = ("projections", "project", "records", "session files")
"""Subjects that are held against the log, and against the project that it knows."""
