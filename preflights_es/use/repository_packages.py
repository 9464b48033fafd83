"""The packages that a file of a repository lists, and the images that it runs.

A format with a grammar is read by a library, XML by what plainly declares a package, and so is a
format that is a program. Only names are kept: a version, a URL and a token stay in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final

from preflights_es.kernel.text import late_pattern
from preflights_es.system.files import Unreadable

YAML_DEPTH_MAX: Final = 50  # of a list of packages or of services

Read = Callable[[str], Iterable[object]]

_NAME: Final = late_pattern(r"@?[A-Za-z0-9][A-Za-z0-9._+/:-]{0,99}")
_REQUIREMENT: Final = late_pattern(
    r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*(?:[=<>!~;@,(]|#|$)"
)
_EGG: Final = late_pattern(r"#(?:.*&)?egg=([A-Za-z0-9][\w.-]*)")
_IMAGE: Final = late_pattern(r"[a-z0-9][a-z0-9._/-]{0,99}(?::[\w.-]{1,50})?")
_FROM: Final = late_pattern(r"\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)
_GO: Final = late_pattern(r"\s*(?:require\s+)?([\w-]+\.[a-z]+/\S+)\s+v\d[^/]*$")
_GEM: Final = late_pattern(r"\s*gem\s+[\"']([\w-]+)[\"']")
_GRADLE: Final = late_pattern(
    r"\s*(?:\w*[iI]mplementation|api|compileOnly|runtimeOnly|kapt|annotationProcessor)\b"
    r"[\s(]*(?:platform\()?[\"']([\w.-]+:[\w.-]+)(?=[:\"'])"
)
_POM: Final = late_pattern(
    r"<dependency>\s*<groupId>\s*([\w.-]+)\s*</groupId>\s*<artifactId>\s*([\w.-]+)\s*</artifactId>"
)
_CSPROJ: Final = late_pattern(r"<PackageReference\s[^<>]*?\bInclude=[\"']([\w.-]+)[\"']")
_MIX: Final = late_pattern(r"\s*\[?\{:(\w+),\s*[\"'~\w]")
_YARN: Final = late_pattern(r"\"?(@?[^@\s\"]+)@")


def list_package_names(name: str, text: str) -> tuple[str, ...]:
    """What a file lists, each once, in its order; nothing of a file that is no list.

    Args:
        name: of the file, without its folder.

    Raises:
        Unreadable: the text is not in the format that the name says.
    """
    read = _find_package_reader(name)
    if read is None:
        return ()
    form = _IMAGE if is_of_images(name) else _NAME
    found = dict.fromkeys(one for one in read(text) if isinstance(one, str))
    return tuple(one for one in found if form.fullmatch(one) and "://" not in one)


def is_list(name: str) -> bool:
    """Whether a file of this name lists packages or images."""
    return _find_package_reader(name) is not None


def is_of_images(name: str) -> bool:
    """Whether what a file of this name lists are images."""
    return _find_package_reader(name) in (_compose, _dockerfile)


def is_lock(name: str) -> bool:
    """Whether a file of this name was written by a resolver, from another list."""
    return _find_package_reader(name) in (_lock, _package_lock, _pnpm, _yarn)


def _find_package_reader(name: str) -> Read | None:
    if name in _READERS:
        return _READERS[name]
    if not _PATTERNED.search(name):
        return None
    return next((read for pattern, read in _READERS.items() if fnmatchcase(name, pattern)), None)


_PATTERNED: Final = late_pattern(r"^requirements|\.csproj$|compose|Dockerfile")
"""What a name has that fits a pattern: most files of a repository fit none."""


# 1. Formats with a grammar -------------------------------------------------------------------


def _toml(text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is no TOML") from error


def _parse_package_json(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is no JSON") from error


def _yaml(text: str) -> Any:
    import yaml

    # Strings alone: no tag constructs anything. libyaml composes on the stack of C, which deep
    # nesting would overflow, so the depth is looked at first; an alias may multiply a text.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > YAML_DEPTH_MAX:
                raise Unreadable(f"it is no plain YAML: more than {YAML_DEPTH_MAX} levels")
            if isinstance(event, yaml.AliasEvent):
                raise Unreadable("it is no plain YAML: it has an alias")
        return yaml.load(text, Loader=loader)  # noqa: S506  strings alone
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unreadable("it is no YAML") from error


def _value_below_keys(of: object, *keys: str) -> Any:
    """What stands below keys; `*` stands for every key. None where nothing does."""
    for place, key in enumerate(keys):
        if not isinstance(of, Mapping):
            return None
        if key == "*":
            below = [_value_below_keys(one, *keys[place + 1 :]) for one in of.values()]
            merged: list[object] = []
            for one in below:
                merged += one if isinstance(one, (list, Mapping)) else []
            return merged
        of = of.get(key)
    return of


def _entries_at_paths(of: object, *paths: str) -> Iterator[object]:
    """The keys of tables and the entries of lists that stand at the paths."""
    for path in paths:
        found = _value_below_keys(of, *path.split("."))
        yield from found if isinstance(found, (list, Mapping)) else ()


def _pyproject(text: str) -> Iterator[object]:
    of = _toml(text)
    lists = ("project.dependencies", "project.optional-dependencies.*", "dependency-groups.*")
    said = _entries_at_paths(of, *lists)
    yield from _required(one for one in said if isinstance(one, str))
    poetry = _entries_at_paths(of, "tool.poetry.dependencies", "tool.poetry.group.*.dependencies")
    yield from (one for one in poetry if one != "python")
    yield from _entries_at_paths(of, "tool.poetry.dev-dependencies")


def _pipfile(text: str) -> Iterator[object]:
    return _entries_at_paths(_toml(text), "packages", "dev-packages")


def _cargo(text: str) -> Iterator[object]:
    tables = ("dependencies", "dev-dependencies", "build-dependencies")
    paths = (*tables, "workspace.dependencies", *(f"target.*.{one}" for one in tables))
    return _entries_at_paths(_toml(text), *paths)


def _lock(text: str) -> Iterator[object]:
    """Of Poetry and uv; the project itself is the one from a folder."""
    for one in _entries_at_paths(_toml(text), "package"):
        source = _value_below_keys(one, "source")
        own = isinstance(source, Mapping) and not {"virtual", "editable"}.isdisjoint(source)
        if not own:
            yield _value_below_keys(one, "name")


def _package_json(text: str) -> Iterator[object]:
    names = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    return _entries_at_paths(_parse_package_json(text), *names)


def _package_lock(text: str) -> Iterator[object]:
    of = _parse_package_json(text)
    packages = _value_below_keys(of, "packages")
    if isinstance(packages, Mapping):
        own = packages.get("")
        names = ("dependencies", "devDependencies", "optionalDependencies")
        yield from _entries_at_paths(own, *names)
        return
    yield from _entries_at_paths(of, "dependencies")


def _composer(text: str) -> Iterator[object]:
    said = _entries_at_paths(_parse_package_json(text), "require", "require-dev")
    return (one for one in said if isinstance(one, str) and "/" in one)


def _pnpm(text: str) -> Iterator[object]:
    names = ("dependencies", "devDependencies", "optionalDependencies")
    return _entries_at_paths(_yaml(text), *(f"importers.*.{one}" for one in names), *names)


def _compose(text: str) -> Iterator[object]:
    services = _value_below_keys(_yaml(text), "services")
    for one in services.values() if isinstance(services, Mapping) else ():
        yield _image(_value_below_keys(one, "image"))


def _setup_cfg(text: str) -> Iterator[object]:
    from configparser import ConfigParser, Error

    parser = ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except Error as error:
        raise Unreadable("it is no file of settings") from error
    extras = parser["options.extras_require"].values() if "options.extras_require" in parser else ()
    required = parser.get("options", "install_requires", fallback="")
    return _required(line for said in (required, *extras) for line in (said or "").splitlines())


# 2. Formats of lines, and programs -----------------------------------------------------------


def _required(lines: Iterable[str]) -> Iterator[str]:
    """Names of requirements; of a URL only the name that it is said to have."""
    for line in lines:
        found = _REQUIREMENT.match(line) or _EGG.search(line)
        if found:
            yield found[1]


def _go_mod(text: str) -> Iterator[object]:
    lines = (line for line in text.splitlines() if not line.rstrip().endswith("// indirect"))
    return (found[1] for line in lines if (found := _GO.match(line.partition("//")[0])))


def _yarn(text: str) -> Iterator[object]:
    """The first column of each entry, `"@scope/name@^1.0":`."""
    heads = (line for line in text.splitlines() if line[:1] not in (" ", "#", ""))
    return (found[1] for line in heads if (found := _YARN.match(line)))


def _dockerfile(text: str) -> Iterator[object]:
    stages: set[str] = set()
    for line in text.splitlines():
        if found := _FROM.match(line):
            if found[1] not in (*stages, "scratch"):
                yield _image(found[1])
            stages.add(found[2])


def _image(said: object) -> str:
    """The name and tag of an image, without its registry and its digest; none with a password."""
    if not isinstance(said, str) or "$" in said:
        return ""
    name = said.partition("@sha256:")[0]
    if "@" in name:
        return ""
    first, slash, rest = name.partition("/")
    is_host = slash and ("." in first or ":" in first or first == "localhost")
    return rest if is_host else first + slash + rest


def _pom(text: str) -> Iterator[object]:
    return (":".join(found.groups()) for found in _POM.finditer(_uncommented(text)))


def _csproj(text: str) -> Iterator[object]:
    return (found[1] for found in _CSPROJ.finditer(_uncommented(text)))


def _uncommented(text: str) -> str:
    """XML without its comments."""
    first, *others = text.split("<!--")
    return first + "".join(one.partition("-->")[2] for one in others)


def _declared(form: re.Pattern[str], text: str) -> Iterator[object]:
    return (found[1] for line in text.splitlines() if (found := form.match(line)))


_READERS: Final[Mapping[str, Read]] = {
    "pyproject.toml": _pyproject,
    "requirements*.txt": lambda text: _required(text.splitlines()),
    "Pipfile": _pipfile,
    "setup.cfg": _setup_cfg,
    "package.json": _package_json,
    "go.mod": _go_mod,
    "Cargo.toml": _cargo,
    "Gemfile": partial(_declared, _GEM),
    "composer.json": _composer,
    "pom.xml": _pom,
    "build.gradle": partial(_declared, _GRADLE),
    "build.gradle.kts": partial(_declared, _GRADLE),
    "*.csproj": _csproj,
    "mix.exs": partial(_declared, _MIX),
    "compose*.y*ml": _compose,
    "docker-compose*.y*ml": _compose,
    "*Dockerfile": _dockerfile,
    "Dockerfile.*": _dockerfile,
    "poetry.lock": _lock,
    "uv.lock": _lock,
    "package-lock.json": _package_lock,
    "pnpm-lock.yaml": _pnpm,
    "yarn.lock": _yarn,
}
"""By a pattern of names; lists that people write come first."""
