"""What docs/api.md says of functions, results and errors, and the methods as coroutines.

As a program, it writes them anew:

python -m tests.house.api_page
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import msgspec

import preflights_es
from preflights_es.kernel import errors
from preflights_es.surfaces import api
from preflights_es.use.results import Result
from tests.house.generated import rewrite

PAGE: Final = "docs/api.md"
COROUTINES: Final = "preflights_es/surfaces/async_api.py"
WIDTH: Final = 100  # columns of a signature
ALSO: Final = ("LogFromDevelopment",)
"""Errors that the page describes, and that no method names."""
OPENING: Final = ("open", "open_async")
_COMMA = re.compile(r", (?![^\[]*\])")  # between arguments, not within a type
_SECTION = re.compile(r"^(Args|Raises):\n((?:    .*\n?|\n)*)", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w[\w, ]*): (.*(?:\n     .*)*)", re.MULTILINE)


def parts() -> dict[str, str]:
    """Each generated part of the page by its name."""
    return {"functions": functions(), "results": results(), "other functions": others()} | {
        "errors": failures()
    }


# 1. Functions --------------------------------------------------------------------------------


def methods() -> dict[str, Callable[..., Any]]:
    """What a program does with a log, in the order of the class."""
    own = vars(api.Preflights).items()
    return {name: one for name, one in own if name[0] != "_" and inspect.isfunction(one)}


def coroutines() -> str:
    """Each method of a log that a running event loop has, too."""
    names = (name for name in methods() if name not in ("request", "close"))
    return "".join(f"    {name} = _threaded(Preflights.{name})\n" for name in names)


def functions() -> str:
    """How a log is opened, and each method of it, under a heading of its own."""
    opening = {name: getattr(preflights_es, name) for name in OPENING}
    return "\n".join(
        (
            *(_told(name, name, one) for name, one in opening.items()),
            *(_told(f"log.{name}", name, one) for name, one in methods().items()),
        )
    )


def others() -> str:
    """The functions that need no log."""
    public = {name: getattr(preflights_es, name) for name in preflights_es.__all__}
    found = {name: one for name, one in public.items() if inspect.isfunction(one)}
    rows = []
    for name, one in found.items():
        if name not in OPENING:
            rows.append(f"* `{name}{_plain(inspect.signature(one))}`: {_sentence(one)}\n")
    return "".join(rows)


def _told(heading: str, name: str, function: Callable[..., Any]) -> str:
    """The heading, the signature, the prose of the docstring, and its arguments and errors."""
    doc = f"{inspect.getdoc(function)}\n"
    prose = " ".join(line or "\n\n" for line in _SECTION.sub("", doc).strip().splitlines())
    lines = [
        f"* {'raises ' if kind == 'Raises' else ''}{_named(names)}: {_one_line(text)}"
        for kind, body in _SECTION.findall(doc)
        for names, text in _ENTRY.findall(body)
    ]
    prose = re.sub(r" *\n\n *", "\n\n", prose)
    told = f"#### {heading}\n\n{_signature(name, function)}\n{prose}\n"
    return told + ("\n" + "\n".join(lines) + "\n" if lines else "")


def _named(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


def _signature(name: str, function: Callable[..., Any]) -> str:
    """Without `self`, as an indented block of lines that fit."""
    found = inspect.signature(function)
    kept = [one for one in found.parameters.values() if one.name != "self"]
    *arguments, end = _COMMA.split(_plain(found.replace(parameters=kept)))
    lines, line = [], name
    for one in (*(f"{argument}, " for argument in arguments), end):
        if len(line) + len(one) > WIDTH:
            lines.append(line.rstrip())
            line = "    "
        line += one
    return "".join(f"    {one}\n" for one in (*lines, line))


def _plain(signature: inspect.Signature) -> str:
    """As a person writes it: annotations are no strings."""
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(signature))
    return text.replace("'", '"')


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _sentence(one: object) -> str:
    """The first sentence of a docstring."""
    first = _one_line((inspect.getdoc(one) or "").partition("\n\n")[0])
    return re.split(r"(?<=\.) (?=[A-Z])", first)[0]


# 2. Results ----------------------------------------------------------------------------------


def results() -> str:
    """Each class that a method returns, with its fields and their types."""
    homes = _imported()
    named = dict.fromkeys(
        name
        for method in methods().values()
        for name in re.findall(r"\w+", str(inspect.signature(method).return_annotation))
        if name in homes
    )
    classes = {name: getattr(import_module(homes[name]), name) for name in named}
    kinds = (name for name, one in classes.items() if issubclass(one, msgspec.Struct))
    return "".join(_result(name, classes[name]) for name in kinds)


def _result(name: str, kind: type[msgspec.Struct]) -> str:
    shape = kind.__struct_config__.tag or getattr(kind, "FORMAT", "")
    link = f" ([{shape}](#{shape.replace('/', '')}))" if isinstance(shape, str) and shape else ""
    fields = _fields(kind)
    parent = kind.__bases__[0]
    more = f"The fields of `{parent.__name__}`, and " if parent.__bases__[0] is Result else ""
    if more:
        fields = {one: type_ for one, type_ in fields.items() if one not in _fields(parent)}
    told = ", ".join(f"`{one}: {type_}`" for one, type_ in fields.items())
    return f"* `{name}`{link}: {_sentence(kind)} {more}{told}\n"


def _fields(kind: type) -> dict[str, str]:
    """The types of the fields, those of the parents first, and of the properties."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        stored = getattr(one, "__struct_fields__", ())
        written = vars(one).get("__annotations__", {}).items()
        found |= {name: str(type_) for name, type_ in written if name in stored}
    for name, one in vars(kind).items():
        if isinstance(one, property) and one.fget is not None:
            found[name] = str(one.fget.__annotations__["return"])
    return {name: type_.replace("'", '"') for name, type_ in found.items()}


def _imported() -> dict[str, str]:
    """The module of each name that the module of the class imports."""
    tree = ast.parse(inspect.getsource(api))
    return {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


# 3. Errors -----------------------------------------------------------------------------------


def failures() -> str:
    """Errors that are exported or that a method names, and their roots, as the tree has them."""
    named = {
        name
        for method in methods().values()
        for kind, body in _SECTION.findall(f"{inspect.getdoc(method)}\n")
        if kind == "Raises"
        for names, _ in _ENTRY.findall(body)
        for name in names.split(", ")
    }
    tree = [one for one in vars(errors).values() if _is_ours(one)]
    kept = [one for one in tree if one.__name__ in {*preflights_es.__all__, *named, *ALSO}]
    roots = {root for one in kept for root in one.__mro__ if _is_ours(root)}
    rows = ["| error | is a | when | attributes |", "| --- | --- | --- | --- |"]
    for one in tree:
        if one in roots:
            of = (base for base in one.__bases__ if base is not errors.ReportedCall)
            bases = ", ".join(f"`{base.__name__}`" for base in of)
            own = ", ".join(f"`{attribute}`" for attribute in _attributes(one))
            rows.append(f"| `{one.__name__}` | {bases} | {_sentence(one)} | {own} |")
    return "\n".join(rows) + "\n"


def _is_ours(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, errors.PreflightsError)


def _attributes(error: type) -> list[str]:
    """What its own class and `__init__` declare."""
    shared = [base for base in error.__bases__ if base is errors.ReportedCall]
    declared = [name for one in (*shared, error) for name in vars(one).get("__annotations__", ())]
    if "__init__" not in vars(error):
        return declared
    tree = ast.parse(textwrap.dedent(inspect.getsource(vars(error)["__init__"])))
    stored = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    set_ = (node.attr for node in stored if isinstance(node.ctx, ast.Store))
    return list(dict.fromkeys((*declared, *set_)))


if __name__ == "__main__":
    for part, text in parts().items():
        rewrite(PAGE, part, text)
    rewrite(COROUTINES, "methods", coroutines())
