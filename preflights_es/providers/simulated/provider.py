"""SimLLMProvider: the same seed and prompt, the same response."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.kernel.completions import Completion, CompletionRequested, Message
from preflights_es.kernel.simulation import GENERATION, Bank, Draws, Route, key, prompt_of
from preflights_es.providers.base import LLMProvider, contract_for, judged, spoken, text_of
from preflights_es.providers.faults import FaultConfig, FaultyProvider
from preflights_es.providers.simulated.bank import FIVE, GENERIC
from preflights_es.providers.simulated.router import ROUTE, Router

NAME: Final = "sim"
BYTES_PER_TOKEN: Final = 4  # about what tokenizers of the time do to English


class SimLLMProvider(LLMProvider):
    """Answers without a model, reproducibly (seed 1).

    A response is a pure function of (`GENERATION`, seed, prompt), whatever was asked before. A
    caller may name the route; else the prompt's words decide. Faults stand around it and move no
    response.
    """

    name = NAME
    model = GENERATION

    def __init__(
        self, seed: int, faults: FaultConfig | None = None, bank: Bank | None = None
    ) -> None:
        self.seed = seed
        self.faults = faults or FaultConfig.none()
        self._simulator = Simulator(seed, bank)
        self._faulty = None
        if self.faults.thresholds()[-1] > 0:
            self._faulty = FaultyProvider(self._simulator, seed, self.faults)

    async def respond(self, request: CompletionRequested) -> Completion:
        """The response drawn for a conversation, unless a fault is drawn for this attempt."""
        return await (self._faulty or self._simulator).respond(request)

    async def complete(self, prompt: str, *, route: str | None = None) -> str:
        """The response to a prompt; a named route answers whatever the prompt says."""
        request = self.asked((Message("user", prompt),))
        if route is not None:
            request = replace(request, parameters=((ROUTE, route),))
        if self._faulty is None:
            return self._simulator.text(request)
        return text_of(await self._faulty.respond(request))

    async def complete_json(self, prompt: str, schema: object, *, route: str | None = None) -> Any:
        """As for any provider; a named route answers whatever the prompt says."""
        contract = contract_for(schema)
        return judged(await self.complete(prompt, route=route), contract)

    def asked(self, messages: Iterable[Message], attempt: int = 0) -> CompletionRequested:
        """As for any provider; without an attempt, calls with the same prompt are counted."""
        if self._faulty is None:
            return super().asked(messages, attempt or 1)
        return self._faulty.asked(messages, attempt)

    def route(self, request: CompletionRequested) -> str:
        """The name of the route that a request takes.

        Raises:
            ValueError: it names one that does not exist.
        """
        return self._simulator.route(request)


class Simulator(LLMProvider):
    """What SimLLMProvider is without faults."""

    name = NAME
    model = GENERATION

    def __init__(self, seed: int, bank: Bank | None) -> None:
        self._key = key("response", seed)
        self._routes: dict[str, Route] = {**(bank or {})}
        for name, route in FIVE.items():
            self._routes.setdefault(name, route)
        self._router = Router(self._routes, GENERIC)
        self.route = self._router.route

    async def respond(self, request: CompletionRequested) -> Completion:
        """The response drawn for a conversation; the attempt does not move it."""
        text = self.text(request)
        prompt = prompt_of(request.messages)
        named = self._key.copy()
        named.update(prompt)
        return Completion(
            text=text,
            model=GENERATION,
            stop_reason="end_turn",
            request_id=f"sim-{named.hexdigest()[:16]}",
            input_tokens=_tokens(len(prompt)),
            output_tokens=_tokens(len(text.encode("utf-8", "surrogatepass"))),
        )

    def text(self, request: CompletionRequested) -> str:
        """The text of the response.

        Raises:
            ValueError: nothing is said, or the route that is named does not exist.
        """
        root = self._key.copy()
        root.update(prompt_of(spoken(request.messages)))
        return self._routes[self.route(request)].generate(Draws(root), request)


def _tokens(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)
