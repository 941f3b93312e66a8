"""What only the JVM can do: move a plan from one session to another, and be told of many things at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from pyspark.sql import DataFrame, SparkSession


def jvm_of(session: SparkSession) -> Any:  # noqa: ANN401 - classes of Java by their names
    """The JVM behind a session."""
    return session._jvm  # noqa: SLF001 - this module is for that


@cache
def class_of(jvm: Any, name: str) -> Any:  # noqa: ANN401 - as above
    """A class by its name. To find one is a question to the JVM, so each is found once."""
    return getattr(jvm, name)


@contextmanager
def active(session: SparkSession) -> Iterator[None]:
    """Let this session's settings hold in this thread. Without one, parser and tasks go by what Spark ships with."""
    sessions = class_of(jvm_of(session), "org.apache.spark.sql.classic.SparkSession")
    sessions.setActiveSession(session._jsparkSession)  # noqa: SLF001 - as above
    try:
        yield
    finally:
        sessions.clearActiveSession()


def frame(session: SparkSession, plan: Any) -> DataFrame:  # noqa: ANN401 - a plan of Java
    """The rows of a plan, in this session."""
    dataset = class_of(jvm_of(session), "org.apache.spark.sql.classic.Dataset")
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)  # noqa: SLF001 - as above


def within(session: SparkSession, rows: DataFrame) -> DataFrame:
    """The same rows in another session: what they mean was settled in theirs."""
    return frame(session, rows._jdf.queryExecution().analyzed())  # noqa: SLF001 - as above


def java_of(session: SparkSession) -> Any:  # noqa: ANN401 - the session as Java has it
    """The same session in the JVM."""
    return session._jsparkSession  # noqa: SLF001 - as above


def tell_tasks(spark: SparkSession, told: Mapping[str, str]) -> None:
    """What the tasks of this thread are told from now on, and nothing else: in three calls, however much it is."""
    jvm = jvm_of(spark)
    properties = class_of(jvm, "java.util.Properties")()
    if told:
        text = "\n".join(f"{_escaped(name)}={_escaped(value)}" for name, value in told.items())
        properties.load(class_of(jvm, "java.io.StringReader")(text))
    spark.sparkContext._jsc.sc().setLocalProperties(properties)  # noqa: SLF001 - as above


def _escaped(text: str) -> str:
    """As a file of properties has it."""
    units = text.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
