"""From the first document to a refactoring, offline: by rules, by seed, and by both SDKs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from preflights_es.features.compiler.domain.events import PASSES, PassName
from tests.cli.program import Project
from tests.markdown import ROOT
from tests.providers import server
from tests.providers.server import FakeAPI

SAMPLE: Final = ROOT / "tests" / "features" / "compiler" / "sample"
ADA_SAYS: Final = ("--by", "Ada Lovelace")


class Chain:
    """The passes of the sample project, each approved before the next."""

    def __init__(self, house: Project) -> None:
        self.house = house
        self.drafts: dict[PassName, Any] = {}
        """The sessions, as JSON."""
        assert house.call("init", "--plans").code == 0
        for path in SAMPLE.glob("*.md"):
            shutil.copy(path, house.folder / ".preflights")

    def passes(self, *words: str, env: Mapping[str, str] | None = None) -> Iterator[PassName]:
        """Each pass, once its artifact is approved.

        Args:
            words: who is asked.
        """
        for name in PASSES:
            self.draft(name, *words, env=env)
            self.approved(name)
            yield name

    def draft(self, name: PassName, *words: str, env: Mapping[str, str] | None = None) -> None:
        done = self.house.call("plan", *self.words(name), *words, "--json", env=env)
        assert done.code == 3, (name, done.out, done.err)
        self.drafts[name] = done.json

    def approved(self, name: PassName) -> None:
        done = self.house.call("approve", self.drafts[name]["artifact"]["id"], *ADA_SAYS)
        assert done.code == 0, (name, done.err)
        if name == "test":
            (self.house.folder / "README.md").write_text("# Shop\n")
            assert self.house.call("lock", "tests", *ADA_SAYS).code == 0
            self.house.git("add", ".")

    def words(self, name: PassName) -> tuple[str, ...]:
        """What a person types behind `plan`."""
        if name == "implementation":
            return ("impl", self.paths("source")[0])
        if name == "refactor":
            return ("refactor", "Move README.md to docs/README.md")
        return (PASSES[name].command,)

    def paths(self, kind: str) -> list[str]:
        """Files of the ScaffoldPlan."""
        files = self.drafts["scaffold"]["artifact"]["payload"]["files"]
        return [one["path"] for one in files if one["kind"] == kind]

    def checked(self) -> None:
        """All six are in force, filed, and decided the same again."""
        rows = self.house.call("artifacts", "--json").json["artifacts"]
        assert [row["type"] for row in rows] == [one.writes for one in PASSES.values()]
        locked = {"TestPlan": "locked"}
        assert all(row["standing"] == locked.get(row["type"], "approved") for row in rows)
        for row in rows:
            written = json.loads((self.house.folder / row["artifact"]).read_bytes())
            assert written["id"] == row["id"]
            assert written["depends_on"] == row["depends_on"]
            assert self.house.call("replay", row["session_id"]).code == 0


def test_six_passes_by_the_rules_from_init_to_refactor(house: Project) -> None:
    chain = Chain(house)
    assert [*chain.passes()] == [*PASSES]
    chain.checked()
    for name in PASSES:
        assert chain.drafts[name]["artifact"]["created_by"] == "system"


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("provider", ["claude", "openai"])
def test_six_passes_by_an_sdk_against_a_server(house: Project, provider: str) -> None:
    chain = Chain(house)
    assert [*chain.passes()] == [*PASSES]
    with FakeAPI() as api:
        payloads = [one["artifact"]["payload"] for one in chain.drafts.values()]
        api.script(*(server.text(json.dumps(one)) for one in payloads))
        url = api.anthropic if provider == "claude" else api.openai
        key = {"ANTHROPIC_API_KEY": "sk-not-a-real-key", "OPENAI_API_KEY": "sk-not-a-real-key"}
        words = ("--provider", provider, "--base-url", url)
        assert [*chain.passes(*words, env=key)] == [*PASSES]
        assert len(api.requests) == len(PASSES)
    chain.checked()
    for name in PASSES:
        assert chain.drafts[name]["artifact"]["created_by"] == "llm"


# By seed -------------------------------------------------------------------------------------
