"""Sets of questions whose authors had seen neither the index nor its words."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from preflights_es.words.decisions import AttributedReason, DecidedPatch, NotChosen, Rationale
from tests.features.recall.held import Held, held

FOLDER: Final = Path(__file__).parent
FIRST: Final = 3
Find = Callable[[str], list[str]]
"""The ids of the first three decisions for a question."""


class Asked(NamedTuple):
    """A question, the decisions that answer it, and those among which it looks."""

    text: str
    right: frozenset[str]
    among: tuple[dict[str, Any], ...]


def asked(questions: str, decisions: str = "") -> list[Asked]:
    """The questions of a set; its decisions are of the same name unless said otherwise."""
    found: list[dict[str, Any]] = _read(f"{decisions or questions}.decisions.json")
    projects: dict[str, list[dict[str, Any]]] = {}
    for one in found:  # a set of several projects has a letter for each
        projects.setdefault(one["id"][0], []).append(one)
    first = next(iter(projects))
    made = []
    for one in _read(f"{questions}.questions.json"):
        right = frozenset(one["right"])
        project = next(iter(right))[0] if right else first
        made.append(Asked(one["ask"], right, tuple(projects[project])))
    return made


def _read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text("utf-8"))


def ours(decisions: tuple[dict[str, Any], ...]) -> Held:
    """Memory of the decisions."""
    made = held(
        (_decided(one), one.get("intention") or "", [one.get("question") or ""])
        for one in decisions
    )
    old = {one["id"] for one in decisions if one.get("status", "").startswith("superseded")}
    for row in made.rows:
        row["superseded_at"] = 9 if row["uid"] in old else None
    return made


def _decided(one: dict[str, Any]) -> DecidedPatch:
    because = " ".join(one.get("reasons") or [])
    so = one.get("consequences") or ""
    options = one.get("options") or []
    why = Rationale(
        because=AttributedReason(because, "user") if because else None,
        consequences=(AttributedReason(so, "user"),) if so else (),
        alternatives=tuple(NotChosen(o["name"], o.get("why_not") or "", "user") for o in options),
    )
    return DecidedPatch(
        version=3,
        uid=one["id"],
        title=one["title"],
        category=one["category"],
        fields=(("Choice", one["value"]),) if one.get("value") else (),
        origins=(),
        standing="accepted",
        kind="adr",
        number=None,
        proposed_at=0,
        rationale=why,
    )


def text_of(one: dict[str, Any]) -> str:
    """All that a decision says, for searches that know no places."""
    options = (f"{o['name']} {o.get('why_not') or ''}" for o in one.get("options") or [])
    rest = (one.get(name) or "" for name in ("value", "question", "consequences", "intention"))
    return " ".join((one["title"], one["category"], *rest, *(one.get("reasons") or []), *options))


def by_fts5(decisions: tuple[dict[str, Any], ...]) -> Find:
    """SQLite's full-text search, with its English stems and its own ranking."""
    log = sqlite3.connect(":memory:")
    log.execute("CREATE VIRTUAL TABLE f USING fts5(id UNINDEXED, t, tokenize='porter')")
    log.executemany("INSERT INTO f VALUES (?, ?)", ((one["id"], text_of(one)) for one in decisions))

    def find(question: str) -> list[str]:
        words = [f'"{word}"' for word in re.findall(r"\w+", question) if len(word) > 1]
        if not words:
            return []
        sql = "SELECT id FROM f WHERE f MATCH ? ORDER BY rank LIMIT ?"
        return [row[0] for row in log.execute(sql, (" OR ".join(words), FIRST))]

    return find


def by_tf_idf(decisions: tuple[dict[str, Any], ...]) -> Find:
    """Cosine of TF-IDF over runs of three to five letters."""
    counts = {one["id"]: _runs(text_of(one)) for one in decisions}
    having = Counter(run for of in counts.values() for run in of)

    def vector(of: Counter[str]) -> dict[str, float]:
        total = len(counts)
        found = {
            run: (1 + math.log(n)) * (math.log((1 + total) / (1 + having[run])) + 1)
            for run, n in of.items()
            if run in having
        }
        norm = math.sqrt(sum(value * value for value in found.values())) or 1.0
        return {run: value / norm for run, value in found.items()}

    vectors = {id_: vector(of) for id_, of in counts.items()}

    def find(question: str) -> list[str]:
        of = vector(_runs(question))
        near = {
            id_: sum(value * one.get(run, 0.0) for run, value in of.items())
            for id_, one in vectors.items()
        }
        return sorted(near, key=lambda id_: -near[id_])[:FIRST]

    return find


def _runs(text: str) -> Counter[str]:
    spaced = " " + re.sub(r"\W+", " ", text.casefold()) + " "
    return Counter(spaced[at : at + n] for n in (3, 4, 5) for at in range(len(spaced) - n + 1))
