"""Bounds what the analyser makes of a parsed plan: its nodes once CTEs are expanded, and the size of its columns.

A CTE that names another one twice doubles it, and 22 of them make a plan that fills the memory. A column of structs
that holds another one twice doubles its type, a star beside a star the columns. Some functions hold their arguments
twice once they are analysed, as they are written and as they are computed. All of it is counted on the parsed plan with
multiplicities, without expanding anything: in time linear in the plan. Columns whose size is unknown count as one, and
tables as a few; this protects time, not data.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from lakehold.lake.errors import RefusedQueryError
from lakehold.lake.spark.guard import allow_list
from lakehold.lake.spark.guard.allow_list import ANALYSIS, EXPRESSIONS, LOGICAL

Node = dict[str, Any]

MAX_EXPRESSIONS = 100_000
MAX_WIDTH = 5_000
"""Columns of one relation, with the fields in them."""
_TABLE_WIDTH = 20
_CONSTRUCTORS = {
    *("struct", "named_struct", "map", "map_from_arrays", "map_from_entries", "arrays_zip", "inline", "stack"),
}
"""Functions whose type has those of all their arguments."""
_TWICE = """
    array_join assert_true between date_part datepart decode equal_null extract ifnull levenshtein make_timestamp
    make_timestamp_ltz make_timestamp_ntz nullif nvl nvl2 sequence to_binary to_date to_timestamp to_timestamp_ltz
    to_timestamp_ntz try_add try_aes_decrypt try_divide try_element_at try_make_interval try_make_timestamp
    try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply try_parse_url try_subtract try_to_binary
    try_to_date try_to_timestamp try_url_decode zeroifnull
"""
REPEATING: Mapping[str, int] = {**dict.fromkeys(_TWICE.split(), 2), **dict.fromkeys(("btrim", "nullifzero"), 3)}
"""How often an analysed plan has the arguments of functions that are there as they are written and as they are
computed.
"""


@dataclass(frozen=True, slots=True)
class PlanSize:
    """The size of a part of a plan."""

    expressions: int = 0
    relations: int = 0
    width: int = 0
    """Fields of all columns together."""
    floor: int = 1
    """Fields of a column that is not named below."""
    columns: Mapping[str, int] = field(default_factory=dict)
    """Fields of the columns that have more than that."""

    def column(self, name: str) -> int:
        """Return how many fields a column has that is named so: `[alias, column, field]`."""
        return max((self.columns.get(part, 1) for part in _name_parts(name)), default=1) if self.columns else 1

    @property
    def widest(self) -> int:
        """Fields of the widest column."""
        return max((self.floor, *self.columns.values()))


Scope = Mapping[str, PlanSize]
"""The CTEs that can be named, by name."""


def refuse_size(plan_nodes: Sequence[Node], most_relations: int) -> None:
    """Refuse a parsed plan that the analyser would make too large. Its nodes stand as `toJSON` has them."""
    size = _measure_plan(plan_nodes, {})
    if size.relations > most_relations or size.expressions > MAX_EXPRESSIONS:
        raise RefusedQueryError(
            f"The query has more than {most_relations:,} parts, or {MAX_EXPRESSIONS:,} expressions, once each WITH part"
            " is counted as often as it is named, and what is in functions like nvl twice.",
            "Name each part once, or save one as a table.",
        )


def _measure_plan(nodes: Sequence[Node], scope: Scope) -> PlanSize:
    """Return the size of a plan, or of an expression with plans in it; the first node is the topmost."""
    scopes = list(_scopes(nodes, scope))
    waiting: list[PlanSize] = []
    for node, here in zip(reversed(nodes), reversed(scopes), strict=True):
        count = node["num-children"]
        inputs = [waiting.pop() for _ in range(count)]
        waiting.append(_checked(_measure_relation(node, inputs, here)))
    return waiting.pop() if waiting else PlanSize()


def _scopes(nodes: Sequence[Node], scope: Scope) -> Iterator[Scope]:
    """Yield for each node of a plan which CTEs it can name."""
    open_: list[tuple[int, Scope]] = [(1, scope)]
    for node in nodes:
        left, here = open_.pop()
        if left > 1:
            open_.append((left - 1, here))
        yield here
        if node["class"] == _WITH:
            here = _definitions(node, here)
        if node["num-children"]:
            open_.append((node["num-children"], here))


def _definitions(node: Node, scope: Scope) -> Scope:
    """Return the CTEs that can be named below a WITH. Each can name those before it, and itself if it is recursive."""
    known = dict(scope)
    for definition in node["cteRelations"]:
        name = definition["_1"].casefold()
        itself = {name: PlanSize(1, 1, _TABLE_WIDTH)} if node["allowRecursion"] else {}
        known[name] = _measure_plan(definition["_2"], {**known, **itself})
    return known


_WITH = LOGICAL + "UnresolvedWith"
_RELATION = ANALYSIS + "UnresolvedRelation"
_SETS = allow_list.qualify({LOGICAL: "Union Intersect Except"})
_LISTS = {LOGICAL + "Project": "projectList", LOGICAL + "Aggregate": "aggregateExpressions"}
_RENAMING = allow_list.qualify({ANALYSIS: "UnresolvedSubqueryColumnAliases UnresolvedTVFAliases"})


def _measure_relation(node: Node, inputs: Sequence[PlanSize], scope: Scope) -> PlanSize:
    """Return the size of a node of a plan with all below it."""
    kind = node["class"]
    if kind == _RELATION and (known := scope.get(str(node["multipartIdentifier"])[1:-1].casefold())):
        return known
    below = _combine(kind, inputs)
    within = [_measure_expression(each, below, scope) for each in _expressions(node, _LISTS.get(kind))]
    output = below
    if kind in _LISTS:
        output = _columns_of(node[_LISTS[kind]], below, scope)
        within.append(output)
    sets = _grouping_sets(node)
    expressions = below.expressions + sum(each.expressions for each in within) * sets + below.width * (sets - 1)
    relations = 1 + below.relations + sum(each.relations for each in within)
    floor = max((output.floor, *(each.width for each in within))) if kind in _ADDING else output.floor
    if kind in _RENAMING:
        floor = max(floor, output.widest)
    return PlanSize(expressions, relations, output.width + _added_width(node, within), floor, output.columns)


_ADDING = allow_list.qualify(
    {
        LOGICAL: "Generate LateralJoin Pivot Unpivot",
        ANALYSIS: "UnresolvedInlineTable UnresolvedTableValuedFunction",
    }
)
"""Nodes that add columns made of the expressions in them."""


def _added_width(node: Node, within: Sequence[PlanSize]) -> int:
    """Return the fields of the columns that a node adds to those below it."""
    match node["class"].rpartition(".")[2]:
        case "UnresolvedRelation":
            return _TABLE_WIDTH
        case "Pivot":
            return len(node["pivotValues"]) * len(node["aggregates"])
        case "UnresolvedInlineTable":
            return len(node["rows"][0])
        case _ if node["class"] in _ADDING:
            return sum(each.width for each in within)
        case _:
            return 0 if node["num-children"] else 1


def _combine(kind: str, inputs: Sequence[PlanSize]) -> PlanSize:
    """Return what lies below a node: its columns are those of all inputs, or of the first one for sets."""
    if len(inputs) == 1:
        return inputs[0]
    columns: dict[str, int] = {}
    for each in inputs:
        for name, size in each.columns.items():
            columns[name] = max(size, columns.get(name, 1))
    widths = [each.width for each in inputs]
    floors = [each.floor for each in inputs]
    if kind in _SETS:
        # The columns of the others come under the names of the first.
        floors += [each.widest for each in inputs[1:]]
    return PlanSize(
        sum(each.expressions for each in inputs),
        sum(each.relations for each in inputs),
        max(widths, default=0) if kind in _SETS else sum(widths),
        max(floors, default=1),
        columns,
    )


def _columns_of(listed: Sequence[Sequence[Node]], below: PlanSize, scope: Scope) -> PlanSize:
    """Return the columns of a SELECT list. Each can name those before it."""
    expressions = relations = width = 0
    floor, known, output = below.floor, dict(below.columns), dict[str, int]()
    waiting = list(reversed(listed))
    while waiting:
        each = waiting.pop()
        size = _measure_expression(each, PlanSize(0, 0, below.width, floor, known), scope)
        expressions, relations, width = expressions + size.expressions, relations + size.relations, width + size.width
        if _STAR in each[0]["class"]:
            output = {**output, **below.columns}
            # * REPLACE (… AS …)
            waiting.extend(_expressions(each[0]))
        elif size.width > 1:
            for part in (names := _names_of(each)):
                known[part] = output[part] = max(size.width, known.get(part, 1))
            floor = floor if names else max(floor, size.width)
    return PlanSize(expressions, relations, width, floor, output)


def _names_of(expression: Sequence[Node]) -> list[str]:
    """Return the parts of the name that a column has; none if Spark names it."""
    first, last = expression[0], expression[-1]
    if first["class"] == EXPRESSIONS + "Alias":
        return _name_parts(f"[{first['name']}]")
    return _name_parts(last["nameParts"]) if last["class"] == _ATTRIBUTE and len(expression) <= _ALIASED else []


_ALIASED = 2
_STAR = ".UnresolvedStar"
_ATTRIBUTE = ANALYSIS + "UnresolvedAttribute"
_LAMBDA = EXPRESSIONS + "LambdaFunction"
_STRUCTS = allow_list.qualify({EXPRESSIONS: "CreateNamedStruct CreateStruct CreateMap"})
_SCALARS = allow_list.qualify(
    {
        EXPRESSIONS: """
            Add And Divide EqualNullSafe EqualTo Exists GreaterThan GreaterThanOrEqual In InSubquery IntegralDivide
            IsNotNull IsNull LessThan LessThanOrEqual Like LikeAll LikeAny Multiply Not Or RLike Remainder Subtract
            UnaryMinus
        """
    }
)
_KEEPING = {"filter", "map_filter", "array_sort", "exists", "forall"}
"""Functions of higher order that return what they are given, or a truth."""


def _measure_expression(nodes: Sequence[Node], below: PlanSize, scope: Scope) -> PlanSize:
    """Return the size of an expression over these columns; its width is that of its type."""
    types: list[int] = []
    lambdas: list[bool] = []
    counts: list[int] = []
    relations = 0
    for node in reversed(nodes):
        inner = [_measure_plan(each, scope) for each in _plans(node)]
        count = node["num-children"]
        arguments = [(types.pop(), lambdas.pop()) for _ in range(count)]
        types.append(_type_size(node, arguments, below, inner))
        lambdas.append(node["class"] == _LAMBDA)
        within = [*inner, *(_measure_expression(each, below, scope) for each in _expressions(node))]
        times = REPEATING.get(allow_list.called_function(node) or "", 1)
        counts.append(1 + times * sum(counts.pop() for _ in range(count)) + sum(each.expressions for each in within))
        relations += sum(each.relations for each in within)
    return _checked(PlanSize(sum(counts), relations, types.pop() if types else 1))


def _type_size(node: Node, arguments: Sequence[tuple[int, bool]], below: PlanSize, inner: Sequence[PlanSize]) -> int:
    """Return an upper bound of the fields in the type of an expression."""
    kind, name = node["class"], allow_list.called_function(node)
    plain = [size for size, is_lambda in arguments if not is_lambda]
    if kind in _SCALARS:
        return 1
    if kind == _ATTRIBUTE:
        return max(below.floor, below.column(node["nameParts"]))
    if _STAR in kind:
        return max(below.width, 1)
    if kind == EXPRESSIONS + "LateralSubquery":
        return sum(each.width for each in inner)
    if kind in _STRUCTS or name in _CONSTRUCTORS:
        return max(sum(size for size, _ in arguments), 1)
    applied = [size for size, is_lambda in arguments if is_lambda]
    if applied and name not in _KEEPING:
        # A lambda's variables are as large as what it is applied to.
        return max(sum(plain), 1) * prod(applied)
    return max((*plain, *(each.widest for each in inner), 1))


def _plans(node: Node) -> Iterator[Sequence[Node]]:
    plan = node.get("plan")
    if isinstance(plan, list) and plan:
        yield plan


def _expressions(node: Node, skipped: str | None = None) -> Iterator[Sequence[Node]]:
    """Yield the expressions in the fields of a node, other than plans."""
    waiting = [value for name, value in node.items() if name not in {"plan", "cteRelations", skipped}]
    while waiting:
        here = waiting.pop()
        if isinstance(here, list) and here:
            if isinstance(here[0], dict) and "num-children" in here[0]:
                yield here
            else:
                waiting.extend(here)


def _grouping_sets(node: Node) -> int:
    """Return how many sets a GROUP BY makes: those of several are multiplied."""
    times = 1
    for each in node.get("groupingExpressions") or ():
        first, columns = each[0], each[0]["num-children"]
        match first["class"].rpartition(".")[2]:
            case "Cube":
                times *= 1 << min(columns, 64)
            case "Rollup" | "GroupingSets":
                times *= 1 + columns
    return times


def _checked(size: PlanSize) -> PlanSize:
    """Refuse a relation that is too wide, before another one doubles it."""
    if size.width > MAX_WIDTH:
        raise RefusedQueryError(
            f"The query has a part with more than {MAX_WIDTH:,} columns and fields.", "Select fewer of them."
        )
    return size


def _name_parts(name: str) -> list[str]:
    return name[1:-1].casefold().split(", ")
