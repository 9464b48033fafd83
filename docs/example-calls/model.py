"""Stands for a model: reads mails by their words, and runs a command that asks it.

    python3 docs/example-calls/model.py preflights regress --workflow calls --model small-2 --live

`large-1` knows that whoever asks for money back wants a refund; `small-2` looks at the first word
that it knows. Nothing leaves this machine.
"""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = {
    "refund": ("money back", "refund", "charged twice", "paid for nothing"),
    "cancel": ("cancel", "close my account", "end my"),
    "track": ("where is", "arrive", "tracking", "delivered"),
    "change": ("change", "other address", "wrong size"),
}
LARGE = ("refund", "cancel", "track", "change")
SMALL = ("cancel", "change", "track", "refund")


def read_intent(model: str, mail: str) -> str:
    """What the mail wants, as far as this model can tell."""
    order = SMALL if model.startswith("small") else LARGE
    found = (name for name in order if any(words in mail.lower() for words in WORDS[name]))
    return next(found, "other")


class Answering(BaseHTTPRequestHandler):
    """Answers as OpenAI's API does."""

    def do_POST(self) -> None:  # the server calls it by this name
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        mail = asked["messages"][-1]["content"]
        answer = json.dumps({"intent": read_intent(asked["model"], mail)})
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": answer},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": len(mail) // 4, "completion_tokens": 6}
        body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "usage": usage}
        said = json.dumps({**body, "model": asked["model"], "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def main() -> int:
    """Serve while the command runs; its exit code."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    keys = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
    return subprocess.run(sys.argv[1:], env={**os.environ, **keys}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
