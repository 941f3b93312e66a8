"""Refuses work in places that Spark evaluates while it analyses a query, before anything is run or can be stopped.

These are the moment of a time travel, rows of VALUES, limits, ranges, the values of a pivot, and the arguments that say
what a function returns; and the bounds of a window. Constants are allowed there, and functions whose result is no
larger than what they are given.
"""

from collections.abc import Iterator, Mapping, Sequence
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
_GROWING = {"hex", "schema_of_csv", "schema_of_json", "to_json"}
"""Those of them that double what they are given, or the signs that they escape in it: not one in another."""
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
    approx_count_distinct approx_percentile approx_top_k bround ceil ceiling collate count_min_sketch element_at floor
    from_csv from_json get histogram_numeric lag lead listagg mask mode nth_value percentile percentile_approx randstr
    round session_window split_part string_agg to_binary to_char to_csv to_json to_number to_varchar try_element_at
    try_to_binary try_to_number try_variant_get uniform variant_get window
"""
_EVALUATED_ARGUMENTS = {
    **dict.fromkeys(
        ("date_part", "datepart", "extract", "ntile", "percentile_cont", "percentile_disc", "stack"), slice(1)
    ),
    "named_struct": slice(None, None, 2),
    # Whether it can be NULL is known of an array that is written in the query.
    "an index": slice(1, None),
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
            _refuse_work(node.get(field), what)
        called = allow_list.called_function(node)
        if called in _EVALUATED_ARGUMENTS and "functionArgs" in node:
            _refuse_work(node["functionArgs"], f"An argument of {called}")
        aliases = _aliases(node)
        for field, value in node.items():
            for expression in _expressions(value):
                _refuse_arguments(expression, aliases if field == "groupingExpressions" else {})


def _aliases(node: Node) -> Mapping[str, Sequence[Node]]:
    """Return what the aliases of an aggregation stand for: GROUP BY puts that in their place."""
    listed = node.get("aggregateExpressions") or ()
    return {f"[{each[0]['name']}]".casefold(): each[1:] for each in listed if each[0]["class"] == _ALIAS}


def _refuse_arguments(expression: Sequence[Node], aliases: Mapping[str, Sequence[Node]]) -> None:
    for at, node in enumerate(expression):
        if node["class"] == _FRAME:
            _refuse_work(_children(expression, at), "A bound of a window")
        called = "an index" if node["class"] == _INDEX else allow_list.called_function(node)
        if called not in _EVALUATED_ARGUMENTS:
            continue
        children = _children(expression, at)
        is_named = any(child[0]["class"] == _NAMED for child in children)
        for child in children if is_named else children[_EVALUATED_ARGUMENTS[called]]:
            named = [aliases[name] for each in child if (name := _column_name(each)) in aliases]
            # What depends on the rows is not evaluated before there are any.
            if not any(_is_column(each, aliases) for part in (child, *named) for each in part):
                _refuse_work([child, *named], f"An argument of {called}")


_ALIAS, _FRAME = EXPRESSIONS + "Alias", EXPRESSIONS + "SpecifiedWindowFrame"
_INDEX, _NAMED = ANALYSIS + "UnresolvedExtractValue", EXPRESSIONS + "NamedArgumentExpression"
_COLUMNS = {ANALYSIS + "UnresolvedAttribute", EXPRESSIONS + "UnresolvedNamedLambdaVariable"}
_CONSTANT_NAMES = {"[current_date]", "[current_time]", "[current_timestamp]"}
"""Functions that are called by their names alone, as columns are named."""


def _column_name(node: Node) -> str:
    return str(node["nameParts"]).casefold() if node.get("class") in _COLUMNS else ""


def _is_column(node: Node, aliases: Mapping[str, Sequence[Node]]) -> bool:
    name = _column_name(node)
    return bool(name) and name not in _CONSTANT_NAMES and name not in aliases


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


def _refuse_work(value: object, what: str) -> None:
    for node in _nodes_in(value):
        called = allow_list.called_function(node)
        if node.get("class") in _REFUSED or (called is not None and called not in FUNCTIONS):
            part = f"the function {called}" if called else allow_list.short_name(node["class"])
            raise _refusal(what, part)
    for expression in _expressions(value):
        for at, node in enumerate(expression):
            if (called := allow_list.called_function(node)) in _GROWING and any(
                allow_list.called_function(each) in _GROWING for child in _children(expression, at) for each in child
            ):
                raise _refusal(what, f"the function {called} of what grows already")


def _refusal(what: str, part: str) -> RefusedQueryError:
    return RefusedQueryError(
        f"{what} may not contain {part}: Spark would evaluate it before the query runs.",
        "Write a constant there, or SELECT … instead of VALUES.",
    )
