"""What a client may read by address, and the prompt that a person starts with `/decide`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Final

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ids import short
from preflights_es.kernel.json import decoded, encoded
from preflights_es.kernel.text import shown
from preflights_es.surfaces.mcp.call import Call, Desk
from preflights_es.surfaces.mcp.rounds import mine
from preflights_es.surfaces.mcp.tool import quoted
from preflights_es.surfaces.mcp.tools import brief_of
from preflights_es.use.request import Request

ROOT: Final = "preflights://"
BRIEF: Final = f"{ROOT}brief"
DECISIONS: Final = f"{ROOT}decisions/"
TRAIL: Final = "/trail"
LISTED_MAX: Final = 50  # decisions that a list of resources names
STEPS_MAX: Final = 500  # events of a trail
TEXT, MARKDOWN, JSON = "text/plain", "text/markdown", "application/json"
PROMPT: Final = """\
Decide this with your person, by the tools of Preflights: {intention}

1. Call brief, and decisions with words of it. If it is decided already, say so and stop.
2. Call start_decision with the intention. If you know the real question, give it too: question,
   two to five options, and with a recommendation the reason.
3. The person answers, never you. Without a form, ask the exact words that the tool returns. Silence
   is no answer.
4. Show what is decided and call accept. Say how the person makes it final.
"""

# 1. Resources --------------------------------------------------------------------------------


def handlers(desk: Desk) -> dict[str, Any]:
    """Of resources and prompts, by the names that the SDK has for them."""

    async def listed(context: ServerRequestContext[Any, Any], _: Any) -> types.ListResourcesResult:
        rows = await _done(Call(desk, context), _decided)
        brief = types.Resource(
            uri=BRIEF, name="brief", mime_type=TEXT, description="What is in force."
        )
        return types.ListResourcesResult(resources=[brief, *rows])

    async def templates(_context: Any, _params: Any) -> types.ListResourceTemplatesResult:
        record, trail = f"{DECISIONS}{{session}}", f"{DECISIONS}{{session}}{TRAIL}"
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(uri_template=record, name="record", mime_type=MARKDOWN),
                types.ResourceTemplate(uri_template=trail, name="trail", mime_type=JSON),
            ]
        )

    async def read(
        context: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        kind, use = _reader(uri)
        text = await _done(Call(desk, context), use)
        content = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[content])

    return {
        "on_list_resources": listed,
        "on_list_resource_templates": templates,
        "on_read_resource": read,
        "on_list_prompts": _prompts,
        "on_get_prompt": _prompt,
    }


async def _done(call: Call, use: Callable[[Request], Any]) -> Any:
    """What a service comes to; its error in one line.

    Raises:
        MCPError: it has no tool to be an error of.
    """
    try:
        return await call.run(use)
    except PreflightsError as error:
        message = call.desk.worded(str(error), error.code, error.fields)
        raise MCPError(types.INVALID_PARAMS, message) from error


def _reader(uri: str) -> tuple[str, Callable[[Request], str]]:
    """The media type of an address, and what reads it.

    Raises:
        MCPError: nothing lies there.
    """
    if uri == BRIEF:
        return TEXT, brief_of
    named = uri.removeprefix(DECISIONS)
    session = named.removesuffix(TRAIL)
    if named == uri or not session or "/" in session:
        message = f"nothing lies at {uri[:200]!r}: read {BRIEF} or {DECISIONS}SESSION"
        raise MCPError(types.INVALID_PARAMS, message)
    if named != session:
        return JSON, lambda request: _trail(request, session)
    return MARKDOWN, lambda request: _record(request, session)


def _decided(request: Request) -> list[types.Resource]:
    from preflights_es.use.decisions import decisions

    newest = [*decisions(request)][: -LISTED_MAX - 1 : -1]
    return [
        types.Resource(
            uri=f"{DECISIONS}{short(row.session_id)}",
            name=shown(row.title) + (" (file)" if row.file else ""),
            mime_type=MARKDOWN,
        )
        for row in newest
    ]


def _record(request: Request, session: str) -> str:
    from preflights_es.use.documents import render

    handle = mine(request, session)
    return render(request, handle.session_id, prints=True)[0].text or ""


def _trail(request: Request, session: str) -> str:
    from preflights_es.use.trail import trail

    found = trail(request, session=mine(request, session).session_id)
    steps = [
        {"version": step.version, "type": step.type, "at": step.at, "actor": step.actor}
        | {"data": step.data}
        for step, *_ in islice(found.steps, STEPS_MAX)
    ]
    return encoded(quoted(decoded(encoded(steps)))).decode()


# 2. The prompt -------------------------------------------------------------------------------


async def _prompts(_context: Any, _params: Any) -> types.ListPromptsResult:
    intention = types.PromptArgument(
        name="intention", description="What is to be decided.", required=False
    )
    prompt = types.Prompt(
        name="decide", description="Decide something, and record it.", arguments=[intention]
    )
    return types.ListPromptsResult(prompts=[prompt])


async def _prompt(_context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name != "decide":
        raise MCPError(
            types.INVALID_PARAMS, f"there is no prompt {params.name[:100]!r}: use decide"
        )
    said = (params.arguments or {}).get("intention", "").strip()
    intention = encoded(said).decode() if said else "ask the person what is to be decided"
    text = types.TextContent(type="text", text=PROMPT.format(intention=intention))
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])
