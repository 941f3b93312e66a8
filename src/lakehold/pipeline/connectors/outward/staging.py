"""The staging table: rows lie there until one transaction moves them, and nobody else knows its name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame

from lakehold.pipeline.connectors.outward.database import Connection, Database
from lakehold.pipeline.connectors.outward.fitting import columns_of
from lakehold.pipeline.connectors.outward.target import Target
from lakehold.pipeline.connectors.outward.trouble import short
from lakehold.pipeline.errors import DataError
from lakehold.pipeline.spark.sharing import undisturbed

_AT_ONCE = 5_000


def fill(connection: Connection, rows: DataFrame, target: Target, database: Database, at_once: int) -> None:
    """Make it anew and let Spark write the rows into it, by several connections."""
    drop(connection, target.staging)
    staged = rows.toDF(*target.staged)
    if database.is_postgresql:
        # With the types of the table itself; and not logged, as it need not outlive a crash.
        pairs = ", ".join(f"{name} AS {new}" for name, new in zip(target.columns, target.staged, strict=True))
        connection.run(
            f"CREATE UNLOGGED TABLE {target.staging} AS SELECT {pairs} FROM {target.full} WITH NO DATA"  # noqa: S608 - quoted
        )
    else:
        types = ", ".join(f"{field.name} {connection.type_of(field.dataType)}" for field in staged.schema.fields)
        connection.run(f"CREATE TABLE {target.staging} ({types})")
    options = {**database.options, "dbtable": target.staging}
    writer = staged.write.format("jdbc").options(**options, batchsize=_AT_ONCE, numPartitions=at_once)
    with undisturbed(rows.sparkSession):
        writer.mode("append").save()


def count(connection: Connection, target: Target) -> int:
    """How many rows are in it."""
    return _number(connection, f"SELECT COUNT(*) FROM {target.staging}")  # noqa: S608 - quoted


def refuse_doubles(connection: Connection, target: Target, keys: Sequence[str]) -> None:
    """Refuse rows of which several have one key, or of which one has none. The database is asked, which has them all:
    so they are read from where they come from only once.
    """
    staged = [new for name, new in zip(target.columns, target.staged, strict=True) if name in target.keys]
    named, empty = ", ".join(staged), " OR ".join(f"{name} IS NULL" for name in staged)
    names = " and ".join(keys)
    without = _number(connection, f"SELECT COUNT(*) FROM {target.staging} WHERE {empty}")  # noqa: S608 - quoted
    if without:
        raise DataError(f"{without:,} rows have no {names}.", "A key must be there in every row.")
    doubles = f"SELECT {named} FROM {target.staging} GROUP BY {named} HAVING COUNT(*) > 1"  # noqa: S608 - quoted
    with connection.asked(doubles) as answer:
        if not answer.next():
            return
        shown = ", ".join(short(str(answer.getString(number)), longest=40) for number in range(1, len(staged) + 1))
    many = _number(connection, f"SELECT COUNT(*) FROM ({doubles}) d")  # noqa: S608 - quoted
    raise DataError(
        f"{many:,} keys are there more than once, such as {shown}.",
        f"Choose a key that tells rows apart, or keep one row for each {names}.",
    )


def drop(connection: Connection, own: str) -> None:
    """End it, if it is there. If that cannot be done now, the delivery's next try does it."""
    with suppress(Py4JError):
        connection.run(f"DROP TABLE {own}")


def make(connection: Connection, full: str, statement: str) -> None:
    """Make a table; it is no error if somebody else has just made it."""
    try:
        connection.run(statement)
    except Py4JError:
        if columns_of(connection, full) is None:
            raise


def _number(connection: Connection, question: str) -> int:
    with connection.asked(question) as answer:
        answer.next()
        return int(answer.getLong(1))
