"""What a query may be made of: nodes of sqlglot's tree, functions that it does not know, types.

A function stands here if it computes a value from its arguments alone, or from today's date, and if
its result is not much longer than its arguments.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


QUOTED_MAX: Final = 60  # characters of a name that a finding quotes
NODES: Final = _words(
    """
    Select Union Intersect Except Subquery With CTE TableAlias Table From Join Lateral Where Group
    Having Order Ordered Limit Offset Fetch Distinct Star Column Identifier Alias Literal Null
    Boolean Paren Tuple Values Var DataType DataTypeParam Interval Case If Cast TryCast Window
    WindowSpec Filter Collate WithinGroup IgnoreNulls RespectNulls Anonymous Rollup Cube
    GroupingSets
    And Or Xor Not EQ NEQ GT GTE LT LTE Is In Between Like ILike NullSafeEQ NullSafeNEQ Exists Any
    All Add Sub Mul Div IntDiv Mod Neg Pow DPipe BitwiseAnd BitwiseOr BitwiseNot Concat ConcatWs
    SafeConcat Coalesce Nullif Greatest Least
    Count CountIf Sum Avg Min Max Median Stddev StddevPop StddevSamp Variance VariancePop
    PercentileCont PercentileDisc Quantile Mode GroupConcat LogicalAnd LogicalOr
    RowNumber Rank DenseRank PercentRank CumeDist Ntile Lag Lead FirstValue LastValue NthValue
    Abs Round Floor Ceil Trunc Sign Sqrt Ln Log Exp
    Lower Upper Trim Length Substring Left Right Replace StrPosition Initcap SplitPart
    CurrentDate CurrentTimestamp Date Extract DateTrunc TimestampTrunc DateAdd DateSub DateDiff
    TimeToStr StrToTime StrToDate TsOrDsToTimestamp TsOrDsToDate TsOrDsAdd UnixToTime UnixToStr
    Timestamp Time Datetime Year Month Day Week Quarter DayOfWeek DayOfMonth DayOfYear ToChar
    TimeStrToTime CurrentDatetime AtTimeZone JSONExtract JSONExtractScalar JSONPath JSONPathRoot
    JSONPathKey JSONPathSubscript MakeDate
    """
)
FUNCTIONS: Final = _words(
    """
    date time datetime julianday strftime unixepoch ifnull iif nullif total instr likely ltrim rtrim
    round to_char date_part age make_date
    """
)
TYPES: Final = _words(
    """
    TEXT VARCHAR CHAR NVARCHAR NCHAR INT BIGINT SMALLINT TINYINT FLOAT DOUBLE DECIMAL BIGDECIMAL
    BOOLEAN DATE TIME TIMESTAMP TIMESTAMPTZ TIMETZ DATETIME INTERVAL
    """
)
UNITS: Final = _words(
    """
    MICROSECOND MICROSECONDS MILLISECOND MILLISECONDS SECOND SECONDS MINUTE MINUTES HOUR HOURS
    DAY DAYS WEEK WEEKS MONTH MONTHS QUARTER QUARTERS YEAR YEARS DECADE CENTURY MILLENNIUM
    DOW ISODOW DOY ISOYEAR EPOCH JULIAN TIMEZONE TIMEZONE_HOUR TIMEZONE_MINUTE
    """
)
"""Of times: sqlglot writes them out as they came, without quotes."""
_COLLATIONS: Final = _words("NOCASE BINARY RTRIM")
_ENDS: Final = frozenset(("CURRENT ROW", "UNBOUNDED"))
_SIDES: Final = _words("PRECEDING FOLLOWING")
RAW: Final = {
    ("Var", "this"): UNITS | _COLLATIONS | {"TIES", "GROUP", "CURRENT ROW", "NO OTHERS"},
    ("Join", "kind"): _words("CROSS INNER OUTER"),
    ("Join", "side"): _words("LEFT RIGHT FULL"),
    ("Join", "method"): _words("NATURAL"),
    ("Trim", "position"): _words("LEADING TRAILING BOTH"),
    ("Window", "over"): _words("OVER"),
    ("WindowSpec", "kind"): _words("ROWS RANGE GROUPS"),
    ("WindowSpec", "start"): _ENDS,
    ("WindowSpec", "end"): _ENDS,
    ("WindowSpec", "start_side"): _SIDES,
    ("WindowSpec", "end_side"): _SIDES,
}
"""By node and argument: each text that is no node, and may be one of these alone."""
VALUES: Final = _words(
    """
    current_user session_user system_user user current_role current_catalog current_schema
    current_time localtime localtimestamp
    """
)
"""What PostgreSQL computes where a column could stand, without brackets."""
KEYWORDS: Final = _words(
    """
    select from join where having on using in and or not as over filter by when then else case
    exists any all some values union intersect except distinct with between like is limit
    """
)
"""Words before a bracket that are no functions."""
