"""Translates errors of deliveries into messages that tell users what to correct, and nothing of the machine.

A database's own message is shown, shortened and without what was sent to it and where it is. Spark's messages are shown
where they speak of the rows.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import UnknownException, convert_exception

from lakehold.connectors.redaction import redact
from lakehold.kit.errors import LakeholdError, UnavailableError
from lakehold.lake.errors import DataError, DeliveryError, QueryError
from lakehold.lake.spark import jvm
from lakehold.lake.spark.guard import query_errors

_MAX_LENGTH = 300
_DISK_FULL = "No space left on device"
_RETRY_HINT = "Run it again; if it stays so, tell your admin when."
# The driver repeats the rows that it was sending.
_BATCH = re.compile(r"^Batch entry .* was aborted: (?=ERROR)|\s*Call getNextException to see.*$", re.DOTALL)
_UNREACHABLE, _UNAUTHORISED, _VALUES = ("08", "53", "57"), ("28",), ("21", "22", "23", "42804")


@contextmanager
def translate_errors(what: str, *hidden: str) -> Iterator[None]:
    """Translate errors raised inside into messages about this target, with these texts redacted."""
    try:
        yield
    except LakeholdError:
        raise
    except (Py4JError, PySparkException, OSError) as error:
        raise _translate_error(error, what, hidden) from error


def shorten(text: str, *hidden: str, longest: int = _MAX_LENGTH) -> str:
    """Return a foreign message as one short printable line."""
    text = redact(text, *hidden)
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= longest else line[:longest] + "…"


def sql_state(error: BaseException) -> str:
    """Return the SQLSTATE of the error; empty if it did not come from a database."""
    found = _innermost_sql_exception(list(jvm.exception_chain(error)))
    return "" if found is None else str(found.getSQLState() or "")


def _translate_error(error: Exception, what: str, hidden: tuple[str, ...]) -> LakeholdError:
    if isinstance(error, OSError):
        if error.errno == errno.ENOSPC:
            return _disk_full_error(what)
        why = os.strerror(error.errno) if error.errno else type(error).__name__
        return UnavailableError(f"{what} could not be written: {why}.", _RETRY_HINT)
    chain = list(jvm.exception_chain(error))
    if any(_DISK_FULL in str(each.getMessage()) for each in chain):
        return _disk_full_error(what)
    found = _innermost_sql_exception(chain)
    if found is not None:
        return _error_of_sql_state(str(found.getSQLState() or ""), shorten(_exception_message(found), *hidden), what)
    for each in chain:
        converted = convert_exception(each)
        if not isinstance(converted, UnknownException) and isinstance(
            clear := query_errors.translate_error(converted), QueryError
        ):
            return clear
    return DeliveryError(f"{what} could not be written.", _RETRY_HINT)


def _error_of_sql_state(state: str, message: str, what: str) -> LakeholdError:
    if state.startswith(_UNREACHABLE) or (not state and "onnect" in message):
        return UnavailableError(
            f"{what} cannot be reached: {message}",
            "Check host, port and network, then run it again.",
            field="address",
        )
    if state.startswith(_UNAUTHORISED):
        return DeliveryError(f"{what} denied access: {message}", "Check user name and password.", field="password")
    if state.startswith(_VALUES):
        return DataError(f"{what} does not take the rows: {message}", "Correct the rows, or the table there.")
    return DeliveryError(f"{what} refused: {message}", "Nothing was changed there. Correct it, then run it again.")


def _disk_full_error(what: str) -> LakeholdError:
    return UnavailableError(
        f"{what} could not be written: there is no room left.", "Make room on the disk, then run it again."
    )


def _exception_message(found: Any) -> str:  # noqa: ANN401 - an exception of Java
    return _BATCH.sub("", str(found.getMessage() or found.getClass().getSimpleName()))


def _innermost_sql_exception(chain: list[Any]) -> Any | None:  # noqa: ANN401 - as above
    """Return the innermost SQL exception."""
    found = None
    for each in chain:
        if hasattr(each, "getSQLState") and jvm.is_sql_exception(each):
            found = each
            while (more := found.getNextException()) is not None:
                found = more
    return found
