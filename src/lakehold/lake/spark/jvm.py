"""Calls into the JVM behind PySpark: plans of other sessions, local properties, and exceptions behind an error."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import DataFrame, SparkSession


def jvm_of(session: SparkSession) -> Any:  # noqa: ANN401 - classes of Java by their names
    """Return the JVM behind a session."""
    return session._jvm  # noqa: SLF001 - this module is for that


@cache
def class_of(jvm: Any, name: str) -> Any:  # noqa: ANN401 - as above
    """Return a Java class by name, cached since every lookup is a call to the JVM."""
    return getattr(jvm, name)


@contextmanager
def active_session(session: SparkSession) -> Iterator[None]:
    """Make this session the active one of the thread, so that its settings apply to parser and tasks."""
    sessions = class_of(jvm_of(session), "org.apache.spark.sql.classic.SparkSession")
    sessions.setActiveSession(session._jsparkSession)  # noqa: SLF001 - as above
    try:
        yield
    finally:
        sessions.clearActiveSession()


def dataframe_of_plan(session: SparkSession, plan: Any) -> DataFrame:  # noqa: ANN401 - a plan of Java
    """Return the rows of a plan in this session."""
    dataset = class_of(jvm_of(session), "org.apache.spark.sql.classic.Dataset")
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)  # noqa: SLF001 - as above


def move_to_session(session: SparkSession, rows: DataFrame) -> DataFrame:
    """Return the same rows in another session, keeping the plan that was analysed in theirs."""
    return dataframe_of_plan(session, rows._jdf.queryExecution().analyzed())  # noqa: SLF001 - as above


@contextmanager
def materialised(rows: DataFrame) -> Iterator[DataFrame]:
    """Compute rows once and keep them while they are used, even if the tables that they come from are written."""
    found = rows.localCheckpoint(eager=True)
    try:
        yield found
    finally:
        found._jdf.queryExecution().analyzed().rdd().unpersist(False)  # noqa: SLF001 - as above


def java_session(session: SparkSession) -> Any:  # noqa: ANN401 - the session as Java has it
    """Return the Java session behind a session."""
    return session._jsparkSession  # noqa: SLF001 - as above


def set_local_properties(spark: SparkSession, values: Mapping[str, str]) -> None:
    """Replace the local properties of this thread's tasks, in three calls however many there are."""
    jvm = jvm_of(spark)
    properties = class_of(jvm, "java.util.Properties")()
    if values:
        text = "\n".join(f"{_escape_property(name)}={_escape_property(value)}" for name, value in values.items())
        properties.load(class_of(jvm, "java.io.StringReader")(text))
    spark.sparkContext._jsc.sc().setLocalProperties(properties)  # noqa: SLF001 - as above


def _escape_property(text: str) -> str:
    units = text.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


_DEEPEST = 20


def exception_chain(error: BaseException) -> Iterator[Any]:
    """Yield the Java exceptions behind an error, the outermost first."""
    here: Any = None
    if isinstance(error, Py4JJavaError):
        here = error.java_exception
    elif isinstance(error, CapturedException):
        here = error._origin  # noqa: SLF001 - only there is what Java said
    for _ in range(_DEEPEST):
        if here is None:
            return
        yield here
        here = here.getCause()


def is_sql_exception(each: Any) -> bool:  # noqa: ANN401 - an exception of Java
    """Return whether a Java exception came from a database."""
    kind = each.getClass()
    while kind is not None:
        if kind.getName() == "java.sql.SQLException":
            return True
        kind = kind.getSuperclass()
    return False
