"""What a query may be made of: nodes of sqlglot's tree, functions that it does not know, types.

A function stands here if it computes a value from its arguments alone, or from today's date, and if
its result is not much longer than its arguments.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NODES: Final = _words(
    """
    Select Union Intersect Except Subquery With CTE TableAlias Table From Join Lateral Where Group
    Having Order Ordered Limit Offset Fetch Distinct Star Column Identifier Alias Literal Null
    Boolean Paren Tuple Values Var DataType DataTypeParam Interval Case If Cast TryCast Window
    WindowSpec Filter Collate WithinGroup IgnoreNulls RespectNulls Anonymous Rollup Cube
    GroupingSets Unit IntervalSpan
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
KEYWORDS: Final = _words(
    """
    select from join where having on using in and or not as over filter by when then else case
    exists any all some values union intersect except distinct with between like is limit
    """
)
"""Words before a bracket that are no functions."""
