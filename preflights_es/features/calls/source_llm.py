"""Calls of models in `logs.db`, the database of llm; it is read, never written."""

from __future__ import annotations

import sqlite3
from base64 import b64encode
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from preflights_es.features.calls.domain.dialects import (
    json_items,
    json_mapping,
    json_string,
    read_structure,
)
from preflights_es.features.calls.source_calls import (
    Found,
    SourceCall,
    UnreadLine,
    build_source_call,
)
from preflights_es.features.calls.source_otel import read_chat_turns
from preflights_es.kernel.errors import Refused


def read_llm_calls(path: str) -> Found:
    """Of `logs.db`, rows of `turns`, which llm has from 0.32 on; opened for reading alone.

    Raises:
        Refused: it is no database of llm, or damaged.
    """
    try:
        uri = f"{Path(path).resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as base:
            base.row_factory = sqlite3.Row
            base.text_factory = partial(str, encoding="utf-8", errors="replace")
            for row in base.execute("SELECT rowid AS line, * FROM turns ORDER BY id"):
                yield _llm_turn(base, dict(row))
    except sqlite3.Error as error:
        raise Refused(f"{path!r} cannot be read as a database of llm: {error}") from error


def _llm_turn(base: sqlite3.Connection, row: dict[str, Any]) -> SourceCall | UnreadLine:
    asked = _llm_messages(base, row["parent_message_hash"], None)
    answered = _llm_messages(base, row["tip_message_hash"], row["parent_message_hash"])
    tools = base.execute(
        "SELECT DISTINCT name, description, input_schema AS parameters FROM turn_tools"
        " JOIN tools ON tools.id = tool_id WHERE turn_id = ? ORDER BY tools.id",
        (row["id"],),
    )
    parameters = dict(json_mapping(read_structure(row["options_json"])))
    if functions := [
        {**tool, "parameters": read_structure(tool["parameters"])} for tool in map(dict, tools)
    ]:
        parameters["tools"] = [{"type": "function", "function": one} for one in functions]
    values = {
        "id": row["id"],
        "session": row["thread_id"],
        "time": row["datetime_utc"],
        "path": "/v1/chat/completions",
        "model": row["model"],
        "answered_by": row.get("resolved_model"),
        "parameters": parameters,
        "request": asked or None,
        "response": answered[0] if answered else None,
        "tokens_in": row.get("input_tokens"),
        "tokens_out": row.get("output_tokens"),
    }
    return build_source_call(row["line"], values, {})


def _llm_messages(base: sqlite3.Connection, tip: Any, end: Any) -> list[dict[str, Any]]:
    """The chain of messages up to a tip, from behind another on, as turns of OpenAI's chat."""
    rows = base.execute(
        "WITH RECURSIVE chain(hash, parent, role, depth) AS ("
        "  SELECT hash, parent_hash, role, 0 FROM messages WHERE hash = ? AND hash IS NOT ?"
        "  UNION ALL SELECT m.hash, m.parent_hash, m.role, depth + 1 FROM messages m JOIN chain"
        "  ON m.hash = chain.parent WHERE m.hash IS NOT ? AND depth < 10000"
        ") SELECT hash, role, type, text, payload FROM chain"
        " JOIN parts ON message_hash = hash ORDER BY depth DESC, position",
        (tip, end, end),
    )
    messages: dict[str, dict[str, Any]] = {}
    for hash_, role, kind, text, payload in rows:
        message = messages.setdefault(hash_, {"role": role, "parts": []})
        message["parts"].append(_llm_part(base, kind, text, json_mapping(read_structure(payload))))
    return read_chat_turns(list(messages.values()), "user")


def _llm_part(
    base: sqlite3.Connection, kind: str, text: str | None, held: dict[str, Any]
) -> dict[str, Any]:
    """A part under the names of OpenTelemetry, which `read_chat_turns` reads."""

    def one_of(query: str, id_: Any) -> Any:
        return base.execute(query, (id_,)).fetchone()

    if kind == "tool_result":
        response = held.get("output")
        return {"type": "tool_call_response", "id": held.get("tool_call_id"), "response": response}
    if kind == "attachment":
        id_ = json_mapping(held.get("attachment")).get("id")
        query = "SELECT type, path, url, content FROM attachments WHERE id = ?"
        mime, path, url, content = one_of(query, id_) or ("", "", "", None)
        data = f"data:{mime};base64,{b64encode(content or b'').decode()}"
        if json_string(mime).startswith("image/") and (content or url):
            return {"type": "image_url", "image_url": {"url": data if content else url}}
        return {"type": "file", "file": {"filename": path or url, "file_data": data}}
    for piece in map(json_mapping, json_items(held.get("text_ref"))):  # text that quotes fragments
        query = "SELECT content FROM fragments WHERE id = ?"
        quoted = piece.get("literal") or (one_of(query, piece.get("fragment")) or ("",))[0]
        text = (text or "") + json_string(quoted)
    return {**held, "type": kind, "id": held.get("tool_call_id"), "content": text}
