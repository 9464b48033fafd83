"""Every command and every field that README and docs show, held against the program.

How to write a block so that it is tested:

* ```sh: each line is a command. They run in their order, all blocks of a page in one new repository
  called `shop`, without a terminal. A line must end with exit code 0, or with the one that its
  comment names: `# exit 3`. A comment `# asks` says that the command needs a person: it runs at a
  terminal, where its questions are answered with 1 and the proposal is accepted. A comment
  `# serves` says that it serves a page until Ctrl-C: the page is asked for at the address that it
  prints.
* ```console: `$ command` (`# exit N` as above), then all that it prints, stdout and stderr. `...`
  stands for any text, on a line of its own for any lines. Ids, hashes, dates, times and ages may be
  any, and so may the number of blanks. A short id in a
  command is the one that was printed where the page showed it last. Where a line begins with
  `[a]ccept` or asks `[y/N]`, the
  command runs at a terminal, and what follows a prompt (`> 1`, `In your own words: x`,
  `[l]eave? a`, `[y/N]: y`) is typed.
* ```python: run in their order, one namespace a page, in a folder with a `session.jsonl`;
  `await` may stand at the top. One that begins with a comment `# some/file.py` is a piece of that
  file, and only parsed.
* ```sql: roles of PostgreSQL, which tests/store/test_roles.py makes and holds against it.
* ```toml: loaded as `preflights.toml`, or as the user's own file where its first line is
  `# settings.toml`, and in force for the commands after it. One that begins with
  `# regress/assertions.toml` is only read.

* ```text: a file, or commands, of the package that docs/writing-a-workflow.md builds; another test
  installs it.

`make ...` must be a target of the Makefile; `pip install .` is tests/packaging.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.request import urlopen

import click
import msgspec
import pytest

import preflights_cli
import preflights_es
from preflights_cli.commands import SECTIONS, Lazy, commands
from preflights_cli.main import preflights
from preflights_es.features.calls.domain import events as calls
from preflights_es.features.calls.domain.asking import ASSERTIONS, parse_assertions
from preflights_es.features.clarification.domain import pack
from preflights_es.features.planning.domain import events as planning
from preflights_es.settings.file import FIELDS
from preflights_es.settings.load import READER_URL, Options
from preflights_es.use.leads import GENERATION
from preflights_es.use.results import SessionRow
from preflights_es.words.workflow import View
from tests.cli.clones import SESSIONS, cloned, committed
from tests.cli.compiler.planning import approved, asked, planned
from tests.cli.compiler.planning import documented as documented_plans
from tests.cli.conftest import GIT_CONFIG
from tests.cli.program import Project, Result
from tests.cli.tampering import cut_with_its_head, flipped, tampered
from tests.cli.terminal import ANSWER, WAIT_S, terminal
from tests.each import each
from tests.frozen.published import documented, json_classes
from tests.markdown import ROOT, tables
from tests.observing import accepted_in_browser, observed_in
from tests.persons import git_repository
from tests.providers.server import FakeAPI
from tests.surfaces.view import sshsig

PAGES: Final = ("README.md", *sorted(f"docs/{path.name}" for path in ROOT.glob("docs/*.md")))
HOUSE: Final = "/home/ada/shop"
"""Where the pages say that the repository lies."""

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PIECE = re.compile(r"# [\w/]+\.py$", re.MULTILINE)
_EXIT = re.compile(r"\s+# exit (\d+)$")
_PLAIN = re.compile(r"preflights [^|><&;$`*]*")
_PROMPT = re.compile(
    r"^(> (?:\(\d+\) )?|In your own words: |Decision: |Because: ?|Instead of: ?"
    r"|\[[as]\].*\[l\]eave\? |.* \[y/N\]: )(.*)$"
)
_ANY = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "UID"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\b[MTWFS][a-z]{2} \d{1,2} [A-Z][a-z]{2}( \d{4})?\b"), "DAY"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "TIME"),
    (re.compile(r"\b\d{1,6}[smhd]\b"), "AGE"),
    (re.compile(r" +"), " "),
    (re.compile(r"─+"), "─"),
)


_SHORT = re.compile(r"\b[0-9a-f]{8}\b")


class Block(NamedTuple):
    """A piece of a page."""

    language: str
    text: str
    line: int


class Shown(NamedTuple):
    """A command with all that it is shown to print, and its exit code."""

    command: str
    code: int
    printed: str


def blocks(page: str) -> Iterator[Block]:
    """Those of a page, in order."""
    text = (ROOT / page).read_text("utf-8")
    for found in _BLOCK.finditer(text):
        yield Block(found[1], found[2], text.count("\n", 0, found.start()) + 1)


def shown(block: Block) -> Iterator[Shown]:
    """The commands of a `console` block."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        if found := _EXIT.search(command):
            yield Shown(command[: found.start()], int(found[1]), printed)
        elif found := _EXIT.search("\n" + printed.rstrip("\n")):  # on a line after a conversation
            yield Shown(command, int(found[1]), printed[: printed.rindex("# exit")])
        else:
            yield Shown(command, 0, printed)


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Project:
    """The repository in which the pages' commands are typed, by a person whose home is new."""
    return new_shop(tmp_path, home)


def new_shop(folder: Path, home: Path) -> Project:
    """The same in a folder."""
    made = Project(folder / "shop", folder / "home")
    made.home.mkdir(parents=True)
    shutil.copy(home / ".gitconfig", made.home)  # not what other tests left beside it
    git_repository(made.folder)
    return made


SIGNING: Final = "docs/signing.md"
CALLS: Final = "docs/example-calls"
PARTS: Final = 8
"""Tests that the pages are shared out to: each is a whole run of some."""


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("part", range(PARTS))
def test_the_commands_of_each_page_do_what_it_says(part: int, tmp_path: Path, home: Path) -> None:
    for page in [one for one in PAGES if one != SIGNING][part::PARTS]:
        shop = new_shop(tmp_path / page.replace("/", "-"), home)
        if page == "README.md":
            (shop.folder / "docs" / "adr").mkdir(parents=True)
            (shop.folder / "docs" / "adr" / "0012-use-redux-for-state.md").write_text(RECORD)
        if page in ("README.md", "docs/calls.md"):
            shutil.copytree(ROOT / CALLS, shop.folder / CALLS)
        _does_what_it_says(page, shop)


@pytest.mark.needs("ssh-keygen")
@pytest.mark.slow("whole runs")
def test_the_commands_of_the_page_about_signing_do_what_it_says(shop: Project) -> None:
    _does_what_it_says(SIGNING, shop)


RECORD: Final = "# 12. Use Redux for state\n\nDate: 2023-04-11\n\n## Status\n\nAccepted\n"
"""What the team of the README has already."""


def _does_what_it_says(page: str, shop: Project) -> None:
    ids: dict[str, str] = {}
    for block in blocks(page):
        where = f"{page}, line {block.line}"
        match block.language:
            case "sh":
                for line in block.text.splitlines():
                    _run_line(shop, line, where)
            case "console":
                for one in shown(block):
                    _check_shown(shop, one, where, ids)
            case "toml":
                _load_toml(shop, block.text, where)
            case "python":
                pass  # below
            case "sql" | "yaml":
                pass  # tests/store/test_roles.py, tests/cli/test_ask.py
            case "text" if page == "docs/writing-a-workflow.md":
                pass  # tests/packaging/test_foreign_workflow.py
            case other:
                pytest.fail(f"{where}: no test runs blocks of {other!r}")


def _load_toml(shop: Project, text: str, where: str) -> None:
    """Assertions are read; settings hold for the commands after them."""
    if text.startswith(f"# {ASSERTIONS}\n"):
        assert parse_assertions(text.encode()), where
        return
    _settings_file(shop, text).write_text(text)
    done = shop.call("admin", "db", "upgrade")
    assert done.code == 0, (where, done.err)


def _settings_file(shop: Project, text: str) -> Path:
    if not text.startswith("# settings.toml\n"):
        return shop.folder / "preflights.toml"
    folder = shop.home / ".config" / "preflights"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "settings.toml"


def _run_line(shop: Project, line: str, where: str) -> None:
    command, _, comment = line.partition(" # ")
    command = command.strip()
    if not command or command.startswith("#"):
        return
    if command.startswith("make "):
        target = command.split()[1]
        makefile = (ROOT / "Makefile").read_text()
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{where}: no {command!r}"
        return
    if command == "pip install .":
        return
    if comment.startswith("asks"):
        _conversed(shop, command, where)
        return
    if comment.startswith("serves"):
        _served(shop, command, where)
        return
    found = re.match(r"exit (\d+)", comment)
    done = _ran(shop, command)
    assert done.code == (int(found[1]) if found else 0), (where, command, done)


def _ran(shop: Project, command: str) -> Result:
    """In this process where that is the same, else by a shell."""
    if _PLAIN.fullmatch(command):
        return shop.call(*shlex.split(command)[1:])
    return shop.run(program=("bash", "-c", command))


def _conversed(shop: Project, command: str, where: str) -> None:
    with terminal(shop, *shlex.split(command)[1:]) as t:
        t.expect(ANSWER)
        t.type("1")
        t.proposal()
        t.press("a")
        assert t.code() == 0, where


def _served(shop: Project, command: str, where: str) -> None:
    with terminal(shop, *shlex.split(command)[1:]) as t:
        address = t.expect(r"http://127\.0\.0\.1:\S+\s").split()[-1]
        t.expect("Ctrl-C")
        with urlopen(address, timeout=WAIT_S) as page:
            assert page.status == 200, where
        t.interrupt()
        assert t.code() == 130, where


def _check_shown(shop: Project, one: Shown, where: str, ids: dict[str, str]) -> None:
    """Run what is shown.

    Args:
        ids: by a short id of the page, the one that was printed in its place; added to.
    """
    command = _SHORT.sub(lambda found: ids.get(found[0], found[0]), one.command)
    if "\n[a]ccept" in one.printed or "[y/N]: " in one.printed:
        prompts = filter(None, map(_PROMPT.match, one.printed.splitlines()))
        code, printed = _typed(shop, command, [(found[1], found[2]) for found in prompts])
    else:
        done = _ran(shop, command)
        code, printed = done.code, done.err + done.out
    assert code == one.code, (where, one.command, printed)
    wanted, got = _comparable(one.printed, shop), _comparable(printed, shop)
    found = _pattern(wanted).fullmatch(got)
    if found is None:
        pytest.fail(f"{where}: {one.command}\n{got}\n--- shown is:\n{wanted}", pytrace=False)
    ids.update(zip(_SHORT.findall(wanted), found.groups(), strict=True))


def _typed(shop: Project, command: str, inputs: list[tuple[str, str]]) -> tuple[int, str]:
    """The exit code of a conversation, and all that stood on the terminal."""
    seen = ""
    with terminal(shop, *shlex.split(command)[1:]) as t:
        for prompt, text in inputs:
            seen += t.expect(re.escape(prompt))
            if prompt.startswith("[") and "Enter" not in prompt:
                t.press(text)
            else:
                t.type(text)
        seen += t.rest()
        return t.code(), seen


def _comparable(text: str, shop: Project) -> str:
    text = text.replace(str(shop.folder), HOUSE)
    for pattern, word in _ANY:
        text = pattern.sub(word, text)
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


def _pattern(wanted: str) -> re.Pattern[str]:
    """What is shown, with `...` for anything."""
    lines = []
    for line in wanted.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            text = ".*".join(map(re.escape, line.split("...")))
            lines.append(_SHORT.sub("([0-9a-f]{8})", text) + r"\n")
    return re.compile("".join(lines))


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```python" in (ROOT / page).read_text()]
)
def test_the_python_of_a_page_runs(
    shop: Project, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.decided()
    (shop.folder / "session.jsonl").write_text(shop.call("admin", "export", "last").out)
    monkeypatch.chdir(shop.folder)
    namespace: dict[str, Any] = {}
    for block in blocks(page):
        if block.language == "python":
            # Line numbers of the page, in a traceback.
            text = "\n" * block.line + block.text
            code = compile(text, page, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            run = None if _PIECE.match(block.text) else eval(code, namespace)
            if inspect.iscoroutine(run):
                asyncio.run(run)


# 2. JSON -------------------------------------------------------------------------------------


def paths(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Pairs of path and value, for every field of a JSON object and of those in its lists."""
    if isinstance(value, dict):
        for key, inner in value.items():
            path = f"{at}.{key}" if at else key
            yield path, inner
            yield from paths(inner, path)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict):
                yield from paths(inner, f"{at}[]")


TYPES: Final[dict[str, Any]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "list of integers": list,
    "list of strings": list,
    "list of objects": list,
    "list of pairs": list,
    "null": type(None),
    "any": object,
}


def check(shape: str, *values: Any, opaque: str | tuple[str, ...] = ()) -> None:
    """All documented fields exist in the values taken together, and no others.

    Args:
        opaque: fields whose inside is documented elsewhere.
    """
    hidden = (opaque,) if isinstance(opaque, str) else opaque
    inside = tuple(f"{name}{sign}" for name in hidden for sign in (".", "[]"))
    types = documented(shape)
    seen: set[str] = set()
    for value in values:
        for path, inner in paths(value):
            if path.startswith(inside):
                continue
            assert path in types, f"{shape}: {path} is not documented"
            wanted = [TYPES[name] for name in types[path].split(" or ")]
            assert isinstance(inner, tuple(_flat(wanted))), (shape, path, inner)
            seen.add(path)
    assert seen == set(types), f"{shape}: {set(types) - seen} does not exist"


def _flat(wanted: list[Any]) -> Iterator[type]:
    for one in wanted:
        yield from one if isinstance(one, tuple) else (one,)


WRITTEN: Final = (
    *("--question", "Which lever?", "--option", "A", "--option", "B"),
    *("--recommend", "A: it is short", "--topic", "Lever", "--evidence", "lever.py:1-2"),
)
"""A question of a script's own."""


def beside(shop: Project) -> tuple[Any, Any]:
    """A decision that was kept beside another one, and one that then replaced both."""
    words = ("start", "Keep it in a database", "--accept", "--by", "Ada", "--json", "--answer")
    uids = [shop.call(*words, "db_type=PostgreSQL").json["uid"]]
    kept = shop.call(*words, "db_type=MySQL", "--keep", f"{uids[0]}=Carts have their own").json
    uids.append(kept["uid"])
    named = (part for uid in uids for part in ("--supersedes", uid))
    return kept, shop.call(*words, "db_type=MongoDB", *named).json


def differing(shop: Project) -> Any:
    """A decision that a record of another tool perhaps contradicts."""
    path = shop.folder / "docs" / "decisions" / "0070-move-the-orders.md"
    path.write_text("# 70. Move the orders to Kafka\n\n## Status\n\nAccepted\n\nIt joins.\n")
    return shop.call("start", "Use NATS for the orders", "--accept", "--by", "Ada", "--json").json


@pytest.mark.slow("whole runs")
def test_the_fields_of_a_session_are_those_that_are_documented(shop: Project) -> None:
    written = shop.call("start", "Go faster", *WRITTEN, "--json").json
    relayed = shop.call("answer", written["session_id"], "1", "--relayed", "--json").json
    old = shop.decided()
    asking = shop.call("start", "Add login", "--json").json
    refused = shop.call("answer", "last", "tbd", "--json").json
    why = ("--because", "It fits", "--consequence", "One more", "--alternative", "SAML: slow")
    moved = shop.call("start", "Move from MySQL to PostgreSQL", "--json").json
    new = shop.decided("Add SSO", "--supersedes", old["uid"], *why)
    shown = shop.show(old["session_id"])
    observed = shop.show(observed_in(shop.folder))
    others = (asking, refused, moved, written, relayed, shown, observed, *beside(shop))
    again = shop.call("start", "Use OAuth for authentication", "--json").json
    down = shop.call("start", "Use SAML for the console", "--json").json
    lines = shop.call("start", "Make it calmer", "--json").json
    accepted_in_browser(shop.folder, observed["session_id"])
    browsed = shop.show(observed["session_id"])
    check("session/1", old, new, *others, again, down, lines, browsed, differing(shop))
    check("sessions/1", shop.call("sessions", "--json").json)
    check("log/1", *shop.events(), opaque="data")
    check("inbox/1", shop.call("inbox", "--json").json, opaque="files")
    check("prompt/1", shop.call("prompt", "last", "--json").json)
    check("render/1", shop.call("admin", "render", "--json").json)
    check("export/1", shop.call("admin", "export", "last", "-o", "new.jsonl", "--json").json)
    again = shop.call("admin", "import", "new.jsonl", "--json").json
    check("import/1", again, _merged(shop), *_extending(shop))
    (shop.folder / "docs" / "decisions" / "0001-by-hand.md").write_text("# By hand\n")
    check("renumber/1", shop.call("admin", "renumber", "--check", "--json").json)
    check("db-status/1", shop.call("admin", "db", "status", "--json").json)
    check("doctor/1", shop.call("doctor", "--json").json)
    check("db-upgrade/1", shop.call("admin", "db", "upgrade", "--json").json)
    shop.decided_apart("Add a login form", "auth_strategy=Magic Link")  # two values in force
    shop.decided_apart("Add a login page", "auth_strategy=OAuth")
    by_hand = shop.folder / "docs" / "decisions" / "0091-by-hand.md"
    by_hand.write_text("# By hand\n\nStatus: Rechazado\n")
    check("brief/1", shop.call("prompt", "--json").json)
    by_hand.unlink()


def _merged(shop: Project) -> Any:
    """What an import into a log that has counted from 1 as well says."""
    clone = Project(shop.folder.parent / "clone" / "shop", shop.home)
    git_repository(clone.folder)
    clone.decided("Add a login")
    return clone.call(
        "admin", "import", "-", "--json", stdin=shop.call("admin", "export", "--all").out.encode()
    ).json


def _extending(shop: Project) -> Iterator[Any]:
    """What imports say that change a session that is held, and one that is not alone."""
    clone = Project(shop.folder.parent / "second" / "shop", shop.home)
    git_repository(clone.folder)
    first = clone.decided("Add a login")["session_id"]
    shop.call("admin", "import", "-", stdin=clone.call("admin", "export", first).out.encode())
    new = clone.decided("Add SSO", "--supersedes", first)["session_id"]
    both = clone.call("admin", "export", "--all").out.encode()
    yield shop.call("admin", "import", "-", "--json", stdin=both).json
    alone = clone.call("admin", "export", new).out.encode()
    yield clone.call("admin", "import", "-", "--json", "--db", "empty.db", stdin=alone).json


@pytest.mark.slow("whole runs")
@pytest.mark.needs("ssh-keygen")
def test_the_fields_of_the_audit_are_those_that_are_documented(
    shop: Project, tmp_path: Path
) -> None:
    led = shop.decided()["session_id"]
    shop.decided("Add SSO", "--supersedes", led)
    broken = shop.started_session()
    check(
        "audit-checkpoint/1",
        shop.call("audit", "checkpoint", "-o", "all.jsonl", "--json").json,
        shop.call("audit", "checkpoint", "--all", "-o", "log.jsonl", "--json").json,
    )
    lines = shop.call("admin", "export", led).out.splitlines(keepends=True)
    unwritten = "".join(takewhile(lambda line: "artifact.written.v1" not in line, lines))
    elsewhere = ("--db", "elsewhere.db")
    assert shop.call("admin", "import", "-", *elsewhere, stdin=unwritten.encode()).code == 0
    check("db-backup/1", shop.call("admin", "db", "backup", "copy.db", "--json").json)
    dry = shop.call("admin", "erase", led, "--dry-run", "--json").json
    check("erase/1", dry, shop.call("admin", "erase", led, "--yes", "--quoting", "--json").json)
    shop.call("decisions")
    tampered(shop, broken, cut_with_its_head)
    tampered(shop, broken, flipped)
    tampered(shop, led, lambda log, _: log.execute("UPDATE projected_sessions SET turns = 99"))
    stray = f"INSERT INTO marks VALUES ('sessions', '{'0' * 8}', 3)"
    tampered(shop, led, lambda log, _: log.execute(stray))
    against = ("--against", "all.jsonl", "--json")
    check(
        "audit-verify/1",
        shop.call("audit", "verify", "--json").json,
        shop.call("audit", "verify", *against).json,
        shop.call("audit", "verify", *elsewhere, "--json").json,
        signing_team(tmp_path / "acts").call("audit", "verify", "--json").json,
        damaged_clone(tmp_path / "acts", tmp_path / "clone").call("audit", "verify", "--json").json,
    )


def signing_team(top: Path) -> Project:
    """A repository with an acceptance that was signed."""
    team = Project(top / "house", top / "home")
    own = team.home / ".config" / "preflights" / "settings.toml"
    own.parent.mkdir(parents=True)
    git_repository(team.folder)
    (team.home / ".gitconfig").write_text(GIT_CONFIG)
    key, public = sshsig.generated(team.home)
    (team.home / "signers").write_text(f"ada@example.org {public}\n")
    own.write_text(f'[sign]\nkey = "{key}"\nsigners = "{team.home / "signers"}"\n')
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--by", "Ada", "--sign")
    assert team.call("start", "Add OAuth login", *words).code == 0
    return team


def damaged_clone(top: Path, folder: Path) -> Project:
    """A clone of it without a log, and with one more file among those of sessions."""
    team = Project(top / "house", top / "home")
    committed(team)
    clone = cloned(team, folder)
    (clone.folder / SESSIONS / "0123456789ab.jsonl").write_text("{}")
    return clone


def test_the_fields_of_a_note_are_those_that_are_documented(shop: Project) -> None:
    asking = shop.call("note", "Arzt @14:00\nmow the lawn ~30m !high", "--json").json
    refused = shop.call("answer", shop.newest(), " ", "--json").json
    task = ("--minutes", "5", "--due", "2027-01-31", "--energy", "admin")
    filed = [
        shop.call("note", "add", *words, "--note", "last", "--json").json
        for words in (
            ("task", "Mow", *task),
            ("event", "Tea", "--start", "9:00", "--end", "10:00", "--date", "2027-01-31"),
            ("idea", "A book", "--content", "About logs"),
        )
    ]
    mowed = f"{filed[0]['items'][-1]['id']}"
    decided = ("--answer", "auth_strategy=OAuth", "--accept", "--by", "Ada")
    shop.call("start", "Add login", "--task", mowed, *decided)
    filed.append(shop.call("show", mowed[:-2], "--json").json)
    check("note/1", asking, refused, *filed)
    check("items/1", shop.call("note", "list", "--json").json, opaque="items")


def test_the_fields_of_a_recall_are_those_that_are_documented(shop: Project) -> None:
    decided = ("--answer", "auth_strategy=OAuth", "--accept", "--by", "Ada")
    first = shop.call("start", "Add login", *decided, "--json").json["session_id"]
    again = ("--supersedes", first, "--answer", "auth_strategy=SAML", "--accept", "--by", "Ada")
    shop.call("start", "Add login", *again)
    records = shop.folder / "docs" / "decisions"
    (records / "0099-parcels.md").write_text("# 99. Parcels go by login\n\n## Status\n\nAccepted\n")
    found = shop.call("recall", "login", "--json").json
    nothing = shop.call("recall", "teleportation", "--json").json
    check("recall/1", found, nothing)


def test_the_fields_of_calls_are_those_that_are_documented(shop: Project) -> None:
    (shop.folder / "preflights.toml").write_text(
        '[[prices]]\nprovider = "openai"\nmodel = "large-1"\nfrom = 2020-01-01\n'
        'input_per_million = 1\noutput_per_million = 1\ncurrency = "EUR"\n'
    )
    tool = {"function": {"name": "find", "arguments": '{"id": 7}'}}
    message = {"content": "", "tool_calls": [tool]}
    called = {
        "request": {"model": "large-1", "messages": [{"role": "user", "content": "find 7"}]},
        "response": {"choices": [{"message": message}], "usage": {"prompt_tokens": 9}},
        "timestamp": "2999-01-01T00:00:00Z",
    }
    file = (ROOT / CALLS / "support.jsonl").read_text()
    (shop.folder / "calls.jsonl").write_text(f"oops\n{file}{json.dumps(called)}\n")
    said = ("--request", "/request", "--response", "/response", "--time", "/timestamp", "--json")
    check(
        "calls-import/1",
        shop.call("calls", "import", "calls.jsonl", *said).json,
        opaque=("refused", "redacted"),
    )
    check("calls-list/1", shop.call("calls", "--json").json)
    judged = ("--expect", "x", "--by", "Ada", "--json")
    check("calls-judged/1", shop.call("calls", "judge", "last", "1", *judged).json)
    shown = shop.call("calls", "show", "last", "--json").json
    check("calls-show/1", shown)
    check("calls/1", shop.call("show", shown["session_id"], "--json").json)


def test_the_fields_of_a_recorded_run_are_those_that_are_documented(
    shop: Project, api: FakeAPI
) -> None:
    code = (
        "import os, sys, urllib.request as u\n"
        "for body in map(str.encode, sys.argv[1:]):\n"
        "    try: u.urlopen(os.environ['OPENAI_BASE_URL'] + '/chat/completions', body)\n"
        "    except OSError: pass\n"
    )
    env = {"OPENAI_BASE_URL": api.openai}
    program = ("last", "--json", "--", sys.executable, "-c", code)
    made = shop.run("calls", "record", *program[1:], '{"n": 1}', '{"n": 2}', env=env)
    check("calls-record/1", made.json)
    check("calls-replay/1", shop.run("calls", "replay", *program, '{"n": 1}', '{"n": 3}').json)


def test_the_fields_of_a_day_are_those_that_are_documented(shop: Project) -> None:
    nothing = shop.call("today", "--json").json
    note = "report ~90m\ncall ~10m due:2027-01-31\ncellar ~5h\ntea @today-10:00\nslides"
    first = shop.call("note", note, "--json").json["items"][0]["id"]
    day = ("--from", "9:00", "--until", "18:00")
    whole = shop.call("today", *day, "--json").json
    part = shop.call("today", *day, "--minutes", "5", "--json").json
    assumed = shop.call("today", *day, "--focus", f"{first[:-1]}5", "--json").json
    check("day/1", nothing, whole, part, assumed)


@pytest.mark.slow("whole runs")
def test_the_fields_of_a_plan_are_those_that_are_documented(shop: Project, api: FakeAPI) -> None:
    env = asked(shop, api)
    asking = shop.show()
    refused = shop.call("answer", shop.newest(), " ", "--json", env=env).json
    documented_plans(shop)
    approved(shop, "project", "architecture", "scaffold", "tests")
    assert shop.call("lock", "tests", "--by", "Ada").code == 0
    locked = shop.show()
    shop.decided()
    with open(os.path.join(os.fsencode(shop.folder), b"\xff.md"), "wb"):
        shop.git("add", ".")
    target = locked["artifact"]["payload"]["tests"][0]["target"]
    (shop.folder / target).parent.mkdir()
    (shop.folder / target).touch()
    words = ("impl", target)
    found = planned(shop, *words)
    opaque = ("artifact.payload", "reports[].payload")
    check("plan/1", asking, refused, locked, found, opaque=opaque)


def test_the_fields_of_artifacts_are_those_that_are_documented(shop: Project) -> None:
    documented_plans(shop)
    ids = approved(shop, "project", "architecture")
    found = shop.call("artifacts", "--all", "--json").json
    check("artifacts/1", found)
    one = shop.call("artifacts", "show", ids["project"], "--json").json
    assert one["row"] == found["artifacts"][0]
    check("artifact/1", one, opaque=("row", "envelope"))


@pytest.mark.slow("whole runs")
def test_the_fields_of_a_replay_are_those_that_are_documented(shop: Project) -> None:
    assert shop.call("start", "Add login", "--no-input").code == 3
    folder = Path(__file__).parent
    buggy = ("python", str(folder / "buggy.py"))
    diverging = ("python", str(folder / "diverging.py"))
    assert shop.run("answer", "last", "crash", program=buggy).code == 70
    check(
        "replay/1",
        shop.call("replay", "last", "--json").json,
        shop.run("replay", "last", "--json", program=buggy).json,
        shop.run("replay", "last", "--json", program=diverging).json,
    )


def test_every_shape_is_documented_and_named_after_its_format() -> None:
    shapes = {heading for heading in tables("docs/api.md") if "/" in heading}
    formats = {
        found
        for room in ("cli/preflights_cli", "preflights_es/use", "preflights_es/features")
        for path in (ROOT / room).rglob("*.py")
        if "domain" not in path.parts and "engine" not in path.parts
        for found in re.findall(r'"([a-z-]+/\d)"', path.read_text())
    }
    tagged = set(json_classes())  # imports every feature
    kinds: list[type[View]] = [View, *View.__subclasses__()]
    views = {kind.FORMAT for kind in kinds}
    assert shapes == formats - {GENERATION} | tagged | views | {"log/1"}


def test_the_fields_of_a_result_are_those_that_are_documented() -> None:
    assert json_classes()
    for shape, kind in json_classes().items():
        fields = {field.encode_name for field in msgspec.structs.fields(kind)}
        paths = {path for path in documented(shape) if not set(path) & set(".[")}
        assert {"format", *fields} == paths, shape


def test_the_columns_of_a_session_are_those_that_are_documented() -> None:
    columns = {field.encode_name for field in msgspec.structs.fields(SessionRow)}
    shown = {path.removeprefix("sessions[].") for path in documented("sessions/1")}
    assert columns <= shown, "docs/api.md, sessions/1"


def test_every_exported_name_is_documented() -> None:
    text = "".join((ROOT / page).read_text("utf-8") for page in PAGES)
    homes = preflights_es._HOME
    for name in preflights_es.__all__:
        # Providers have a page of their own.
        if not homes.get(name, "").startswith("providers."):
            assert re.search(rf"\b{name}\b", text), f"{name} is exported, and nowhere explained"


# 3. Commands and settings --------------------------------------------------------------------


def sections(page: str) -> dict[str, str]:
    """The text under each heading of the second or third rank."""
    parts = re.split(r"^###? (.*)$", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


COMMANDS_SHOWN: Final = [
    name for name in sections("docs/cli.md") if name.split(", ")[0] in commands()
]
"""Headings of docs/cli.md that name one command or some of them."""


def command_of(name: str) -> click.Command:
    """A command by its words."""
    found: click.Command | None = preflights
    for word in name.split():
        assert isinstance(found, Lazy)
        found = found.get_command(click.Context(found), word)
    assert found is not None
    return found


def options_of(command: click.Command) -> set[str]:
    """Its options and those of its commands, by all of their names."""
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    return {
        name
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in parameter.opts
    }.union(*map(options_of, inner))


def test_every_command_has_a_heading_and_every_exit_code_a_row() -> None:
    text = _BLOCK.sub("", (ROOT / "docs/cli.md").read_text("utf-8"))
    shown = {}
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        names = re.findall(r"^### (.*)$", part, re.MULTILINE)
        shown[part.partition("\n")[0]] = {name for heading in names for name in heading.split(", ")}
    assert [title for title in shown if title in SECTIONS] == [*SECTIONS]
    for title, top in SECTIONS.items():
        below = {name for name in commands() if name.split()[0] in top}
        assert shown[title] == below, title
    codes = {code for name, code in vars(preflights_cli).items() if name.startswith("EXIT_")}
    told = re.findall(r"^\| (\d+) \|", sections("docs/cli.md")["Exit codes"], re.MULTILINE)
    assert {*map(int, told)} == {0, *codes}


def options_in(text: str) -> set[str]:
    """The options in the first column of its tables."""
    rows = "".join(re.findall(r"^\| `--?[a-z].*? \|", text, re.MULTILINE))
    return set(re.findall(r"`(--?[a-z][a-z-]*)`", rows))


@each("heading", COMMANDS_SHOWN)
def test_every_option_of_a_command_is_documented(heading: str) -> None:
    text = sections("docs/cli.md")
    own, common = options_in(text[heading]), options_in(text["In general"])
    options = set().union(*(options_of(command_of(name)) for name in heading.split(", ")))
    assert own <= options
    assert own | common >= options - {"--help"}
    assert "```" in text[heading], f"{heading} has no example"


def test_every_setting_is_documented_and_every_documented_one_exists() -> None:
    found = [tables_of_keys(number) for number in range(6)]
    # Providers have a page of their own; the seeds' names are theirs.
    providers = set(Options.__struct_fields__)
    assert found[0] == {one.name for one in FIELDS} - providers | {"provider"}
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    for one in FIELDS:
        if one.name in found[0]:
            assert one.read_from is None or f"| `{one.read_from}` |" in page
            assert one.default is None or f"| `{one.name}` | `{one.default}` |" in page
    assert found[1] == set(pack.ClarificationTable.__struct_fields__)
    assert found[2] == set(pack.CategoryTable.__struct_fields__)
    assert found[3] == set(pack.SecondaryTable.__struct_fields__)
    assert found[4] == set(planning.PlanningTable.__struct_fields__)
    assert found[5] == set(calls.CallsTable.__struct_fields__)


def tables_of_keys(number: int) -> set[str]:
    """The keys in one of the tables of docs/configuration.md."""
    parts = re.split(
        r"^\| key.*\n", (ROOT / "docs/configuration.md").read_text(), flags=re.MULTILINE
    )
    return set(
        re.findall(r"^\| `([a-z]+)` \|", parts[number + 1].partition("\n\n")[0], re.MULTILINE)
    )


def test_every_variable_that_is_read_is_documented() -> None:
    text = sections("docs/configuration.md")["Environment"]
    source = "".join(path.read_text() for path in (ROOT / "preflights_es").glob("settings/*.py"))
    for name in re.findall(r'"(PREFLIGHTS_[A-Z_]+)"', source):
        assert f"`{name}`" in text
    documented = set(re.findall(r"`(PREFLIGHTS_[A-Z_]+)`", text))
    assert documented <= {one.read_from for one in FIELDS} | {READER_URL}
