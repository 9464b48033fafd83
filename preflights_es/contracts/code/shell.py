"""Shell: a command within a sentence is a mention; one that begins a line, with flags, is not."""

from __future__ import annotations

from typing import Final

from preflights_es.contracts.code.notation import Language, rule, words

_TOOLS: Final = (
    "sudo apt apt-get yum dnf brew pip pip3 npm npx yarn pnpm cargo go docker docker-compose podman"
    " kubectl helm terraform ansible git curl wget chmod chown mkdir rm cp mv cd ls cat grep sed"
    " awk echo tar ssh scp rsync systemctl psql mysql python python3 node make pytest bash sh find"
    " touch kill export source uv poetry ruff mypy alembic gh aws gcloud openssl ps xargs head tail"
    " sort"
)
_TOOL: Final = rf"(?:{_TOOLS.replace(' ', '|')})"
_FILTER: Final = (
    r"(?:grep|awk|sed|sort|wc|head|tail|xargs|less|tee|uniq|cut|tr|jq|sh|bash|python3?|psql)"
)
_PACKAGE: Final = (
    r"(?!(?:fails?|succeeds?|works?|passes|completes?|runs?|finishes|step|command|errors?|is|was"
    r"|must|should|and|or|to|in|on|for|with|of|the|a|without|offline|locally|again|first|log"
    r"|cache|output)\b)[\w@/.\[\]=<>~^-]++"
)
_FILE: Final = r"[\w*~$-]*+[./][\w./*~$-]*+"

SHELL: Final = Language(
    "shell",
    anywhere=(
        ("#", rule(r"#!~/", "#!")),
        ("$", rule(rf"\$ {_TOOL} \S", "$ ")),
        ("$", rule(r"(?:=|\"|echo )\$\([a-z][\w-]*+(?: [^()\n]{1,120})?\)", "$(")),
        ("$", rule(r"case [\"']?\$\S{1,40} in\b", "case ")),
        ("$", rule(r"\"\$[A-Za-z_@{*#?]", '"$')),
        ("&", rule(rf"&&~{_TOOL} ", "&&")),
        (">", rule(r">~/dev/null", "/dev/null")),
        ("{", rule(r"\(\)~\{", "() {|(){")),
    ),
    at_line=(
        *words(
            _TOOLS,
            rf"{_TOOL}(?: (?!-)[\w./:@=~*\"'$-]{{1,80}}+){{0,5}}+ --?[a-zA-Z][\w-]*+"
            r"(?=[\s=\"'`;,.)\x7f]|\Z)",
            "-",
        ),
        *words(_TOOLS, rf"{_TOOL} [^\n&]{{1,160}}&& \w", "&&"),
        *words(_TOOLS, rf"{_TOOL} [^\n|]{{0,120}}\|~{_FILTER}\b", "|"),
        *words("if while elif", r"\w++ \[\[? [^\n\]]{1,160}\]", "["),
        *words("chmod", r"chmod (?:[0-7]{3,4}|[ugoa]*[+=-][rwxst]+) \S"),
        *words("chown", r"chown [\w-]+:[\w-]* \S"),
        *words("curl wget", r"\w++ [\"']?https?://"),
        *words("sudo", rf"sudo {_TOOL} \w"),
        *words("apt-get", r"apt-get (?:install|update|upgrade|remove) "),
        *words(
            "pip pip3 npm yarn pnpm brew gem cargo apt conda uv poetry",
            rf"\w++(?: pip)? (?:install|add) {_PACKAGE}<end>",
        ),
        *words("go", r"go get [\w.-]++/[\w./@-]++<end>"),
        *words("npm yarn pnpm", r"\w++ run [\w:-]++<end>"),
        *words("kubectl", r"kubectl (?:get|apply|describe|delete|create|logs) [\w/-]++<end>"),
        *words("echo", rf"echo [^\n>]{{1,80}}>>?~{_FILE}<end>", ">"),
        *words(
            "git",
            r"git (?:clone (?:https?|git@|ssh)|(?:push|pull) origin|checkout \w+[/-]|add \."
            r"|init<end>)",
        ),
        *words("echo", r"echo (?:[\"'][^\n]|\$[\w{(])"),
        *words("export", r"export [A-Z_][A-Z0-9_]*+=\S", "="),
        *words("for", r"for \w++ in [^;\n]{1,120};\s*+do\b", ";"),
        *words("while", r"while (?:read|true|:|\[)[^;\n]{0,120};\s*+do\b", ";"),
        *words(
            "if elif",
            r"(?:el)?if [^;\n]{1,160};\s*+then\b(?=~(?:<eol>|\w++ [-\"'$./]))",
            ";",
            "then",
        ),
        *words("cd", r"cd (?:\.\.|[~/$.][\w./-]*+)<end>"),
        *words("rm cp mv mkdir touch cat", rf"\w++ {_FILE}(?: {_FILE})?<end>"),
        *words(
            "python python3 node bash sh ruby perl php",
            r"\w++ [\w./~-]{1,80}\.(?:py|js|mjs|ts|sh|rb|pl|php)\b",
        ),
        *words("ssh scp", r"\w++ [\w.-]++@[\w.-]++"),
        *words("source", r"source [\w./~$-]{0,80}(?:activate|\.sh|\.env|rc)<end>"),
    ),
    at_sign=((".", rule(r"\./[\w./-]++(?:(?<=\.sh)| -)")),),
)
