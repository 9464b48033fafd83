"""The pages as files for any folder: decisions, records and timelines, with what proves them.

Published is what a page shows: payload and salt of these events, envelope and digest of all
others. A file of proof beside the pages holds them, and the reader's browser compares both
(data/verify.js). The same log gives the same bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import unescape
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.events import Actor, ArtifactDue, ArtifactWritten, Event, Input, Signable
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import shown_lines
from preflights_es.projections import usage
from preflights_es.projections.audit import steps
from preflights_es.projections.projection import Read
from preflights_es.projections.usage import ProviderCall, UsageTotals
from preflights_es.records.documents import render_due_document
from preflights_es.store import jsonl
from preflights_es.surfaces.view import pictures, project_pages, rendering
from preflights_es.surfaces.view.pictures import bars
from preflights_es.surfaces.view.site_folder import OURS, Built
from preflights_es.use.conflicts import list_conflicts
from preflights_es.use.decisions import listing
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow
from preflights_es.use.usage import price
from preflights_es.use.why import of_patch
from preflights_es.use.why_results import Why
from preflights_es.words.decisions import describe_conflict
from preflights_es.words.event_names import NO_MODELS

TEXT_MAX: Final = 100_000  # characters of a payload on a page
TEXTS_MAX: Final = 300_000  # the same of all payloads of a page; marks make a few bytes of each
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'"
)
NAV: Final = (("decisions", "/"), ("sessions", "/sessions"))
SCRIPTS: Final = ("verify.js", "proof.js")
SEARCH: Final = "search.js"
STATIC: Final = (*SCRIPTS, SEARCH, "page.js", "icon.svg", "sessions.css", "view.css")
_LINK: Final = re.compile(
    r'="(?:(?<= href=")|(?<= src=")|(?<= action=")|(?<= data-index="))(/[^"]*)"'
)
_NOWHERE: Final = re.compile(r' [a-z-]+="\0"')
_ID: Final = re.compile(r"[0-9a-f][0-9a-f-]*")


class Frame(msgspec.Struct, frozen=True):
    """What the frame of a page says of the export."""

    path: str
    session: str = ""
    """The one that the page tells of."""
    asks: str = ""
    """Words of the button where the browser verifies only when it is asked to."""
    is_searched: bool = False
    policy: str = POLICY

    @property
    def scripts(self) -> tuple[str, ...]:
        """Those of the page."""
        return (*SCRIPTS, SEARCH) if self.is_searched else SCRIPTS

    @property
    def root(self) -> str:
        """The way from the page to the site's top."""
        return "../" * self.path.count("/")

    @property
    def proofs(self) -> tuple[str, ...]:
        """The files of proof that the page loads."""
        own = (f"/proof/{self.session}.js",) if self.session else ()
        return ("/proof/site.js", *own)


class Told(msgspec.Struct, frozen=True):
    """A session, as the list of them tells it."""

    session_id: str
    title: str
    """Of its decision."""
    workflow: str
    events: int
    began: int
    """Microseconds since 1970 UTC; the same of its last event."""
    ended: int
    used: UsageTotals | None
    """By the calls whose responses are published; None without one."""


def built(request: Request, *, everything: bool = False, sessions: bool = False) -> Built:
    """The site of the decisions in force.

    Args:
        everything: also of what is not in force, or waits for a person.
        sessions: also the sessions as files, with all that was said in them.
    """
    return _Building(request, everything=everything, sessions=sessions).built()


class _Building:
    """Pages that know which others there are."""

    def __init__(
        self,
        request: Request,
        *,
        everything: bool,
        sessions: bool,
        skipped: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.request = request
        self.skipped = skipped
        self.everything = everything
        self.sessions = sessions
        self.files: dict[str, bytes] = {}
        self.names: set[str] = set()
        self.keys: set[str] = set()
        """Those that signed what is published."""
        self.texts = 0
        self.left_out: dict[str, str] = {}
        """Why they cannot be read, by session."""
        self.told: list[Told] = []
        self.records: tuple[ForeignRow, ...] = ()
        self.listed: dict[str, str] = {}
        """Digests of the pages that `site.js` tells of."""

    def built(self) -> Built:
        rows = self._rows()
        self.pages = {"/": "index.html", "/sessions": "sessions/index.html"}
        for row in rows:
            path = f"decisions/{row.uid}.html"
            self.pages[f"/decisions/{row.uid}"] = self.pages[f"/decisions/{row.session_id}"] = path
            self.pages[f"/sessions/{row.session_id}"] = f"sessions/{row.session_id}.html"
        self._sessions([row for row in rows if not row.file], self.request.process)
        if filed := [row for row in rows if row.file]:
            assert self.request.reading.filed is not None, "they are of what files say more"
            self._sessions(filed, self.request.reading.filed)
        if self.left_out:
            return self._without()
        # Where one lies is no matter of the site.
        self.rows = rows = [replace(row, file=None) for row in rows]
        in_force = [row for row in rows if row.standing == "accepted"]
        held = [one for one in self.records if one.is_held]
        self._list("index", in_force, held, everything=False)
        if self.everything:
            self._list("all", rows, self.records, everything=True)
        self._list_of_sessions()
        for name in STATIC:
            self._put(f"static/{name}", rendering.read_static_file(name))
        self._put("proof/search.js", b"searchable(%b);\n" % msgspec.json.encode(_index(rows)))
        shared = {"pages": self.listed, **self._signed()}
        self._put("proof/site.js", _proof(shared))
        return Built(
            decisions=len(rows),
            records=len(self.records),
            sessions=len(rows),
            names=tuple(sorted(self.names)),
            texts=self.texts,
            whole=len(rows) if self.sessions else 0,
            left_out=tuple(self.skipped.values()),
            files=self.files,
        )

    def _signed(self) -> dict[str, Any]:
        """The signers whose keys the site holds."""
        known = self.request.process.signatures
        lines = known.signers.content.decode("utf-8", "replace").splitlines()
        signers = [line.strip() for line in lines if self.keys.intersection(line.split())]
        self.names.update(n for line in signers for n in line.split()[0].strip('"').split(","))
        self.names.discard("")
        return {"signers": "\n".join(signers), "repository": known.repository}

    def _rows(self) -> list[DecisionRow]:
        """One decision of each session: the last that is listed."""
        last = dict[str, DecisionRow]()
        found = listing(self.request, everything=self.everything)
        self.records = found.head.foreign
        for row in found.rows:
            is_meant = self.everything or row.standing == "accepted"
            if is_meant and row.session_id not in self.skipped:
                last[row.session_id] = row
        return list(last.values())

    def _without(self) -> Built:
        """The same without the sessions that cannot be read: no page leads to one."""
        skipped = {**self.skipped, **self.left_out}
        every, files = self.everything, self.sessions
        return _Building(self.request, everything=every, sessions=files, skipped=skipped).built()

    def _sessions(self, rows: Sequence[DecisionRow], process: Process) -> None:
        """Those of one log."""
        heads = process.store.heads_of([row.session_id for row in rows])
        for row in rows:
            stream = process.following.stream(heads[row.session_id])
            read = process.projector.reader.read(stream)
            if read.trouble:
                self.left_out[row.session_id] = read.why
            elif not self.left_out:
                self._session(replace(row, file=None), process, read)

    def _session(self, row: DecisionRow, process: Process, read: Read) -> None:
        """The page of a decision, the timeline of its session, and their proof."""
        id_ = row.session_id
        whys = of_patch(process, read, row.version)
        document = _last_document_text(read)
        written = _document_digest_version(read, document)
        said = _published_versions(row, whys, read, written)
        pages = self._timeline(row, read, said)
        page = project_pages.build_decision_page(row, whys, document, written)
        path = f"decisions/{row.uid}.html"
        pages[path] = self._page(Frame(path, id_), page.template, page.values, page.command)
        if (large := max(map(len, pages.values()))) > rendering.PAGE_MAX:
            self.left_out[id_] = f"session {id_} has a page of {large:,} bytes"
            return
        first = read.stored[0]
        events = _stored_event_pairs(read)
        proof = {
            "session": {"session_id": id_, "project": first.project, "workflow": first.workflow},
            "pages": {path: sha256(text).hexdigest() for path, text in pages.items()},
            "events": [_exported_event(one, event, said) for one, event in events],
        }
        for path, text in pages.items():
            self._put(path, text)
        self._put(f"proof/{id_}.js", _proof(proof))
        if self.sessions:
            self._put(f"sessions/{id_}.jsonl", jsonl.encode_event_file(read.stored))
            said = {one.version for one in read.stored}
        self.texts += len(said)
        if row.signature is not None:
            # Of a certificate, too, whose authority is no key here.
            self.names.add(row.signature.by)
        for version in said:
            event = read.events[version - 1]
            self.names.update(_actor_names_in(event))
            if isinstance(event, Signable) and event.signature:
                self.keys.add(event.signature.key)

    def _timeline(self, row: DecisionRow, read: Read, said: set[int]) -> dict[str, bytes]:
        id_, stored, pages = row.session_id, read.stored, dict[str, bytes]()
        firsts = range(1, len(stored) + 1, pictures.PART)
        calls = _published_calls(read, said)
        line = pictures.SessionTimeline([*steps(read)], calls, frozenset())
        prices = [price(one) for one in self.request.process.settings.prices]
        asked = [one for one in calls.values() if one.provider not in NO_MODELS]
        used = usage.used(map(msgspec.structs.asdict, asked), by=(), prices=prices)
        times = [one.recorded_at for one in stored]
        told = Told(
            id_,
            row.title,
            read.workflow.name,
            events=len(stored),
            began=times[0],
            ended=times[-1],
            used=used[0] if used else None,
        )
        self.told.append(told)
        for number, first in enumerate(firsts, 1):
            part = line.part(first, prices)
            here = {m.version for m in part.marks} & said
            texts = {n: (stored[n - 1].data or b"").decode() for n in sorted(here)}
            path = f"sessions/{id_}{f'-{number}' if number > 1 else ''}.html"
            self.pages[f"/sessions/{id_}?page={number}"] = path
            is_much = sum(min(len(one), TEXT_MAX) for one in texts.values()) > TEXTS_MAX
            values = {
                "title": row.title,
                "section": "",
                "uid": row.uid,
                "session_id": id_,
                "workflow": read.workflow.name,
                "last": len(stored),
                "part": part,
                "has_calls": any(mark.call for mark in part.marks),
                "has_costs": any(mark.costs for mark in part.marks),
                "lanes": pictures.MIDDLES,
                "version": 0,
                "step_to": "#event-",
                "parts": len(firsts),
                "page": number,
                "hashes": {m.version: stored[m.version - 1].hash.hex() for m in part.marks},
                "texts": texts,
                "most": TEXTS_MAX // len(texts) if is_much else TEXT_MAX,
                "file": f"/sessions/{id_}.jsonl" if self.sessions else "",
            }
            command = f"preflights log {id_[-12:]}"
            pages[path] = self._page(Frame(path, id_), "exported_session.html", values, command)
        return pages

    def _list_of_sessions(self) -> None:
        """The list of timelines, the newest first."""
        told = sorted(self.told, key=lambda one: (one.began, one.session_id), reverse=True)
        firsts = range(0, max(len(told), 1), project_pages.ROWS_MAX)
        parts = [told[first : first + project_pages.ROWS_MAX] for first in firsts]
        paths = [f"sessions/index{f'-{n}' if n > 1 else ''}.html" for n, _ in enumerate(parts, 1)]
        self.pages |= {f"/sessions?page={n}": path for n, path in enumerate(paths, 1)}
        for number, (path, rows) in enumerate(zip(paths, parts, strict=True), 1):
            values = {
                "title": "Sessions",
                "section": "sessions",
                "rows": rows,
                "count": len(told),
                "has_calls": any(one.used for one in told),
                "number": number,
                "last": len(parts),
                "link": lambda page: f"/sessions?page={page}",
            }
            frame = Frame(path, asks=_count_in_button(len(rows), "session"))
            command = "preflights sessions --all --all-workflows"
            text = self._page(frame, "exported_sessions.html", values, command)
            self.listed[path] = sha256(text).hexdigest()
            self._put(path, text)

    def _list(
        self,
        name: str,
        rows: Sequence[DecisionRow],
        records: Sequence[ForeignRow],
        *,
        everything: bool,
    ) -> None:
        known = {"q": "", "as-of": "", "all": "1" if everything else "", "topic": ""}
        last = max(1, -(-len(rows) // project_pages.ROWS_MAX))
        paths = [f"{name}{f'-{n}' if n > 1 else ''}.html" for n in range(1, last + 1)]
        address = "/?all=1" if everything else "/"
        self.pages[address] = paths[0]
        for number, path in enumerate(paths, 1):
            self.pages[f"/?{'all=1&' if everything else ''}page={number}"] = path
        about = Counter(row.category for row in self.rows)
        about.update(row.category for row in self.records)
        topics = project_pages.most_common_topics(about)
        shown: list[DecisionRow | ForeignRow] = [*reversed(rows), *records]
        clashes = () if everything else list_conflicts(self.request.process, shown)
        days = sorted(Counter(filter(None, map(_accepted_day, self.rows))).items())
        for number, path in enumerate(paths, 1):
            values = project_pages.decisions_page_values(
                rows, known, str(number), lambda: rows, foreign=records
            )
            values |= {"topics": topics, "days": bars(days, "") if days else None}
            values |= {"conflicts": [*map(describe_conflict, clashes)]}
            count = sum(len(group) for *_, group in values["groups"])
            frame = Frame(path, asks=_count_in_button(count, "decision"), is_searched=True)
            text = self._page(frame, "decisions.html", values, "preflights decisions")
            self.listed[path] = sha256(text).hexdigest()
            self._put(path, text)

    def _page(self, frame: Frame, template: str, values: Mapping[str, Any], command: str) -> bytes:
        text = rendering.html(
            template,
            **{
                **values,
                "exported": frame,
                "nav": NAV,
                "notices": (),
                "command": command,
                "project": self.request.process.project,
            },
        )
        root = frame.root

        def linked(found: re.Match[str]) -> str:
            """A link to a page as one to a file; none where the site has no such page."""
            target = self._target(unescape(found[1]))
            return f'="{root}{target}"' if target else '="\0"'

        text = _LINK.sub(linked, text)
        return (_NOWHERE.sub("", text) if "\0" in text else text).encode()

    def _target(self, address: str) -> str:
        if page := self.pages.get(address):
            return page
        if address.startswith(("/static/", "/proof/")) or address.endswith(".jsonl"):
            return address[1:]
        session, _, version = address.partition("?at=")
        if (page := self.pages.get(session)) and version.isdecimal():
            number = (int(version) - 1) // pictures.PART + 1
            return f"{self.pages.get(f'{session}?page={number}', page)}#event-{version}"
        return ""

    def _put(self, path: str, content: bytes) -> None:
        assert OURS.fullmatch(path), path
        self.files[path] = content


def _count_in_button(count: int, what: str) -> str:
    """The words of the button of a list."""
    return f"Verify these {count} {what}s" if count > 1 else f"Verify this {what}"


def _published_calls(read: Read, said: set[int]) -> dict[int, ProviderCall]:
    """By the version of the request: those calls whose response is published."""
    told = (event for one, event in _stored_event_pairs(read) if one.version in said)
    ends = (one for one in told if isinstance(one, CompletionReceived | CompletionFailed))
    outcomes = {one.call for one in ends}
    found = usage.fold_provider_calls(read) if outcomes else ()
    return {one.version: one for one in found if one.attempt and one.call in outcomes}


def _index(rows: Iterable[DecisionRow]) -> list[tuple[str, ...]]:
    """For each decision its page, its title, what stands beside it, what is searched, its topic,
    and the days on which it was accepted and superseded.
    """
    found = []
    for row in rows:
        by = row.acknowledged_by.name if row.acknowledged_by else ""
        standing = "" if row.standing == "accepted" else row.standing
        beside = (row.category, row.scope, by, _accepted_day(row), standing)
        values = (value for pair in row.fields for value in pair)
        words = " ".join((row.title, *values, row.reason, *beside)).lower()
        about = " · ".join(filter(None, beside))
        shown = (shown_lines(one) for one in (row.title, about, words, row.category))
        ended = (row.superseded_at or "").partition("T")[0]
        found.append((f"decisions/{row.uid}.html", *shown, _accepted_day(row), ended))
    return found


def _accepted_day(row: DecisionRow) -> str:
    """The day, UTC; empty of what is not accepted."""
    return (row.accepted_at or "").partition("T")[0]


def _last_document_text(read: Read) -> str:
    """The text of its document, as it was asked for last; empty where none was."""
    id_ = read.head.session_id
    pairs = zip(reversed(read.events), reversed(read.sessions), strict=True)
    for event, session in pairs:
        if isinstance(event, ArtifactDue):
            return render_due_document(read.workflow, id_, event, session.state)
    return ""


def _stored_event_pairs(read: Read) -> Iterator[tuple[Stored, Event | None]]:
    return zip(read.stored, read.events, strict=True)


def _published_versions(
    row: DecisionRow, whys: Iterable[Why], read: Read, written: int
) -> set[int]:
    """Versions of the events whose words the page of a decision shows."""
    found: set[int | None] = {1, row.version, written or None}
    for why in whys:
        behind = (why.question, why.answer, why.response, why.acknowledged)
        found |= {why.version, *(one.version for one in behind if one is not None)}
        if why.acknowledged is not None:
            found.add(why.acknowledged.version - 1)  # the Input, with the name and the signature
    reasons = [one.text for one in (row.because, *row.consequences) if one is not None]
    reasons += row.paths
    for alternative in row.alternatives:
        reasons += filter(None, (alternative.name, alternative.why_not))
    known = {version for version in found if version is not None}
    for reason in reasons:
        having = _having(read, msgspec.json.encode(reason)) or _having(read, reason)
        if having and not known.intersection(having):
            known.add(having[0])
    return known


def _having(read: Read, text: str | bytes) -> list[int]:
    """Versions of the events that hold a text; as bytes, where this program wrote them."""
    if isinstance(text, bytes):
        return [one.version for one in read.stored if text in (one.data or b"")]
    payloads = ((one.version, msgspec.json.decode(one.data or b"null")) for one in read.stored)
    return [version for version, payload in payloads if text in _texts_in_json(payload)]


def _texts_in_json(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts_in_json(one)


def _document_digest_version(read: Read, document: str) -> int:
    """The event that has the digest of a document as the page shows it; 0 without one."""
    value = sha256(document.encode()).hexdigest()
    for one, event in _stored_event_pairs(read):
        if isinstance(event, ArtifactWritten) and event.sha256 == value:
            return one.version if shown_lines(document) == document else 0
    return 0


def _exported_event(one: Stored, event: Event | None, said: set[int]) -> dict[str, Any]:
    is_said = one.version in said and one.data is not None and one.salt is not None
    found: dict[str, Any] = {
        "version": one.version,
        "type": one.type,
        "recorded_at": str(one.recorded_at),
        "input_id": one.input_id,
        "actor_kind": one.actor_kind,
        "decider": one.decider,
        "data": (one.data or b"").decode() if is_said else None,
        "salt": (one.salt or b"").hex() if is_said else None,
        "digest": one.digest.hex(),
        "hash": one.hash.hex(),
    }
    return {**found, "act": event.act} if is_said and isinstance(event, Signable) else found


def _actor_names_in(event: Event | None) -> Iterator[str]:
    """Of the actors in an event."""
    actors = (getattr(event, name, None) for name in ("actor", "relayed_by"))
    if isinstance(event, Input):
        yield from (one.name for one in actors if isinstance(one, Actor) and one.name)


def _proof(content: Mapping[str, Any]) -> bytes:
    return b"proof(%b);\n" % msgspec.json.encode(content)
