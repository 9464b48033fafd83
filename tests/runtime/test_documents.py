"""Documents: written once they are due, finished after a crash, and never over a person's words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from preflights_es.features.clarification.clarifications import Clarifications
from preflights_es.features.clarification.domain.state import ClarificationState
from preflights_es.features.clarification.domain.values import Heuristics, HeuristicsConfig
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.errors import (
    ArtifactOutside,
    LogFromFuture,
    Refused,
    StoreUnavailable,
    UnknownSession,
)
from preflights_es.kernel.events import Actor, ArtifactWritten, ResponseIgnored, SessionAbandoned
from preflights_es.kernel.lead import Setup
from preflights_es.records.documents import Documents, RebuiltDocument
from preflights_es.records.files import hash_of
from preflights_es.records.record_brief import render_session_brief
from preflights_es.records.record_folder import RecordFolder
from preflights_es.records.record_list import records_in
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.finder import Finder
from preflights_es.runtime.inputs import Inputs
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.use.use_cases import NewSession
from tests import toy
from tests.each import each
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.records.filing import files_below

FOLDERS = ("docs/decisions", "docs/tasks")


class House:
    """A project with its log in memory, as several processes meet it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = MemoryStore(Clock(), salt)
        self.new_id = Ids()
        self.workflows = {**WORKFLOWS, "toy": toy.WORKFLOW}
        self.runner = self.process()
        self.documents = Documents(self.runner, root, FOLDERS)

    def process(self) -> Runner:
        """Another process over the same log."""
        return Runner(self.store, self.workflows, Clock(), self.new_id)

    def by(self, kind: str = "user") -> Clarifications:
        """The clarifications as a person or a script meets them."""
        actor = Actor("user", "Ada") if kind == "user" else Actor("script")
        folders = {"adr": FOLDERS[0], "task": FOLDERS[1]}
        finder = Finder(self.runner, PROJECT, records=self.foreign)
        inputs = Inputs(self.runner, PROJECT, lambda: actor, finder=finder)
        return Clarifications(inputs, self.documents, folders)

    def foreign(self, named: int | str) -> list[str]:
        """Records without a session that bear a number."""
        assert isinstance(named, int)
        found = records_in(self.documents.root, (RecordFolder(FOLDERS[0]),)).records
        return [one.path for one in found if one.number == named]

    def answered(self, intention: str = "Add login", supersedes: str | None = None) -> str:
        """A session that is ready to be accepted."""
        sessions = self.by()
        setup = Setup(preflights="0", decider="clarification/1")
        opened = sessions.open(
            NewSession(intention, supersedes=supersedes), setup, Heuristics(HeuristicsConfig())
        )
        step = sessions.answer(opened.handle, [("auth_strategy", ["OAuth"])])
        return step.handle.session_id

    def wanted(self, path: str, template: str = "task.v1") -> str:
        """A session of the toy that owes a file of that name."""
        step = self.runner.open(
            toy.WORKFLOW, PROJECT, toy.wanted(path, template), self.new_id(), self.new_id()
        )
        return step.handle.session_id

    def state(self, session_id: str) -> ClarificationState:
        found: ClarificationState = self.runner.load(session_id).session.state
        return found

    def files(self) -> dict[str, str]:
        """What lies on disk."""
        return files_below(self.root)

    def replays(self, session_id: str) -> bool:
        """Whether the session replays without a difference."""
        found = Replayer(self.workflows).replay(self.store.read(session_id))
        return found.status == "identical"


@pytest.fixture
def house(tmp_path: Path) -> House:
    root = tmp_path / "project"
    root.mkdir()
    return House(root)


LOGIN = "docs/decisions/0001-use-oauth-for-authentication.md"


# 1. Writing ----------------------------------------------------------------------------------


def test_an_accepted_decision_is_written_and_recorded_once(house: House) -> None:
    session_id = house.answered()
    open_ = house.runner.load(session_id)
    assert house.documents.finish(open_) == open_
    step = house.by().accept(session_id)
    assert house.store.open_calls(PROJECT) == ((session_id, "artifact-1"),)
    assert house.files() == {}
    handle = house.documents.finish(step.handle)
    assert house.documents.finish(handle) == house.documents.finish(step.handle) == handle
    assert house.documents.finish_pending(PROJECT) == []
    assert house.runner.load(session_id) == handle
    tags = [event.type for event in house.store.read(session_id)]
    assert tags.count(ArtifactWritten.tag) == 1
    assert ResponseIgnored.tag not in tags
    due, text = house.documents.text(session_id)
    assert (due.path, due.template) == (LOGIN, "adr.v1")
    assert house.files() == {LOGIN: text}
    assert "**OAuth**" in text
    assert house.state(session_id).filed.written == (handle.session.state.filed.written)
    written = handle.session.state.filed.written
    assert (written.path, written.sha256) == (LOGIN, hash_of(text))
    assert house.store.open_calls(PROJECT) == ()
    assert house.replays(session_id)


def test_a_task_lies_under_its_uid(house: House) -> None:
    sessions = house.by()
    setup = Setup(preflights="0", decider="clarification/1")
    opened = sessions.open(NewSession("Improve the ui"), setup, Heuristics(HeuristicsConfig()))
    sessions.answer(opened.handle, [("frontend_framework", ["Vue"])])
    step = sessions.accept(opened.handle.session_id, mark="task")
    house.documents.finish(step.handle)
    uid = opened.handle.session_id[-12:]
    assert [*house.files()] == [f"docs/tasks/{uid}-use-vue-for-the-frontend.md"]


def test_every_document_of_a_session_is_written_oldest_first(house: House) -> None:
    session_id = house.answered()
    stale = house.by("script").accept(session_id).handle
    proposed = house.documents.text(session_id)[1]
    house.by().accept(session_id)
    assert len(house.store.open_calls(PROJECT)) == 2
    house.documents.finish_pending(PROJECT)
    accepted = house.documents.text(session_id)[1]
    assert house.files() == {LOGIN: accepted}
    assert 'status: "proposed"' in proposed
    assert 'status: "accepted"' in accepted
    assert house.documents.text(session_id, "artifact-1")[1] == proposed
    house.documents.finish(stale)
    assert house.files() == {LOGIN: accepted}, "a newer one is not taken for a person's edit"
    assert not house.state(session_id).filed.beside
    assert house.replays(session_id)


def test_a_document_of_the_past_stays_as_it_was_asked_for(house: House) -> None:
    first = house.answered()
    house.documents.finish(house.by().accept(first).handle)
    before = house.documents.text(first)
    second = house.answered("Add a better login", supersedes=first)
    house.by().accept(second)
    house.documents.finish_pending(PROJECT)
    assert house.documents.text(first, "artifact-1") == before
    assert 'status: "superseded by ADR-0002"' in house.files()[LOGIN]
    assert (
        "Supersedes [ADR-0001"
        in house.files()["docs/decisions/0002-use-oauth-for-authentication.md"]
    )


# 2. After a crash ----------------------------------------------------------------------------


def test_a_document_due_before_a_crash_is_written_by_the_next_command(house: House) -> None:
    sessions = [house.answered(f"Add login {n}") for n in range(3)]
    for session_id in sessions:
        house.by().accept(session_id)
    finished = house.documents.finish_pending(PROJECT)
    assert [handle.session_id for handle in finished] == sessions
    assert len(house.files()) == 3
    assert house.store.open_calls(PROJECT) == ()


def test_a_document_written_before_a_crash_is_recorded_by_the_next_command(house: House) -> None:
    session_id = house.answered()
    house.by().accept(session_id)
    due, text = house.documents.text(session_id)
    path = house.documents.target(due.path)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    (handle,) = house.documents.finish_pending(PROJECT)
    assert house.files() == {LOGIN: text}
    assert handle.session.state.filed.written.path == LOGIN
    assert not handle.session.state.filed.beside


def test_a_renaming_that_a_crash_interrupted_is_finished(house: House) -> None:
    session_id = house.answered()
    handle = house.documents.finish(house.by().accept(session_id).handle)
    house.by().renumber(handle, 7)
    due, text = house.documents.text(session_id)
    house.documents.target(due.path).write_text(text)
    house.documents.finish_pending(PROJECT)
    assert house.files() == {"docs/decisions/0007-use-oauth-for-authentication.md": text}


def test_documents_of_another_project_and_open_completions_are_left(house: House) -> None:
    house.runner.open(toy.WORKFLOW, PROJECT, toy.asked("why?"), house.new_id(), house.new_id())
    assert house.documents.finish_pending(PROJECT) == []
    house.by().accept(house.answered())
    assert house.documents.finish_pending("another") == []
    assert house.files() == {}
    assert len(house.store.open_calls(PROJECT)) == 2


def test_a_document_that_cannot_be_written_holds_up_no_other(house: House) -> None:
    first, second, third = (house.answered(f"Add login {n}") for n in range(3))
    for session_id in (first, second, third):
        house.by().accept(session_id)
    (house.root / "docs" / "decisions" / "0002-use-oauth-for-authentication.md").mkdir(parents=True)
    (house.root / "docs" / "decisions" / "0002-use-oauth-for-authentication.md.new").mkdir()
    with pytest.raises(StoreUnavailable):
        house.documents.finish_pending(PROJECT)
    assert len(house.files()) == 2
    assert house.store.open_calls(PROJECT) == ((second, "artifact-1"),)
    (house.root / "docs" / "decisions" / "0002-use-oauth-for-authentication.md.new").rmdir()
    (house.root / "docs" / "decisions" / "0002-use-oauth-for-authentication.md").rmdir()
    house.documents.finish_pending(PROJECT)
    assert len(house.files()) == 3


def test_a_project_whose_folder_is_gone_is_unavailable(house: House) -> None:
    step = house.by().accept(house.answered())
    house.root.rmdir()
    with pytest.raises(StoreUnavailable):
        house.documents.finish(step.handle)
    assert len(house.store.open_calls(PROJECT)) == 1


# 3. Several processes ------------------------------------------------------------------------


def test_a_document_of_a_session_that_was_abandoned_meanwhile_is_not_owed(house: House) -> None:
    session_id = house.wanted("docs/tasks/a.md")
    stale = house.runner.load(session_id)
    abandoned = SessionAbandoned(at=1, actor=toy.ADA)
    house.process().submit(house.runner.load(session_id), abandoned, house.new_id())
    house.documents.finish(stale)
    assert house.files() == {}
    assert house.store.open_calls(PROJECT) == ()


# 4. A person's words -------------------------------------------------------------------------


@pytest.mark.parametrize("edited", [True, False])
def test_an_edited_or_foreign_document_is_kept_beside_ours(house: House, edited: bool) -> None:
    first = house.answered()
    house.documents.finish(house.by().accept(first).handle)
    theirs = "edited" if edited else house.files()[LOGIN].replace(first, house.new_id())
    (house.root / LOGIN).write_text(theirs)
    house.by().accept(house.answered("Add a better login", supersedes=first))
    house.documents.finish_pending(PROJECT)
    assert house.files()[LOGIN] == theirs
    assert 'status: "superseded' in house.files()[f"{LOGIN}.new"]
    handle = house.runner.load(first)
    (warning,) = handle.workflow.shown.view(handle.session.state).warnings
    assert f"{LOGIN}.new" in warning
    assert house.replays(first)


def test_an_edited_record_that_is_superseded_changes_only_its_status(house: House) -> None:
    first = house.answered()
    house.documents.finish(house.by().accept(first).handle)
    text = house.files()[LOGIN]
    edited = (
        text.replace("# Use OAuth for authentication", "# Log in with OAuth").replace("\n", "\r\n")
        + "Edited."
    )
    (house.root / LOGIN).write_bytes(edited.encode())
    house.by().accept(house.answered("Add a better login", supersedes=first))
    house.documents.finish_pending(PROJECT)
    assert (house.root / LOGIN).read_bytes().decode() == edited.replace(
        'status: "accepted"', 'status: "superseded by ADR-0002"'
    )
    assert f"{LOGIN}.new" not in house.files()
    handle = house.runner.load(first)
    assert handle.workflow.shown.view(handle.session.state).warnings == ()
    assert house.replays(first)


def test_an_edited_record_that_says_more_than_a_status_anew_is_kept(house: House) -> None:
    session_id = house.answered()
    house.documents.finish(house.by("script").accept(session_id).handle)
    edited = house.files()[LOGIN] + "Edited."
    (house.root / LOGIN).write_text(edited)
    house.documents.finish(house.by().accept(session_id).handle)
    assert house.files()[LOGIN] == edited
    assert f"{LOGIN}.new" in house.files()


def test_a_replaced_record_of_another_tool_is_marked_before_ours_counts(house: House) -> None:
    theirs = "docs/decisions/0007-use-cookies.md"
    (house.root / theirs).parent.mkdir(parents=True)
    (house.root / theirs).write_text("# 7. Use cookies\n\n## Status\n\nAccepted\n")
    house.documents.finish(house.by("script").accept(house.answered(supersedes="ADR-7")).handle)
    assert "Accepted" in house.files()[theirs], "a proposal replaces nothing"
    handle = house.by().accept(house.answered(supersedes="ADR-0007")).handle
    assert "Accepted" in house.files()[theirs]
    house.documents.finish(handle)
    status = "Superseded by [ADR-0009](0009-use-oauth-for-authentication.md)"
    assert house.files()[theirs] == f"# 7. Use cookies\n\n## Status\n\n{status}\n"
    assert house.store.open_calls(PROJECT) == ()
    assert house.replays(handle.session_id)


@each("edited", [False, True])
def test_a_record_under_a_new_number_leaves_its_former_name_unless_edited(
    tmp_path: Path, *, edited: bool
) -> None:
    (tmp_path / str(edited)).mkdir()
    house = House(tmp_path / str(edited))
    handle = house.documents.finish(house.by().accept(house.answered()).handle)
    if edited:
        (house.root / LOGIN).write_text("edited")
    house.documents.finish(house.by().renumber(handle, 12).handle)
    renamed = "docs/decisions/0012-use-oauth-for-authentication.md"
    assert [*house.files()] == ([LOGIN, renamed] if edited else [renamed])
    assert house.files().get(LOGIN, "edited") == "edited"


def test_a_former_document_outside_todays_folders_is_not_touched(house: House) -> None:
    session_id = house.answered()
    handle = house.documents.finish(house.by().accept(session_id).handle)
    house.by().renumber(handle, 12)
    moved = Documents(house.runner, house.root, ("docs/tasks",))
    with pytest.raises(ArtifactOutside):
        moved.finish_pending(PROJECT)
    assert [*house.files()] == [LOGIN]


# 5. Outside ----------------------------------------------------------------------------------


def test_a_log_that_names_a_path_outside_writes_nothing(house: House) -> None:
    owed = []
    for path in ("../x.md", "/tmp/x.md", "x.md", "docs/decisions/../../x.md", ".git/hooks/x", ""):
        owed.append((house.wanted(path), "artifact-1"))
        with pytest.raises(ArtifactOutside):
            house.documents.finish(house.runner.load(owed[-1][0]))
        assert house.files() == {}
        assert house.store.open_calls(PROJECT) == tuple(owed)


def test_a_log_that_names_a_template_of_another_version_writes_nothing(house: House) -> None:
    for template in ("adr.v99", "../../../secret"):
        session_id = house.wanted("docs/tasks/x.md", template)
        with pytest.raises(LogFromFuture):
            house.documents.finish(house.runner.load(session_id))
    assert house.files() == {}


def test_folders_that_lead_outside_are_refused_before_anything_is_recorded(house: House) -> None:
    house.documents.check_folders()
    with pytest.raises(ArtifactOutside):
        Documents(house.runner, house.root, ("docs/tasks", "../elsewhere")).check_folders()


# 6. Looking ----------------------------------------------------------------------------------


def test_a_session_without_a_document_says_how_to_get_one_and_has_a_brief(house: House) -> None:
    session_id = house.answered()
    with pytest.raises(Refused, match="it is written when the session is accepted"):
        house.documents.text(session_id)
    with pytest.raises(UnknownSession):
        house.documents.text(house.new_id())
    text = render_session_brief(house.runner.load(session_id))
    assert "Strategy: OAuth" in text
    assert "No person has accepted this yet" in text
    assert session_id[-8:] in text
    accepted = house.by().accept(session_id).handle
    assert "No person" not in render_session_brief(accepted)


def test_numbers_are_those_of_files_of_any_author(house: House) -> None:
    assert house.documents.numbers_used() == set()
    house.documents.finish(house.by().accept(house.answered()).handle)
    (house.root / "docs" / "decisions" / "0042-by-hand.md").write_text("")
    assert house.documents.numbers_used() == {1, 42}
    house.documents.finish(house.by().accept(house.answered("Add login again")).handle)
    assert house.documents.numbers_used() == {1, 42, 43}


Change = Callable[[Path], object]


@pytest.mark.parametrize(
    ("change", "compared", "rebuilt"),
    [
        (lambda path: None, "same", "same"),
        (lambda path: path.unlink(), "missing", "written"),
        (lambda path: path.write_text("edited"), "differs", "beside"),
    ],
)
def test_a_document_is_put_back(house: House, change: Change, compared: str, rebuilt: str) -> None:
    handle: Handle = house.documents.finish(house.by().accept(house.answered()).handle)
    text = house.files()[LOGIN]
    change(house.root / LOGIN)
    before = house.files()
    assert house.documents.rebuilt(handle, write=False).outcome == compared
    assert house.files() == before
    beside = f"{LOGIN}.new" if rebuilt == "beside" else LOGIN
    found = house.documents.rebuilt(handle, write=True)
    assert (found.path, found.outcome) == (beside, rebuilt)
    assert isinstance(found, RebuiltDocument)
    assert house.files()[beside] == text
    assert len(house.store.read(handle.session_id)) == handle.version
