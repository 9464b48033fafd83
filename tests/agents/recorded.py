"""Records and replays a program with the SDKs of npm; run by hand.

`python -m tests.agents.recorded [FOLDER]` installs them, asks a model that stands on this machine,
plain, by 16 at once, streamed and with a tool, and says whether a replay gives the same. No key and
no account is needed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.cli.program import Project
from tests.cli.test_record import Model, keys
from tests.providers.server import FakeAPI

PACKAGES: Final = ("openai", "@anthropic-ai/sdk")
PROGRAM: Final = """
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
const openai = new OpenAI(), claude = new Anthropic();
const chat = (content, more = {}) =>
  openai.chat.completions.create({ model: "m", messages: [{ role: "user", content }], ...more });
const said = async (words) => (await chat(words)).choices[0].message.content;
const ask = { model: "c", max_tokens: 9, messages: [{ role: "user", content: "Hello" }] };
const tool = { type: "function", function: { name: "weather", parameters: { type: "object" } } };
let stream = "";
for await (const piece of await chat("Stream it: grüß Gott", { stream: true }))
  stream += piece.choices[0]?.delta?.content ?? "";
console.log(JSON.stringify({
  plain: [await said("What is a log?"), await said("What is a log?")],
  crowd: await Promise.all([...Array(16).keys()].map((n) => said(`crowd ${n}`))),
  stream,
  tools: (await chat("Weather in Graz?", { tools: [tool] })).choices[0].message.tool_calls,
  responses: (await openai.responses.create({ model: "m", input: "By responses" })).output_text,
  embedding: await openai.embeddings.create({ model: "e", input: "a", encoding_format: "float" }),
  claude: (await claude.messages.create(ask)).content.at(-1),
  claude_stream: await claude.messages.stream(ask).finalText(),
}));
"""


def main() -> int:
    """Print what was tried; 1 where the replay differs."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="recorded-"))
    if not (folder / "node_modules").exists():
        npm = ["npm", "install", "--silent", "--prefix", str(folder), *PACKAGES]
        subprocess.run(npm, check=True)
    (folder / "program.mjs").write_text(PROGRAM)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    project, command = Project(folder, folder), ("--", "node", "program.mjs")
    with FakeAPI() as api:
        api.script(Model())
        first = project.run("calls", "record", *command, env=keys(api))
        asked = len(api.requests)
    again = project.run("calls", "replay", "last", *command, env=keys())
    for package in PACKAGES:
        about = json.loads((folder / "node_modules" / package / "package.json").read_text())
        print(package, about["version"])
    is_same = first.code == again.code == 0 and first.out == again.out and asked == 24
    print(f"{asked} calls recorded, and the replay is {'the same' if is_same else 'another'}")
    if not is_same:
        print(first, again, sep="\n")
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
