"""Shell: a command within a sentence is a mention; one that begins a line, with flags, is not."""

from __future__ import annotations

from typing import Final

from preflights_es.judging.code.notation import Language, table

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
    anywhere=table(
        r"""
# | #! | #!~/
$ | $␣ | \$ <tool> \S
$ | $( | (?:=|\"|echo )\$\([a-z][\w-]*+(?: [^()\n]{1,120})?\)
$ | case␣ | case [\"']?\$\S{1,40} in\b
$ | "$ | \"\$[A-Za-z_@{*#?]
& | && | &&~<tool>␣
> | /dev/null | >~/dev/null
{ | ()␣{|(){ | \(\)~\{
""",
        tool=_TOOL,
    ),
    at_line=table(
        r"""
<tools> | - | <tool>(?: (?!-)[\w./:@=~*\"'$-]{1,80}+){0,5}+ --?[a-zA-Z][\w-]*+(?=[\s=\"'`;,.)\x7f]
    |\Z)
<tools> | && | <tool> [^\n&]{1,160}&& \w
<tools> | <tool> [^\n|]{0,120}\|~<filter>\b
if while elif | [ | \w++ \[\[? [^\n\]]{1,160}\]
chmod | chmod (?:[0-7]{3,4}|[ugoa]*[+=-][rwxst]+) \S
chown | chown [\w-]+:[\w-]* \S
curl wget | \w++ [\"']?https?://
sudo | sudo <tool> \w
apt-get | apt-get (?:install|update|upgrade|remove)␣
pip pip3 npm yarn pnpm brew gem cargo apt conda uv poetry | \w++(?: pip)? (?:install|add) <package>
    <end>
go | go get [\w.-]++/[\w./@-]++<end>
npm yarn pnpm | \w++ run [\w:-]++<end>
kubectl | kubectl (?:get|apply|describe|delete|create|logs) [\w/-]++<end>
echo | > | echo [^\n>]{1,80}>>?~<file><end>
git | git (?:clone (?:https?|git@|ssh)|(?:push|pull) origin|checkout \w+[/-]|add \.|init<end>)
echo | echo (?:[\"'][^\n]|\$[\w{(])
export | = | export [A-Z_][A-Z0-9_]*+=\S
for | ; | for \w++ in [^;\n]{1,120};\s*+do\b
while | ; | while (?:read|true|:|\[)[^;\n]{0,120};\s*+do\b
if elif | ; & then | (?:el)?if [^;\n]{1,160};\s*+then\b(?=~(?:<eol>|\w++ [-\"'$./]))
cd | cd (?:\.\.|[~/$.][\w./-]*+)<end>
rm cp mv mkdir touch cat | \w++ <file>(?: <file>)?<end>
python python3 node bash sh ruby perl php | \w++ [\w./~-]{1,80}\.(?:py|js|mjs|ts|sh|rb|pl|php)\b
ssh scp | \w++ [\w.-]++@[\w.-]++
source | source [\w./~$-]{0,80}(?:activate|\.sh|\.env|rc)<end>
""",
        tools=_TOOLS,
        tool=_TOOL,
        filter=_FILTER,
        package=_PACKAGE,
        file=_FILE,
    ),
    at_sign=table(
        r"""
. | \./[\w./-]++(?:(?<=\.sh)| -)
"""
    ),
)
