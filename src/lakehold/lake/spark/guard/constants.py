"""Refuses work in places that Spark evaluates while it analyses a query, before anything is run or can be stopped.

These are the moment of a time travel, rows of VALUES, limits, ranges, the values of a pivot, and the arguments that say
what a function returns. Constants are allowed there, and functions whose result is no
larger than what they are given.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from lakehold.lake.errors import RefusedQueryError
from lakehold.lake.spark.guard import allow_list
from lakehold.lake.spark.guard.allow_list import ANALYSIS, EXPRESSIONS, LOGICAL

Node = dict[str, Any]

_FUNCTION_NAMES = """
    abs array bigint binary boolean coalesce concat curdate current_date current_timestamp current_timezone date
    date_add date_diff date_from_unix_date date_sub date_trunc dateadd datediff day decimal double e float
    from_json hex int last_day localtimestamp lower make_date make_dt_interval make_interval make_timestamp
    make_timestamp_ltz make_timestamp_ntz make_ym_interval map map_from_arrays md5 month named_struct negative
    now nullif nvl parse_json pi quarter round schema_of_csv schema_of_json sha2 smallint string struct
    timestamp timestamp_micros timestamp_millis timestamp_seconds tinyint to_binary to_date to_json to_timestamp
    to_timestamp_ltz to_timestamp_ntz trunc try_parse_json typeof unhex unix_timestamp upper year
"""
FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
"""Functions that a constant may use: none makes much of little."""
_REFUSED = allow_list.qualify(
    {EXPRESSIONS: "ScalarSubquery Exists ListQuery InSubquery LambdaFunction Like ILike RLike LikeAll LikeAny"}
)
_FIELDS = {
    ANALYSIS + "RelationTimeTravel": ("timestamp", "The moment of a time travel"),
    ANALYSIS + "UnresolvedInlineTable": ("rows", "A row of VALUES"),
    LOGICAL + "GlobalLimit": ("limitExpr", "A limit"),
    LOGICAL + "LocalLimit": ("limitExpr", "A limit"),
    LOGICAL + "Offset": ("offsetExpr", "An offset"),
    LOGICAL + "Pivot": ("pivotValues", "A value of a pivot"),
}
_TYPING_FUNCTIONS = """
    approx_count_distinct approx_percentile approx_top_k collate count_min_sketch from_csv from_json histogram_numeric
    lag lead listagg nth_value percentile percentile_approx randstr session_window string_agg to_char to_number
    to_varchar try_to_number try_variant_get variant_get window
"""
_EVALUATED_ARGUMENTS = {
    **dict.fromkeys(("ntile", "stack"), slice(1)),
    **dict.fromkeys(("range", "schema_of_csv", "schema_of_json"), slice(None)),
    **dict.fromkeys(_TYPING_FUNCTIONS.split(), slice(1, None)),
}
"""Functions that evaluate arguments to know what they return, and which."""


def refuse_evaluation(plan_nodes: Sequence[Node]) -> None:
    """Refuse parts of a parsed plan that would be evaluated while it is analysed, and are no plain constants."""
    for node in plan_nodes:
        name = node.get("class", "")
        if name in _FIELDS:
            field, what = _FIELDS[name]
            _refuse_work(_nodes_in(node.get(field)), what)
        called = allow_list.called_function(node)
        if called in _EVALUATED_ARGUMENTS and "functionArgs" in node:
            _refuse_work(_nodes_in(node["functionArgs"]), f"An argument of {called}")
        for value in node.values():
            for expression in _expressions(value):
                _refuse_arguments(expression)


def _refuse_arguments(expression: Sequence[Node]) -> None:
    for at, node in enumerate(expression):
        called = allow_list.called_function(node)
        if called not in _EVALUATED_ARGUMENTS:
            continue
        for child in _children(expression, at)[_EVALUATED_ARGUMENTS[called]]:
            # What depends on the rows is not evaluated before there are any.
            if not any(each.get("class") in _COLUMNS for each in child):
                _refuse_work(_nodes_in(child), f"An argument of {called}")


_COLUMNS = {ANALYSIS + "UnresolvedAttribute", EXPRESSIONS + "UnresolvedNamedLambdaVariable"}


def _children(expression: Sequence[Node], at: int) -> list[Sequence[Node]]:
    """Return the children of a node, each with all below it. Nodes stand in the order of reading."""
    found, start = [], at + 1
    for _ in range(expression[at]["num-children"]):
        end, waiting = start, 1
        while waiting:
            waiting += expression[end]["num-children"] - 1
            end += 1
        found.append(expression[start:end])
        start = end
    return found


def _expressions(value: object) -> Iterator[Sequence[Node]]:
    """Yield the lists of nodes in a field: one expression, or several."""
    if isinstance(value, list) and value:
        if isinstance(value[0], dict) and "num-children" in value[0]:
            yield value
        else:
            for each in value:
                yield from _expressions(each)


def _nodes_in(value: object) -> Iterator[Node]:
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)


def _refuse_work(nodes: Iterator[Node], what: str) -> None:
    for node in nodes:
        called = allow_list.called_function(node)
        if node.get("class") in _REFUSED or (called is not None and called not in FUNCTIONS):
            part = f"the function {called}" if called else allow_list.short_name(node["class"])
            raise RefusedQueryError(
                f"{what} may not contain {part}: Spark would evaluate it before the query runs.",
                "Write a constant there, or SELECT … instead of VALUES.",
            )
