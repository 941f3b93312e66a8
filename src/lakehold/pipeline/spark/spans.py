"""A part of a table written anew: the rows whose cursor lies in a span go, and those that arrive take their place."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from lakehold.pipeline.lake import Place
from lakehold.pipeline.quoting import literal, quoted
from lakehold.pipeline.spark.jvm import within


@dataclass(frozen=True, slots=True)
class Within:
    """Values of a field, from one on and before another; an empty one is no bound. They are values of its type."""

    field: str
    since: str
    until: str

    def sql(self, rows: DataFrame) -> str:
        """Whether a row of the table lies in it."""
        found = next(each for each in rows.schema.fields if each.name.lower() == self.field.lower())
        column, kind = f"t.{quoted(found.name)}", found.dataType.simpleString()
        bounds = ((">=", self.since), ("<", self.until))
        parts = (f"{column} {sign} CAST({literal(text)} AS {kind})" for sign, text in bounds if text)
        return " AND ".join(parts)


def replace(session: SparkSession, place: Place, rows: DataFrame, span: Within) -> None:
    """One write: whoever reads meanwhile sees the span as it was or as it will be."""
    ready = within(session, rows)
    ready.createOrReplaceTempView("arriving")
    name = next(quoted(each) for each in ready.columns if each.lower() == span.field.lower())
    # No row of one is the same as one of the other; said so that Spark can still join the two by a key.
    never = f"t.{name} = s.{name} AND t.{name} IS NULL"
    session.sql(
        f"MERGE INTO {place.sql} t USING arriving s ON {never} WHEN NOT MATCHED THEN INSERT *"
        f" WHEN NOT MATCHED BY SOURCE AND {span.sql(ready)} THEN DELETE"
    )
