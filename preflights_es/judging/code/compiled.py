"""Java, Rust, Go and C."""

from __future__ import annotations

from typing import Final

from preflights_es.judging.code.braces import GENERIC
from preflights_es.judging.code.notation import Language, table

_MODIFIERS: Final = (
    r"(?:public|private|protected|internal)"
    r"(?: (?:static|final|abstract|async|readonly|override|virtual|synchronized))*+"
)
_JAVA_TYPE: Final = (
    r"(?:int|long|double|float|boolean|char|byte|void|var|[A-Z]\w*+(?:<[^<>\n;]{1,60}>)?)(?:\[\])?"
)

JAVA: Final = Language(
    "Java",
    anywhere=table(
        r"""
name( | public␣static␣void | public static void \w
name( | System. | System\.(?:out|err)\.print\w*+\(
name( | Console. | Console\.Write\w*+\(
{ | record␣ | record \w++<args>\s*+(?:implements [\w, ]++)?\{
"""
    ),
    at_line=table(
        r"""
public private protected internal | ( | <modifiers> (?:<[^<>\n]{1,40}> )?+(?:<type> )?+\w{1,80}+
    <args>\s*+(?:throws [\w., ]{1,80})?[{;:]
public private protected internal | ; | <modifiers> <type> <name>~(?:=[^\n;]{1,160})?;<end>
import | import (?:static )?[\w.]++(?:\.\*)?;<end>
package | package [\w.]++;<end>
using | using (?:namespace )?[\w.:]++;<end>
final String int long double boolean List Map | = & ; | (?:final )?(?:String|int|long|double|boolean
    |List<[\w, ]+>|Map<[\w, ]+>)(?:\[\])? <name>~=~[^\n;]{1,160};
""",
        modifiers=_MODIFIERS,
        type=_JAVA_TYPE,
    ),
)

RUST: Final = Language(
    "Rust",
    anywhere=table(
        r"""
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
        generic=GENERIC,
    ),
    at_line=table(
        r"""
let | mut | let mut \w
if while | (|= | (?:if|while) let [\w:]++(?:\(|~=)
use pub | :: | (?:pub )?use \w++(?:::[\w{}*, \n]{1,200})++;
use pub | :: | (?:pub )?use (?:std|crate|super|self|tokio|serde)::\w
mod pub | ; | (?:pub )?mod \w++;
pub | pub(?:\(crate\))? (?:struct|enum|trait|mod|const|static|type|unsafe|async) \w++
    <generic>~[;({:=]
impl | { | impl<generic> [\w:<>, ]{1,100}\{
""",
        generic=GENERIC,
    ),
)

GO: Final = Language(
    "Go",
    anywhere=table(
        r"""
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
"""
    ),
    at_line=table(
        r"""
var | = | var \w++ [\w\[\]*.]++~=(?!=)
var | var \w++ (?:int|string|bool|error|byte|rune|float64|\[\]\w++|map\[
    |\*?[a-z]\w*+\.[A-Z]\w*+)[\w\[\]]*+<end>
package | package (?:main<end>|[a-z]\w*+\s*+\n(?:import|func|type|const|var)\b)
import | ( | import \(\s*+[\"\w]
defer go | ( | \w++ <dotted>\(
go | ( | go func\(
"""
    ),
)

_C_TYPE: Final = r"(?:int|char|float|double|void|long|unsigned|size_t|bool|u?int(?:8|16|32|64)_t)"
_C_HEADS: Final = (
    "int char float double void long unsigned size_t bool int8_t int16_t int32_t int64_t uint8_t"
    " uint16_t uint32_t uint64_t const static struct std auto"
)

C: Final = Language(
    "C",
    anywhere=table(
        r"""
# | #~(?:include~[<\"]|define \w|ifdef \w|ifndef \w|endif\b|pragma \w)
name( | main( | int main\(
name( | printf(|malloc(|sizeof(|strlen(|memcpy(
     | (?:f?printf|malloc|sizeof|strlen|memcpy)\(~(?:"|[\w&*]++[),*])
< | std:: | std::\w
< | << | (?:cout|cerr)~<<
> | >> | cin~>>
> | -> | ->(?<=\w->)\w++(?:~=(?![=>])|\([^)\n]|;)
"""
    ),
    at_line=table(
        r"""
<cheads> | = | (?:(?:const|static|unsigned|struct) ){0,4}+(?:<ctype>|auto|[A-Z]\w*+
    |std::[\w:<>, ]{1,80}+)(?: |~\*~)[\w*]{1,80}+(?:\[\w*\])*+~=(?!=)~[^\s=]
<cheads> | ; | (?:(?:const|static|unsigned) ){0,4}+(?:int|char|size_t|bool|u?int(?:8|16|32|64)_t
    |struct \w+|std::\w[\w:<>, ]{0,80}) \*?\w{1,80}+(?:\[\w*\])*+(?:~,~\*?\w++)*+;<end>
<cheads> | ( & {|; | (?:(?:const|static|unsigned|struct) ){0,4}+<ctype> \*?\w{1,80}+<args>\s*+[{;]
typedef | typedef (?:struct|enum|union|unsigned|int|char|void|std)\b
template | template~<~(?:typename|class)␣
std | std::\w
""",
        cheads=_C_HEADS,
        ctype=_C_TYPE,
    ),
)
