"""Python."""

from __future__ import annotations

from typing import Final

from preflights_es.judging.code.notation import Language, table

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
    # `for \1 in`, and `lambda` with `\1`: a name is used beside its binding, which no prose does.
    anywhere=table(
        r'''
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
        loop=_LOOP,
    ),
    at_line=table(
        r"""
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
        module=_MODULE,
        file=_FILE,
        imported=_IMPORTED,
        loop=_LOOP,
        condition=_CONDITION,
        statement=_STATEMENT,
    ),
    in_line=table(
        r"""
= | : | \w++:~<hint>[^\n=]{0,80}=~\S
= | lambda | [\w.]{1,80}+~=~lambda\b[^:\n]{0,80}:
= | ␣for␣ | [\w.]{1,80}+~=~[\[({][^\[\]\n]{1,100}[ \t]for \w++(?:,~\w++)?+ in␣
= | ( | [\w.]{1,80}+~[-+*/]?=~(?:await )?+\w++(?:\.\w++)++<call><end>
""",
        hint=_HINT,
    ),
)
