"""DataFrames of rows that are here already, without Python processes.

`createDataFrame` of a list makes one that Python processes read whenever it is computed, part by part: even if the
list is empty.
"""

from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from lakehold.lake.spark.jvm import java_session, jvm_of


def empty_rows(session: SparkSession, schema: StructType) -> DataFrame:
    """Return no rows, of any schema."""
    java = java_session(session)
    none = java.createDataFrame(jvm_of(session).java.util.ArrayList(), java.parseDataType(schema.json()))
    return DataFrame(none, session)


def local_rows(session: SparkSession, rows: Iterable[Sequence[object]], schema: StructType) -> DataFrame:
    """Return a few rows, of types that Arrow knows."""
    known, fields = [tuple(row) for row in rows], to_arrow_schema(schema)
    columns = [pa.array([row[n] for row in known], field.type) for n, field in enumerate(fields)]
    return session.createDataFrame(pa.Table.from_arrays(columns, schema=fields), schema)
