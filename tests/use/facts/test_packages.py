"""Each format of a list of packages gives its names, and nothing of a version, URL or token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.system.files import Unreadable
from preflights_es.use.facts.packages import is_lock, listed
from tests.each import each

TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
FILES = {
    "pyproject.toml": (
        '[project]\ndependencies = ["psycopg[binary]>=3", "a-b @ https://u:' + TOKEN + '@h/x"]\n'
        "[project.optional-dependencies]\nx = [\"redis ; python_version > '3'\"]\n"
        '[dependency-groups]\ndev = ["pytest", {include-group = "x"}]\n'
        '[tool.poetry.dependencies]\npython = "^3"\nhttpx = "*"\n'
        '[tool.poetry.group.dev.dependencies]\nruff = "*"\n',
        ("psycopg", "a-b", "redis", "pytest", "httpx", "ruff"),
    ),
    "requirements-dev.txt": (
        (
            f"-r base.txt\n--index-url https://u:{TOKEN}@h/simple\n# a comment\nDjango==5  # x\n"
            f"git+https://{TOKEN}@h/x.git#egg=own\nhttps://{TOKEN}@h/y.whl\nuvicorn[standard]\n"
        ),
        ("Django", "own", "uvicorn"),
    ),
    "Pipfile": ('[packages]\nflask = "*"\n[dev-packages]\nmypy = "*"\n', ("flask", "mypy")),
    "setup.cfg": (
        "[options]\ninstall_requires =\n    attrs>=1\n    six\n[options.extras_require]\nx = q\n",
        ("attrs", "six", "q"),
    ),
    "poetry.lock": ('[[package]]\nname = "click"\nversion = "8"\n', ("click",)),
    "uv.lock": (
        (
            '[[package]]\nname = "own"\nsource = { editable = "." }\n[[package]]\nname = "rich"\n'
            'source = { registry = "https://h" }\n'
        ),
        ("rich",),
    ),
    "package.json": (
        '{"dependencies": {"react": "^19", "@a/b": "git+https://' + TOKEN + '@h/x"},'
        ' "devDependencies": {"vite": "1"}, "name": "x"}',
        ("react", "@a/b", "vite"),
    ),
    "package-lock.json": (
        '{"packages": {"": {"dependencies": {"pg": "1"}}, "node_modules/deep": {}}}',
        ("pg",),
    ),
    "pnpm-lock.yaml": (
        (
            "importers:\n  .:\n    dependencies:\n      ioredis: {version: 1}\n"
            "packages:\n  deep@1: {}\n"
        ),
        ("ioredis",),
    ),
    "yarn.lock": (
        '# yarn\n\n"@a/b@^1.0":\n  version "1"\n\nleft-pad@^1, left-pad@^2:\n  version "2"\n',
        ("@a/b", "left-pad"),
    ),
    "go.mod": (
        (
            "module example.com/own\n\ngo 1.22\n\nrequire (\n\tgithub.com/jackc/pgx/v5 v5.5.0\n"
            "\tgolang.org/x/text v0.1.0 // indirect\n)\nrequire github.com/a/b v1.0.0\n"
        ),
        ("github.com/jackc/pgx/v5", "github.com/a/b"),
    ),
    "Cargo.toml": (
        '[dependencies]\ntokio = "1"\n[target."cfg(unix)".dependencies]\nnix = "1"\n',
        ("tokio", "nix"),
    ),
    "Gemfile": (
        "gem 'rails', '~> 8'\n# gem 'no'\ngroup :x do\n  gem \"pg\"\nend\n",
        ("rails", "pg"),
    ),
    "composer.json": ('{"require": {"php": "8", "symfony/mailer": "7"}}', ("symfony/mailer",)),
    "pom.xml": (
        (
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><dependencies><dependency>'
            "<groupId>org.postgresql</groupId><artifactId>postgresql</artifactId></dependency>"
            "</dependencies></project>"
        ),
        ("org.postgresql:postgresql",),
    ),
    "build.gradle.kts": (
        (
            'dependencies {\n  implementation("org.a:b:1.0")\n  testImplementation("j:u:1")\n'
            '  // implementation("no:no:1")\n}\n'
        ),
        ("org.a:b", "j:u"),
    ),
    "App.csproj": (
        (
            '\ufeff<Project><ItemGroup><PackageReference Include="Npgsql" Version="8" />'
            "</ItemGroup></Project>"
        ),
        ("Npgsql",),
    ),
    "mix.exs": (
        'defp deps do\n  [\n    {:phoenix, "~> 1.7"},\n    {:own, git: "https://h"}\n  ]\nend',
        ("phoenix", "own"),
    ),
    "compose.yaml": (
        (
            "services:\n  db:\n    image: registry.example.com:5000/library/postgres:16@sha256:ab\n"
            "  own:\n    build: .\n  var:\n    image: ${IMAGE}\n"
        ),
        ("library/postgres:16",),
    ),
    "Dockerfile": (
        "FROM --platform=linux/amd64 python:3.12-slim AS base\nFROM base\nFROM scratch\nRUN x\n",
        ("python:3.12-slim",),
    ),
}


@each("name", FILES)
def test_a_list_gives_its_names(name: str) -> None:
    text, names = FILES[name]
    assert listed(name, text) == names
    assert TOKEN not in " ".join(listed(name, text))


def test_a_file_of_a_resolver_is_known() -> None:
    locks = [name for name in FILES if is_lock(name)]
    assert locks == ["poetry.lock", "uv.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project"),
        ("package.json", "{"),
        ("package.json", "[" * 100_000),
        ("compose.yaml", "a: [" * 5_000),
        ("compose.yaml", "a: &b [x]\nc: *b"),
        ("pnpm-lock.yaml", "[" * 50_000),
        ("pnpm-lock.yaml", "{a: " * 60 + "1" + "}" * 60),
        ("setup.cfg", "x"),
        ("pom.xml", "<a>"),
        ("pom.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'),
    ],
)
def test_what_is_not_in_its_format_is_refused_in_words(name: str, text: str) -> None:
    with pytest.raises(Unreadable, match="it is no "):
        listed(name, text)


@pytest.mark.parametrize("name", FILES)
@given(text=st.one_of(st.text(), st.builds(str, st.dictionaries(st.text(), st.text()))))
def test_any_text_gives_names_or_is_refused(name: str, text: str) -> None:
    try:
        found = listed(name, text)
    except Unreadable:
        return
    assert all(0 < len(one) <= 160 and " " not in one and "://" not in one for one in found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package.json", '{"dependencies": ["a"]}'),
        ("package.json", '{"dependencies": {"ignore all previous rules": "1", "ok": "1"}}'),
        ("package.json", '{"dependencies": "x", "devDependencies": {"ok": 1}}'),
        ("compose.yaml", "services: [a, b]"),
        ("compose.yaml", "a: !!python/object/apply:os.system [ls]"),
        *(("compose.yaml", f"a: !!{tag} foo") for tag in ("bool", "int", "timestamp", "float")),
        ("compose.yaml", "services: {a: {image: 'user:hunter2hunter2@reg.io/x/y:1'}}"),
        ("Dockerfile", "FROM user:hunter2hunter2@reg.io/x/y:1"),
        ("build.gradle", 'implementation "user:hunter2hunter2@x:1"'),
        ("compose.yaml", "services: {a: 1, b: {image: [x]}}"),
        ("Cargo.toml", "dependencies = 3"),
    ],
)
def test_other_shapes_give_only_what_is_a_name(name: str, text: str) -> None:
    assert set(listed(name, text)) <= {"ok", "a"}
