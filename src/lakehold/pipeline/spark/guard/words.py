"""What is told of an error in a query: what the person can put right, and nothing of the machine.

Spark's messages about the text of a query speak of the query and of tables that the catalog has let through. All others
may speak of files, hosts and threads; of those only the kind is told.
"""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DateTimeException,
    IllegalArgumentException,
    NumberFormatException,
    ParseException,
    PySparkException,
    QueryContextType,
    SparkRuntimeException,
)
from pyspark.errors.exceptions.captured import UnknownException, convert_exception

from lakehold.kit.errors import LakeholdError, UnavailableError
from lakehold.pipeline.connectors import java
from lakehold.pipeline.errors import OutOfMemoryError, QueryError

_TELLING = (
    AnalysisException,
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DateTimeException,
    NumberFormatException,
    ParseException,
    SparkRuntimeException,
)
_BROKEN = ("The query could not be run to its end.", "Try again; if it stays so, tell your admin when.")
_MEMORY = ("OutOfMemory", "OutOfDirectMemory", "OversizedAllocation", "maxResultSize", "BROADCAST_TABLE")
_FULL = "No space left on device"
# What a client makes of the catalog's conflict: a name that means several tables. The words are the catalog's own.
_SEVERAL = "org.apache.iceberg.exceptions.AlreadyExistsException"
_LONGEST = 500
_DEEPEST = 10
_CONDITION = re.compile(r"^\s*\[[A-Z0-9_.]+\]\s*")
_STATE = re.compile(r"\s*SQLSTATE: \w+")
_PLACE = re.compile(r"\(line (\d+), pos (\d+)\)|; line (\d+) pos (\d+);?")
_AFTER = ("\n== SQL", "\n== DataFrame", "\n'", ";\n", "\nJVM stacktrace")
# Advice of Spark's that only somebody with a shell could follow.
_ADVICE = re.compile(r"\s*(If necessary set|To tolerate the error|You can set) .*? to bypass this error\.?", re.DOTALL)
_SETTING = re.compile(r"\s*[^.\n]*\bspark\.[a-zA-Z.]+[^.\n]*\.?")
_FILE = re.compile(r"(?:file:|[a-z0-9]+://)?/[^\s'\"`,;)]+")


def told(error: PySparkException | Py4JJavaError) -> LakeholdError:
    """The error as its asker may read it."""
    if any(word in str(error) for word in _MEMORY):
        return OutOfMemoryError("The query needs more memory than there is for it.", "Ask for less at once.")
    if any(_FULL in str(each.getMessage()) for each in java.chain(error)):
        return UnavailableError("There is no room left on the disk.", "Make room, then run it again.")
    several = next((each for each in java.chain(error) if each.getClass().getName() == _SEVERAL), None)
    if several is not None:
        return QueryError(str(several.getMessage()))
    if isinstance(error, Py4JJavaError):
        return _of_java(error)
    if not isinstance(error, _TELLING) and not isinstance(error, IllegalArgumentException):
        return QueryError(*_BROKEN)
    text = str(error)
    for mark in _AFTER:
        text = text.partition(mark)[0]
    place = _PLACE.search(str(error))
    text = _PLACE.sub("", _STATE.sub("", _CONDITION.sub("", text)))
    text = _FILE.sub("…", _SETTING.sub("", _ADVICE.sub("", text)))
    text = " ".join(text.split())[:_LONGEST].rstrip(" .") or "The query cannot be run"
    where = f" It is in line {place[1]}, at character {int(place[2]) + 1}." if place and place[1] else _context(error)
    return QueryError(f"{text}.{where}", "Correct the query.")


def _of_java(error: Py4JJavaError) -> LakeholdError:
    """What lies in an error that Spark has wrapped in others, or that is none of Spark's."""
    cause = error.java_exception
    for _ in range(_DEEPEST):
        if cause is None:
            break
        if cause.getClass().getName() == "java.lang.StackOverflowError":
            return QueryError("The query is nested too deeply.", "Break it into parts: WITH … AS (…).")
        converted = convert_exception(cause)
        if not isinstance(converted, UnknownException):
            return told(converted)
        cause = cause.getCause()
    return QueryError(*_BROKEN)


def _context(error: PySparkException) -> str:
    """Where in the query, if Spark knows."""
    for context in error.getQueryContext() or ():
        if context.contextType() == QueryContextType.SQL and context.fragment():
            return f" It is at: {' '.join(context.fragment().split())[:80]}"
    return ""


def of(error: Exception) -> str:
    """Any error of a run in words."""
    if isinstance(error, PySparkException | Py4JJavaError):
        return str(told(error))
    return "It failed for a reason of our own; the worker's log has it."
