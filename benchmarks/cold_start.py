"""`python -m benchmarks.cold_start`: start Spark in a process of its own, and say how large its first result is."""

from __future__ import annotations

from lakehold.lake.spark import runtime
from lakehold.lake.spark.runtime import SparkOptions

if __name__ == "__main__":
    java = runtime.launch(SparkOptions("local[2]"))
    from lakehold.lake.spark import spark_session

    spark = spark_session.get_spark_session(SparkOptions("local[2]"), java)
    print(spark.sql("SELECT id % 5, count(*) FROM range(100) GROUP BY 1").toArrow().num_rows, flush=True)
    spark_session.stop()
