"""A program that asks models, and prints what it is told: for tests of the recorder.

`python calling_program.py PART...`: each part is a function below; a number is the exit code.
"""

import asyncio
import http.client
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

TOOL: Final = {"name": "weather", "parameters": {"type": "object", "properties": {}}}


@cache
def sdk() -> Any:
    """OpenAI's client; its import takes seconds, which most tests are spared."""
    import openai

    return openai.OpenAI(max_retries=2)


def say(*words: object) -> None:
    print(*words, flush=True)


def asked(words: str, **more: object) -> dict[str, Any]:
    return {"model": "large-1", "messages": [{"role": "user", "content": words}], **more}


# 1. By the SDKs


def chat(words: str, **more: Any) -> Any:
    return sdk().chat.completions.create(**asked(words), **more)


def plain() -> None:
    for words in ("What is a log?", "What is a log?", "My key is sk-proj-Abc123Def456Ghi789Jkl012"):
        say(chat(words).choices[0].message.content)
    say(sdk().responses.create(model="large-1", input="By responses").output_text)
    vectors = sdk().embeddings.create(model="embed", input=["a"], encoding_format="float").data
    say(vectors[0].embedding)
    pieces = chat("Stream it: grüß Gott", stream=True)
    say("".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices))


def claude() -> None:
    import anthropic

    client = anthropic.Anthropic()
    said = client.messages.create(**asked("Hello Claude"), max_tokens=9).content[-1]
    say(said.text if said.type == "text" else said)
    with client.messages.stream(**asked("Stream it, Claude"), max_tokens=9) as stream:
        say("".join(stream.text_stream))


def tools() -> None:
    one = asked("Weather in Graz?")
    tool = {"type": "function", "function": TOOL}
    message = sdk().chat.completions.create(**one, tools=[tool]).choices[0].message
    call = message.tool_calls[0]
    say(call.function.name, call.function.arguments)
    one["messages"] += [
        message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": call.id, "content": "12 C"},
    ]
    say(sdk().chat.completions.create(**one).choices[0].message.content)


async def ask_at_once() -> list[str]:
    import openai

    client = openai.AsyncOpenAI(max_retries=0)
    calls = (client.chat.completions.create(**asked(f"crowd {n}")) for n in range(16))
    return [one.choices[0].message.content or "" for one in await asyncio.gather(*calls)]


def crowd() -> None:
    say(asyncio.run(ask_at_once()))


def threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        words = (f"thread {number}" for number in range(24))
        say([one.choices[0].message.content for one in pool.map(chat, words)])


def changed() -> None:
    import openai

    try:
        say(chat("What is a tree?").choices[0].message.content)
    except openai.APIError as error:
        say(type(error).__name__, json.dumps(error.body))


# 2. By bare HTTP


def ask(words: str, **more: object) -> http.client.HTTPResponse:
    base = urlsplit(os.environ["OPENAI_BASE_URL"])
    connection = http.client.HTTPConnection(base.netloc)
    path = f"{base.path}/chat/completions"
    body = json.dumps(asked(words, **more))
    connection.request("POST", path, body, {"Helicone-User-Id": "lee-4711"})
    return connection.getresponse()


def raw() -> None:
    for number in range(6):
        say(json.loads(ask(f"raw {number}").read())["choices"][0]["message"]["content"])


def named() -> None:
    say(ask("Who am I?", user="kim", metadata={"user_id": "kim", "team": "a"}).status)


def other() -> None:
    say(ask("Is the shop open?").status)


def gone() -> None:
    try:
        answer = ask("Are you there?")
        say(answer.status, answer.read())
    except (http.client.HTTPException, ConnectionError) as error:
        say(type(error).__name__)


def stream() -> None:
    try:
        say(ask("Stream it", stream=True).read())
    except http.client.IncompleteRead as error:
        say("broke off after", error.partial)


def chunks() -> None:
    """The sizes of the pieces that a chunked answer has."""
    base = urlsplit(os.environ["OPENAI_BASE_URL"])
    body = json.dumps(asked("Stream it", stream=True)).encode()
    head = f"POST {base.path}/chat/completions HTTP/1.1\r\nHost: {base.netloc}\r\n"
    head += f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((base.hostname, base.port)) as connection:
        connection.sendall(head.encode() + body)
        answer = connection.makefile("rb")
        while answer.readline().strip():
            pass
        sizes = list[int]()
        while size := int(answer.readline() or b"0", 16):
            sizes.append(len(answer.read(size)))
            answer.readline()
    say(sizes)


def leaves() -> None:
    answer = ask("Stream it and be left", stream=True)
    say(answer.read(60))
    answer.close()


def key() -> None:
    say(len(ask("Stream a key", stream=True).read()) > 0)


def waits() -> None:
    try:
        say("waiting")
        time.sleep(60)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(3)


def big() -> None:
    say(ask("x" * 64_000_000).status)


def kills() -> set[str]:
    """Kill the recorder's writer, and say which it was."""
    parent, killed = os.getppid(), set[str]()
    for number in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        with suppress(FileNotFoundError):
            if b"calls.writer" in Path(f"/proc/{number}/cmdline").read_bytes():
                os.kill(int(number), signal.SIGKILL)
                killed.add(number)
    return killed


def hunts() -> None:
    """Kill nine writers as soon as each has started."""
    killed = set[str]()
    raw()
    while len(killed) < 9:
        killed |= kills()
        time.sleep(0.01)


if __name__ == "__main__":
    PARTS: dict[str, Callable[[], object]] = {
        one.__name__: one
        for one in (
            plain,
            claude,
            tools,
            crowd,
            threads,
            changed,
            raw,
            named,
            other,
            gone,
            stream,
            chunks,
            leaves,
            key,
            waits,
            big,
            kills,
            hunts,
        )
    }
    for part in sys.argv[1:]:
        if part.isdecimal():
            sys.exit(int(part))
        PARTS[part]()
