"""What is told of an error in a delivery: what the person can put right, and nothing of the machine.

A database's own words are told, shortened and without what was sent to it and where it is. Spark's are told where they
speak of the rows.
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

from lakehold.kit.errors import LakeholdError, UnavailableError
from lakehold.pipeline.connectors import java
from lakehold.pipeline.connectors.veiling import veiled
from lakehold.pipeline.errors import DataError, DeliveryError, QueryError
from lakehold.pipeline.spark.guard import words

_LONGEST = 300
_FULL = "No space left on device"
_AGAIN = "Run it again; if it stays so, tell your admin when."
# The driver repeats the rows that it was sending.
_BATCH = re.compile(r"^Batch entry .* was aborted: (?=ERROR)|\s*Call getNextException to see.*$", re.DOTALL)
_UNREACHABLE, _STRANGERS, _VALUES = ("08", "53", "57"), ("28",), ("21", "22", "23", "42804")


@contextmanager
def told(what: str, *hidden: str) -> Iterator[None]:
    """Let what goes wrong inside be told as trouble with this; texts that are to stay hidden do."""
    try:
        yield
    except LakeholdError:
        raise
    except (Py4JError, PySparkException, OSError) as error:
        raise _clear(error, what, hidden) from error


def short(text: str, *hidden: str, longest: int = _LONGEST) -> str:
    """A text of somebody else's, as it may stand in a message: one short line with nothing unprintable."""
    text = veiled(text, *hidden)
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= longest else line[:longest] + "…"


def sql_state(error: BaseException) -> str:
    """The database's own code for what went wrong; empty if it did not come from one."""
    found = _sql(list(java.chain(error)))
    return "" if found is None else str(found.getSQLState() or "")


def _clear(error: Exception, what: str, hidden: tuple[str, ...]) -> LakeholdError:
    if isinstance(error, OSError):
        if error.errno == errno.ENOSPC:
            return _full(what)
        why = os.strerror(error.errno) if error.errno else type(error).__name__
        return UnavailableError(f"{what} could not be written: {why}.", _AGAIN)
    chain = list(java.chain(error))
    if any(_FULL in str(each.getMessage()) for each in chain):
        return _full(what)
    found = _sql(chain)
    if found is not None:
        return _refused(str(found.getSQLState() or ""), short(_said(found), *hidden), what)
    for each in chain:
        converted = convert_exception(each)
        if not isinstance(converted, UnknownException) and isinstance(clear := words.told(converted), QueryError):
            return clear
    return DeliveryError(f"{what} could not be written.", _AGAIN)


def _refused(state: str, said: str, what: str) -> LakeholdError:
    if state.startswith(_UNREACHABLE) or (not state and "onnect" in said):
        return UnavailableError(f"{what} cannot be reached: {said}", "Check host, port and network, then run it again.")
    if state.startswith(_STRANGERS):
        return DeliveryError(f"{what} does not let us in: {said}", "Check user name and password.")
    if state.startswith(_VALUES):
        return DataError(f"{what} does not take the rows: {said}", "Correct the rows, or the table there.")
    return DeliveryError(f"{what} refused: {said}", "Nothing was changed there. Correct it, then run it again.")


def _full(what: str) -> LakeholdError:
    return UnavailableError(
        f"{what} could not be written: there is no room left.", "Make room on the disk, then run it again."
    )


def _said(found: Any) -> str:  # noqa: ANN401 - an exception of Java
    return _BATCH.sub("", str(found.getMessage() or found.getClass().getSimpleName()))


def _sql(chain: list[Any]) -> Any | None:  # noqa: ANN401 - as above
    """The innermost word of the database."""
    found = None
    for each in chain:
        if hasattr(each, "getSQLState") and java.is_sql(each):
            found = each
            while (more := found.getNextException()) is not None:
                found = more
    return found
