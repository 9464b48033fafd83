"""The parts of the simulator, under the names of seed 1: router, bank and injector.

`SimLLMProvider` puts them together; here each can be used alone.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from preflights_es.kernel.completions import Completion, CompletionRequested, Message
from preflights_es.kernel.simulation import GENERATION, Bank
from preflights_es.providers.base import DIRECT, spoken, text_of
from preflights_es.providers.faults import Fault, FaultConfig, FaultyProvider
from preflights_es.providers.simulated.provider import NAME, Simulator
from preflights_es.providers.simulated.router import ROUTE

SEEDLESS: Final = 0  # a route follows from the prompt alone


class PromptRouter:
    """Classifies prompts: which generator answers."""

    def __init__(self, bank: Bank | None = None) -> None:
        """Args:
        bank: routes of workflows, looked at before the five of seed 1.
        """
        self._simulator = Simulator(SEEDLESS, bank)

    def classify(self, prompt: str) -> str:
        """The name of the route that a prompt takes, such as `extract_entities`."""
        return self._simulator.route(_request(prompt))


class ResponseBank:
    """Generates responses: what each route answers to a prompt, by seed."""

    def __init__(self, seed: int, bank: Bank | None = None) -> None:
        """Args:
        bank: routes of workflows, besides the five of seed 1.
        """
        self._simulator = Simulator(seed, bank)

    def generate(self, route: str, prompt: str) -> str:
        """The response of a route to a prompt.

        Raises:
            ValueError: there is no such route, or the prompt is empty.
        """
        return self._simulator.text(replace(_request(prompt), parameters=((ROUTE, route),)))


class FaultInjector:
    """Draws faults: what goes wrong with a prompt, by seed."""

    def __init__(self, seed: int, faults: FaultConfig | None = None) -> None:
        self.seed = seed
        self.faults = faults or FaultConfig.none()

    def drawn(self, prompt: str, attempt: int = 1) -> Fault | None:
        """What goes wrong: `timeout`, `error`, `rate_limit` or `malformed`; None for nothing."""
        return self._around("").drawn(_request(prompt, attempt))

    async def inject(self, prompt: str, response: str, attempt: int = 1) -> str:
        """The response as it arrives: whole, or damaged.

        Raises:
            LLMTimeoutError, LLMAPIError, LLMRateLimitError: as drawn.
        """
        return text_of(await self._around(response).respond(_request(prompt, attempt)))

    def _around(self, response: str) -> FaultyProvider:
        return FaultyProvider(_Given(response), self.seed, self.faults)


class _Given:
    """A provider whose response is given."""

    def __init__(self, response: str) -> None:
        self._response = response

    async def respond(self, _request: CompletionRequested) -> Completion:
        return Completion(text=self._response)


def _request(prompt: str, attempt: int = 1) -> CompletionRequested:
    said = spoken((Message("user", prompt),))
    return CompletionRequested(
        call=DIRECT, provider=NAME, model=GENERATION, messages=said, attempt=attempt
    )
