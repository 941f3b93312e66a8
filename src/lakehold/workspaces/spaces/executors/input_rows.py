"""The rows and columns of datasets that tasks read: of a registered one those of its source, without hidden columns."""

from pyspark.sql import DataFrame
from pyspark.sql import types as t

from lakehold.lake.spark.tables import Tables
from lakehold.lake.table_views import TableView, view_of
from lakehold.runs.step_context import StepContext


def read_rows(step_ctx: StepContext, dataset: str) -> DataFrame:
    """Return the rows of a dataset as they are now."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        view = view_of(ctx, dataset)
    rows = step_ctx.tables.read(view.place)
    return rows.drop(*filter(view.hides, rows.columns))


def load_schema(tables: Tables, view: TableView) -> t.StructType | None:
    """Return the columns of a dataset; None if its table does not exist yet."""
    if not tables.exists(view.place):
        return None
    return t.StructType([each for each in tables.schema(view.place).fields if not view.hides(each.name)])
