"""Translates errors of sources into messages that tell users what to correct, and nothing of the machine.

Errors that our own code raises in Spark's Python workers travel through Spark as text and are restored here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from lakehold.connectors.redaction import redact
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.lake.errors import DataError, SourceError
from lakehold.lake.spark import jvm

_MAX_LENGTH = 300
_RETRY_HINT = "Run it again; if it stays so, tell your admin when."
_CARRIED = re.compile(r"<<told (\{.*?\})>>", re.DOTALL)
_ERROR_TYPES: dict[str, type[LakeholdError]] = {
    each.code: each for each in (DataError, SourceError, UnavailableError, NotFoundError, InvalidInputError)
}
_POSITION = re.compile(r"\s*Position: \d+")
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")


class CarriedError(Exception):
    """Carries an error of ours through Spark as text."""

    def __init__(self, error: LakeholdError) -> None:
        payload = {"type": type(error).code, "message": error.message, "hint": error.hint}
        payload |= {"field": error.field, "code": error.code}
        # Signs of other alphabets would not all come through.
        super().__init__(f"<<told {json.dumps(payload)}>>")
        self.error = error


@contextmanager
def translate_errors(what: str, *hidden: str) -> Iterator[None]:
    """Translate errors raised inside into messages about this source, with these texts redacted."""
    try:
        yield
    except CarriedError as carried:
        raise carried.error from None
    except (Py4JError, PySparkException) as error:
        raise translate_error(error, what, hidden) from error


def translate_error(error: Exception, what: str, hidden: tuple[str, ...] = ()) -> LakeholdError:
    """Return the error as users may read it."""
    if carried := _CARRIED.search(str(error)):
        payload = json.loads(carried[1])
        return _ERROR_TYPES.get(payload.pop("type"), DataError)(**payload)
    chain = list(jvm.exception_chain(error))
    database = next((each for each in reversed(chain) if jvm.is_sql_exception(each)), None)
    if database is not None:
        # Where in the text it is wrong counts from what we have put before it.
        message = _POSITION.sub("", _database_message(chain, database))
        return error_of_sql_state(str(database.getSQLState() or ""), shorten(message, *hidden), what)
    text = "\n".join(f"{each.getClass().getSimpleName()}: {each.getMessage()}" for each in chain)
    if "ClassNotFoundException" in text or "registered driver" in text:
        return SourceError(
            f"{what} needs a driver that is not there.", "Ask your admin to add its jar.", field="driver"
        )
    if "could not open a JDBC connection" in text:
        message = f"{what} has an address that its driver does not take."
        return SourceError(message, "Check driver and address.", field="address")
    if "No space left on device" in text:
        return UnavailableError("There is no room left on the disk.", "Make room, then run it again.")
    if "FAILED_READ_FILE" in text:
        return DataError(f"{what} has a file that is damaged or has gone.", "Check the files, then load them again.")
    return SourceError(f"{what} could not be read to its end.", _RETRY_HINT)


def error_of_sql_state(state: str, said: str, what: str) -> LakeholdError:
    """Return the error for an SQLSTATE of the source database."""
    match state[:2], state:
        case ("08" | "53" | "57", _):
            return UnavailableError(
                f"{what} cannot be reached: {said}", "Check host, port and network.", field="address"
            )
        case ("28", _):
            return SourceError(f"{what} denied access: {said}", "Check user name and password.", field="password")
        case (_, "42501"):
            message = f"{what} denied read access: {said}"
            return SourceError(message, "Ask its admin for the right to read.", field="user")
        case ("3D", _):
            message = f"{what} does not have it: {said}"
            return NotFoundError(message, "Check the name.", field="address", code="unknown_database")
        case ("3F", _):
            return NotFoundError(f"{what} does not have it: {said}", "Check the name.", field="schemas")
        case (_, "42P01" | "42703"):
            return NotFoundError(f"{what} does not have it: {said}", "Check the name.")
    return SourceError(f"{what} refuses: {said}", "Correct the settings, then try again.")


def shorten(text: str, *hidden: str) -> str:
    """Return a foreign message as one short line without secrets and addresses."""
    line = _BLANKS.sub(" ", redact(text, *hidden)).strip()
    return line if len(line) <= _MAX_LENGTH else line[:_MAX_LENGTH] + "…"


def _database_message(chain: list[Any], database: Any) -> str:  # noqa: ANN401 - exceptions of Java
    """Return the database's message, with the reason of the network if only that knows it."""
    message = str(database.getMessage() or database.getClass().getSimpleName())
    last = chain[-1]
    if last.getClass().getSimpleName() == "UnknownHostException":
        return f"{message} Its host is unknown."
    return message
