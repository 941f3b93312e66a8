"""`python -m benchmarks.cold_start`: start Spark in a process of its own, and say how large its first result is."""

from __future__ import annotations

from lakehold.pipeline.spark import launching

if __name__ == "__main__":
    java = launching.launch("local[2]", {})
    from lakehold.pipeline.spark import session

    spark = session.session("local[2]", launched=java)
    print(spark.sql("SELECT id % 5, count(*) FROM range(100) GROUP BY 1").toArrow().num_rows, flush=True)
    session.stop()
