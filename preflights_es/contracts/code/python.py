"""Python."""

from __future__ import annotations

from typing import Final

from preflights_es.contracts.code.notation import CALL, Language, rule, words

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

PYTHON: Final = Language(
    "Python",
    anywhere=(
        (CALL, rule(r"def <name>\(", "def ")),
        (CALL, rule(r"class <name>\([\w.,= \t\[\]]{0,200}\)~:", "class ")),
        (CALL, rule(r"async (?:def|function|fn)~\*?~\w*+~[(<]", "async ")),
        (CALL, rule(r"await <dotted>\(", "await ")),
        (CALL, rule(rf"{_LOOP}(?:range|enumerate|zip|sorted|reversed|map|filter)\(", "for ")),
        (CALL, rule(r"with <dotted>\([^\n]{0,160}?\) as \w++~:", " as ")),
        (CALL, rule(r"with open\(", "open(")),
        (CALL, rule(r"print\(~f?[\"']", "print(")),
        (CALL, rule(r"raise \w{0,80}(?:Error|Exception)\(", "raise ")),
        (CALL, rule(r"\(self[,)]", "(self")),
        (CALL, rule(r"self\.\w{1,80}+\(", "self.")),
        (CALL, rule(r"super\(\)\.\w", "super().")),
        (
            CALL,
            rule(
                r"lambda(?:(?<=[=(,]lambda)|(?<=[=(,][ ]lambda))\b[^:\n]{0,80}:",
                "lambda",
            ),
        ),
        ("{", rule(r"f[\"'][^\"'\n{]{0,160}\{[\w.]+[^{}\n]{0,40}\}", "f\"|f'")),
        ('"', rule(r'"""', '"""')),
        # The name is used before or behind its binding, which no prose does.
        (
            "[",
            rule(r"\[~(?:\w++\()?+(\w{1,40}+)\b[^\[\]\n]{0,80} for \1 in \w", " for ", " in "),
        ),
        (
            ":",
            rule(r"lambda (\w{1,40}+)(?:~,~\w++)*+:[^:\n]{0,40}(?<!\w)\1~[-+*/%.\[<>=]", "lambda "),
        ),
    ),
    at_line=(
        *words("class", r"class [A-Z]\w{0,80}+:~(?:pass\b|\.\.\.)", "pass|..."),
        *words(
            "class",
            r"class [A-Z]\w{0,80}+:~\n~"
            r"(?:def |pass\b|@\w|\"\"\"|\.\.\.|async |\w++~=|\w++:~[\w\[\]]++~(?:=|<eol>))",
        ),
        *words("self", r"self\.\w{1,80}+~[-+*/]?=(?!=)", "="),
        *words("if", r"if __name__~==", "="),
        *words("if while", r"\w++ [^\n:]{1,80}?[=!]=~[^\n:]{1,80}:<end>", "=", ":"),
        *words("elif", r"elif [^\n:]{1,160}:"),
        *words("async", r"async (?:with|for) [^\n:]{1,160}:<end>", ":"),
        *words("import", rf"import {_MODULE}(?:\.\w+)*+(?: as \w+)?(?:,~[\w.]+)*+<end>"),
        *words("import", r"import [\w.]++ as \w{1,4}<end>", "as"),
        *words("import", rf"import [a-z_]\w*+(?:\.(?!{_FILE})\w++)++(?: as \w+)?<end>", "."),
        *words("from", r"from [\w.]{1,80}+ import \(", "import", "("),
        *words(
            "from",
            rf"from [\w.]{{1,80}}+ import (?:\*|{_IMPORTED}(?:~,~{_IMPORTED}){{0,30}}+)<end>",
            "import",
        ),
        *words("for", rf"{_LOOP}{_CONDITION}:~(?:\n~)?+{_STATEMENT}", ":"),
        *words("if elif", rf"(?:el)?if {_CONDITION}~:~\n~{_STATEMENT}", ":"),
        *words("if elif", rf"(?:el)?if (?=[^\n:]*[=<>()\[\].]){_CONDITION}~:~{_STATEMENT}", ":"),
        *words("while", rf"while {_CONDITION}~:~(?:\n~)?+{_STATEMENT}", ":"),
        *words("else try finally except", rf"(?:else|try|finally|except):~\n~{_STATEMENT}", ":"),
        *words("except", r"except \(?[\w., ]{0,80}(?:Error|Exception)\b[\w., ]{0,80}\)?~:"),
        *words("print", r"print<call><end>", "("),
        *words("assert", r"assert (?!that\b)[^\s=!<>][^\n=!<>]{0,120}(?:==|!=|<=|>=|<|>)", "=|<|>"),
        *words(
            "assert",
            r"assert (?!that\b)[\w.()\[\]'\"]{1,80}+ is (?:not )?(?:None|True|False)\b",
            "None|True|False",
        ),
    ),
    in_line=(
        ("=", rule(rf"\w++:~{_HINT}[^\n=]{{0,80}}=~\S", ":")),
        ("=", rule(r"[\w.]{1,80}+~=~lambda\b[^:\n]{0,80}:", "lambda")),
        (
            "=",
            rule(r"[\w.]{1,80}+~=~[\[({][^\[\]\n]{1,100}[ \t]for \w++(?:,~\w++)?+ in ", " for "),
        ),
        ("=", rule(r"[\w.]{1,80}+~[-+*/]?=~(?:await )?+\w++(?:\.\w++)++<call><end>", "(")),
    ),
)
