"""What people do with passes, besides what they do with any session."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.events import PassBegun
from preflights_es.features.compiler.domain.lead import TooLarge, fitted
from preflights_es.features.compiler.domain.rules import why_no_goal
from preflights_es.features.compiler.domain.values import (
    PASSES,
    Document,
    OmittedFromRequest,
    Pass,
    PassName,
    ReadPlan,
)
from preflights_es.features.compiler.use.artifacts import plan_rows
from preflights_es.features.compiler.use.documents import (
    check_length,
    documents,
    resolve_document_path,
    target_file,
)
from preflights_es.features.compiler.use.reading import (
    LAYOUT_MAX,
    decisions_in_force,
    layout,
    plans,
    split_ids_and_paths,
)
from preflights_es.kernel import __version__
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import SHORT
from preflights_es.kernel.json import decode_plain_json
from preflights_es.kernel.lead import Setup
from preflights_es.kernel.text import visible
from preflights_es.use.answers import finish_due_documents
from preflights_es.use.request import Request
from preflights_es.words.workflow import View


class WantedPass(NamedTuple):
    """What the caller asks for."""

    pass_name: PassName
    target: str = ""
    """The file that an implementation is planned for, relative to the project's root."""
    goal: str = ""
    """Of a refactoring."""
    use: Sequence[str] = ()
    """Ids of approved artifacts and paths of documents that are read besides."""

    @property
    def pass_(self) -> Pass:
        """Its row in the table."""
        return PASSES[self.pass_name]


def run_pass(request: Request, wanted: WantedPass) -> View:
    """Run a pass: read what it needs, record that, and ask the model.

    Raises:
        Refused: an input is missing, must not be read, or does not fit; nothing is recorded.
        SettingsError: the provider lacks something.
    """
    asked = _check_wanted_pass(request, wanted)
    setup = request.setup(WORKFLOW)
    said = {"pass_type": asked.pass_name, "target": asked.target, "goal": asked.goal}
    step = request.sessions.opened(
        WORKFLOW,
        PassBegun,
        said,
        setup,
        beside=partial(_read_pass_inputs, request, asked, setup),
        is_same=partial(_read_besides, asked.use),
    )
    return finish_due_documents(request, step)


def preview_pass_inputs(request: Request, wanted: WantedPass) -> PassBegun:
    """What the pass would read now; nothing is recorded, and no key is needed.

    Raises:
        Refused: as `plan`.
    """
    asked = _check_wanted_pass(request, wanted)
    setup = Setup(
        preflights=__version__,
        decider=WORKFLOW.decider.version,
        provider=request.leads.settings.provider,
        prompts=WORKFLOW.led.prompts,
        lead=request.leads.configured(WORKFLOW),
    )
    return _make_pass_begun(request, setup, _read_pass_inputs(request, asked, setup))


# 1. What is asked for ------------------------------------------------------------------------


def _check_wanted_pass(request: Request, wanted: WantedPass) -> WantedPass:
    """The same with its target and goal as they are recorded."""
    pass_, goal, target = wanted.pass_, wanted.goal, wanted.target
    if pass_.goal and not visible(goal):
        raise Refused("the goal is empty: say what the refactoring is for", code="empty_text")
    if why := why_no_goal(goal):
        raise Refused(f"the goal {why}", code="goal_with_code")
    # Refused before anything is read.
    request.process.sanitizer.cleaned_fields(PassBegun, {"goal": goal.strip()})
    if pass_.target:
        target = resolve_document_path(request.process.settings.root, target)
    return wanted._replace(target=target, goal=goal.strip())


def _read_besides(use: Sequence[str], before: PassBegun) -> bool:
    """Whether a pass that was recorded has read what the caller adds."""
    ids = [one.id for one in before.plans]
    paths = {one.path for one in before.documents}
    return all(
        posixpath.normpath(one) in paths or any(id_.startswith(one.lower()) for id_ in ids)
        for one in use
    )


# 2. What is read -----------------------------------------------------------------------------


def _read_pass_inputs(request: Request, asked: WantedPass, setup: Setup) -> dict[str, Any]:
    """All that the first Input holds besides what the caller says, as it is recorded."""
    root, pass_ = request.process.settings.root, asked.pass_
    rows = plan_rows(request)
    ids, paths = split_ids_and_paths(rows, asked.use)
    needed = plans(request, pass_, rows, ids)
    texts = documents(request.process.settings, pass_, paths)
    texts += _target(request, asked, needed)
    listed, unnamed = layout(root)
    if pass_.layout and not listed:
        message = (
            f"the pass {pass_.command} needs the files that git knows, and it knows none: "
            "add them to git first"
        )
        raise Refused(message, code="no_layout")
    sanitizer = request.process.sanitizer
    paths_of, kinds = sanitizer.cleaned_text("the layout", "\n".join(listed), LAYOUT_MAX)
    said = {
        "pass_type": pass_.name,
        "target": asked.target,
        "goal": asked.goal,
        "documents": texts,
        "plans": needed,
        "decisions": decisions_in_force(request),
        "layout": tuple(paths_of.split("\n")) if listed else (),
        "left_out": (OmittedFromRequest("layout", unnamed),) if unnamed else (),
    }
    fields = sanitizer.cleaned_fields(PassBegun, said)
    fields["redacted"] += kinds
    for document in fields["documents"]:
        check_length(document)
    found = fitted(_make_pass_begun(request, setup, fields))
    if isinstance(found, TooLarge):
        message = (
            f"what the pass must read makes a request of {found.size:,} characters, and at most "
            f"{found.most:,} are sent: shorten {_longest(fields['documents'], needed)}"
        )
        raise Refused(message, code="request_too_large", size=found.size, most=found.most)
    return {**fields, **{name: getattr(found, name) for name in _CUT}}


def _longest(texts: Sequence[Document], read: Sequence[ReadPlan]) -> str:
    """What takes most of a request: a document, or a plan that a former pass made."""
    sizes = [(len(one.text), one.path) for one in texts]
    sizes += [
        (len(one.payload), f"the {one.type} {one.id[:SHORT]} (plan it anew, shorter)")
        for one in read
    ]
    size, name = max(sizes)
    return f"{name}, which has {size:,}"


_CUT = ("layout", "decisions", "left_out")
"""What gives way where a request is too large, and how much of it did."""


def _target(
    request: Request, asked: WantedPass, needed: tuple[ReadPlan, ...]
) -> tuple[Document, ...]:
    """The file that an implementation is planned for, where it exists.

    Raises:
        Refused: it neither exists nor stands in the ScaffoldPlan.
    """
    if not asked.pass_.target:
        return ()
    if found := target_file(request.process.settings.root, asked.target):
        return (found,)
    scaffolds = (
        decode_plain_json(one.payload.encode()) for one in needed if one.type == "ScaffoldPlan"
    )
    if not any(asked.target == file.get("path") for one in scaffolds for file in one["files"]):
        message = f"{asked.target} does not exist, and the ScaffoldPlan does not name it"
        raise Refused(message, code="unknown_target", path=asked.target)
    return ()


def _make_pass_begun(request: Request, setup: Setup, fields: dict[str, Any]) -> PassBegun:
    """The first Input, as far as it follows from what was read."""
    return PassBegun(
        at=0,
        actor=request.actor,
        project=request.process.project,
        uid="",
        setup=setup,
        **fields,
    )
