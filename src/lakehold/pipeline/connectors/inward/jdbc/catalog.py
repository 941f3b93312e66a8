"""Which tables and views a database has, from its driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from lakehold.pipeline.connectors.outward.database import Database
from lakehold.pipeline.spark.jvm import jvm_of

_KINDS = {"TABLE", "BASE TABLE", "PARTITIONED TABLE", "FOREIGN TABLE", "VIEW", "MATERIALIZED VIEW"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view, as the database calls it."""

    schema: str
    name: str

    @property
    def full(self) -> str:
        """How the stream is called."""
        return f"{self.schema}.{self.name}" if self.schema else self.name


class Catalog:
    """What a connection knows of its database."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - an object of Java
        self._connection = connection
        self._about = connection.getMetaData()

    def tables(self, schemas: tuple[str, ...]) -> list[Table]:
        """Those of the schemas; of the connection's own one if none is chosen."""
        found: list[Table] = []
        for schema in schemas or (self._connection.getSchema(),):
            rows = self._about.getTables(self._connection.getCatalog(), self._pattern(schema), "%", None)
            found.extend(
                Table(space or "", name or "")
                for space, name, kind in _rows(rows, "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE")
                if kind in _KINDS and (schema is None or space == schema)
            )
        return sorted(found, key=lambda table: table.full)

    def keys(self, table: Table) -> tuple[str, ...]:
        """The fields of its primary key, in their order."""
        rows = self._about.getPrimaryKeys(self._connection.getCatalog(), table.schema or None, table.name)
        found = _rows(rows, "KEY_SEQ", "COLUMN_NAME")
        return tuple(name for _, name in sorted((int(place or 0), name or "") for place, name in found))

    def quoted(self, *names: str) -> str:
        """Names in the database's SQL."""
        sign = str(self._about.getIdentifierQuoteString()).strip()
        parts = (f"{sign}{name.replace(sign, sign * 2)}{sign}" if sign else name for name in names if name)
        return ".".join(parts)

    def _pattern(self, schema: str | None) -> str | None:
        """A schema's name where the driver takes a pattern."""
        if schema is None:
            return None
        escape = str(self._about.getSearchStringEscape() or "")
        return "".join(f"{escape}{sign}" if sign in f"_%{escape}" else sign for sign in schema)


@contextmanager
def catalog(spark: SparkSession, database: Database) -> Iterator[Catalog]:
    """A connection for some questions."""
    database.check()
    jvm = jvm_of(spark)
    sql = jvm.org.apache.spark.sql
    options = sql.execution.datasources.jdbc.JDBCOptions(
        jvm.PythonUtils.toScalaMap({**database.options, "dbtable": "t"})
    )
    dialect = sql.jdbc.JdbcDialects.get(database.url)
    connection = dialect.createConnectionFactory(options).apply(-1)
    try:
        yield Catalog(connection)
    finally:
        connection.close()


def _rows(rows: Any, *names: str) -> list[tuple[str | None, ...]]:  # noqa: ANN401 - a ResultSet of Java's
    found: list[tuple[str | None, ...]] = []
    try:
        while rows.next():
            found.append(tuple(rows.getString(name) for name in names))
    finally:
        rows.close()
    return found
