"""Checks that a query consists of allowed parts only: first as parsed, then as analysed.

The parsed plan is checked before anything is looked up, since some parts act while a query is analysed. The analysed
plan is checked again, with every table that is read. The same analysed plan is then run.

Spark returns all nodes of a plan in one call, those of subqueries too, except named windows and what a table is. Named
windows are substituted first, as the analyser itself does. Of each table only its rows may be read, not its metadata
tables or the column with the file of each row.
"""

import json
from collections.abc import Container, Iterator
from typing import Any, cast

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakehold.kit.ids import quote
from lakehold.lake.errors import RefusedQueryError
from lakehold.lake.spark.guard import allow_list, constants, plan_size, text_bounds
from lakehold.lake.spark.jvm import active_session, dataframe_of_plan, jvm_of

PlanNodes = list[dict[str, Any]]
JavaObject = Any
"""Something of the JVM's."""

_LITERAL = "org.apache.spark.sql.catalyst.expressions.Literal"
_WINDOWS = "org.apache.spark.sql.catalyst.plans.logical.WithWindowDefinition"
_MAX_NESTED = 100


def plan_nodes_of(plan: JavaObject) -> PlanNodes:
    """Return every node and expression of a plan."""
    return list(_walk_dicts(plan_json(plan)))


def plan_json(plan: JavaObject) -> PlanNodes:
    """Return the nodes of a plan in the order of reading, each with what is in it."""
    try:
        return cast("PlanNodes", json.loads(plan.toJSON()))
    except (Py4JJavaError, PySparkException, ValueError, RecursionError) as error:
        raise RefusedQueryError("This query has a part that cannot be checked.", "Simplify it.") from error


def parsed_plan_nodes(session: SparkSession, plan: JavaObject, most_parts: int = 2_000) -> Iterator[PlanNodes]:
    """Yield the nodes of a parsed plan, unless it would become too large; one with named windows comes twice."""
    waiting, seen = [plan], 0
    while waiting:
        here = waiting.pop()
        tree = plan_json(here)
        plan_size.refuse_size(tree, most_parts)
        yield (found := list(_walk_dicts(tree)))
        if _WINDOWS in node_classes(found):
            placed = _substitute_windows(session, here)
            yield plan_nodes_of(placed)
            waiting.extend(iterate_sequence(placed.subqueriesAll()))
        seen += 1
        if seen > _MAX_NESTED:
            raise RefusedQueryError("The query is nested too deeply.", "Use windows without names.")


def node_classes(found: PlanNodes) -> set[str]:
    """Return the class of every node and expression."""
    return {name for node in found if isinstance(name := node.get("class"), str)}


def plan_leaves(plan: JavaObject, named: Container[str]) -> Iterator[JavaObject]:
    """Yield the leaf nodes of these classes, those of subqueries too."""
    for here in (plan, *iterate_sequence(plan.subqueriesAll())):
        for leaf in iterate_sequence(here.collectLeaves()):
            if leaf.getClass().getName() in named:
                yield leaf


def registered_functions(spark: SparkSession) -> Iterator[tuple[str, str]]:
    """Yield all functions of a new session, each with the class of its expression."""
    state = spark.newSession()._jsparkSession.sessionState()  # noqa: SLF001 - only the JVM knows
    for registry in (state.functionRegistry(), state.tableFunctionRegistry()):
        for identifier in iterate_sequence(registry.listFunction()):
            info = registry.lookupFunction(identifier)
            if info.isDefined():
                yield str(identifier.funcName()), str(info.get().getClassName())


def iterate_sequence(found: JavaObject) -> Iterator[JavaObject]:
    """Yield the items of a Scala sequence."""
    return (found.apply(number) for number in range(found.size()))


def _substitute_windows(session: SparkSession, plan: JavaObject) -> JavaObject:
    """Substitute named windows by the analyser's first rules, which look nothing up."""
    analyser = session._jsparkSession.sessionState().analyzer()  # noqa: SLF001 - as above
    within = jvm_of(session).org.apache.spark.sql.catalyst.analysis.CTESubstitution.apply(plan)
    return analyser.WindowsSubstitution().apply(within)


def _walk_dicts(found: object) -> Iterator[dict[str, Any]]:
    waiting = [found]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            # What stands in a literal is data.
            if here.get("class") != _LITERAL:
                waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)


_TABLE = "org.apache.iceberg.spark.source.SparkTable"
_ROWS = "org.apache.iceberg.BaseTable"
_COLUMN = "org.apache.spark.sql.catalyst.expressions.AttributeReference"
_FILE = "_file"


def refuse_relations(plan: JavaObject, plan_nodes: PlanNodes) -> None:
    """Refuse relations that are not plain table rows, or that are read with options."""
    found = list(plan_leaves(plan, allow_list.READ_NODES))
    seen = {_column_ids(node) for leaf in found for node in _read_nodes(plan_nodes_of(leaf))}
    if not seen.issuperset(_column_ids(node) for node in _read_nodes(plan_nodes)):
        raise RefusedQueryError("This query has a table that cannot be checked.", "Simplify it.")
    for leaf in found:
        _refuse_table(leaf)
    if _uses_file_column(plan_nodes) and not all(_has_own_file_column(leaf) for leaf in found):
        raise RefusedQueryError(f"A query may not use {_FILE}.", "File locations cannot be queried.")


def _refuse_table(leaf: JavaObject) -> None:
    if not leaf.options().isEmpty():
        raise RefusedQueryError("A query may not give options to a table.", "Leave WITH (…) out.")
    table = leaf.table()
    if table.getClass().getName() != _TABLE or table.table().getClass().getName() != _ROWS:
        message = "A query reads rows of tables, not metadata tables."
        raise RefusedQueryError(message, "Look at the snapshots on the page of the table.")


def _read_nodes(plan_nodes: PlanNodes) -> Iterator[dict[str, Any]]:
    return (node for node in plan_nodes if node.get("class") in allow_list.READ_NODES)


def _column_ids(node: dict[str, Any]) -> tuple[object, ...]:
    """Return the expression ids of a relation's columns, which are unique in the query."""
    return tuple(column[0]["exprId"]["id"] for column in node["output"])


def _uses_file_column(plan_nodes: PlanNodes) -> bool:
    """Return whether the file column is used anywhere, beyond the relations that offer it."""
    given = sum(_is_file_column(column[0]) for node in _read_nodes(plan_nodes) for column in node["output"])
    return sum(_is_file_column(node) for node in plan_nodes) > given


def _is_file_column(node: dict[str, Any]) -> bool:
    return node.get("class") == _COLUMN and str(node.get("name")).lower() == _FILE


def _has_own_file_column(leaf: JavaObject) -> bool:
    """Return whether the table has an ordinary column of this name."""
    return _FILE in (str(name).lower() for name in leaf.table().schema().fieldNames())


_HINT = "Write one SELECT over tables; the platform does everything else."


class QueryGuard:
    """Checks queries of one Spark session; it knows the classes of the allowed functions there."""

    def __init__(self, spark: SparkSession, most_parts: int = 2_000) -> None:
        self._most_parts = most_parts
        found = dict(registered_functions(spark))
        allowed = {found[name] for name in found if name in allow_list.ALLOWED_FUNCTIONS}
        self._named = {found[name]: name for name in found if name not in allow_list.ALLOWED_FUNCTIONS}
        self._analysed = allow_list.ANALYSED_NODES | allowed
        self._parsed = allow_list.PARSED_NODES | self._analysed

    def analyse(self, session: SparkSession, text: str) -> DataFrame:
        """Return the rows of a query text in this session; refuse a text with anything that is not allowed."""
        with active_session(session):
            text_bounds.refuse_text(text)
            java = session._jsparkSession  # noqa: SLF001 - only the JVM has the plans
            parsed = java.sessionState().sqlParser().parsePlan(text)
            for plan_nodes in parsed_plan_nodes(session, parsed, self._most_parts):
                self._refuse_parts(plan_nodes, self._parsed)
                _refuse_functions(plan_nodes)
                _refuse_windows(plan_nodes, len(text))
                constants.refuse_evaluation(plan_nodes)
            rows = dataframe_of_plan(session, parsed)
            analysed = rows._jdf.queryExecution().analyzed()  # noqa: SLF001 - as above
            plan_nodes = plan_nodes_of(analysed)
            self._refuse_parts(plan_nodes, self._analysed)
            refuse_relations(analysed, plan_nodes)
            return rows

    def _refuse_parts(self, plan_nodes: PlanNodes, allowed: frozenset[str]) -> None:
        # What a statement does says more than what it names: DropTable before UnresolvedIdentifier.
        wrong = sorted(node_classes(plan_nodes) - allowed, key=lambda name: (".Unresolved" in name, name))
        if wrong:
            raise RefusedQueryError(f"A query may not contain {self._describe_class(wrong[0])}.", _HINT)

    def _describe_class(self, name: str) -> str:
        """Return the readable name of a class: the function, or the statement."""
        if name in self._named:
            return f"the function {self._named[name]}"
        return allow_list.short_name(name)


_WINDOW_USE = allow_list.EXPRESSIONS + "UnresolvedWindowExpression"
_MAX_WINDOWS = 1_000_000


def _refuse_windows(plan_nodes: PlanNodes, length: int) -> None:
    """Refuse named windows that would become too large where they are used; none is longer than the text."""
    if length * sum(node.get("class") == _WINDOW_USE for node in plan_nodes) > _MAX_WINDOWS:
        raise RefusedQueryError(
            "The query uses named windows too often for its length.", "Put the part that uses them into a table."
        )


def _refuse_functions(plan_nodes: PlanNodes) -> None:
    """Refuse functions by name before Spark resolves them: some are evaluated during analysis."""
    for node in plan_nodes:
        name = allow_list.called_function(node)
        if name is not None and name not in allow_list.ALLOWED_FUNCTIONS:
            raise RefusedQueryError(f"A query may not use the function {quote(name)}.", _HINT)
