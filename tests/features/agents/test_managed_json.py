"""Our entries in JSON of a person, whose comments beside or in one are never lost."""

from __future__ import annotations

from preflights_es.features.agents.agent_files import TABLE
from preflights_es.features.agents.managed_json import parsed
from tests.each import each

SERVERS, HOOKS = TABLE["claude"].files
OURS = '"preflights": {"command": "preflights-es", "args": ["mcp"]}'
HOOK = '{"command": "preflights-es hook SessionStart --agent cursor || exit 0", "timeout": 10}'
MINE = "/* mine */"


@each(
    "found",
    [
        f'{{"mcpServers": {{\n// mine\n{OURS}\n}}}}',
        f'{{"mcpServers": {{\n{OURS}\n// mine\n}}}}',
        f'{{"mcpServers": {MINE} {{\n{OURS}\n}}}}',
        f'{{{MINE} "mcpServers": {{\n{OURS}\n}}}}',
        f'{{"mcpServers": {{"b": 1, // mine\n{OURS}}}, "c": 2}}',
        f'{{"mcpServers": {{"b": 1, // mine\n{OURS}, "d": 3}}}}',
        f'{{"mcpServers": {{ // mine\n{OURS}}}}}',
        '{"mcpServers": {"preflights": {"command": "preflights-es", // mine\n"args": ["mcp"]}}}',
        f'{{"mcpServers": {{{OURS.replace(":", f"{MINE}:", 1)}}}}}',
    ],
)
def test_a_comment_beside_a_server_stays(found: str) -> None:
    left = SERVERS.without(found)
    assert "mine" in left.content
    parsed(left.content)


@each(
    "found",
    [
        f'{{"hooks": {{"sessionStart": [\n// mine\n{HOOK}\n]}}}}',
        f'{{"hooks": {{\n"sessionStart": [\n{HOOK}\n] // mine\n}}}}',
        f'{{"hooks": {{"sessionStart": [{HOOK.replace("{", "{" + MINE)}]}}}}',
        f'{{"hooks": {{"sessionStart": [{{"command": "b"}}, // mine\n{HOOK}]}}}}',
        f'{{"hooks": {{"anOlderEvent": [{HOOK.replace("{", "{" + MINE)}]}}}}',
    ],
)
def test_a_comment_beside_a_hook_stays(found: str) -> None:
    hooks = TABLE["cursor"].files[1]
    for text in (found, hooks.content(found).content):
        left = hooks.without(text)
        assert "mine" in left.content
        parsed(left.content)


def test_an_entry_with_a_comment_is_a_person_s() -> None:
    found = SERVERS.content(None).content.replace('"args"', '// mine\n"args"')
    assert SERVERS.content(found).state == "current"
    assert SERVERS.without(found)[:2] == ("edited", found)
