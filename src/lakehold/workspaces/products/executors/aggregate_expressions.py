"""Custom SQL of consolidation: one aggregate over the records of an entity, checked by the guard.

Spark's own parser says whether a text is one expression. The guard then checks a query that has it over a table with
the attributes alone, so it uses what any query may, and reads nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.lake.errors import RefusedQueryError
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.spark.guard import query_errors, text_bounds
from lakehold.lake.spark.guard.query_guard import QueryGuard, node_classes, plan_nodes_of
from lakehold.lake.spark.jvm import active_session, java_session

_SUBQUERIES = ("Subquery", "Exists", "ListQuery", "SubqueryArgumentExpression")


@dataclass(frozen=True, slots=True)
class AggregateCompiler:
    """Compiles aggregates over records with these columns, all of them texts."""

    spark: SparkSession
    guard: QueryGuard
    columns: Sequence[str]

    def __call__(self, text: str) -> Column:
        """Return the aggregate, or refuse a text that is none or that the guard refuses."""
        session = self.spark.newSession()
        try:
            self._refuse_more_than_one(session, text)
            empty = ", ".join("CAST(NULL AS STRING)" for _ in self.columns)
            names = ", ".join(map(quote_identifier, self.columns))
            # A query with HAVING is one over a single group: a column outside of an aggregate is an error there.
            query = f"SELECT (\n{text}\n) AS value FROM VALUES ({empty}) AS records({names}) HAVING true"  # noqa: S608 - one expression, checked above
            self.guard.analyse(session, query).select(f.col("value").cast("string"))
        except RefusedQueryError as error:
            raise InvalidSettingError(error.message, error.hint, field="sql") from error
        except PySparkException as error:
            found = query_errors.translate_error(error)
            hint = found.hint or "Write an aggregate over the attributes, such as max(revenue)."
            raise InvalidSettingError(f"{quote(text)} cannot be used: {found.message}", hint, field="sql") from error
        return f.expr(text)

    @staticmethod
    def _refuse_more_than_one(session: SparkSession, text: str) -> None:
        """Refuse a text that is more than one expression, or that has a query in it."""
        text_bounds.refuse_text(text)
        with active_session(session):
            parsed = java_session(session).sessionState().sqlParser().parseExpression(text)
        if any(name.endswith(_SUBQUERIES) for name in node_classes(plan_nodes_of(parsed))):
            message = "An aggregate cannot contain a query."
            raise InvalidSettingError(message, "Write an aggregate over the attributes alone.", field="sql")
