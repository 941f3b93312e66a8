"""The file of an access review, as Parquet, CSV or Arrow.

Spark computes the review and writes parts, which are copied one after the other into one file, so that no table is ever
in memory as a whole. Only a worker imports this.
"""

from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet

from lakehold.access.review.review import AccessReview
from lakehold.lake.row_formats import escape_formulas
from lakehold.lake.spark import spark_session
from lakehold.lake.spark.runtime import SparkOptions
from lakehold.runs.jobs.runner import JobContext
from lakehold.runs.system_table_schemas import visible_resources


def export_access_review(job_ctx: JobContext) -> tuple[Path, int]:
    """Write the access review; return the file and its number of rows."""
    job_ctx.report_progress(5, "starting Spark")
    session = spark_session.get_spark_session(SparkOptions.from_settings(job_ctx.platform.settings))
    job_ctx.report_progress(20, "reading facts")
    options = job_ctx.options
    kinds = cast("list[str] | None", options.get("kinds"))
    inside = cast("str | None", options.get("inside"))
    with job_ctx.platform.read(job_ctx.caller) as ctx:
        # The rest is in no row, and not counted.
        seen = pa.table({"resource": pa.array(list(visible_resources(ctx, kinds)), pa.string())})
        review = ctx.session.read_view(lambda view: AccessReview(session, view, kinds, inside=inside))
    with job_ctx.temporary_folder() as folder:
        job_ctx.report_progress(40, "deciding")
        known = session.createDataFrame(seen)
        review.rows().join(known, "resource", "left_semi").write.parquet(str(folder / "parts"))
        job_ctx.report_progress(80, "writing")
        file = folder / f"review.{options['format']}"
        rows = concatenate_parts(folder / "parts", file)
        return job_ctx.publish_file(file), rows


def concatenate_parts(parts: Path, file: Path) -> int:
    """Write the parts of a review into one file; return the number of its rows."""
    found = pyarrow.dataset.dataset(parts, format="parquet")
    schema = pa.schema([(name, pa.string()) for name in ("member", "resource", "kind", "action")])
    rows = 0
    with _writer(file, schema) as writer:
        for batch in found.to_batches(columns=schema.names):
            rows += batch.num_rows
            ready = batch.cast(schema)
            writer.write_batch(escape_formulas(ready) if file.suffix == ".csv" else ready)
    return rows


def _writer(file: Path, schema: pa.Schema) -> pyarrow.parquet.ParquetWriter:
    match file.suffix:
        case ".parquet":
            return pyarrow.parquet.ParquetWriter(file, schema)
        case ".csv":
            return pyarrow.csv.CSVWriter(file, schema)
        case _:
            return pa.ipc.new_file(file, schema)
