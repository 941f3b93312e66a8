"""What only the JVM can do: move a plan from one session to another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession


def jvm_of(session: SparkSession) -> Any:  # noqa: ANN401 - classes of Java by their names
    """The JVM behind a session."""
    return session._jvm  # noqa: SLF001 - this module is for that


@contextmanager
def active(session: SparkSession) -> Iterator[None]:
    """Let this session's settings hold in this thread. Without one, parser and tasks go by what Spark ships with."""
    sessions = jvm_of(session).org.apache.spark.sql.classic.SparkSession
    sessions.setActiveSession(session._jsparkSession)  # noqa: SLF001 - as above
    try:
        yield
    finally:
        sessions.clearActiveSession()


def frame(session: SparkSession, plan: Any) -> DataFrame:  # noqa: ANN401 - a plan of Java
    """The rows of a plan, in this session."""
    dataset = jvm_of(session).org.apache.spark.sql.classic.Dataset
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)  # noqa: SLF001 - as above


def within(session: SparkSession, rows: DataFrame) -> DataFrame:
    """The same rows in another session: what they mean was settled in theirs."""
    return frame(session, rows._jdf.queryExecution().analyzed())  # noqa: SLF001 - as above


def java_of(session: SparkSession) -> Any:  # noqa: ANN401 - the session as Java has it
    """The same session in the JVM."""
    return session._jsparkSession  # noqa: SLF001 - as above
