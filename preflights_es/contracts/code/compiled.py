"""Java, Rust, Go and C."""

from __future__ import annotations

from typing import Final

from preflights_es.contracts.code.braces import GENERIC
from preflights_es.contracts.code.notation import CALL, Language, rule, words

_MODIFIERS: Final = (
    r"(?:public|private|protected|internal)"
    r"(?: (?:static|final|abstract|async|readonly|override|virtual|synchronized))*+"
)
_JAVA_TYPE: Final = (
    r"(?:int|long|double|float|boolean|char|byte|void|var|[A-Z]\w*+(?:<[^<>\n;]{1,60}>)?)(?:\[\])?"
)

JAVA: Final = Language(
    "Java",
    anywhere=(
        (CALL, rule(r"public static void \w", "public static void")),
        (CALL, rule(r"System\.(?:out|err)\.print\w*+\(", "System.")),
        (CALL, rule(r"Console\.Write\w*+\(", "Console.")),
        ("{", rule(r"record \w++<args>\s*+(?:implements [\w, ]++)?\{", "record ")),
    ),
    at_line=(
        *words(
            "public private protected internal",
            rf"{_MODIFIERS} (?:<[^<>\n]{{1,40}}> )?+(?:{_JAVA_TYPE} )?+\w{{1,80}}+<args>\s*+"
            r"(?:throws [\w., ]{1,80})?[{;:]",
            "(",
        ),
        *words(
            "public private protected internal",
            rf"{_MODIFIERS} {_JAVA_TYPE} <name>~(?:=[^\n;]{{1,160}})?;<end>",
            ";",
        ),
        *words("import", r"import (?:static )?[\w.]++(?:\.\*)?;<end>"),
        *words("package", r"package [\w.]++;<end>"),
        *words("using", r"using (?:namespace )?[\w.:]++;<end>"),
        *words(
            "final String int long double boolean List Map",
            r"(?:final )?(?:String|int|long|double|boolean|List<[\w, ]+>|Map<[\w, ]+>)(?:\[\])? "
            r"<name>~=~[^\n;]{1,160};",
            "=",
            ";",
        ),
    ),
)

RUST: Final = Language(
    "Rust",
    anywhere=(
        (CALL, rule(rf"fn <name>{GENERIC}\(", "fn ")),
        ("{", rule(rf"fn <name>{GENERIC}\(", "fn ")),
        ("{", rule(r"match [\w.&()]{1,80}+\s*+\{", "match ")),
        ("{", rule(rf"impl{GENERIC} [\w:<>, ]{{1,100}}\{{", "impl")),
        (
            "!",
            rule(
                r"(?:println|print|eprintln|format|panic|vec|assert|assert_eq|assert_ne|write|todo"
                r"|unimplemented|matches|dbg|macro_rules|unreachable)!~[(\[{]",
                "!(|![|!{|! {",
            ),
        ),
        (
            "#",
            rule(
                r"#!?\[(?:derive|cfg|test|allow|tokio|macro_use|inline|serde|deny|must_use)\b"
                r"[^\n\]]{0,120}\]",
            ),
        ),
        (">", rule(r"\)~->~[\w&<>\[\]:', ]{1,80}(?:\{|where\b)", "->")),
        ("&", rule(r"&(?:mut )?self[,)]", "self")),
        (CALL, rule(r"(?:\)\.unwrap\(\)|\.unwrap\(\)(?:[;.,)?]|<end>))", ".unwrap()")),
        (CALL, rule(r"Ok\(\(\)\)", "Ok(())")),
    ),
    at_line=(
        *words("let", r"let mut \w", "mut"),
        *words("if while", r"(?:if|while) let [\w:]++(?:\(|~=)", "(|="),
        *words("use pub", r"(?:pub )?use \w++(?:::[\w{}*, \n]{1,200})++;", "::"),
        *words("use pub", r"(?:pub )?use (?:std|crate|super|self|tokio|serde)::\w", "::"),
        *words("mod pub", r"(?:pub )?mod \w++;", ";"),
        *words(
            "pub",
            r"pub(?:\(crate\))? (?:struct|enum|trait|mod|const|static|type|unsafe|async) \w++"
            rf"{GENERIC}~[;({{:=]",
        ),
        *words("impl", rf"impl{GENERIC} [\w:<>, ]{{1,100}}\{{", "{"),
    ),
)

GO: Final = Language(
    "Go",
    anywhere=(
        (CALL, rule(r"func(?: \([^()\n]{1,80}\))? <name>(?:\[[^\]\n]{1,60}\])?\(", "func ")),
        (CALL, rule(r"fmt\.[A-Z]\w++\(", "fmt.")),
        (CALL, rule(r"make\((?:map\[|chan |\[\])", "make(")),
        ("{", rule(r"func\([^()\n]{0,160}\)[^\n{}]{0,80}\{", "func(")),
        ("{", rule(r"select\s*+\{", "select {|select{")),
        ("{", rule(r"type \w++(?:\[[^\]\n]{1,60}\])? (?:struct|interface)~\{", "type ")),
        ("=", rule(r":=~[\w\"'&\[(*<-](?<![^\w)\] \t]:=.)", ":=")),
        ("=", rule(r"[!=]=~nil\b", "nil")),
        ("<", rule(r"case <-", "case <-")),
        ("[", rule(r"map\[\w++\][\w*\[]", "map[")),
    ),
    at_line=(
        *words("var", r"var \w++ [\w\[\]*.]++~=(?!=)", "="),
        *words(
            "var",
            r"var \w++ (?:int|string|bool|error|byte|rune|float64|\[\]\w++|map\["
            r"|\*?[a-z]\w*+\.[A-Z]\w*+)[\w\[\]]*+<end>",
        ),
        *words("package", r"package (?:main<end>|[a-z]\w*+\s*+\n(?:import|func|type|const|var)\b)"),
        *words("import", r"import \(\s*+[\"\w]", "("),
        *words("defer go", r"\w++ <dotted>\(", "("),
        *words("go", r"go func\(", "("),
    ),
)

_C_TYPE: Final = r"(?:int|char|float|double|void|long|unsigned|size_t|bool|u?int(?:8|16|32|64)_t)"
_C_HEADS: Final = (
    "int char float double void long unsigned size_t bool int8_t int16_t int32_t int64_t uint8_t"
    " uint16_t uint32_t uint64_t const static struct std auto"
)

C: Final = Language(
    "C",
    anywhere=(
        ("#", rule(r"#~(?:include~[<\"]|define \w|ifdef \w|ifndef \w|endif\b|pragma \w)")),
        (CALL, rule(r"int main\(", "main(")),
        *(
            (CALL, rule(rf"{name}\(~(?:\"|[\w&*]++[),*])", f"{name}("))
            for name in ("printf", "fprintf", "malloc", "sizeof", "strlen", "memcpy")
        ),
        ("<", rule(r"std::\w", "std::")),
        ("<", rule(r"(?:cout|cerr)~<<", "<<")),
        (">", rule(r"cin~>>", ">>")),
        (">", rule(r"->(?<=\w->)\w++(?:~=(?![=>])|\([^)\n]|;)", "->")),
    ),
    at_line=(
        *words(
            _C_HEADS,
            rf"(?:(?:const|static|unsigned|struct) ){{0,4}}+(?:{_C_TYPE}|auto|[A-Z]\w*+|std::[\w:<>, ]{{1,80}}+)"
            r"(?: |~\*~)[\w*]{1,80}+(?:\[\w*\])*+~=(?!=)~[^\s=]",
            "=",
        ),
        *words(
            _C_HEADS,
            r"(?:(?:const|static|unsigned) ){0,4}+"
            r"(?:int|char|size_t|bool|u?int(?:8|16|32|64)_t|struct \w+|std::\w[\w:<>, ]{0,80}) "
            r"\*?\w{1,80}+(?:\[\w*\])*+(?:~,~\*?\w++)*+;<end>",
            ";",
        ),
        *words(
            _C_HEADS,
            rf"(?:(?:const|static|unsigned|struct) ){{0,4}}+{_C_TYPE} \*?\w{{1,80}}+<args>\s*+[{{;]",
            "(",
            "{|;",
        ),
        *words("typedef", r"typedef (?:struct|enum|union|unsigned|int|char|void|std)\b"),
        *words("template", r"template~<~(?:typename|class) "),
        *words("std", r"std::\w"),
    ),
)
