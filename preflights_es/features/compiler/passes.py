"""What people do with passes, besides what they do with any session: a pass is begun with the
documents, plans, decisions and layout that it reads. Documents are read within limits and refused
in one line.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

from preflights_es.features.compiler.artifacts import (
    plan_missing,
    plan_rows,
    plans_in_force,
    row_named,
)
from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.decide import IN_FORCE
from preflights_es.features.compiler.domain.events import (
    BYTES_MAX,
    DOCUMENT_MAX,
    PASSES,
    REQUEST_MAX,
    DecidedField,
    Document,
    Needed,
    OmittedFromRequest,
    Pass,
    PassBegun,
    PassChangeRefused,
    PassName,
    ReadDecision,
    ReadPlan,
)
from preflights_es.features.compiler.domain.lead import TooLarge, fitted
from preflights_es.features.compiler.domain.rules import why_forbidden, why_no_goal
from preflights_es.features.compiler.domain.state import envelope
from preflights_es.kernel import __version__
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Decision
from preflights_es.kernel.ids import SHORT
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.lead import Setup
from preflights_es.kernel.text import escaped_text, is_git, late_pattern, problem, visible
from preflights_es.projections.artifacts import PlanRow
from preflights_es.runtime.runner import Handle
from preflights_es.settings.load import Settings, surroundings
from preflights_es.system import files as atomic_file
from preflights_es.system import git
from preflights_es.system.files import Unreadable
from preflights_es.use.answers import finish_due_documents
from preflights_es.use.decisions import list_decisions
from preflights_es.use.request import Request
from preflights_es.use.results import NOT_EXPECTED, answer_refused
from preflights_es.words.questions import AnswerRefusal
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
    others = [one.lower() for one in use if posixpath.normpath(one) not in paths]
    return all(any(id_.startswith(one) for id_ in ids) for one in others)


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
        more = "and it knows none: add them to git first"
        message = f"the pass {pass_.command} needs the files that git knows, {more}"
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
    todo = "(plan it anew, shorter)"
    sizes += [(len(one.payload), f"the {one.type} {one.id[:SHORT]} {todo}") for one in read]
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
    payloads = (one.payload for one in needed if one.type == "ScaffoldPlan")
    scaffolds = (decode_plain_json(payload.encode()) for payload in payloads)
    if not any(asked.target == file.get("path") for one in scaffolds for file in one["files"]):
        message = f"{asked.target} does not exist, and the ScaffoldPlan does not name it"
        raise Refused(message, code="unknown_target", path=asked.target)
    return ()


def _make_pass_begun(request: Request, setup: Setup, fields: dict[str, Any]) -> PassBegun:
    """The first Input, as far as it follows from what was read."""
    actor, project = request.actor, request.process.project
    return PassBegun(at=0, actor=actor, project=project, uid="", setup=setup, **fields)


# 3. Plans ------------------------------------------------------------------------------------

_ID: Final = late_pattern(r"[0-9a-f]{4,8}|[0-9a-f]{8}-[0-9a-f-]{0,27}")
_WHOLE: Final = 36  # characters of an id


def plans(
    request: Request, pass_: Pass, rows: Sequence[PlanRow], use: Iterable[str]
) -> tuple[ReadPlan, ...]:
    """The plans that a pass needs, in the order of its table, and those that the caller adds.

    Args:
        use: their ids.

    Raises:
        Refused: one that it needs is not in force.
    """
    wanted = [
        *(_require_plan_in_force(rows, one, pass_) for one in pass_.plans),
        *(_find_approved_plan(rows, id_) for id_ in use),
    ]
    once = {row.planned.id: row for row in wanted}
    for row in once.values():
        if row.file is not None:
            one, by = row.planned, row.planned.changed_by
            who = f"{by.kind} {by.name}".rstrip() if by and by.kind != "user" else by and by.name
            text = f"uses the {one.type} {one.id[:8]}: approved by {who or 'a person'}"
            request.notice("plan_of_file", f"{text}, as {row.file} says", path=row.file)
    return tuple(read_plan(request, row) for row in once.values())


def find_current_plan(rows: Iterable[PlanRow], type_: str) -> PlanRow | None:
    """The plan of a type that counts: the one that is locked, else the one approved last."""
    of_type = [row for row in rows if row.planned.type == type_]
    locked = [row for row in of_type if row.planned.standing == "locked"]
    return next(iter(reversed(locked or of_type)), None)


def split_ids_and_paths(rows: Sequence[PlanRow], use: Iterable[str]) -> tuple[list[str], list[str]]:
    """What the caller adds: ids of plans, and paths of files."""
    named = list(dict.fromkeys(use))
    ids = [one for one in named if _is_id(one, rows)]
    return ids, [one for one in named if one not in ids]


def _is_id(typed: str, rows: Sequence[PlanRow]) -> bool:
    if _ID.fullmatch(typed.lower()) is None:
        return False
    return len(typed) == _WHOLE or any(row.planned.id.startswith(typed.lower()) for row in rows)


def _require_plan_in_force(rows: Sequence[PlanRow], needed: Needed, pass_: Pass) -> PlanRow:
    found = find_current_plan(plans_in_force(rows), needed.type)
    if found is None:
        message = f"the pass `{pass_.command}` needs an approved {needed.type}, and none is"
        raise plan_missing(message, rows, needed.type)
    if needed.standing == "locked" and found.planned.standing != "locked":
        message = f"the pass `{pass_.command}` needs a locked {needed.type}, and it is not locked"
        raise Refused(message, code="plan_not_locked", type=needed.type)
    return found


def _find_approved_plan(rows: Sequence[PlanRow], typed: str) -> PlanRow:
    row = row_named(rows, typed)
    if row.planned.standing in IN_FORCE:
        return row
    why = "a pass reads only artifacts that are approved"
    message = f"the {row.planned.type} {row.planned.id[:8]} is {row.planned.standing}: {why}"
    raise Refused(message, code="not_in_force", id=row.planned.id)


def read_plan(request: Request, row: PlanRow) -> ReadPlan:
    """A plan as a pass reads it."""
    handle = request.reading.load(row)
    told = envelope(handle.session.state)
    assert told["id"] == row.planned.id, "a session has one artifact that counts"
    return ReadPlan(
        id=row.planned.id,
        type=told["artifact_type"],
        standing=told["status"],
        source=handle.source,
        payload=canonical_json(told["payload"]).decode(),
    )


# 4. Decisions --------------------------------------------------------------------------------


def decisions_in_force(request: Request) -> tuple[ReadDecision, ...]:
    """What people decided and nothing replaced, the newest first."""
    handles = [request.reading.load(row) for row in list_decisions(request)]
    return tuple(one for one in map(_read_session_decision, reversed(handles)) if one is not None)


def _read_session_decision(handle: Handle) -> ReadDecision | None:
    if handle.workflow.filed.record is None:
        return None
    record = handle.workflow.filed.record(handle.session.state)
    because = record.rationale.because
    return ReadDecision(
        uid=record.uid,
        title=record.title,
        source=handle.source,
        fields=tuple(DecidedField(one.name, one.value) for one in record.fields),
        because=because.text if because else "",
        scope=record.scope,
    )


# 5. The layout of the repository -------------------------------------------------------------

LISTED_S: Final = 30  # for git to list a repository of a million files
LAYOUT_MAX: Final = 2 * REQUEST_MAX  # characters of all paths; what is beyond fits no request
OWN: Final = ".preflights/"  # documents and plans, which a pass reads where it needs them
_TAG: Final = 2  # characters in front of each path: git's letter for it, and a blank
_NO_UTF8: Final = "\ufffd"


def layout(root: Path) -> tuple[tuple[str, ...], int]:
    """The paths of a repository but those of plans, sorted, and how many are left out already.

    None of them where git lists none. Left out are those whose name is no text, and those that
    would fit no request.
    """
    said = git.read_git_text(("ls-files", "-z", "-t"), root, surroundings(), LISTED_S)
    named = {entry[_TAG:] for entry in (said or "").split("\0") if entry}
    named = {path for path in named if not path.startswith(OWN)}
    plain = (path for path in named if _NO_UTF8 not in path and "\n" not in path)
    fit = sorted(path for path in plain if problem(path, PATH_MAX) is None)
    ends = accumulate(len(path) + 1 for path in fit)
    kept = tuple(path for path, end in zip(fit, ends, strict=True) if end <= LAYOUT_MAX)
    return kept, len(named) - len(kept)


# 6. Documents --------------------------------------------------------------------------------

PATH_MAX: Final = 1_000  # characters of a path
PLANS: Final = (".preflights", "artifacts")
"""The folder of plan files, which count by what the log says of them."""


class _PassDocumentFile(NamedTuple):
    """A file as it lies there."""

    path: str
    """As it was named, relative to the root."""
    real: str
    """Behind all links."""
    content: bytes


def documents(settings: Settings, pass_: Pass, use: Iterable[str] = ()) -> tuple[Document, ...]:
    """What a pass reads of the project's documents, and the files that the caller adds.

    Args:
        use: paths, relative to the project's root.

    Raises:
        Refused: one is missing, is no text, is too long, or must not be read.
    """
    named = [getattr(settings.plans, name) for name in pass_.documents]
    more = dict.fromkeys(resolve_document_path(settings.root, path) for path in use)
    paths = (*named, *(path for path in more if path not in named))
    return tuple(
        _read_pass_document(
            settings.root, path, "document_missing" if path in named else "file_missing"
        )
        for path in paths
    )


def target_file(root: Path, path: str) -> Document | None:
    """The file that an implementation is planned for; None where it does not exist yet.

    Raises:
        Refused: it is no text of the repository.
    """
    try:
        file = _read_document_file(root, path)
    except FileNotFoundError:
        return None
    hash_ = sha256(file.content).hexdigest()
    return Document(path=path, sha256=hash_, text=_decode_document_text(file))


def resolve_document_path(root: Path, path: str) -> str:
    """A path relative to the project's root, without `.` and `..`.

    Raises:
        Refused: it leads out of the project, or is no path.
    """
    if found := problem(path, PATH_MAX):
        raise _document_refusal(path, found)
    if not path.strip() or "\n" in path:
        raise _document_refusal(path, "is no path of a file")
    inside = os.path.relpath(os.path.normpath(root / path), root).replace(os.sep, "/")
    if inside == ".." or inside.startswith("../") or os.path.isabs(inside):
        raise _document_refusal(path, "lies outside of the repository", "document_outside")
    if any(map(is_git, inside.split("/"))):
        raise _document_refusal(path, "belongs to git")
    return inside


def _read_pass_document(root: Path, path: str, missing: str) -> Document:
    """A document; refused with a code of its own where there is none."""
    try:
        file = _read_document_file(root, path)
    except FileNotFoundError:
        raise _document_refusal(path, "does not exist", missing) from None
    text = _decode_document_text(file)
    if not visible(text):
        raise _document_refusal(path, "is empty: write what it should say")
    if tuple(file.real.split("/"))[: len(PLANS)] == PLANS:
        raise _document_refusal(path, "is the file of an artifact: name the artifact by its id")
    for name in dict.fromkeys((file.path, file.real)):
        if why := why_forbidden(name):
            raise _document_refusal(path, f"is no document: {why}", "forbidden_input")
    return Document(path=path, sha256=sha256(file.content).hexdigest(), text=text)


# 7. Files ------------------------------------------------------------------------------------

_CIRCLE: Final = "its links lead in a circle"


def _read_document_file(root: Path, path: str) -> _PassDocumentFile:
    """A regular file of the repository; no link leads out of it.

    Raises:
        FileNotFoundError: there is none.
        Refused: it cannot be read.
    """
    top = root.resolve()
    try:
        real = (top / path).resolve(strict=True)
        if not real.is_relative_to(top):
            found = "is a link that leads out of the repository"
            raise _document_refusal(path, found, "document_outside")
        *folders, name = parts = real.relative_to(top).parts or ("",)
        if any(map(is_git, parts)):
            raise _document_refusal(path, "is a link to what belongs to git")
        with atomic_file.open_folder_below(top, folders) as folder:
            content = _read_document_content(path, folder, name)
            return _PassDocumentFile(path, "/".join(parts), content)
    except FileNotFoundError:
        raise
    except NotADirectoryError as error:
        raise FileNotFoundError from error
    except Unreadable as error:
        raise _document_refusal(path, f"cannot be read: {error}") from error
    except RuntimeError as error:  # of Python before 3.13
        raise _document_refusal(path, f"cannot be read: {_CIRCLE}") from error
    except OSError as error:
        why = _CIRCLE if error.errno == errno.ELOOP else error.strerror
        raise _document_refusal(path, f"cannot be read: {why}") from error


def _read_document_content(path: str, folder: atomic_file.Folder, name: str) -> bytes:
    found = folder.lies(name) if name else os.stat(folder.path)
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise _document_refusal(path, "is a folder: name a file")
    if found is not None and stat.S_ISREG(found.st_mode) and found.st_size > BYTES_MAX:
        raise _too_long(path, f"{found.st_size:,} bytes", f"{BYTES_MAX:,}")
    return folder.content(name, BYTES_MAX)


def _decode_document_text(file: _PassDocumentFile) -> str:
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"is not UTF-8, at byte {error.start + 1:,}: save it as UTF-8"
        raise _document_refusal(file.path, why) from error
    if found := problem(text, BYTES_MAX):
        raise _document_refusal(file.path, found)
    return text


def check_length(document: Document) -> None:
    """Refuse a document whose text is too long, once its secrets are out.

    Raises:
        Refused: it is.
    """
    if (found := len(document.text)) > DOCUMENT_MAX:
        raise _too_long(document.path, f"{found:,} characters", f"{DOCUMENT_MAX:,}")


def _too_long(path: str, found: str, most: str) -> Refused:
    why = f"has {found}, at most {most} are read: split it"
    return _document_refusal(path, why, "document_too_long")


def _document_refusal(path: str, why: str, code: str = "document_unfit") -> Refused:
    name = escaped_text(path)[:PATH_MAX]
    return Refused(f"{name if visible(path) else repr(path)} {why}", code=code, path=name)


# 8. What is refused --------------------------------------------------------------------------

_REFUSED: Final = {
    "unknown_question": "is no question of this pass",
    "already_answered": "is answered already",
    "blank": "was given no value",
    "placeholder": "was given a placeholder, which says nothing",
    "several_values": "takes one value: put quotes around words that belong together",
}
_CHANGES: Final = {
    "no_plan": "the pass has brought no artifact",
    "unknown_id": "the session has no artifact of this id",
    "other_payload": "the artifact is another one than was shown",
    "not_a_draft": "the artifact is no draft",
    "not_approved": "the artifact is not approved",
    "not_a_test_plan": "the artifact is no TestPlan",
    "not_a_person": "only a person does that",
    "not_in_force": "the artifact is not in force",
    "not_expected": NOT_EXPECTED,
}


def pass_refusal(decision: Decision) -> tuple[str, str]:
    """Why a pass takes something not, as a code and in words."""
    if isinstance(decision, PassChangeRefused):
        return decision.reason, _CHANGES[decision.reason]
    assert isinstance(decision, AnswerRefusal), "the only other refusal"
    why = _REFUSED.get(decision.reason, f"was refused: {decision.reason.replace('_', ' ')}")
    return decision.reason, answer_refused(decision, why)
