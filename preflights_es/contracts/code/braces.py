"""What the languages with braces and semicolons share, and JavaScript with its relatives."""

from __future__ import annotations

from typing import Final

from preflights_es.contracts.code.notation import CALL, Language, rule, words

GENERIC: Final = r"(?:<[^<>\n]{0,80}>)?"
ASSIGN: Final = r"=(?![=>])"
BODY: Final = ") {|){|)\n{"
"""A needle: what opens a block behind a list of parameters or a condition."""

ANY: Final = Language(
    "source code",
    anywhere=(
        ("{", rule(r"(?:if|for|while|switch|catch)~\([^{}\n]{0,200}\)\s*+\{", BODY)),
        (
            "{",
            rule(
                rf"(?:interface|class|enum|struct|trait|union|namespace) <name>{GENERIC}~"
                r"(?:(?:extends|implements|where|with)\b[^\n{}();]{0,100}|\([^()\n]{0,100}\)~"
                r"|:[^\n{};]{0,100})?\{",
                "interface |class |enum |struct |trait |union |namespace ",
            ),
        ),
        ("}", rule(r"\}~(?:else|catch|finally|while)\b(?:~[({]|~if\b)")),
        ("}", rule(r"\}\s*+\)~;")),
        ("}", rule(r"return\b[^\n;{}]{0,160};\s*+\}", "return")),
        ("}", rule(r"return\b[^\n{}]{0,160}\n\s*+\}", "return")),
        ("=", rule(r"[!=]==~[\w'\"(](?<=[\w)\] \t][!=]==.)", "===|!==")),
        (CALL, rule(r"this\.\w{1,80}+\(", "this.")),
        (CALL, rule(rf"=~new [A-Z]\w*+{GENERIC}~[({{\[]", "new ")),
        (
            "@",
            rule(
                r"@\w[\w.]{0,80}+(?:<call>)?+~\n~(?:async|def|class|public|private|protected"
                r"|export|function|void|static|final) ",
            ),
        ),
    ),
    at_line=(
        *words("try finally else do", r"\w++\s*+\{", "{"),
        *words("if for while switch match loop unsafe", r"\w++ [^\n{};]{1,160}\{<end>", "{"),
        *words("this", r"this\.\w{1,80}+~[-+*/]?=(?!=)"),
        *words("for", r"for~\([^;{}]{0,120};[^;{}]{0,120};", "(", ";"),
        *words(
            "if while",
            r"\w++~\([^\n{}]{1,160}\)\s*+(?:return|throw|break|continue)\b[^\n;]{0,160};",
            ";",
            "(",
        ),
        *words(
            "if while for",
            r"\w++~\([^\n{}]{1,160}\)~"
            r"[\w$.]{1,80}+(?:\+\+|--|~[-+*/]?=(?!=)|\()[^\n;]{0,160};",
            "(",
            ";",
        ),
        *words("return throw yield", rf"\w++ new [A-Z]\w*+{GENERIC}~[({{\[]", "new"),
        *words(
            "return",
            r"return (?:-?\d[\w.]*+|[\w$.]++<call>|[\w$]++~[-+*/%<>=&|]{1,3}~[^\n;]{1,80}"
            r"|null|true|false|this|self|None)~;<end>",
            ";",
        ),
        *words("return", r"return (?:await )?+(?:self|this)\.\w", "self.|this."),
        *words("return", r"return (?:await )?+\w++(?:\.\w++)++<call><end>", "("),
    ),
    in_line=(
        (
            "=",
            rule(
                rf"[\w$.\[\]]{{1,80}}+~[-+*/%|&^]?{ASSIGN}~(?![A-Za-z]\w*+;)[^\n;=]{{1,160}};<end>",
                ";",
            ),
        ),
        (";", rule(r"[\w$]++(?:(?:\.|->|::)[\w$]++)*+<call>;<end>", ");")),
        # "C++;" ends a line of prose.
        (";", rule(r"(?![cg]\+)[a-z_][\w.]{0,80}+(?:\+\+|--);<end>", "++;|--;")),
    ),
    at_sign=(
        ("}", rule(r"\}~\)?;<end>")),
        (
            "@",
            rule(
                r"@(?:property|staticmethod|classmethod|dataclass|abstractmethod|override|Override"
                r"|Autowired|Test|Injectable|Entity|Component|pytest\.\w+|app\.\w+|router\.\w+)\b"
                r"[\w.]*+(?:\(|<end>)",
            ),
        ),
        ("/", rule(r"/\*\*?(?:[ \t\n]|<eol>)")),
        ("/", rule(r"//~\w[^\n]*+\n~[\w$}]")),
    ),
)

JAVASCRIPT: Final = Language(
    "JavaScript",
    anywhere=(
        (
            "{",
            rule(
                rf"function~(?:\*?~<name>)?+~{GENERIC}<args>\s*+(?::[^{{}};\n]{{1,80}})?\{{",
                "function",
            ),
        ),
        (">", rule(r"\)~=>\s*+\{", "=>")),
        (">", rule(r"=>\s*+\{\s*+(?:return|const|let|if|await|\}|<dotted>(?:\(|~=|;))", "=>")),
        (
            ">",
            rule(
                r"\)~=>\s*+(?:<dotted>(?:\(|\[|~(?:[*/%<>+?]|[!=]==?|&&|\|\|))|[(\[{`'\"<!]"
                r"|(?:await|async|new) )",
                "=>",
            ),
        ),
        (
            ">",
            rule(r"(?<![\w$])([\w$]{1,40}+)~=>\s*+[!(\[]*+\1\s*+(?:[.\[(*+/%<>?&|=!-])", "=>"),
        ),
        (CALL, rule(r"console\.(?:log|error|warn|info|debug)\((?!\))", "console.")),
        (
            CALL,
            rule(
                r"document\.(?:getElement|querySelector|createElement|addEvent|write)\w*+\(",
                "document.",
            ),
        ),
        (
            "window.",
            rule(r"window\.(?:location|onload|open|addEventListener)(?:\.\w++)?+~(?:\(|=)"),
        ),
        (CALL, rule(r"JSON\.(?:stringify|parse)\(\w", "JSON.")),
        ("$", rule(r"\$\([\"']")),
        ("$", rule(r"`[^`\n]{1,160}\$\{", "`")),
    ),
    at_line=(
        *words(
            "import",
            r"import (?:type )?(?:[\w*${][^;'\"]{0,200}\sfrom~)?[\"'][^\"'\n]{1,200}[\"']<end>",
        ),
        *words(
            "export",
            r"export (?:default )?(?:async )?(?:abstract )?(?:function|class|const|let|var"
            r"|interface|type|enum)~\*?~<name>~(?:[=({:<;]|(?:extends|implements) )",
        ),
        *words(
            "export",
            r"export (?:default [\w$.]++;|default~[{(\[]|(?:type )?\{[^}]{1,200}\}|\* from)",
        ),
        *words(
            "const let var",
            rf"\w++ (?:mut )?<name>(?:~:[^=;\n]{{1,80}})?+\s*+{ASSIGN}(?![^\n]{{1,40}}[ \t]be[ \t])",
            "=",
        ),
        *words("const let var", rf"\w++~[\[{{][^\n=]{{0,160}}[\]}}]~{ASSIGN}", "="),
        *words("module", r"module\.exports(?:\.\w+)?~="),
        *words("let var", r"\w++ <name>~:~[\w<>\[\]|, ]{1,80};", ";"),
        *words("require", r"require\(~[\"'`]"),
        *words("type", rf"type [A-Z]\w*+{GENERIC}~=~(?:[^\n]{{1,160}};<end>|[{{'\"(\[|])", "="),
    ),
)
