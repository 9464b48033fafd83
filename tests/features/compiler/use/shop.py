"""A project with three documents and a log, as services meet it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from preflights_es.features.compiler import passes
from preflights_es.features.compiler.artifacts import approve
from preflights_es.features.compiler.domain.events import PassName
from preflights_es.features.compiler.domain.state import PlanView
from preflights_es.kernel.events import Actor
from preflights_es.use.bootstrap import opened_process
from preflights_es.use.request import Request
from tests.cli.compiler.planning import DOCUMENTS

ADA: Final = Actor("user", "Ada")


class Shop:
    """A folder and a log."""

    def __init__(self, folder: Path, database: str) -> None:
        (folder / ".preflights").mkdir(parents=True)
        for name, text in DOCUMENTS.items():
            (folder / ".preflights" / f"{name}.md").write_text(text)
        self.folder = folder
        self.database = database

    @contextmanager
    def request(self, actor: Actor = ADA) -> Iterator[Request]:
        """A process of its own, and a call of it."""
        opened = opened_process(self.folder, database=self.database)
        made = opened.request(actor)
        try:
            yield made
        finally:
            made.close()

    def drafted(self, name: PassName = "project") -> str:
        """The id of a new draft."""
        with self.request() as request:
            found = passes.run_pass(request, passes.WantedPass(name))
        assert isinstance(found, PlanView)
        assert found.artifact is not None
        return found.artifact.id

    def approved(self, *names: PassName) -> list[str]:
        """Ids of artifacts, each approved before the next."""
        ids = []
        for name in names:
            ids.append(self.drafted(name))
            with self.request() as request:
                approve(request, ids[-1])
        return ids
