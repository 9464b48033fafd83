"""How source code is told from prose: a table for each language.

A rule asks for what prose has not: punctuation in the grammar of a language, never a keyword alone
("import the users", "class of customers" and "SELECT one reviewer" are prose). All repetitions are
bounded or possessive, so that a search is linear, and the first letters of a rule are literal where
that can be, so that it is fast. `code_search` reads the tables when it looks for code first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class CodeLanguage(NamedTuple):
    """The rules of one language, by what makes it worth trying them: a table each.

    A row is `gates | needles | pattern`; its needles may be left out, and an indented line goes on
    with it. Each gate has the rule. Of needles, pieces of text, `|` parts those of one group, `&`
    groups: every text that matches holds one of each group. `␣` is a blank; `(?i)` before a
    pattern: in any case. Patterns are written short, see `code_search.expand_short_pattern`.
    """

    name: str
    anywhere: str
    """For what is code wherever it stands. A gate is a piece of text, most often one rare
    character, without which no rule behind it is tried."""
    at_line: str = ""
    """For what is code where a line or a clause begins; a gate is its first word."""
    at_sign: str = ""
    """For lines that begin with no word; a gate is their first character."""
    in_line: str = ""
    """For lines that begin with any word; gates as anywhere."""
    parts: Mapping[str, str] = {}
    """What stands in rows as `<name>`."""


_TAG: Final = (
    r"(?:div|span|p|a|ul|ol|li|table|thead|tbody|tr|td|th|h[1-6]|html|head|body|script|style|form"
    r"|input|button|img|br|hr|meta|link|title|section|nav|header|footer|main|label|select|option"
    r"|textarea|iframe|svg|pre|code|strong|em|b|i|article|aside|template)"
)

# An opening tag alone may be a placeholder or a mention; with attributes, or a closing one, it is
# neither. One expression, because a text may be nothing but brackets.
_MARKUP: Final = (
    r"<(?=[A-Za-z]|/[A-Za-z]|!(?:--|[dD])|[?%][\w=\s])(?:/[A-Za-z][\w:.-]{0,60}+\s*+>"
    r"|!(?:--|(?i:doctype)\b)"
    r"|\?(?:php|xml|=)"
    r"|%[=\s]"
    r"|(?i:br|hr)\s*+/?>"
    rf"|(?i:{_TAG})\s*+>\s*+<(?i:{_TAG})\b"
    r"|[A-Za-z][\w:.-]{0,60}+(?:\s++[\w:@.-]{1,60}+\s*+=\s*+[\"'{]|(?:\s[^<>\n]{0,160})?/>))"
)

HTML: Final = CodeLanguage(
    "HTML",
    anywhere=r"""
< | </|<!|<?|<%|/>|=|><|>␣<|>\n|<br|<hr|<BR|<HR | <markup>
< | <> | (?:return|=>|\()\s*+\(?\s*+<>
< | return | return\s*+\(?\s*+<[A-Za-z]
{ | ; | \{\s*+[a-z-]{2,40}+\s*+:\s*+[^;{}\n]{1,80};
""",
    parts={"markup": _MARKUP},
)

DIFF: Final = CodeLanguage(
    "a diff",
    anywhere=r"""
@ | @@ | @@ -\d++(?:,\d++)? \+\d++(?:,\d++)? @@
+ | +++ & --- | --- [^\s]{0,200}[./][^\n]{0,200}\n\+\+\+ [^\s]{0,200}[./]
+ | -␣␣ & +␣␣ | -[ \t]{2,}+\S[^\n]{0,200}\n\+[ \t]{2,}+\S
* | *** | \*\*\* (?:Begin Patch|End Patch|(?:Update|Add|Delete) File:)
< | <<<<<<< | <<<<<<< \S
""",
    at_line=r"""
diff | diff --git␣
index | index [0-9a-f]{7,40}\.\.[0-9a-f]{7,40}
""",
)

BLOCK: Final = CodeLanguage("a code block", anywhere="` | ``` | ```")


GENERIC: Final = r"(?:<[^<>\n]{0,80}>)?"
ASSIGN: Final = r"=(?![=>])"

ANY: Final = CodeLanguage(
    "source code",
    anywhere=r"""
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
    at_line=r"""
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
    # "C++;" ends a line of prose.
    in_line=r"""
= | ; | [\w$.\[\]]{1,80}+~[-+*/%|&^]?<assign>~(?![A-Za-z]\w*+;)[^\n;=]{1,160};<end>
; | ); | [\w$]++(?:(?:\.|->|::)[\w$]++)*+<call>;<end>
; | ++;|--; | (?![cg]\+)[a-z_][\w.]{0,80}+(?:\+\+|--);<end>
""",
    at_sign=r"""
} | \}~\)?;<end>
@ | @(?:property|staticmethod|classmethod|dataclass|abstractmethod|override|Override|Autowired|Test
    |Injectable|Entity|Component|pytest\.\w+|app\.\w+|router\.\w+)\b[\w.]*+(?:\(|<end>)
/ | /\*\*?(?:[ \t\n]|<eol>)
/ | //~\w[^\n]*+\n~[\w$}]
""",
    parts={"generic": GENERIC, "assign": ASSIGN},
)

JAVASCRIPT: Final = CodeLanguage(
    "JavaScript",
    anywhere=r"""
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
    at_line=r"""
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
    parts={"generic": GENERIC, "assign": ASSIGN},
)


# `import users` may be a plan: it is code where the module is a well-known one.
_MODULE: Final = (
    r"(?:os|sys|re|io|json|csv|math|time|datetime|random|logging|typing|pathlib|asyncio|argparse"
    r"|subprocess|collections|itertools|functools|dataclasses|abc|uuid|copy|shutil|threading"
    r"|sqlite3|pickle|hashlib|unittest|pytest|numpy|pandas|requests|flask|django|fastapi|sqlalchemy"
    r"|pydantic|torch|tensorflow|scipy|sklearn|matplotlib|socket|enum|string|glob|tempfile|decimal"
    r"|traceback|click|httpx|boto3|redis|yaml)\b"
)
_FILE: Final = r"(?:csv|tsv|xlsx?|json|xml|ya?ml|txt|sql|zip|pdf|png|jpe?g|md|log|html?|io)\b"
_IMPORTED: Final = r"\w++(?: as \w++)?+"
_TERM: Final = r"(?:not )?+[\w.\[\]'\"()-]{1,80}+"
_OPERATOR: Final = r"(?:~(?:==|!=|<=|>=|[<>%+*-])~| (?:not in|is not|in|is|and|or)(?=[ \t])[ \t]++)"
_CONDITION: Final = rf"{_TERM}(?:{_OPERATOR}{_TERM}){{0,8}}+"
_ASSIGNED: Final = r"[\w.\[\]'\"]{1,80}+~[-+*/%|&]?=(?!=)~\S"
_STATEMENT: Final = (
    r"(?:return\b(?!<prose>)|(?:pass|break|continue)<end>|raise \w++(?:\(|<end>)|yield\b|print\("
    rf"|await \w|self\.|assert |{_ASSIGNED}|<dotted><call><end>)"
)
_LOOP: Final = r"for \w++(?:~,~\w++)*+ in "
_HINT: Final = (
    r"(?:str|int|float|bool|bytes|Any|None|(?:Optional|Union|List|Dict|Literal|[a-z]+)\[)"
)

PYTHON: Final = CodeLanguage(
    "Python",
    # `for \1 in`, and `lambda` with `\1`: a name is used beside its binding, which no prose does.
    anywhere=r'''
name( | def␣ | def <name>\(
name( | class␣ | class <name>\([\w.,= \t\[\]]{0,200}\)~:
name( | async␣ | async (?:def|function|fn)~\*?~\w*+~[(<]
name( | await␣ | await <dotted>\(
name( | for␣ | <loop>(?:range|enumerate|zip|sorted|reversed|map|filter)\(
name( | ␣as␣ | with <dotted>\([^\n]{0,160}?\) as \w++~:
name( | open( | with open\(
name( | print( | print\(~f?[\"']
name( | exec(|eval( | (?:exec|eval)\(~(?:[bfru]{0,2}+["']|\w{1,80}+[.(])
name( | __import__( | __import__\(~["']
name( | raise␣ | raise \w{0,80}(?:Error|Exception)\(
name( | (self | \(self[,)]
name( | self. | self\.\w{1,80}+\(
name( | super(). | super\(\)\.\w
name( | lambda | lambda(?:(?<=[=(,]lambda)|(?<=[=(,][ ]lambda))\b[^:\n]{0,80}:
{ | f"|f' | f[\"'][^\"'\n{]{0,160}\{[\w.]+[^{}\n]{0,40}\}
" | """ | """
[ | ␣for␣ & ␣in␣ | \[~(?:\w++\()?+(\w{1,40}+)\b[^\[\]\n]{0,80} for \1 in \w
: | lambda␣ | lambda (\w{1,40}+)(?:~,~\w++)*+:[^:\n]{0,40}(?<!\w)\1~[-+*/%.\[<>=]
''',
    at_line=r"""
class | pass|... | class [A-Z]\w{0,80}+:~(?:pass\b|\.\.\.)
class | class [A-Z]\w{0,80}+:~\n~(?:def |pass\b|@\w|\"\"\"|\.\.\.|async |\w++~=|\w++:~[\w\[\]]++~
    (?:=|<eol>))
self | = | self\.\w{1,80}+~[-+*/]?=(?!=)
if | = | if __name__~==
if while | = & : | \w++ [^\n:]{1,80}?[=!]=~[^\n:]{1,80}:<end>
elif | elif [^\n:]{1,160}:
async | : | async (?:with|for) [^\n:]{1,160}:<end>
import | import <module>(?:\.\w+)*+(?: as \w+)?(?:,~[\w.]+)*+<end>
import | as | import [\w.]++ as \w{1,4}<end>
import | . | import [a-z_]\w*+(?:\.(?!<file>)\w++)++(?: as \w+)?<end>
from | import & ( | from [\w.]{1,80}+ import \(
from | import | from [\w.]{1,80}+ import (?:\*|<imported>(?:~,~<imported>){0,30}+)<end>
for | : | <loop><condition>:~(?:\n~)?+<statement>
if elif | : | (?:el)?if <condition>~:~\n~<statement>
if elif | : | (?:el)?if (?=[^\n:]*[=<>()\[\].])<condition>~:~<statement>
while | : | while <condition>~:~(?:\n~)?+<statement>
else try finally except | : | (?:else|try|finally|except):~\n~<statement>
except | except \(?[\w., ]{0,80}(?:Error|Exception)\b[\w., ]{0,80}\)?~:
from import | import & ; & ( | (?:from [\w.]{1,80}+ )?+import [\w.]{1,80}+(?: as \w++)?+
    (?:~,~<imported>){0,30}+~;~<dotted><call><end>
print exec eval | ( | (?:print|exec|eval)<call><end>
assert | =|<|> | assert (?!that\b)[^\s=!<>][^\n=!<>]{0,120}(?:==|!=|<=|>=|<|>)
assert | None|True|False | assert (?!that\b)[\w.()\[\]'\"]{1,80}+ is (?:not )?(?:None|True|False)\b
""",
    in_line=r"""
= | : | \w++:~<hint>[^\n=]{0,80}=~\S
= | lambda | [\w.]{1,80}+~=~lambda\b[^:\n]{0,80}:
= | ␣for␣ | [\w.]{1,80}+~=~[\[({][^\[\]\n]{1,100}[ \t]for \w++(?:,~\w++)?+ in␣
= | ( | [\w.]{1,80}+~[-+*/]?=~(?:await )?+\w++(?:\.\w++)++<call><end>
""",
    parts={
        "loop": _LOOP,
        "module": _MODULE,
        "file": _FILE,
        "imported": _IMPORTED,
        "condition": _CONDITION,
        "statement": _STATEMENT,
        "hint": _HINT,
    },
)


_MODIFIERS: Final = (
    r"(?:public|private|protected|internal)"
    r"(?: (?:static|final|abstract|async|readonly|override|virtual|synchronized))*+"
)
_JAVA_TYPE: Final = (
    r"(?:int|long|double|float|boolean|char|byte|void|var|[A-Z]\w*+(?:<[^<>\n;]{1,60}>)?)(?:\[\])?"
)

JAVA: Final = CodeLanguage(
    "Java",
    anywhere=r"""
name( | public␣static␣void | public static void \w
name( | System. | System\.(?:out|err)\.print\w*+\(
name( | Console. | Console\.Write\w*+\(
{ | record␣ | record \w++<args>\s*+(?:implements [\w, ]++)?\{
""",
    at_line=r"""
public private protected internal | ( | <modifiers> (?:<[^<>\n]{1,40}> )?+(?:<type> )?+\w{1,80}+
    <args>\s*+(?:throws [\w., ]{1,80})?[{;:]
public private protected internal | ; | <modifiers> <type> <name>~(?:=[^\n;]{1,160})?;<end>
import | import (?:static )?[\w.]++(?:\.\*)?;<end>
package | package [\w.]++;<end>
using | using (?:namespace )?[\w.:]++;<end>
final String int long double boolean List Map | = & ; | (?:final )?(?:String|int|long|double|boolean
    |List<[\w, ]+>|Map<[\w, ]+>)(?:\[\])? <name>~=~[^\n;]{1,160};
""",
    parts={"modifiers": _MODIFIERS, "type": _JAVA_TYPE},
)

RUST: Final = CodeLanguage(
    "Rust",
    anywhere=r"""
name( { | fn␣ | fn <name><generic>\(
{ | match␣ | match [\w.&()]{1,80}+\s*+\{
{ | impl | impl<generic> [\w:<>, ]{1,100}\{
! | !(|![|!{|!␣{ | (?:println|print|eprintln|format|panic|vec|assert|assert_eq|assert_ne|write|todo|
    unimplemented|matches|dbg|macro_rules|unreachable)!~[(\[{]
# | #!?\[(?:derive|cfg|test|allow|tokio|macro_use|inline|serde|deny|must_use)\b[^\n\]]{0,120}\]
> | -> | \)~->~[\w&<>\[\]:', ]{1,80}(?:\{|where\b)
& | self | &(?:mut )?self[,)]
name( | .unwrap() | (?:\)\.unwrap\(\)|\.unwrap\(\)(?:[;.,)?]|<end>))
name( | Ok(()) | Ok\(\(\)\)
""",
    at_line=r"""
let | mut | let mut \w
if while | (|= | (?:if|while) let [\w:]++(?:\(|~=)
use pub | :: | (?:pub )?use \w++(?:::[\w{}*, \n]{1,200})++;
use pub | :: | (?:pub )?use (?:std|crate|super|self|tokio|serde)::\w
mod pub | ; | (?:pub )?mod \w++;
pub | pub(?:\(crate\))? (?:struct|enum|trait|mod|const|static|type|unsafe|async) \w++
    <generic>~[;({:=]
impl | { | impl<generic> [\w:<>, ]{1,100}\{
""",
    parts={"generic": GENERIC},
)

GO: Final = CodeLanguage(
    "Go",
    anywhere=r"""
name( | func␣ | func(?: \([^()\n]{1,80}\))? <name>(?:\[[^\]\n]{1,60}\])?\(
name( | fmt. | fmt\.[A-Z]\w++\(
name( | make( | make\((?:map\[|chan |\[\])
{ | func( | func\([^()\n]{0,160}\)[^\n{}]{0,80}\{
{ | select␣{|select{ | select\s*+\{
{ | type␣ | type \w++(?:\[[^\]\n]{1,60}\])? (?:struct|interface)~\{
= | := | :=~[\w\"'&\[(*<-](?<![^\w)\] \t]:=.)
= | nil | [!=]=~nil\b
< | case␣<- | case <-
[ | map[ | map\[\w++\][\w*\[]
""",
    at_line=r"""
var | = | var \w++ [\w\[\]*.]++~=(?!=)
var | var \w++ (?:int|string|bool|error|byte|rune|float64|\[\]\w++|map\[
    |\*?[a-z]\w*+\.[A-Z]\w*+)[\w\[\]]*+<end>
package | package (?:main<end>|[a-z]\w*+\s*+\n(?:import|func|type|const|var)\b)
import | ( | import \(\s*+[\"\w]
defer go | ( | \w++ <dotted>\(
go | ( | go func\(
""",
)

_C_TYPE: Final = r"(?:int|char|float|double|void|long|unsigned|size_t|bool|u?int(?:8|16|32|64)_t)"
_C_HEADS: Final = (
    "int char float double void long unsigned size_t bool int8_t int16_t int32_t int64_t uint8_t"
    " uint16_t uint32_t uint64_t const static struct std auto"
)

C: Final = CodeLanguage(
    "C",
    anywhere=r"""
# | #~(?:include~[<\"]|define \w|ifdef \w|ifndef \w|endif\b|pragma \w)
name( | main( | int main\(
name( | printf(|malloc(|sizeof(|strlen(|memcpy(
     | (?:f?printf|malloc|sizeof|strlen|memcpy)\(~(?:"|[\w&*]++[),*])
< | std:: | std::\w
< | << | (?:cout|cerr)~<<
> | >> | cin~>>
> | -> | ->(?<=\w->)\w++(?:~=(?![=>])|\([^)\n]|;)
""",
    at_line=r"""
<cheads> | = | (?:(?:const|static|unsigned|struct) ){0,4}+(?:<ctype>|auto|[A-Z]\w*+
    |std::[\w:<>, ]{1,80}+)(?: |~\*~)[\w*]{1,80}+(?:\[\w*\])*+~=(?!=)~[^\s=]
<cheads> | ; | (?:(?:const|static|unsigned) ){0,4}+(?:int|char|size_t|bool|u?int(?:8|16|32|64)_t
    |struct \w+|std::\w[\w:<>, ]{0,80}) \*?\w{1,80}+(?:\[\w*\])*+(?:~,~\*?\w++)*+;<end>
<cheads> | ( & {|; | (?:(?:const|static|unsigned|struct) ){0,4}+<ctype> \*?\w{1,80}+<args>\s*+[{;]
typedef | typedef (?:struct|enum|union|unsigned|int|char|void|std)\b
template | template~<~(?:typename|class)␣
std | std::\w
""",
    parts={"cheads": _C_HEADS, "ctype": _C_TYPE},
)


_TABLE: Final = r"[\w.\"`\[\]]{1,80}+"
_COLUMN: Final = r"[\w.\"`*]{1,60}+(?:\([\w.*\"` ,]{0,60}\))?+(?:\s++as\s++\w++)?+"
_COLUMNS: Final = rf"(?:distinct\s++)?+{_COLUMN}(?:\s*+,\s*+{_COLUMN}){{0,20}}+"
_FROM: Final = rf"\s++from\s++(?!<article>){_TABLE}"
_ALIAS: Final = r"(?:\s++(?:as\s++)?+(?!where\b|order\b|group\b|on\b)\w++)?+"
_COMPARED: Final = (
    r"[\w.\"`]{1,80}+\s*+"
    r"(?:[=<>]|!=|\blike\b|\bin\s*+\(|\bis\s++(?:not\s++)?+null\b|\bbetween\b)"
)
_TYPE: Final = (
    r"(?:int|integer|serial|bigserial|bigint|smallint|varchar|uuid|boolean|timestamptz?|jsonb"
    r"|numeric|decimal|bytea|nvarchar|datetime|text|date|blob|real|char)\b"
)
_THING: Final = (
    r"(?:INDEX|VIEW|TRIGGER|FUNCTION|PROCEDURE|SCHEMA|DATABASE|SEQUENCE|TYPE|EXTENSION|OPERATOR)"
)
_NAMED: Final = r"(?!(?i:<article>))[\w\"`]"
_WHERE: Final = rf"select\s++{_COLUMNS}{_FROM}{_ALIAS}\s++where\s++{_COMPARED}"
_AGGREGATE: Final = (
    r"\s++(?:distinct\s++)?+(?:[\w., ]{0,80},\s*+)?(?:count|sum|avg|min|max|coalesce)"
    r"\([^()\n]{0,60}\)[^;]{0,80}?\sfrom\s"
)
_ALL: Final = r"\s++(?:distinct\s++)?+(?:\w++\.)?+\*\s++from\s++(?!<article>)\w"
_INSERT: Final = rf"\s++into\s++{_TABLE}\s*+(?:\([^()]{{1,300}}\)\s*+)?(?:values\s*+\(|select\s)"

SQL: Final = CodeLanguage(
    "SQL",
    anywhere=r"""
F | FROM & SELECT | SELECT\s++(?![^;]{0,160}FROM\s++(?i:<article>))(?:[^;.]
    |\.(?=\S)){1,160}?\sFROM\s++<named>
F | FROM & DELETE | DELETE\s++FROM\s++<named>
B | TABLE | (?:CREATE(?: (?:TEMP|TEMPORARY|UNLOGGED))?|ALTER|DROP|TRUNCATE)\s++TABLE\s++(?:IF\s++
    (?:NOT\s++)?EXISTS\s++)?<named>
* | select|SELECT | (?:select|SELECT)(?i:<all>)
name( | select|SELECT | (?:select|SELECT)(?i:<aggregate>)
( | INSERT & INTO | INSERT(?i:<insert>)
""",
    at_line=r"""
select | (?i)<where>
select | (?i)select(?:<all>|<aggregate>)
select | (?i)select\s++(?=[^;\n]{0,200}[._;])(?=[^;\n]{0,200},)<columns><source>\s*+(?:;|<eol>)
select | (?i)select\s++<columns><source>\s*+;
select | (?i)select\s++<columns><source><alias>\s++(?:order|group)\s++by\s
select | SELECT (?:\d|[\w.]++\()
insert | (?i)insert<insert>
update | (?i)update\s++<table>\s++set\s++[\w.\"`]{1,80}+\s*+=
join left inner | (?i)(?:(?:left|inner|outer)\s++){0,3}+join\s++<table>
    <alias>\s++on\s++\(?\w++\.\w++\s*+=
merge | MERGE INTO \w[^\n]{0,80} USING␣
delete | (?i)delete\s++from\s++(?!<article>)<table>(?:\s*+;|\s++where\s++<compared>)
create | CREATE(?: OR REPLACE)?(?: UNIQUE)? <thing> <named>
create | (?i)create\s++(?:temp\s++|temporary\s++)?+table\s++(?:if\s++not\s++exists\s++)?+
    <table>\s*+\(\s*+[\w\"`]{1,60}+\s++<type>\s*+(?:\(\d|,|\)|primary\s|not\s++null|unique\b
    |default\s|references\s)
drop alter | (?:DROP|ALTER)\s++(?:<thing>|COLUMN)\s++<named>
drop | (?i)drop\s++(?:table|index|view|database|schema|column)\s++(?:if\s++exists\s++)?+<table>
    (?:\s++cascade)?+\s*+;
alter | (?i)alter\s++table\s++<table>\s++(?:add|drop|alter|rename)\s++(?:column|constraint)\s
with | (?i)with\s++(?:recursive\s++)?+\w++\s++as\s*+\(\s*+select\s
grant revoke | (?:GRANT|REVOKE) [A-Z, ]{3,60} ON␣
begin commit rollback | (?:BEGIN(?: TRANSACTION)?|COMMIT|ROLLBACK);<end>
""",
    parts={
        "named": _NAMED,
        "all": _ALL,
        "aggregate": _AGGREGATE,
        "insert": _INSERT,
        "where": _WHERE,
        "columns": _COLUMNS,
        "source": _FROM,
        "alias": _ALIAS,
        "table": _TABLE,
        "compared": _COMPARED,
        "thing": _THING,
        "type": _TYPE,
    },
)


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
_PATH: Final = r"[\w*~$-]*+[./][\w./*~$-]*+"

SHELL: Final = CodeLanguage(
    "shell",
    anywhere=r"""
# | #! | #!~/
$ | $␣ | \$ <tool> \S
$ | $( | (?:=|\"|echo )\$\([a-z][\w-]*+(?: [^()\n]{1,120})?\)
$ | case␣ | case [\"']?\$\S{1,40} in\b
$ | "$ | \"\$[A-Za-z_@{*#?]
& | && | &&~<tool>␣
> | /dev/null | >~/dev/null
{ | ()␣{|(){ | \(\)~\{
""",
    at_line=r"""
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
    at_sign=r"""
. | \./[\w./-]++(?:(?<=\.sh)| -)
""",
    parts={"tool": _TOOL, "tools": _TOOLS, "filter": _FILTER, "package": _PACKAGE, "file": _PATH},
)


LANGUAGES: Final = (BLOCK, DIFF, PYTHON, RUST, GO, JAVA, C, JAVASCRIPT, HTML, SQL, SHELL, ANY)
"""In the order in which they are tried."""
