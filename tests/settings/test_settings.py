"""Files and environment become settings; what is wrong is named with file, key and line."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from preflights_es.features.clarification.domain import WORKFLOW, rules
from preflights_es.features.clarification.domain.pack import (
    LIST_MAX,
    NO_TABLES,
    PACK_MAX,
    STANDARD,
    merge_session_tables,
)
from preflights_es.features.clarification.domain.values import Field, Heuristics, HeuristicsConfig
from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.events import Actor
from preflights_es.kernel.text import NAME_MAX
from preflights_es.settings.file import TEXT_MAX, find_key_line
from preflights_es.settings.load import Settings, load_settings
from preflights_es.store.urls import file_of, parse_log_address
from preflights_es.use.bootstrap import actor as actor_of
from tests.each import each
from tests.filed_cases import filed_cases
from tests.persons import git_repository

FILED = filed_cases(__file__)

_ONE = {
    "id": "oven",
    "category": "Oven",
    "field": "Kind",
    "key": "oven",
    "filing": "local",
    "question": {"en": "Which oven?", "de": "Welcher Ofen?"},
    "options": ["Gas", "Electric"],
    "titles": {"en": "Bake with {value}", "de": "Mit {value} backen"},
    "values": ["Microwave"],
    "words": ["oven", "heat up"],
}
PACK = {
    "name": "ours",
    "version": 3,
    "category": {"en": "What?", "de": "Was?"},
    "description": {"en": "And what?", "de": "Und was?"},
    "topics": [_ONE],
}

ENVIRONMENT = {"GIT_AUTHOR_NAME": "Ada"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path) -> Path:
    """Of the person whose settings these are."""
    ENVIRONMENT["HOME"] = str(tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that git would take for a repository."""
    return git_repository(tmp_path / "shop")


def loaded(folder: Path, database: str | None = None, **variables: str) -> Settings:
    return load_settings(folder, {**ENVIRONMENT, **variables}, database)


def own() -> Path:
    """The person's own settings file."""
    file = Path(ENVIRONMENT["HOME"], ".config", "preflights", "settings.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def written(folder: Path, text: str, name: str = "preflights.toml") -> Settings:
    (folder / name).write_text(dedent(text), "utf-8")
    return loaded(folder)


def refused(folder: Path, text: str, name: str = "preflights.toml") -> str:
    with pytest.raises(SettingsError) as caught:
        written(folder, text, name)
    return str(caught.value)


# 1. Without a file ---------------------------------------------------------------------------


def test_without_a_file_everything_has_a_default(project: Path) -> None:
    found = loaded(project)
    assert (found.root, found.project, found.source) == (project, "shop", "")
    assert (found.decisions, found.tasks) == ("", "docs/tasks")
    assert found.plans.requirements == ".preflights/requirements.md"
    assert found.provider == "mock"
    assert found.of(WORKFLOW) == Heuristics(NO_TABLES, STANDARD)
    assert found.database == str(project / ".git" / "preflights" / "log.db")
    assert load_settings(project).root == project, "by the environment of the process"


# 2. Files ------------------------------------------------------------------------------------


def test_a_file_of_our_own_is_read(project: Path) -> None:
    found = written(
        project,
        """
        project = "till"
        decisions = "adr"
        tasks = "work/tasks/"
        provider = "mock"
        """,
    )
    assert (found.project, found.decisions, found.tasks) == ("till", "adr", "work/tasks")
    assert found.source == str(project / "preflights.toml")


@each(
    "text",
    [
        '[project]\nname = "x"\n\n[tool.preflights]\nproject = "till"\n',
        '[tool]\npreflights = { project = "till" }\n',
        '[tool."preflights"]\nproject = "till"\n',
        '[ tool . preflights ]\nproject = "till"\n',
        'tool.preflights.project = "till"\n',
    ],
)
def test_a_table_of_pyproject_may_be_spelled_as_toml_allows(project: Path, text: str) -> None:
    found = written(project, text, "pyproject.toml")
    assert (found.project, found.source) == ("till", str(project / "pyproject.toml"))


@each(
    "text",
    [
        '[project]\nname = "x"\n',
        "[tool.ruff]\nline-length = 100\n",
        '[tool.ruff]\nx = "tool.preflights"\n',
        'tool = "preflights"\n',
        "[tool]\nx = 1 # preflights\n",
        "",
        "this is not TOML",
    ],
)
def test_a_pyproject_that_says_nothing_of_us_is_passed_over(project: Path, text: str) -> None:
    assert written(project, text, "pyproject.toml").source == ""


def test_a_file_of_our_own_comes_before_pyproject_though_it_is_empty(project: Path) -> None:
    before = loaded(project)
    (project / "pyproject.toml").write_text('[tool.preflights]\nproject = "second"\n')
    assert written(project, 'project = "first"').project == "first"
    (project / "pyproject.toml").unlink()
    found = written(project, "")
    assert found.source == str(project / "preflights.toml")
    assert (found.project, found.of(WORKFLOW)) == (before.project, before.of(WORKFLOW))


def test_the_nearest_file_below_the_root_is_read_and_none_above_it(project: Path) -> None:
    below = project / "api" / "src"
    below.mkdir(parents=True)
    (project.parent / "preflights.toml").write_text('project = "stray"\n')
    found = loaded(below)
    assert (found.root, found.project) == (project, "shop"), "the top of the work tree"
    assert found.database == str(project / ".git" / "preflights" / "log.db")
    (project / "preflights.toml").write_text('project = "outer"\n')
    assert loaded(below).project == "outer"
    (project / "api" / "pyproject.toml").write_text('[tool.preflights]\nproject = "inner"\n')
    found = loaded(below)
    assert (found.project, found.root) == ("inner", project)


def test_each_file_adds_kinds_that_go_from_texts(project: Path, home: Path) -> None:
    assert loaded(project).redact == ()
    own = home / ".config" / "preflights" / "settings.toml"
    own.parent.mkdir(parents=True)
    own.write_text('redact = ["iban", "email"]')
    (project / "preflights.toml").write_text('redact = ["phone"]')
    assert loaded(project).redact == ("email", "phone", "iban")
    (project / "preflights.toml").write_text("redact = []")
    assert loaded(project).redact == ("email", "iban"), "no repository takes one back"
    expected = "redact: found 'mail', expected 'email' or 'phone' or 'card' or 'iban'"
    assert expected in refused(project, 'redact = ["mail"]')


# 3. What is wrong is named -------------------------------------------------------------------


@each(
    ("text", "expected"),
    [
        *FILED["a_wrong_value_is_named_with_its_file_line_and_key"],
        (f"project = '{'x' * (NAME_MAX + 1)}'", "preflights.toml, line 1: project: has 201 char"),
    ],
)
def test_a_wrong_value_is_named_with_its_file_line_and_key(
    project: Path, text: str, expected: str
) -> None:
    assert refused(project, text).startswith(expected)


@each(
    ("text", "found"), [("database = ''", "is empty"), ("actor = 'king:Ada'", "found 'king:Ada'")]
)
def test_a_wrong_value_of_the_own_file_is_named_likewise(
    project: Path, text: str, found: str
) -> None:
    own().write_text(text)
    with pytest.raises(SettingsError) as caught:
        loaded(project)
    assert str(caught.value).startswith(f"{own()}, line 1: {text.partition(' ')[0]}: {found}")


@each(
    ("lines", "line", "key", "expected"),
    [
        (["colour = 'red'"], 5, ".colour", "unknown key"),
        (["keywords = 'search'"], 5, ".keywords", "expected `array`"),
        (["keywords = [7]"], 5, ".keywords", "expected `str`"),
        (["keywords = ['two words']"], 5, ".keywords", "'two words' is not one word"),
        (["keywords = ['']"], 5, ".keywords", "is empty"),
        (["keywords = ['a-b-c']"], 5, ".keywords", "'a-b-c' is not one word"),
        (["keywords = ['_x']"], 5, ".keywords", "'_x' is not one word"),
        (["keywords = ['a', 'A']"], 5, ".keywords", "names something twice"),
        ([f"keywords = {[f'w{n}' for n in range(LIST_MAX + 1)]}"], 5, ".keywords", "has 51 entr"),
        (["filing = 'galactic'"], 5, ".filing", "found 'galactic', expected 'structural'"),
        (["filing = 7"], 5, ".filing", "expected `str"),
        (["field = 'Engine'", "id = 'engine'"], 4, "", "the key 'question' is missing"),
        (["id = 'engine'", "question = 'Which?'"], 4, "", "the key 'field' is missing"),
        (["field = 'Engine'", "question = 'Which?'"], 4, "", "the key 'id' is missing"),
        (["secondary = [{ field = 'x' }]"], 5, ".secondary", "missing required field `id`"),
        (["secondary = 7"], 5, ".secondary", "expected `array`"),
        (["secondary = [{ field = '', id = 'x' }]"], 5, ".secondary", "is empty"),
        (["secondary = [{ field = 'x', id = 'X' }]"], 5, ".secondary", "found 'X', expected lower"),
        (
            ["secondary = [{ field = 'x', id = 'same' }, { field = 'y', id = 'same' }]"],
            5,
            ".secondary",
            "'same' is the key of Cooking.x too",
        ),
        (
            ["secondary = [{ field = 'x', id = 'a' }, { field = 'X', id = 'b' }]"],
            5,
            ".secondary",
            "names something twice",
        ),
        (
            [f"secondary = [{', '.join(f'{{field=`f{n}`,id=`i{n}`}}' for n in range(51))}]"],
            5,
            ".secondary",
            "has 51 entries",
        ),
    ],
)
def test_a_wrong_value_of_a_category_is_named_with_the_category(
    project: Path, lines: list[str], line: int, key: str, expected: str
) -> None:
    head = ["project = 'x'", "[clarification]", "question = 'What?'"]
    text = "\n".join([*head, "[clarification.categories.Cooking]", *lines]).replace("`", "'")
    message = refused(project, text)
    where = f"preflights.toml, line {line}: clarification.categories.Cooking{key}: "
    assert message.startswith(where)
    assert expected in message[len(where) :]


QUESTION = "field = 'Engine'\nid = 'engine'\nquestion = 'Which engine?'\n"


@each(
    ("lines", "key", "expected"),
    [
        *FILED["a_question_that_cannot_be_asked_is_named"],
        (f"{QUESTION}options = ['{'x' * (TEXT_MAX + 1)}']", "options", "has 301 characters"),
    ],
)
def test_a_question_that_cannot_be_asked_is_named(
    project: Path, lines: str, key: str, expected: str
) -> None:
    text = f"[clarification.categories.Search]\n{lines}\n"
    line = next(n for n, part in enumerate(text.splitlines(), 1) if part.startswith(f"{key} ="))
    message = refused(project, text)
    assert message.startswith(
        f"preflights.toml, line {line}: clarification.categories.Search.{key}: "
    )
    assert expected in message


@each(
    ("name", "expected"),
    [
        ("Other", "choose another"),
        ("other", "choose another"),
        ('"Other (specify)"', "choose another"),
        ('""', "is empty"),
        ('"  "', "is empty"),
        ('"a\\nb"', "has more than one line"),
        (f"{'x' * (TEXT_MAX + 1)}", "has 301 characters"),
    ],
)
def test_a_name_that_no_category_can_bear_is_named(project: Path, name: str, expected: str) -> None:
    assert expected in refused(project, f"[clarification.categories.{name}]\nkeywords = ['x']\n")


def test_too_many_categories_or_two_tables_for_one_are_refused(project: Path) -> None:
    text = "".join(f"[clarification.categories.C{n}]\nkeywords = ['w{n}']\n" for n in range(51))
    assert "at most 50 are taken" in refused(project, text)
    for names in (("Search", "search"), ("Database", "database"), ("DATABASE", "database")):
        text = "".join(f"[clarification.categories.{n}]\nkeywords = ['w{n}']\n" for n in names)
        message = refused(project, text)
        assert message.startswith("preflights.toml, line 3: clarification.categories.")
        assert "twice" in message


def test_what_is_wrong_in_pyproject_is_named_with_the_whole_key(project: Path) -> None:
    ours = "tool.preflights"
    for text, said in (
        (f"[project]\nname = 'x'\n[{ours}]\ntasks = '/x'\n", f"4: {ours}.tasks: found '/x'"),
        (
            f"[{ours}.clarification.categories.Search]\nfiling = 'x'\n",
            f"2: {ours}.clarification.categories.Search.filing: ",
        ),
        (f"[[{ours}]]\n", f"1: {ours}: expected `object`"),
        (
            f"[project]\nname = 'x'\n\n[{ours}.categories.Database]\noptions = ['x']\n",
            f"4: {ours}.categories: unknown key",
        ),
    ):
        message = refused(project, text, "pyproject.toml")
        assert message.startswith(f"pyproject.toml, line {said}")
    message = refused(project, "project = 'x'\nproject =\n")
    assert message.startswith("preflights.toml: not valid TOML")
    assert "line 2" in message


def test_a_file_that_cannot_be_read_is_named(project: Path) -> None:
    (project / "preflights.toml").write_bytes(b"project = '\xff'")
    with pytest.raises(SettingsError, match=r"preflights\.toml cannot be read"):
        loaded(project)
    (project / "preflights.toml").unlink()
    (project / "preflights.toml").mkdir()
    with pytest.raises(SettingsError, match=r"preflights\.toml cannot be read"):
        loaded(project)


def test_a_line_is_found_by_its_key_or_by_the_table_above() -> None:
    text = dedent(
        """\
        # project = "no"
        project = "x"
        [a]
        b.c = 1
          d = [
            "x = y",
          ]
        ["quoted.key".e]
        'f g' = 2
        [[many]]
        h = 3
        """
    )
    assert find_key_line(text, ("project",)) == 2
    assert find_key_line(text, ("a", "b", "c")) == 4
    assert find_key_line(text, ("a", "d")) == 5
    assert find_key_line(text, ("a", "unknown")) == 3
    assert find_key_line(text, ("quoted.key", "e", "f g")) == 9
    assert find_key_line(text, ("many", "h")) == 11
    assert find_key_line(text, ("nothing",)) == 0


# 4. Heuristics -------------------------------------------------------------------------------


def heuristics(project: Path, text: str) -> HeuristicsConfig:
    """What a file comes to that extends the reference."""
    rest = dedent(text).lstrip().removeprefix("[clarification]\n")
    text = f"[clarification]\nheuristics = 'reference'\n{rest}"
    made: Heuristics = written(project, text).of(WORKFLOW)
    assert (made.pack, made.inlined) == (None, "")
    return made.tables


def test_a_pack_is_chosen_and_extended(project: Path) -> None:
    made: Heuristics = written(
        project,
        "[clarification.categories.Database]\noptions = ['Oracle', 'DB2']\n"
        "[clarification.categories.Cooking]\nkeywords = ['soup']\n",
    ).of(WORKFLOW)
    assert made.pack == STANDARD
    assert [category.name for category in made.tables.categories] == ["Database", "Cooking"]
    whole = merge_session_tables("", "de", made.tables)
    database = whole.named("Database")
    assert database is not None
    assert database.primary is not None
    assert database.primary.options == ("Oracle", "DB2")
    assert whole.named("Caching") is not None
    assert whole.category_question().question == "Welche Art von \u00c4nderung ist das?"


def test_only_some_categories_of_a_pack_are_left(project: Path) -> None:
    made: Heuristics = written(
        project, "[clarification]\nonly = ['Caching', 'Search']\nquestion = 'What?'\n"
    ).of(WORKFLOW)
    assert made.tables.categories == ()
    whole = merge_session_tables("", "en", made.tables)
    assert [category.name for category in whole.categories] == ["Caching", "Search"]
    assert whole.category_question().question == "What?"


def test_a_pack_of_the_team_is_inlined(project: Path) -> None:
    (project / "ours.json").write_text(json.dumps(PACK))
    made: Heuristics = written(project, "[clarification]\nheuristics = 'ours.json'\n").of(WORKFLOW)
    assert made.pack is not None
    assert (made.pack.name, made.pack.version) == ("ours", 3)
    assert json.loads(made.inlined) == PACK


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("ours.json", None, "'ours.json' does not exist"),
        ("../ours.json", None, "leads out of the folder"),
        ("ours.json", b"{}", "is no pack: Object missing required field"),
        ("ours.json", b"\xff", "cannot be read"),
        ("ours.json", b" " * (PACK_MAX + 1), "it has more than 60,000 bytes"),
        (".", None, "cannot be read: it is no regular file"),
    ],
)
def test_a_pack_that_cannot_be_used_is_named(
    project: Path, path: str, content: bytes | None, expected: str
) -> None:
    if content is not None:
        (project / path).write_bytes(content)
    message = refused(project, f"[clarification]\nheuristics = '{path}'\n")
    assert message.startswith("preflights.toml, line 2: clarification.heuristics: ")
    assert expected in message


def test_a_category_is_found_in_any_case_and_changed_in_one_thing_alone(project: Path) -> None:
    reference = HeuristicsConfig()
    base = reference.named("Database")
    config = heuristics(
        project, "[clarification.categories.database]\noptions = ['Oracle', 'DB2']\n"
    )
    assert [c.name for c in config.categories] == [c.name for c in reference.categories]
    found = config.named("Database")
    assert base is not None
    assert base.primary is not None
    assert found is not None
    primary = base.primary
    assert found.primary == Field(primary.name, primary.id, primary.question, ("Oracle", "DB2"))
    kept = (base.keywords, base.secondary, base.filing)
    assert (found.keywords, found.secondary, found.filing) == kept


def test_everything_of_a_category_can_be_changed(project: Path) -> None:
    config = heuristics(
        project,
        """
        [clarification.categories.Infra]
        keywords = ["Kubernetes", "helm-chart", "Datenbänke", "数据库"]
        field = "Cluster"
        id = "cluster"
        question = "Which cluster?"
        options = ["East", "West"]
        filing = "contract"
        secondary = [{ field = "Region", id = "region" }]
        """,
    )
    found = config.named("Infra")
    assert found is not None
    assert found.keywords == ("kubernetes", "helm-chart", "datenbänke", "数据库")
    assert found.primary == Field("Cluster", "cluster", "Which cluster?", ("East", "West"))
    assert (found.filing, found.secondary) == ("contract", (Field("Region", "region"),))
    for text, keyword in (
        ("Move to Kubernetes", "kubernetes"),
        ("Neue DATENBÄNKE bitte", "datenbänke"),
    ):
        detected = rules.detected(text, config)
        assert detected is not None
        assert (detected.category, detected.keyword) == (found, keyword)


def test_a_category_is_added_behind_the_others_and_has_tables_of_fields(project: Path) -> None:
    config = heuristics(
        project,
        """
        [clarification.categories.Search]
        keywords = ["search"]
        field = "Engine"
        id = "search_engine"
        question = "Which engine?"
        options = ["Elastic", "Meili"]
        [[clarification.categories.Search.secondary]]
        field = "Cache"
        id = "search_cache"
        [[clarification.categories.Search.secondary]]
        field = "Pool"
        id = "search_pool"
        """,
    )
    fields = (Field("Cache", "search_cache"), Field("Pool", "search_pool"))
    assert config.categories[-1].secondary == fields
    base = HeuristicsConfig()
    assert config.categories[:-1] == base.categories
    assert config.categories[-1].name == "Search"
    assert config.categories[-1].filing == "local"
    assert config.menu == (*base.menu, "Search")
    assert config.category_question().options == (*base.menu, "Search", "Other (specify)")


def test_categories_are_chosen_and_ordered(project: Path) -> None:
    config = heuristics(
        project,
        """
        [clarification]
        only = ["Infra", "Search", "Database"]
        menu = ["Search", "Database", "Infra"]
        question = "What is it?"
        description = "What then?"
        [clarification.categories.Search]
        keywords = ["search"]
        """,
    )
    assert [c.name for c in config.categories] == ["Infra", "Search", "Database"]
    assert config.menu == ("Search", "Database", "Infra")
    assert config.category.question == "What is it?"
    assert config.description.question == "What then?"
    assert config.category.id == HeuristicsConfig().category.id
    search = config.categories[1]
    assert search.primary is None, "it is only detected"
    assert rules.detected("Add search", config) is not None
    config = heuristics(project, "[clarification]\nonly = ['Infra', 'Frontend']\n")
    assert [c.name for c in config.categories] == ["Infra", "Frontend"]
    assert config.menu == ("Frontend", "Infra")


# 5. Database ---------------------------------------------------------------------------------


def test_a_database_is_resolved_in_its_order(project: Path) -> None:
    assert loaded(project).database == str(project / ".git/preflights/log.db")
    own().write_text('database = "file.db"\n')
    assert loaded(project).database == str(own().parent / "file.db")
    variable = {"PREFLIGHTS_DATABASE_URL": "sqlite:////srv/variable.db"}
    assert loaded(project, **variable).database == "sqlite:////srv/variable.db"
    assert loaded(project, "option.db", **variable).database == "option.db"
    assert loaded(project, PREFLIGHTS_DATABASE_URL="").database == str(own().parent / "file.db")


def test_a_database_of_the_own_file_lies_beside_that_file(project: Path) -> None:
    own().write_text('database = "../logs/log.db"\n')
    assert Path(loaded(project).database).resolve() == own().parent.parent / "logs" / "log.db"
    for said in ("sqlite:////srv/log.db", "/srv/log.db"):
        own().write_text(f"database = {json.dumps(said)}\n")
        assert loaded(project).database == said


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:tUlip@db.example.org/log",
        "postgresql://:tUlip@/log",
        "postgres://ada:tU/li?p@host:5432/log?sslmode=require",
        "postgresql://db.example.org/log?user=ada&password=tUlip",
        "postgresql://db.example.org/log?sslpassword=tUlip",
    ],
)
def test_a_password_in_a_file_is_refused_and_elsewhere_taken(project: Path, url: str) -> None:
    own().write_text(f"actor = 'Ada'\ndatabase = {json.dumps(url)}\n")
    with pytest.raises(SettingsError) as caught:
        loaded(project)
    assert f"{own()}, line 2: database: holds a password" in str(caught.value)
    assert "PREFLIGHTS_DATABASE_URL" in str(caught.value)
    assert "tU" not in str(caught.value)
    own().unlink()
    assert loaded(project, PREFLIGHTS_DATABASE_URL=url).database == url
    assert loaded(project, url).database == url


@each(
    "url",
    [
        "postgresql:///log",
        "postgresql://ada@db.example.org:5432/log?sslmode=verify-full",
        "postgresql://db.example.org:5432/log",
        "postgres://db.example.org/log?connect_timeout=5&application_name=shop",
        "postgresql+psycopg://db.example.org/log?target_session_attrs=read-write",
    ],
)
def test_a_server_is_named_in_a_file_without_a_password(project: Path, url: str) -> None:
    own().write_text(f"database = {json.dumps(url)}\n")
    assert loaded(project).database == url


@pytest.mark.parametrize("name", ["100%25", "what?", "a#b", "Küche 🛫"])
def test_a_log_lies_in_the_repository_whatever_its_name(tmp_path: Path, name: str) -> None:
    git_repository(tmp_path / name)
    found = loaded(tmp_path / name)
    assert (
        file_of(parse_log_address(found.database))
        == tmp_path / name / ".git" / "preflights" / "log.db"
    )
    assert found.project == name


# 6. Folders of git ---------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One that git has made, with a commit."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "begin")
    return folder


def test_work_trees_share_one_log_and_one_name(repository: Path, tmp_path: Path) -> None:
    tree = tmp_path / "elsewhere" / "feature"
    git(repository, "worktree", "add", "--quiet", str(tree))
    main, linked = loaded(repository), loaded(tree)
    assert (linked.root, main.root) == (tree, repository)
    assert linked.project == main.project == "shop"
    assert Path(linked.database).resolve() == Path(main.database).resolve()
    assert loaded(tree.parent).project != "shop"


def test_a_submodule_is_a_project_of_its_own(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "library"
    other.mkdir()
    git(other, "init", "--quiet")
    git(other, "commit", "--quiet", "--allow-empty", "--message", "begin")
    allowed = ["-c", "protocol.file.allow=always"]
    git(repository, *allowed, "submodule", "--quiet", "add", str(other), "vendor/library")
    found = loaded(repository / "vendor" / "library")
    assert (found.root, found.project) == (repository / "vendor" / "library", "library")
    modules = repository / ".git" / "modules" / "vendor" / "library"
    assert Path(found.database) == modules.resolve() / "preflights" / "log.db"


@pytest.mark.parametrize("content", [b"", b"hello", b"gitdir:", b"gitdir: nowhere", b"\xff\xfe"])
def test_a_git_file_that_points_nowhere_makes_no_repository(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / ".git").write_bytes(content)
    found = loaded(folder, HOME=str(tmp_path / "home"), XDG_STATE_HOME="")
    assert found.root == folder
    assert "home" in found.database
    assert [path.name for path in folder.iterdir()] == [".git"]


# 7. Without git ------------------------------------------------------------------------------


def test_without_git_the_log_lies_in_the_users_state(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    found = loaded(folder, HOME="/home/ada", XDG_STATE_HOME="/state")
    assert found.root == folder
    assert found.database == "/state/preflights/log.db"
    found = loaded(folder, HOME="/home/ada")
    assert found.database == "/home/ada/.local/state/preflights/log.db"


def test_folders_of_one_name_without_git_are_projects_apart_with_their_file(tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "notes", tmp_path / "b" / "notes"
    one.mkdir(parents=True)
    two.mkdir(parents=True)
    names = [loaded(folder).project for folder in (one, two, one)]
    assert names[0] == names[2] != names[1]
    assert all(name.startswith("notes-") for name in names)
    found = written(tmp_path, 'project = "notes"')
    assert (found.root, found.project) == (tmp_path, "notes")


# 8. Names and people -------------------------------------------------------------------------


def test_a_variable_comes_before_a_file(project: Path) -> None:
    own().write_text('project = "file"\nactor = "File"\n')
    found = loaded(project, PREFLIGHTS_PROJECT="variable", PREFLIGHTS_ACTOR="Variable")
    assert (found.project, found.actor_name) == ("variable", "Variable")
    found = loaded(project, PREFLIGHTS_PROJECT="", PREFLIGHTS_ACTOR="")
    assert (found.project, found.actor_name) == ("file", "File")


@each(
    ("variable", "value"),
    [
        ("PREFLIGHTS_PROJECT", "a\x07b"),
        ("PREFLIGHTS_PROJECT", "a\nb"),
        ("PREFLIGHTS_PROJECT", "   "),
        ("PREFLIGHTS_PROJECT", "\udcff"),
        ("PREFLIGHTS_PROJECT", "x" * (NAME_MAX + 1)),
        ("PREFLIGHTS_PROVIDER", "unheard"),
        ("PREFLIGHTS_ACTOR", "king:Ada"),
        ("PREFLIGHTS_ACTOR", ":Ada"),
        ("PREFLIGHTS_ACTOR", "agent:\x1b[2J"),
        ("PREFLIGHTS_ACTOR", "x" * (NAME_MAX + 1)),
    ],
)
@each(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.preflights]\ntasks = 'x'\n"),
        ("preflights.toml", ""),
        ("preflights.toml", 'project = "x"\nprovider = "mock"\n'),
    ],
)
def test_a_wrong_variable_is_named_and_no_file_is_blamed(
    project: Path, variable: str, value: str, name: str, text: str
) -> None:
    (project / name).write_text(text)
    with pytest.raises(SettingsError) as caught:
        loaded(project, **{variable: value})
    (project / name).unlink()
    assert str(caught.value).startswith(f"{variable}: ")
    assert "\x1b" not in str(caught.value)


@each(
    ("text", "kind", "name"),
    [
        ("Ada", None, "Ada"),
        ("user:Ada Lovelace", None, "Ada Lovelace"),
        ("agent:Robo", "agent", "Robo"),
        ("script:nightly", "script", "nightly"),
        ("agent:", "agent", ""),
        ("agent: Robo ", "agent", "Robo"),
        ("agent:a:b", "agent", "a:b"),
    ],
)
def test_an_actor_is_a_name_with_or_without_a_kind(
    project: Path, text: str, kind: str | None, name: str
) -> None:
    found = loaded(project, PREFLIGHTS_ACTOR=text)
    assert (found.actor_kind, found.actor_name) == (kind, name)
    own().write_text(f'actor = "{text}"')
    assert loaded(project).actor_kind == kind


def test_unheard_becomes_a_person_by_saying_so(project: Path) -> None:
    said = loaded(project, PREFLIGHTS_ACTOR="user:Ada")
    assert actor_of(said, terminal=False) == Actor("script", "Ada")
    assert actor_of(said, terminal=True) == Actor("user", "Ada")
    agent = loaded(project, PREFLIGHTS_ACTOR="agent:Robo")
    assert actor_of(agent, terminal=True) == Actor("agent", "Robo")


@each(("env", "name"), FILED["an_agent_is_seen_by_what_it_sets"])
def test_an_agent_is_seen_by_what_it_sets(project: Path, env: dict[str, str], name: str) -> None:
    assert loaded(project, **env).agent == name


@each("said", ["Ada", "user:Ada", "script:nightly", ""])
@each("terminal", [False, True])
def test_no_word_and_no_terminal_makes_a_person_of_an_agent(
    project: Path, terminal: bool, said: str
) -> None:
    env = {"CLAUDECODE": "1", "GIT_AUTHOR_NAME": "Ada"}
    by_variable = loaded(project, PREFLIGHTS_ACTOR=said, **env)
    assert actor_of(by_variable, terminal=terminal) == Actor("agent", "claude-code")
    by_option = load_settings(project, env, actor=said)
    assert actor_of(by_option, terminal=terminal) == Actor("agent", "claude-code")
    named = load_settings(project, env, actor="agent:claude-code 2.1")
    assert actor_of(named, terminal=terminal) == Actor("agent", "claude-code 2.1")


def test_who_speaks_is_decided_in_one_order(project: Path) -> None:
    env = {"CLAUDECODE": "1", "PREFLIGHTS_ACTOR": "script:nightly", "CI": "true"}
    found = load_settings(project, env, actor="agent:Robo")
    assert actor_of(found, terminal=True) == Actor("agent", "Robo")
    assert actor_of(load_settings(project, env), terminal=True) == Actor("agent", "claude-code")
    script = load_settings(project, {**env, "CLAUDECODE": ""})
    assert actor_of(script, terminal=True) == Actor("script", "nightly")
    ci = load_settings(project, {"CI": "true", "USER": "ada"})
    assert actor_of(ci, terminal=True) == Actor("script", "ada")
    off = load_settings(project, {"CI": "false", "CLAUDECODE": "0", "USER": "ada"})
    assert actor_of(off, terminal=True) == Actor("user", "ada")
    with pytest.raises(SettingsError, match="--as: found 'king:Ada'"):
        load_settings(project, {}, actor="king:Ada")


def test_a_name_is_asked_of_git_where_unheard_said_one(repository: Path) -> None:
    git(repository, "config", "user.name", "Grace Hopper")
    assert load_settings(repository, {"USER": "grace"}).actor_name == "Grace Hopper"
    assert load_settings(repository, {"GIT_AUTHOR_NAME": "Ada"}).actor_name == "Ada"
    assert load_settings(repository, {"PREFLIGHTS_ACTOR": "Bob"}).actor_name == "Bob"


@pytest.mark.parametrize(
    ("own", "of_repository"),
    [
        ("[user]\n\tname = Ada Lovelace\n\temail = a@b.c\n", ""),
        ("[core]\n  name = x\n[USER]\nName=Ada Lovelace \n[user]\n email = a@b.c", ""),
        ("[user] name = Ada\n[init]\n\tname = x\n[user]\n\tname = Ada Lovelace\n", ""),
        ('[user "x"]\n\tname = Eve\n[user]\n\tname = Ada Lovelace\n', ""),
        ("[user]\n\tname = Ada Lovelace ; a remark\n", ""),
        ('[user]\n\tname = Ada "Lovelace"\n', ""),
        ("[user]\n\tname = Ada\\\n Lovelace\n", ""),
        ("[user]\n\tname = Eve\n[include]\n\tpath = more\n", ""),
        ("[user]\n\tname = Eve\n", "[user]\n\tname = Ada Lovelace\n"),
    ],
)
def test_the_name_is_git_s_however_its_files_say_it(
    repository: Path, tmp_path: Path, own: str, of_repository: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(own)
    (home / "more").write_text("[user]\n\tname = Ada Lovelace\n")
    with (repository / ".git" / "config").open("a") as file:
        file.write(of_repository)
    said = {"HOME": str(home), "PATH": os.environ["PATH"]}
    asked = subprocess.run(
        ["git", "config", "user.name"],
        cwd=repository,
        env=said,
        capture_output=True,
        text=True,
        check=True,
    )
    assert load_settings(repository, said).actor_name == asked.stdout.strip() == "Ada Lovelace"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({}, "grace"),
        ({".gitconfig": "[user]\n\tname = Ada\n"}, "Ada"),
        ({".config/git/config": "[user]\n\tname = Ada\n"}, "Ada"),
        ({".gitconfig": "[core]\n\tpager = x\n"}, "grace"),
        ({".gitconfig": "\0"}, "grace"),
    ],
)
def test_a_name_is_git_s_where_the_machine_s_file_is_left_out(
    project: Path, tmp_path: Path, files: dict[str, str], name: str
) -> None:
    home = tmp_path / "home"
    for path, text in files.items():
        (home / path).parent.mkdir(parents=True)
        (home / path).write_text(text)
    said = {"HOME": str(home), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
    assert load_settings(project, said | {"USER": "grace"}).actor_name == name


def test_git_runs_once_and_only_for_what_needs_the_name(project: Path, tmp_path: Path) -> None:
    program, runs = tmp_path / "bin" / "git", tmp_path / "runs"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho run >> {runs}\necho Ada\n")
    program.chmod(0o755)
    found = load_settings(project, {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"})
    assert not runs.exists()
    assert [found.actor_name, found.actor_name] == ["Ada", "Ada"]
    assert runs.read_text() == "run\n"


# 9. The language of notes --------------------------------------------------------------------


@each(("variables", "language"), FILED["the_language_is_what_the_surroundings_speak"])
def test_the_language_is_what_the_surroundings_speak(
    project: Path, variables: dict[str, str], language: str
) -> None:
    assert loaded(project, **variables).language == language


def test_the_language_is_said_by_an_option_before_a_variable_before_a_file(project: Path) -> None:
    assert written(project, 'language = "de"').language == "de"
    assert loaded(project, LANG="en_US", LC_ALL="en_US").language == "de"
    assert loaded(project, PREFLIGHTS_LANGUAGE="en").language == "en"
    environment = {**ENVIRONMENT, "PREFLIGHTS_LANGUAGE": "en"}
    assert load_settings(project, environment, language="de").language == "de"


def test_another_language_is_refused_where_it_was_said(project: Path) -> None:
    assert refused(project, '\nlanguage = "fr"') == (
        "preflights.toml, line 2: language: found 'fr', expected en or de"
    )
    with pytest.raises(SettingsError, match=r"^PREFLIGHTS_LANGUAGE: found 'it', expected en or"):
        loaded(project, PREFLIGHTS_LANGUAGE="it")
    with pytest.raises(SettingsError, match=r"^--language: found 'de_DE', expected en or de$"):
        load_settings(project, ENVIRONMENT, language="de_DE")
