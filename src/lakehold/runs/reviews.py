"""The review as a file: every member × resource × action, about what its asker may know of.

Spark works it out and writes parts; one after the other they become one file, so that no table is ever in memory as a
whole.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet

from lakehold.access.review.review import AccessReview
from lakehold.lake.spark import spark_session as spark
from lakehold.runs import sight
from lakehold.runs.making import Making


def make(making: Making) -> tuple[Path, int]:
    """Write what was asked for; the file, and how many rows it has."""
    making.tell(5, "starting Spark")
    session = spark.get_spark_session(making.platform.settings.spark)
    making.tell(20, "reading facts")
    asked = making.asked
    kinds = cast("list[str] | None", asked.get("kinds"))
    inside = cast("str | None", asked.get("inside"))
    with making.platform.read(making.caller) as ctx:
        # The rest is in no row, and not counted.
        seen = pa.table({"resource": pa.array(list(sight.seen(ctx, kinds)), pa.string())})
        review = ctx.session.read_view(lambda view: AccessReview(session, view, kinds, inside=inside))
    with making.rough() as rough:
        making.tell(40, "deciding")
        known = session.createDataFrame(seen)
        review.rows().join(known, "resource", "left_semi").write.parquet(str(rough / "parts"))
        making.tell(80, "writing")
        file = rough / f"review.{asked['format']}"
        rows = _joined(rough / "parts", file)
        return making.finish(file), rows


def _joined(parts: Path, file: Path) -> int:
    found = pyarrow.dataset.dataset(parts, format="parquet")
    schema = pa.schema([(name, pa.string()) for name in ("member", "resource", "kind", "action")])
    rows = 0
    with _writer(file, schema) as writer:
        for batch in found.to_batches(columns=schema.names):
            rows += batch.num_rows
            writer.write_batch(batch.cast(schema))
    return rows


def _writer(file: Path, schema: pa.Schema) -> pyarrow.parquet.ParquetWriter:
    match file.suffix:
        case ".parquet":
            return pyarrow.parquet.ParquetWriter(file, schema)
        case ".csv":
            return pyarrow.csv.CSVWriter(file, schema)
        case _:
            return pa.ipc.new_file(file, schema)
