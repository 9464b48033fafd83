"""A program that asks a model, as a user of a recorder has one: `python calling.py CASE COUNT`.

Its question stands in `prompt.txt` of this folder. It prints its answers as JSON, and goes on
without a model where a call fails.
"""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai

PROMPT = Path("prompt.txt").read_text("utf-8").strip()
WITHOUT = "no model"


def asked(number: int) -> dict[str, Any]:
    """What is asked for a number."""
    return {"model": "m", "messages": [{"role": "user", "content": f"{PROMPT} ({number})"}]}


def ask(client: openai.OpenAI, number: int) -> str:
    """The answer of a model, or that of the program's own rules."""
    try:
        return client.chat.completions.create(**asked(number)).choices[0].message.content or ""
    except openai.OpenAIError:
        return WITHOUT


def stream(client: openai.OpenAI, number: int) -> str:
    """The answer, put together from the pieces of a stream."""
    pieces = client.chat.completions.create(**asked(number), stream=True)
    return "".join(one.choices[0].delta.content or "" for one in pieces if one.choices)


async def crowd(count: int) -> list[str]:
    """Sixteen at once."""
    client, places = openai.AsyncOpenAI(max_retries=0), asyncio.Semaphore(16)

    async def one(number: int) -> str:
        async with places:
            try:
                answer = await client.chat.completions.create(**asked(number))
            except openai.OpenAIError:
                return WITHOUT
            return answer.choices[0].message.content or ""

    return list(await asyncio.gather(*map(one, range(count))))


def main() -> None:
    """Make the calls of a case."""
    case, count = sys.argv[1], int(sys.argv[2])
    client = openai.OpenAI(max_retries=0)
    if case == "asyncio":
        answers = asyncio.run(crowd(count))
    elif case == "threads":
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda number: ask(client, number), range(count)))
    else:
        call = stream if case == "stream" else ask
        answers = [call(client, number) for number in range(count)]
    sys.stdout.write(f"answers: {json.dumps(answers)}\n")


if __name__ == "__main__":
    main()
