"""Features stand apart: what they bring exists, few modules are imported across, no circle."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

import click
import grimp

from preflights_cli.rendering import Shown
from preflights_es.kernel.feature import Feature
from preflights_es.runtime.features import FEATURES
from preflights_es.words.workflow import View, Workflow
from tests.each import each

FOLDER: Final = "preflights_es.features"
ACROSS: Final = {
    ("clarification", "extraction"): {"domain.events", "use"},
    ("clarification", "recall"): {
        *("domain.rules", "decision_comparison", "decision_search", "word_variants")
    },
    ("planning", "extraction"): {"domain"},
    ("recall", "clarification"): {
        *("domain.events", "domain.pack", "domain.state", "domain.topics")
    },
}
"""Modules of one feature that another imports. The list may only shrink: what is new is a port."""


def test_what_a_feature_imports_of_another_is_listed() -> None:
    graph, found = (
        grimp.build_graph("preflights_es", cache_dir=None),
        dict[tuple[str, str], set[str]](),
    )
    for name in FEATURES:
        own = f"{FOLDER}.{name}"
        for module in (own, *graph.find_descendants(own)):
            for imported in graph.find_modules_directly_imported_by(module):
                other, _, below = imported.removeprefix(f"{FOLDER}.").partition(".")
                if imported.startswith(f"{FOLDER}.") and other != name:
                    found.setdefault((name, other), set()).add(below)
    assert found == ACROSS


@each("feature", FEATURES.values())
def test_what_a_feature_brings_is_there(feature: Feature) -> None:
    kinds = {"workflow": Workflow, "shown": Shown, "bank": dict}
    for field, reference in feature._asdict().items():
        if field not in ("name", "package") and isinstance(reference, str) and reference:
            assert isinstance(feature.loaded(reference), kinds.get(field, object)), field
    for reference in filter(None, (feature.adds, feature.refusal)):
        assert callable(feature.loaded(reference))
    if feature.workflow:
        workflow: Workflow[Any] = feature.loaded(feature.workflow)
        assert workflow.shown.view(workflow.decider.initial).format != View.FORMAT
    for where, line in feature.commands.values():
        assert isinstance(feature.loaded(where), click.Command), where
        assert line.endswith(".")
    for port in feature.offers.values():
        assert callable(feature.loaded(port))


def test_a_port_is_offered_once() -> None:
    offered = [port for feature in FEATURES.values() for port in feature.offers]
    assert sorted(set(offered)) == sorted(offered)


# Circles -------------------------------------------------------------------------------------


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("preflights_es", "preflights_cli", cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None
