"""The same against the real APIs: `pytest -m live`, with a key in the environment for each."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from preflights_es.kernel.completions import Completion, Message
from preflights_es.kernel.errors import LLMAPIError, LLMTruncatedError
from preflights_es.kernel.lead import FellBack, Lead
from preflights_es.kernel.text import Secret
from preflights_es.providers.apis import build_chosen_provider, provider
from preflights_es.providers.capabilities import REAL
from preflights_es.providers.remote import RemoteProvider
from preflights_es.settings import load
from tests import led
from tests.led import Case

pytestmark = pytest.mark.live


def real(tmp_path: Path, **options: str) -> list[RemoteProvider]:
    """Every provider whose key is set, and OpenAI's other API."""
    found = []
    for name in REAL:
        told = load.Options(provider=name, **options)
        held = load.load_settings(tmp_path, os.environ, options=told)
        if name in held.keys:
            found.append(build_chosen_provider(held, str))
    assert found, "no key is set: live tests need one of the variables in docs/providers.md"
    return found


def answers(asked: RemoteProvider, said: str) -> Completion:
    """What a provider answers."""
    return asyncio.run(asked.respond(asked.asked([Message("user", said)])))


def test_every_provider_answers_and_reports(tmp_path: Path) -> None:
    for asked in (*real(tmp_path), *real(tmp_path, api="responses")):
        found = answers(asked, "Reply with the single word: ready")
        assert "ready" in (found.text or "").lower()
        assert found.model
        assert found.request_id
        assert found.input_tokens
        assert found.output_tokens


def test_every_provider_leads_every_workflow_without_a_fallback(tmp_path: Path) -> None:
    for name, texts in led.TEXTS.items():
        for asked in real(tmp_path):
            case = Case(name, texts[0])
            session = led.Session(case, Lead(asked.name, asked.model))
            asyncio.run(session.led(asked))
            assert session.status in {"ready", "done"}
            assert not any(isinstance(event, FellBack) for event in session.events)
            assert session.replayed().status == "identical"


def test_every_provider_says_that_it_was_cut_off(tmp_path: Path) -> None:
    for asked in real(tmp_path, max_tokens="16"):
        with pytest.raises(LLMTruncatedError):
            answers(asked, "Write two hundred words about the sea.")


def test_every_provider_says_which_key_is_wrong(tmp_path: Path) -> None:
    for asked in real(tmp_path):
        wrong = Secret("sk-this-is-no-key-0123456789", "MY_KEY")
        with pytest.raises(LLMAPIError, match="MY_KEY") as raised:
            answers(provider(asked.name, keys={asked.name: wrong}), "Hi")
        assert wrong.reveal() not in str(raised.value)
