"""Providers that ask no server: the rules (`--provider mock`), and a text that the caller wrote."""

from __future__ import annotations

from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.errors import LLMAPIError, LLMLostError
from preflights_es.kernel.simulation import References
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


class GivenProvider(LLMProvider):
    """Answers with the text that the actor of a command wrote, in the process that was told it."""

    def __init__(self, name: str, text: str) -> None:
        """Args:
        name: `agent` or `person`.
        text: empty in a process that was not told it.
        """
        self.name = name
        self._text = text

    async def respond(self, request: CompletionRequested) -> Completion:
        """The text.

        Raises:
            LLMLostError: the process that was told it ended before it was recorded.
        """
        if not self._text:
            raise LLMLostError("the command that brought the response ended before it was recorded")
        return Completion(
            text=self._text,
            model=request.model,
            stop_reason="end_turn",
            input_tokens=0,  # nothing was sent, and nothing is paid
            output_tokens=0,
        )
