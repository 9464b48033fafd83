"""Files that are no records: in a folder of their own, under the promises of records."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from preflights_es.kernel.errors import ArtifactOutside, LogFromFuture, PreflightsError
from preflights_es.kernel.events import Filing
from preflights_es.records.documents import Documents
from preflights_es.records.files import hash_of
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from tests import toy
from tests.each import each
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.records.filing import files_below
from tests.toy import altered

FILING: Final = Filing(
    folder=".preflights/toys",
    name=r"Toy-[a-z0-9]+\.json",
    template="toy.v1",
    text=lambda state: f'{{"said":"{" ".join(state.said)}"}}\n',
)
WORKFLOW: Final = altered(toy.WORKFLOW, record=None, filing=FILING)
PATH: Final = ".preflights/toys/Toy-1.json"


class House:
    """A project whose toy files what it heard."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.new_id = Ids()
        store = MemoryStore(Clock(), salt)
        self.runner = Runner(store, {"toy": WORKFLOW}, Clock(), self.new_id)
        self.documents = Documents(self.runner, root, ("docs/decisions", "docs/tasks"))

    def owing(self, path: str = PATH, template: str = "toy.v1", said: str = "A") -> Handle:
        """A session that heard a text, and owes a file."""
        step = self.runner.open(WORKFLOW, PROJECT, toy.said(said), self.new_id(), self.new_id())
        wanted = toy.wanted(path, template)
        return self.runner.submit(step.handle, wanted, self.new_id()).handle

    def files(self) -> dict[str, str]:
        """What lies on disk."""
        return files_below(self.root)


@pytest.fixture
def house(tmp_path: Path) -> House:
    root = tmp_path / "project"
    root.mkdir()
    return House(root)


def test_a_file_is_written_into_the_folder_of_its_workflow(house: House) -> None:
    handle = house.documents.finish(house.owing())
    assert house.files() == {PATH: '{"said":"A"}\n'}
    written = handle.session.state.written
    assert (written.path, written.sha256) == (PATH, hash_of('{"said":"A"}\n'))
    assert house.runner.store.open_calls(PROJECT) == ()


def test_a_file_is_as_its_session_stood_when_it_was_asked_for(house: House) -> None:
    handle = house.documents.finish(house.owing())
    handle = house.runner.submit(handle, toy.said("B"), house.new_id()).handle
    assert house.documents.rebuilt(handle, write=True).outcome == "same"
    handle = house.runner.submit(handle, toy.wanted(PATH, "toy.v1"), house.new_id()).handle
    house.documents.finish(handle)
    assert house.files() == {PATH: '{"said":"A B"}\n'}


def test_a_missing_file_is_put_back_and_a_new_one_lies_beside_an_edited(house: House) -> None:
    handle = house.documents.finish(house.owing())
    (house.root / PATH).unlink()
    assert house.documents.rebuilt(handle, write=False).outcome == "missing"
    assert house.documents.rebuilt(handle, write=True).outcome == "written"
    assert house.files() == {PATH: '{"said":"A"}\n'}
    (house.root / PATH).write_text("mine")
    assert house.documents.rebuilt(handle, write=False).outcome == "differs"
    assert house.documents.rebuilt(handle, write=True).outcome == "beside"
    assert house.files() == {PATH: "mine", f"{PATH}.new": '{"said":"A"}\n'}


def test_the_next_command_writes_what_a_crash_left_open(house: House) -> None:
    owing = house.owing()
    assert [one.session_id for one in house.documents.finish_pending(PROJECT)] == [owing.session_id]
    assert house.files() == {PATH: '{"said":"A"}\n'}


def test_the_next_command_records_a_file_that_lies_there(house: House) -> None:
    house.owing()
    target = house.documents.target(PATH, FILING)
    target.parent.mkdir(parents=True)
    target.write_text('{"said":"A"}\n')
    (done,) = house.documents.finish_pending(PROJECT)
    assert done.session.state.written.path == PATH
    assert house.files() == {PATH: '{"said":"A"}\n'}


@each(
    "path",
    [
        "docs/decisions/0001-title.md",
        "docs/decisions/Toy-1.json",
        ".preflights/toys/AGENTS.md",
        ".preflights/toys/../Toy-1.json",
        ".preflights/toys/below/Toy-1.json",
        ".preflights/Toy-1.json",
        "/tmp/Toy-1.json",
        "Toy-1.json",
    ],
)
def test_a_path_of_no_such_file_is_refused(house: House, path: str) -> None:
    with pytest.raises(ArtifactOutside):
        house.documents.finish(house.owing(path))
    assert house.files() == {}


def test_a_folder_that_leads_outside_is_refused(house: House, tmp_path: Path) -> None:
    (house.root / ".preflights").symlink_to(tmp_path)
    with pytest.raises(ArtifactOutside, match="leads outside"):
        house.documents.check_folders(FILING, writes=True)
    with pytest.raises(ArtifactOutside, match="leads outside"):
        house.documents.finish(house.owing())
    assert not (tmp_path / "toys").exists()


def test_a_folder_that_takes_no_file_is_told_before_anything_is_recorded(house: House) -> None:
    (house.root / ".preflights").write_text("no folder")
    with pytest.raises(PreflightsError, match="takes no document"):
        house.documents.check_folders(FILING, writes=True)
    house.documents.check_folders(writes=True)


def test_a_template_of_another_version_writes_nothing(house: House) -> None:
    with pytest.raises(LogFromFuture, match=r"toy\.v2"):
        house.documents.finish(house.owing(template="toy.v2"))
    assert house.files() == {}
