"""A response that the actor of a command wrote: given once, in the process that was told it."""

from __future__ import annotations

from preflights_es.core.completions import Completion, CompletionRequested
from preflights_es.core.errors import LLMLostError
from preflights_es.providers.base import LLMProvider


class GivenProvider(LLMProvider):
    """Answers with one text."""

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
