"""What the languages with braces and semicolons share, and JavaScript with its relatives."""

from __future__ import annotations

from typing import Final

from preflights_es.judging.code.notation import Language, table

GENERIC: Final = r"(?:<[^<>\n]{0,80}>)?"
ASSIGN: Final = r"=(?![=>])"

ANY: Final = Language(
    "source code",
    anywhere=table(
        r"""
{ | )␣{|){|)\n{ | (?:if|for|while|switch|catch)~\([^{}\n]{0,200}\)\s*+\{
{ | interface␣|class␣|enum␣|struct␣|trait␣|union␣|namespace␣ | (?:interface|class|enum|struct|trait|
    union|namespace) <name><generic>~(?:(?:extends|implements|where|with)\b[^\n{}();]{0,100}
    |\([^()\n]{0,100}\)~|:[^\n{};]{0,100})?\{
} | \}~(?:else|catch|finally|while)\b(?:~[({]|~if\b)
} | \}\s*+\)~;
} | return | return\b[^\n;{}]{0,160};\s*+\}
} | return | return\b[^\n{}]{0,160}\n\s*+\}
= | ===|!== | [!=]==~[\w'\"(](?<=[\w)\] \t][!=]==.)
name( | this. | this\.\w{1,80}+\(
name( | new␣ | =~new [A-Z]\w*+<generic>~[({\[]
@ | @\w[\w.]{0,80}+(?:<call>)?+~\n~(?:async|def|class|public|private|protected|export|function|void
    |static|final)␣
""",
        generic=GENERIC,
    ),
    at_line=table(
        r"""
try finally else do | { | \w++\s*+\{
if for while switch match loop unsafe | { | \w++ [^\n{};]{1,160}\{<end>
this | this\.\w{1,80}+~[-+*/]?=(?!=)
for | ( & ; | for~\([^;{}]{0,120};[^;{}]{0,120};
if while | ; & ( | \w++~\([^\n{}]{1,160}\)\s*+(?:return|throw|break|continue)\b[^\n;]{0,160};
if while for | ( & ; | \w++~\([^\n{}]{1,160}\)~[\w$.]{1,80}+(?:\+\+|--|~[-+*/]?=(?!=)
    |\()[^\n;]{0,160};
return throw yield | new | \w++ new [A-Z]\w*+<generic>~[({\[]
return | ; | return (?:-?\d[\w.]*+|[\w$.]++<call>|[\w$]++~[-+*/%<>=&|]{1,3}~[^\n;]{1,80}|null|true
    |false|this|self|None)~;<end>
return | self.|this. | return (?:await )?+(?:self|this)\.\w
return | ( | return (?:await )?+\w++(?:\.\w++)++<call><end>
""",
        generic=GENERIC,
    ),
    # "C++;" ends a line of prose.
    in_line=table(
        r"""
= | ; | [\w$.\[\]]{1,80}+~[-+*/%|&^]?<assign>~(?![A-Za-z]\w*+;)[^\n;=]{1,160};<end>
; | ); | [\w$]++(?:(?:\.|->|::)[\w$]++)*+<call>;<end>
; | ++;|--; | (?![cg]\+)[a-z_][\w.]{0,80}+(?:\+\+|--);<end>
""",
        assign=ASSIGN,
    ),
    at_sign=table(
        r"""
} | \}~\)?;<end>
@ | @(?:property|staticmethod|classmethod|dataclass|abstractmethod|override|Override|Autowired|Test
    |Injectable|Entity|Component|pytest\.\w+|app\.\w+|router\.\w+)\b[\w.]*+(?:\(|<end>)
/ | /\*\*?(?:[ \t\n]|<eol>)
/ | //~\w[^\n]*+\n~[\w$}]
"""
    ),
)

JAVASCRIPT: Final = Language(
    "JavaScript",
    anywhere=table(
        r"""
{ | function | function~(?:\*?~<name>)?+~<generic><args>\s*+(?::[^{};\n]{1,80})?\{
> | => | \)~=>\s*+\{
> | => | =>\s*+\{\s*+(?:return|const|let|if|await|\}|<dotted>(?:\(|~=|;))
> | => | \)~=>\s*+(?:<dotted>(?:\(|\[|~(?:[*/%<>+?]|[!=]==?|&&|\|\|))
    |[(\[{`'\"<!]|(?:await|async|new) )
> | => | (?<![\w$])([\w$]{1,40}+)~=>\s*+[!(\[]*+\1\s*+(?:[.\[(*+/%<>?&|=!-])
name( | console. | console\.(?:log|error|warn|info|debug)\((?!\))
name( | document. | document\.(?:getElement|querySelector|createElement|addEvent|write)\w*+\(
window. | window\.(?:location|onload|open|addEventListener)(?:\.\w++)?+~(?:\(|=)
name( | JSON. | JSON\.(?:stringify|parse)\(\w
$ | \$\([\"']
$ | ` | `[^`\n]{1,160}\$\{
""",
        generic=GENERIC,
    ),
    at_line=table(
        r"""
import | import (?:type )?(?:[\w*${][^;'\"]{0,200}\sfrom~)?[\"'][^\"'\n]{1,200}[\"']<end>
export | export (?:default )?(?:async )?(?:abstract )?(?:function|class|const|let|var|interface|type
    |enum)~\*?~<name>~(?:[=({:<;]|(?:extends|implements) )
export | export (?:default [\w$.]++;|default~[{(\[]|(?:type )?\{[^}]{1,200}\}|\* from)
const let var | = | \w++ (?:mut )?<name>(?:~:[^=;\n]{1,80})?+\s*+<assign>(?![^\n]{1,40}[ \t]be[ \t])
const let var | = | \w++~[\[{][^\n=]{0,160}[\]}]~<assign>
module | module\.exports(?:\.\w+)?~=
let var | ; | \w++ <name>~:~[\w<>\[\]|, ]{1,80};
require | require\(~[\"'`]
type | = | type [A-Z]\w*+<generic>~=~(?:[^\n]{1,160};<end>|[{'\"(\[|])
""",
        assign=ASSIGN,
        generic=GENERIC,
    ),
)
