"""What the gate will stop once a proposal is accepted, said with the proposal."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from preflights_es.features.clarification.domain.views import ClarificationView, Gate, gate_words
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.runtime.features import FEATURES
from preflights_es.use.process import Process
from preflights_es.use.work_tree import WorkTree
from preflights_es.words.decisions import NotChosen, Related, named_instead
from preflights_es.words.language import collect_search_words, fold_letters
from preflights_es.words.workflow import View

FOLDERS_MAX = 3


class Proposal(msgspec.Struct, frozen=True):
    """A proposal, as far as it says what it turns down."""

    fields: tuple[tuple[str, str], ...]
    turned_down: tuple[NotChosen, ...]
    supersedes: Related | None
    also_supersedes: tuple[Related, ...]
    paths: tuple[str, ...]


def with_gate(process: Process, view: View) -> View:
    """A proposal, with what accepting it will stop."""
    if not isinstance(view, ClarificationView) or view.patch is None or not view.can_accept:
        return view
    named = named_instead(view.alternatives)
    stops, elsewhere = tuple[str, ...](), tuple[str, ...]()
    if named or view.supersedes:
        replaced = (view.supersedes, view.also_supersedes)
        one = Proposal(view.patch.fields, named, *replaced, view.paths)
        stops, elsewhere = FEATURES.port("stopped")(process, one)
    if not (named or stops or elsewhere):
        return view
    folders = tuple(_folders(process, view.scope)) if view.scope and not view.paths else ()
    text, gaps = gate_words(view, stops, elsewhere, folders)
    line = text.format(**{name: escaped_text(one_line(said)) for name, said in gaps.items()})
    gate = Gate(stops=stops, elsewhere=elsewhere, folders=folders, line=line)
    return replace(view, gate=gate)


def _folders(process: Process, scope: str) -> Iterator[str]:
    """Folders of the repository that a word of the scope is the name of, the highest first."""
    wanted = {_folded_singular(word) for word in collect_search_words(scope)}
    tree = WorkTree(process.settings.root)
    found = dict[str, None]()
    for path in tree.files:
        parts = path.split("/")[:-1]
        for place, name in enumerate(parts, 1):
            if _folded_singular(name) in wanted:
                found["/".join(parts[:place]) + "/"] = None
                break
    yield from sorted(found, key=lambda one: (one.count("/"), one))[:FOLDERS_MAX]


def _folded_singular(name: str) -> str:
    """A word or the name of a folder, in one case and number."""
    return fold_letters(name).strip("._-").removesuffix("s")
