"""The tables that an analysed query reads: just rows, and nothing that tells of files.

The catalog has let each of them through. But beside its rows a table has others, of its files and manifests, and a
column with the file of each row; those tell where things lie, and are not for queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lakehold.pipeline.errors import RefusedQueryError
from lakehold.pipeline.spark.guard import nodes, plans
from lakehold.pipeline.spark.guard.plans import Java, Told

_TABLE = "org.apache.iceberg.spark.source.SparkTable"
_ROWS = "org.apache.iceberg.BaseTable"
_COLUMN = "org.apache.spark.sql.catalyst.expressions.AttributeReference"
_FILE = "_file"


def refuse(plan: Java, told: Told) -> None:
    """Refuse anything that is not a table of rows, or that is read in an unusual way."""
    found = list(plans.leaves(plan, nodes.READ))
    seen = {_columns_of(node) for leaf in found for node in _reading(plans.told(leaf))}
    if not seen.issuperset(_columns_of(node) for node in _reading(told)):
        raise RefusedQueryError("This query has a table that cannot be looked into.", "Write it simpler.")
    for leaf in found:
        _refuse_table(leaf)
    if _uses_file(told) and not all(_has_file(leaf) for leaf in found):
        raise RefusedQueryError(f"A query may not ask for {_FILE}.", "Where rows lie is the platform's business.")


def _refuse_table(leaf: Java) -> None:
    if not leaf.options().isEmpty():
        raise RefusedQueryError("A query may not give options to a table.", "Leave WITH (…) out.")
    table = leaf.table()
    if table.getClass().getName() != _TABLE or table.table().getClass().getName() != _ROWS:
        raise RefusedQueryError(
            "A query reads the rows of tables, and not what is known of their files.",
            "Look at the snapshots on the page of the table.",
        )


def _reading(told: Told) -> Iterator[dict[str, Any]]:
    return (node for node in told if node.get("class") in nodes.READ)


def _columns_of(node: dict[str, Any]) -> tuple[object, ...]:
    """The numbers of its columns, which no other table of the query has."""
    return tuple(column[0]["exprId"]["id"] for column in node["output"])


def _uses_file(told: Told) -> bool:
    """Whether it is asked for anywhere; that a table could give it is no matter."""
    given = sum(_is_file(column[0]) for node in _reading(told) for column in node["output"])
    return sum(_is_file(node) for node in told) > given


def _is_file(node: dict[str, Any]) -> bool:
    return node.get("class") == _COLUMN and str(node.get("name")).lower() == _FILE


def _has_file(leaf: Java) -> bool:
    """Whether it is a column like any other there."""
    return _FILE in (str(name).lower() for name in leaf.table().schema().fieldNames())
