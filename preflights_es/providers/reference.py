"""The reference as a provider: for workflows in which every step asks one (`--provider mock`)."""

from __future__ import annotations

from preflights_es.core.completions import Completion, CompletionRequested
from preflights_es.core.errors import LLMAPIError
from preflights_es.core.simulation import References
from preflights_es.providers.base import LLMProvider


class ReferenceProvider(LLMProvider):
    """Answers by rules: the same request, the same response, without a seed."""

    name = "mock"

    def __init__(self, references: References) -> None:
        """Args:
        references: by the contract's name, without its version.
        """
        self._references = references

    async def respond(self, request: CompletionRequested) -> Completion:
        """What the rules of the request's contract answer.

        Raises:
            LLMAPIError: there are no rules for it.
        """
        name = request.contract.rpartition(".v")[0]
        if name not in self._references:
            expected = ", ".join(sorted(self._references))
            raise LLMAPIError(
                f"no rules answer the contract {request.contract!r}, only {expected}: "
                "choose another provider"
            )
        text = self._references[name](request)
        return Completion(text=text, model=request.model, stop_reason="end_turn")
