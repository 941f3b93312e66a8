"""`python -m benchmarks.cold_start`: start Spark and get a first result, in a process of its own."""

from __future__ import annotations

from lakehold.pipeline.spark import session

if __name__ == "__main__":
    assert session.session("local[2]").sql("SELECT id % 5, count(*) FROM range(100) GROUP BY 1").toArrow().num_rows
    session.stop()
