"""Translates errors of Spark into messages that tell users what to correct, and nothing of the machine.

Spark's messages about the text of a query speak of the query and of tables that the catalog has let through. All others
may name files, hosts and threads; of those only the kind is reported.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark import errors
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import UnknownException, convert_exception

from lakehold.kit.errors import LakeholdError, UnavailableError
from lakehold.kit.ids import cut_text
from lakehold.lake.errors import QueryError, QueryMemoryError
from lakehold.lake.spark import jvm

_QUERY_EXCEPTIONS = (
    *(errors.AnalysisException, errors.ParseException, errors.SparkRuntimeException, errors.IllegalArgumentException),
    *(errors.ArithmeticException, errors.ArrayIndexOutOfBoundsException, errors.DateTimeException),
    errors.NumberFormatException,
)
_FAILED = ("The query could not be completed.", "Try again; if it fails again, tell your admin the time.")
_MEMORY = ("OutOfMemory", "OutOfDirectMemory", "OversizedAllocation", "maxResultSize", "BROADCAST_TABLE")
_FULL = "No space left on device"
# What a client makes of the catalog's conflict: a name that means several tables. The words are the catalog's own.
_AMBIGUOUS_NAME = "org.apache.iceberg.exceptions.AlreadyExistsException"
_MAX_LENGTH = 500
_CONDITION = re.compile(r"^\s*\[[A-Z0-9_.]+\]\s*")
_STATE = re.compile(r"SQLSTATE: \w+")
_PLACE = re.compile(r"\(line (\d+), pos (\d+)\)|; line (\d+) pos (\d+);?")
_AFTER = ("\n== SQL", "\n== DataFrame", "\n'", ";\n", "\nJVM stacktrace")
# Advice of Spark's that only somebody with a shell could follow.
_ADVICE = re.compile(r"(If necessary set|To tolerate the error|You can set) .*? to bypass this error\.?", re.DOTALL)
_SETTING = re.compile(r"[^.\n]*\bspark\.[a-zA-Z.]+[^.\n]*\.?")
_FILE = re.compile(r"(?:file:|[a-z0-9]+://)?/[^\s'\"`,;)]+")


def translate_error(error: PySparkException | Py4JJavaError) -> LakeholdError:
    """Return the error as its caller may read it."""
    if any(word in str(error) for word in _MEMORY):
        return QueryMemoryError("The query needs more memory than is available.", "Query less data at once.")
    if any(_FULL in str(each.getMessage()) for each in jvm.exception_chain(error)):
        return UnavailableError("The disk is full.", "Free some space, then run it again.")
    several = next((each for each in jvm.exception_chain(error) if each.getClass().getName() == _AMBIGUOUS_NAME), None)
    if several is not None:
        return QueryError(str(several.getMessage()))
    if isinstance(error, Py4JJavaError):
        return _translate_java_error(error)
    if not isinstance(error, _QUERY_EXCEPTIONS):
        return QueryError(*_FAILED)
    text = str(error)
    place = _PLACE.search(text)
    for mark in _AFTER:
        text = text.partition(mark)[0]
    text = cut_text(text, 4 * _MAX_LENGTH)
    text = _PLACE.sub("", _STATE.sub("", _CONDITION.sub("", text)))
    text = _FILE.sub("…", _SETTING.sub("", _ADVICE.sub("", text)))
    text = " ".join(text.split())[:_MAX_LENGTH].rstrip(" .") or "The query cannot be run"
    if not (place and place[1]):
        return QueryError(f"{text}.{_error_location(error)}", "Correct the query.")
    line, character = int(place[1]), int(place[2]) + 1
    where = f"It is in line {line}, at character {character}."
    return QueryError(f"{text}. {where}", "Correct the query.", field=f"sql.{line}.{character}")


def _translate_java_error(error: Py4JJavaError) -> LakeholdError:
    """Translate an error that Spark has wrapped in others, or that is none of Spark's."""
    for cause in jvm.exception_chain(error):
        if cause.getClass().getName() == "java.lang.StackOverflowError":
            return QueryError("The query is nested too deeply.", "Break it into parts: WITH … AS (…).")
        converted = convert_exception(cause)
        if not isinstance(converted, UnknownException):
            return translate_error(converted)
    return QueryError(*_FAILED)


def _error_location(error: PySparkException) -> str:
    """Return where in the query the error is, if Spark knows."""
    for context in error.getQueryContext() or ():
        if context.contextType() == errors.QueryContextType.SQL and context.fragment():
            return f" It is at: {' '.join(context.fragment().split())[:80]}"
    return ""


def error_message(error: Exception, *, values: bool = True) -> str:
    """Return the message for any error of a run; without values, only what kind of error it is."""
    if isinstance(error, PySparkException | Py4JJavaError):
        return str(translate_error(error) if values else without_values(error))
    return "Internal error. See the worker's log."


def without_values(error: Exception) -> LakeholdError:
    """Return an error of a query that says nothing of the rows which it has met."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, PySparkException) and (condition := cause.getCondition()):
            return QueryError(f"The query failed: {condition}.", "Run it as somebody who may read what it reads.")
        cause = cause.__cause__
    return QueryError(*_FAILED)


@contextmanager
def values_hidden() -> Iterator[None]:
    """Raise errors of queries without the values that they have met."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        raise without_values(error) from error
