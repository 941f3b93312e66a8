"""Checks the SQL expression of a derived column: one expression over the columns of the step, and nothing beyond.

It is the only text of a visual step that becomes SQL, inside brackets. Whatever could leave those is refused: comments,
quotes and brackets that do not match, a second expression, and queries, which would read other tables. What an
expression may compute is decided by the guard, by its plan. Names are checked where they can be columns only, so that
a column that is gone is found without Spark; what is missed here, Spark finds.
"""

import re
from collections.abc import Iterator, Sequence

from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.workspaces.spaces.tasks.visual_steps.columns import StepSource, unquote_identifier

_FIELD = "expression"
_TOKEN = re.compile(
    r"""
    (?P<text>[rR]'[^']*' | [rR]"[^"]*" | '[^'\\]*(?:\\.[^'\\]*)*' | "[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<name>`(?:[^`]|``)+`)
    | (?P<refused>-- | /\* | \*/ | ['"`;$\\])
    | (?P<number>\.?\d\w*)
    | (?P<word>\w+)
    | (?P<sign>-> | => | \S)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUERY_WORDS = {"SELECT", "USING"}
"""Words without which there is no query but one in brackets."""
_OPENING_QUERY_WORDS = {"FROM", "TABLE", "VALUES", "WITH"}
"""Words that begin a query behind a bracket."""
_CLOSED_BY = {")": "(", "]": "["}

_WORDS = """
    ALL AND ANY AS ASC BETWEEN BOTH BY CASE COLLATE CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DESC DISTINCT
    DISTRIBUTE DIV ELSE END ESCAPE FALSE FILTER FIRST FOLLOWING FOR FROM GROUP IGNORE ILIKE IN INTERVAL IS LAST LEADING
    LIKE LOCALTIMESTAMP NOT NULL NULLS OR ORDER OVER PARTITION PLACING PRECEDING RANGE REGEXP RESPECT RLIKE ROW ROWS
    SOME SORT THEN TO TRAILING TRUE UNBOUNDED UNKNOWN WHEN WHERE WITHIN
    ARRAY BIGINT BINARY BOOLEAN BYTE CHAR CHARACTER DATE DEC DECIMAL DOUBLE FLOAT INT INTEGER LOCAL LONG MAP NUMERIC
    REAL SHORT SMALLINT STRING STRUCT TIME TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ TINYINT VARCHAR VARIANT VOID WITHOUT
    ZONE
    DAY DAYOFYEAR DAYS HOUR HOURS MICROSECOND MICROSECONDS MILLISECOND MILLISECONDS MINUTE MINUTES MONTH MONTHS
    NANOSECOND NANOSECONDS QUARTER SECOND SECONDS WEEK WEEKS YEAR YEARS
"""
_KEYWORDS = frozenset(_WORDS.split())
"""Words of expressions, types and units that need not be columns."""

Token = tuple[str, str]
"""The kind of a token, and its text."""


def check_expression(text: str, source: StepSource) -> None:
    """Refuse a text that is not one expression over these columns."""
    tokens = list(_tokenize(text))
    _refuse_brackets(tokens)
    _refuse_queries(tokens)
    for name in _column_names(tokens):
        source.column(name, _FIELD)


def _tokenize(text: str) -> Iterator[Token]:
    """Yield the tokens of an expression, up to one that none can have: a text that never ends is looked for once."""
    for found in _TOKEN.finditer(text):
        if found["refused"]:
            message = f"An expression cannot contain {quote(found[0])} here."
            raise _refusal(message, "Close quotes, and leave comments and semicolons out.")
        yield str(found.lastgroup), found[0]


def _refuse_brackets(tokens: Sequence[Token]) -> None:
    """Refuse what could end the brackets around an expression, or be a second one."""
    open_: list[str] = []
    for kind, text in tokens:
        if kind == "sign" and text in "([":
            open_.append(text)
        elif text in _CLOSED_BY and (not open_ or open_.pop() != _CLOSED_BY[text]):
            raise _refusal(f"The {quote(text)} closes nothing.", "Write as many opening brackets as closing ones.")
        elif text == "," and not open_:
            raise _refusal("There is more than one expression.", "Add a step for each column.")
    if open_:
        raise _refusal(f"The {quote(open_[-1])} is not closed.", "Write as many opening brackets as closing ones.")


def _refuse_queries(tokens: Sequence[Token]) -> None:
    for n, (kind, text) in enumerate(tokens):
        before = tokens[n - 1][1] if n else ""
        words = _QUERY_WORDS | _OPENING_QUERY_WORDS if before in {"", "("} else _QUERY_WORDS
        if kind == "word" and text.upper() in words and before != ".":
            hint = "Read other tables by a join step. A column of this name is written in backticks."
            raise _refusal(f"An expression cannot contain a query: {quote(text)}.", hint)


def _column_names(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the names that can be nothing but columns."""
    variables = {name.lower() for name in _lambda_variables(tokens)}
    # The fields in it look like columns.
    has_struct_type = any(
        text.upper() == "STRUCT" and _text(tokens, n + 1) == "<" for n, (_, text) in enumerate(tokens)
    )
    for n, (kind, text) in enumerate(tokens):
        name = unquote_identifier(text)
        if kind not in {"word", "name"} or has_struct_type or name.lower() in variables:
            continue
        before, after = _text(tokens, n - 1), _text(tokens, n + 1)
        # A field, a path in a variant, a collation; a function, a named argument, a typed literal, a part of a date.
        if before in {".", ":"} or before.upper() == "COLLATE" or after in {"(", "=>"} or after.upper() == "FROM":
            continue
        is_keyword = text.upper() in _KEYWORDS or (n + 1 < len(tokens) and tokens[n + 1][0] == "text")
        if kind == "name" or not is_keyword:
            yield name


def _lambda_variables(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the names before each `->`: one, or several in brackets."""
    for n, (_, text) in enumerate(tokens):
        if text != "->":
            continue
        start = n - 1
        if _text(tokens, start) == ")":
            while start and (tokens[start - 1][0] in {"word", "name"} or tokens[start - 1][1] == ","):
                start -= 1
        yield from (unquote_identifier(name) for kind, name in tokens[max(start, 0) : n] if kind in {"word", "name"})


def _text(tokens: Sequence[Token], n: int) -> str:
    return tokens[n][1] if 0 <= n < len(tokens) else ""


def _refusal(message: str, hint: str) -> InvalidSettingError:
    return InvalidSettingError(message, hint, field=_FIELD)
