"""Pages as HTML: every text is data, and shown as a terminal shows it; and times, spans and numbers
as pages say them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping
from functools import cache
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import msgspec

from preflights_es.kernel.ids import (
    DAY_LENGTH,
    decision_name,
    format_date_only,
    format_time_only,
    iso,
    milliseconds,
    parse_moment,
    short_session,
)
from preflights_es.kernel.text import one_line, own_file, shortened, shown_lines, span
from preflights_es.projections.session_story import judgement_in_words
from preflights_es.projections.usage import ProviderCall, UsageTotals, costs_in_words
from preflights_es.records.record_text import document_in_markdown
from preflights_es.runtime.features import FEATURES
from preflights_es.use.inbox import Waiting
from preflights_es.use.request import Request
from preflights_es.words.event_names import event_in_words

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt

    from preflights_es.surfaces.view.pictures import TimelinePart


LOOPBACK: Final = "127.0.0.1"
KEY_BYTES: Final = 32  # of chance


def filter_moment(text: str, *, is_end: bool = False) -> int | None:
    """Of the field of a filter; None where it holds no day or time."""
    try:
        return parse_moment(text, is_end=is_end)
    except ValueError:
        return None


def stamp(at: int | None) -> str:
    """`2026-11-26 14:02:11.042`, UTC."""
    return "" if at is None else iso(at)[:23].replace("T", " ")


def millis(took: int | None) -> str:
    """A span of milliseconds; `?` where it was not measured."""
    return "?" if took is None else span(took / 1_000)


def count(number: float | None) -> str:
    """`1,204`; `?` of what is not known."""
    return "?" if number is None else f"{number:,}"


def percent(share: float | None) -> str:
    """`50 %`."""
    return "" if share is None else f"{round(share * 100)} %"


def tokens(call: ProviderCall | UsageTotals) -> str:
    """`1,204 → 56`: what a call, or several, read and wrote."""
    return f"{count(call.input_tokens)} → {count(call.output_tokens)}"


def share(x: float, part: TimelinePart) -> str:
    """A place or a width of a timeline, as a share of its own."""
    return f"{x / part.width:.2%}"


def spaced(name: str) -> str:
    """`needs_answers` as `needs answers`."""
    return name.replace("_", " ")


def tone(status: str) -> str:
    """The class of a badge that says how a session stands."""
    if status in ("faulted", "damaged", "failed"):
        return "bad"
    if status in ("needs_answers", "waiting", "ready", "proposed"):
        return "doubt"
    return "good" if status in ("accepted", "done", "approved", "locked", "answered") else ""


WORDS: Final = {
    one.__name__: one for one in (stamp, span, millis, count, percent, tokens, share, spaced, tone)
} | {"clock": format_time_only, "cost": costs_in_words, "date": format_date_only}
"""Filters of templates, by name."""

FILES: Final = {
    "decisions.js": "text/javascript",
    "icon.svg": "image/svg+xml",
    "judge.js": "text/javascript",
    "page.js": "text/javascript",
    "sessions.css": "text/css",
    "sessions.js": "text/javascript",
    "view.css": "text/css",
}
"""What pages link to, by name, with its type."""

READ_MAX: Final = 100_000  # characters of a record that is shown as it reads; a longer one as text
DIGITS_MAX: Final = 9  # of a version that a request says: all integers of an engine take it
MARKS: Final = ("heading", "list", "blockquote", "emphasis", "escape", "newline", "link")
"""What records are written with. A picture or an element of HTML stays text, and of the links all
but those to a record beside it, of which the words are shown.
"""
PAGE_MAX: Final = 2_000_000  # characters of a page, of which a browser makes a picture in time
NAV: Final = (
    ("decisions", "/"),
    ("inbox", "/inbox"),
    ("sessions", "/sessions"),
    ("usage", "/usage"),
)
"""The pages that every page leads to, by what they call their section."""

_BESIDE: Final = re.compile(r"[\w.%-]+\.md")
_ABOVE: Final = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


class PageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a page is asked."""

    request: Request
    """Of `use`; this one page's."""
    path: Mapping[str, Any]
    """The parts of the address that its route names."""
    query: Mapping[str, str]
    form: Mapping[str, tuple[str, ...]] = {}
    """Of a POST; its token was checked."""
    settles: Callable[[Waiting], str] = lambda _: "preflights inbox"
    """The command that settles what waits."""

    worded: Callable[[str, str, Mapping[str, Any]], str] = lambda text, _code, _fields: text
    """A text with the command that helps, by its code and fields."""

    def said(self, name: str) -> str:
        """What a field of the form holds, without the blanks around it; empty without one."""
        return self.form.get(name, ("",))[-1].strip()


class Page(msgspec.Struct, frozen=True):
    """What a page says."""

    template: str
    values: Mapping[str, Any]
    command: str
    """What shows the same in a terminal."""
    status: int = 200


class Elsewhere(msgspec.Struct, frozen=True):
    """Where the browser goes on; after a form, so that reloading sends nothing again."""

    path: str


Answer = Page | Elsewhere
Served = Callable[[PageRequest], Answer]


class Way(msgspec.Struct, frozen=True):
    """An address, and what is asked there."""

    path: str
    served: Served
    method: str = "GET"
    records: bool = False
    """Whether it is refused where the server is read-only."""


def page(path: str, served: Served) -> Way:
    """A page that looks."""
    return Way(path, served)


def form_way(path: str, served: Served) -> Way:
    """What a form asks for; nothing is recorded by it."""
    return Way(path, served, "POST")


def action(path: str, served: Served) -> Way:
    """What a form sends to be recorded."""
    return Way(path, served, "POST", records=True)


class Keys(msgspec.Struct, frozen=True):
    """What one start of the server gives out."""

    token: str
    """Of the address that is opened first; a browser gets the cookie for it."""
    cookie: str
    form: str
    """Stands in every form: what posts one has read a page of this server."""

    @classmethod
    def new(cls) -> Keys:
        """For a start."""
        import secrets  # an export needs none

        return cls(*(secrets.token_urlsafe(KEY_BYTES) for _ in range(3)))


class Site(msgspec.Struct, frozen=True):
    """What all pages of one start share."""

    request: Request
    """Of the process; each page gets one of its own."""
    keys: Keys
    port: int
    read_only: str = ""
    """Why nothing can be recorded here, in a few words; empty where a person may."""
    worded: Callable[[str, str, Any], str] = lambda text, _code, _fields: text
    """A text with the command that helps, by its code and fields."""
    settles: Callable[[Waiting], str] = lambda _: "preflights inbox"
    """The command that settles what waits."""
    imports: str = ""
    """The command that brings its sessions into a log, where they are of a file."""

    @property
    def name(self) -> str:
        """Of the person whose word is taken."""
        return self.request.actor.name

    @property
    def address(self) -> str:
        """Without a token."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def has_pairs(self) -> bool:
        """Whether a run left answers that a person may judge."""
        return bool(FEATURES.port("kept_files")(self.request.process))

    def asks(self) -> Request:
        """A request for one page; by the person who started the server."""
        own = self.request
        return own.another(own.actor, way="browser")


def address_with_query(path: str, query: Mapping[str, str]) -> str:
    """An address with what of its query is not empty."""
    said = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(said)}" if said else path


def positive_number(text: str | None, otherwise: int) -> int:
    """A number of an address, at least 1."""
    is_one = text is not None and text.isascii() and text.isdecimal() and len(text) < 10
    return max(int(text), 1) if is_one and text is not None else otherwise


def html(name: str, **values: Any) -> str:
    """A template with its values."""
    return _environment().get_template(name).render(values)


def prepare() -> None:
    """Make the templates of the first page; while a browser starts, there is time for it."""
    for name in ("decisions.html", "macros.html", "base.html"):
        _environment().get_template(name)


@cache
def read_static_file(name: str) -> bytes:
    """A file that pages link to."""
    return own_file(__spec__, f"data/{name}")


@cache
def static_file_address(name: str) -> str:
    """The address of such a file: another one for other content, so that it may be kept."""
    return f"/static/{name}?{sha256(read_static_file(name)).hexdigest()[:12]}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # the server answers before
    from jinja2.compiler import CodeGenerator

    class Written(CodeGenerator):
        def _output_child_pre(self, _node: Any, _frame: Any, finalize: Any) -> None:
            """In one call: markupsafe makes an object of each text, which costs thrice as much."""
            self.write("environment.written(" if finalize.src is None else "environment.written((")

    class Pages(Environment):
        code_generator_class = Written
        written = staticmethod(render_template_value)

        def make_globals(self, d: MutableMapping[str, Any] | None) -> dict[str, Any]:
            """A copy: every page goes through it, and a chain of mappings is slow at that."""
            return {**self.globals, **(d or {})}

    found = Pages(
        loader=FunctionLoader(lambda name: own_file(__spec__, f"data/{name}").decode()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
        optimized=False,
        cache_size=-1,
        auto_reload=False,
    )
    own_filters = {"short": short_session, "line": one_line, "shortened": shortened, "hex": _hex}
    found.filters.update(
        WORDS,
        **own_filters,
        day=lambda at: (at or "").partition("T")[0],
        minute=lambda at: f"{at[:16].replace('T', ' ')} UTC",  # 2026-11-23T12:00
        began=lambda id_: iso(milliseconds(id_) * 1_000)[:DAY_LENGTH],
        tree=_tree,
        read=_render_record_text,
        event=event_in_words,
        judgement=judgement_in_words,
    )
    own = {"linked": static_file_address, "nav": NAV, "decision_name": decision_name}
    found.globals.update(own, exported=None, read_max=READ_MAX)
    return found


def _hex(value: Any) -> str:
    """Of bytes; a damaged database may hold something else in their place."""
    return value.hex() if isinstance(value, bytes) else f"{value!r}: no bytes"


def _finalized(value: Any) -> Any:
    """Control characters and turns of direction as escapes; markup of templates as it is."""
    if type(value) is str and not value.isprintable():
        return shown_lines(value)
    return value


def render_template_value(value: Any) -> str:
    """What a template says, as text of HTML."""
    if type(value) is int or (type(value) is str and value.isalnum()):
        return str(value)  # most are numbers and single words
    found = _finalized(value)
    if type(found) is str:
        return escape(found)
    return str(found.__html__() if hasattr(found, "__html__") else escape(str(found)))


def _render_record_text(document: str) -> Any:
    """A record as it reads, without what stands before its title; its headings below the page's."""
    from markupsafe import Markup

    reader = _record_markdown_reader()
    if document.startswith("= "):
        document = document_in_markdown(document)
    tokens = reader.parse(shown_lines(_ABOVE.sub("", document, count=1)))
    for one in tokens:
        if one.type in ("heading_open", "heading_close"):
            one.tag = f"h{min(int(one.tag[1:]) + 2, 6)}"
        if one.children:
            one.children = [each for each in one.children if not each.type.startswith("link_")]
    return Markup(reader.renderer.render(tokens, reader.options, {}))  # noqa: S704  it escapes


@cache
def _record_markdown_reader() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only the page of a decision needs it

    class Reader(MarkdownIt):
        def validateLink(self, url: str) -> bool:  # noqa: N802  the library's name
            return _BESIDE.fullmatch(url) is not None

    return Reader("zero").enable([*MARKS, "balance_pairs", "fragments_join", "text_join"])


def _tree(value: Any) -> Any:
    """A JSON value as lists of facts, as deep as it goes."""
    from markupsafe import Markup

    return Markup(_render_json_value(value))  # noqa: S704  each text of it is escaped


def _render_json_value(value: Any) -> str:
    from preflights_es.projections.json_words import read_answer_value  # a list needs none

    match value:
        case str() if value.startswith(("{", "[")) and (read := read_answer_value(value)):
            return _render_json_value(read)
        case str():
            return f'<span class="text">{render_template_value(value)}</span>'
        case dict():
            facts = (
                f"<dt>{render_template_value(spaced(n))}</dt><dd>{_render_json_value(v)}</dd>"
                for n, v in value.items()
            )
            return f'<dl class="facts">{"".join(facts)}</dl>'
        case list():
            items = "".join(f"<li>{_render_list_item(one)}</li>" for one in value)
            return f'<ul class="plain">{items}</ul>'
        case None:
            return '<span class="soft">none</span>'
        case bool():
            return "yes" if value else "no"
        case _:
            return render_template_value(value)


def _render_list_item(one: Any) -> str:
    match one:
        case [str() as name, str() as text]:
            return f"{render_template_value(name)}: {render_template_value(text)}"
        case _:
            return _render_json_value(one)
