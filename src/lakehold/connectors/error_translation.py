"""Translates errors of sources and deliveries into messages that say what to correct, and nothing of the machine.

A database's own message is shown, shortened and without what was sent to it and where it is. Spark's messages are shown
where they speak of the rows. Errors that our own code raises in Spark's Python workers travel through Spark as text and
are restored here.

Members who may see a run need not see the settings of its connectors, which are for those who may edit them. So no
error and no log line names a host, an address, a user or a file of this machine, whichever system repeats them.
"""

import errno
import ipaddress
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import UnknownException, convert_exception

from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.kit.ids import cut_text
from lakehold.kit.network_policy import NetworkPolicyError
from lakehold.lake.errors import DataError, DeliveryError, QueryError, SourceError
from lakehold.lake.spark import jvm
from lakehold.lake.spark.guard import query_errors

_PLACEHOLDER = "…"
_MAX_IGNORED_LENGTH = 3
"""Shorter words occur within other words: as a host they are redacted only together with their port."""
_AUTHORITY = re.compile(r"(?://|@|host\s*=\s*)([^/;?()\s]+)", re.IGNORECASE)
_WITH_PORT = re.compile(r"(?<![\w.-])[a-z][\w.-]*:\d{2,5}(?!\w)", re.IGNORECASE)
_NUMBERS = re.compile(r"(?<![\w.])\[?([0-9a-f]*(?:[:.][0-9a-f]*){2,}(?:%\w+)?)\]?(?::\d{1,5})?(?!\w)", re.IGNORECASE)
_FILE = re.compile(r"(?<![\w/.:])(?:file:)?/(?:[\w.@+-]+/)+[\w.@+-]*")


def hosts_of_url(url: str) -> tuple[str, ...]:
    """Return the hosts that a URL names, with their ports and without."""
    found = [each.rpartition("@")[2] for part in _AUTHORITY.findall(url) for each in part.split(",")]
    alone = [each.strip("[]") if each.endswith("]") else each.partition(":")[0] for each in found]
    return tuple(each for each in (*found, *alone) if len(each) > _MAX_IGNORED_LENGTH)


def redact(text: str, *hidden: str) -> str:
    """Return the text without these words, and without addresses and file paths."""
    text = _FILE.sub(_PLACEHOLDER, _hide(text, hidden))
    text = _NUMBERS.sub(lambda found: _PLACEHOLDER if _is_address(found[1]) else found[0], text)
    return _WITH_PORT.sub(_PLACEHOLDER, text)


def _hide(text: str, hidden: Iterable[str]) -> str:
    for word in sorted(filter(None, hidden), key=len, reverse=True):
        text = text.replace(word, _PLACEHOLDER)
    return text


def _is_address(text: str) -> bool:
    # The end of a sentence is none of its own.
    for each in (text, text.rstrip(":."), text.rpartition(":")[0]):
        try:
            ipaddress.ip_address(each.partition("%")[0])
        except ValueError:
            continue
        return True
    return False


_MAX_LENGTH = 300
_DISK_FULL = "No space left on device"
_RETRY_HINT = "Run it again; if it fails again, tell your admin the time."
_CARRIED = re.compile(r"<<told (\{.*?\})>>", re.DOTALL)
_ERROR_TYPES: dict[str, type[LakeholdError]] = {
    each.code: each
    for each in (DataError, SourceError, UnavailableError, NotFoundError, InvalidInputError, NetworkPolicyError)
}
# Where in the text it is wrong counts from what we have put before it.
_POSITION = re.compile(r"Position: \d+")
# The driver repeats the rows that it was sending.
_BATCH = re.compile(r"^Batch entry .* was aborted: (?=ERROR)|Call getNextException to see.*$", re.DOTALL)
_UNREACHABLE, _UNAUTHORISED, _VALUES = ("08", "53", "57"), ("28",), ("21", "22", "23", "42804")


class CarriedError(Exception):
    """Carries an error of ours through Spark as text."""

    def __init__(self, error: LakeholdError) -> None:
        payload = {"type": type(error).code, "message": error.message, "hint": error.hint}
        payload |= {"field": error.field, "code": error.code, "foreign": error.foreign}
        # Signs of other alphabets would not all come through.
        super().__init__(f"<<told {json.dumps(payload)}>>")
        self.error = error


@contextmanager
def translate_source_errors(what: str, *hidden: str) -> Iterator[None]:
    """Translate errors raised inside into messages about this source, with these texts redacted."""
    try:
        yield
    except CarriedError as carried:
        raise carried.error from None
    except (Py4JError, PySparkException) as error:
        raise source_error(error, what, hidden) from error


@contextmanager
def translate_delivery_errors(what: str, *hidden: str) -> Iterator[None]:
    """Translate errors raised inside into messages about this target, with these texts redacted."""
    try:
        yield
    except LakeholdError:
        raise
    except (Py4JError, PySparkException, OSError) as error:
        raise _delivery_error(error, what, hidden) from error


def shorten(text: str, *hidden: str, longest: int = _MAX_LENGTH) -> str:
    """Return a foreign message as one short printable line without secrets and addresses."""
    text = redact(cut_text(_hide(text, hidden), 10 * longest))
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= longest else line[:longest] + "…"


def sql_state(error: BaseException) -> str:
    """Return the SQLSTATE of the error; empty if it did not come from a database."""
    return _state_and_message(list(jvm.exception_chain(error)))[0]


def source_error(error: Exception, what: str, hidden: tuple[str, ...] = ()) -> LakeholdError:
    """Return an error of a source as users may read it."""
    if carried := _CARRIED.search(str(error)):
        payload = json.loads(carried[1])
        return _ERROR_TYPES.get(payload.pop("type"), DataError)(**payload)
    chain = list(jvm.exception_chain(error))
    state, message = _state_and_message(chain)
    if message:
        if chain[-1].getClass().getSimpleName() == "UnknownHostException":
            # Only the network knows the reason.
            message += " Its host is unknown."
        return source_error_of_state(state, shorten(_POSITION.sub("", message), *hidden), what)
    text = "\n".join(f"{each.getClass().getSimpleName()}: {each.getMessage()}" for each in chain)
    if "ClassNotFoundException" in text or "registered driver" in text:
        message = f"{what} needs a driver that is not there."
        return SourceError(message, "Ask your admin to add its jar.", field="driver")
    if "could not open a JDBC connection" in text:
        message = f"{what} has an address that its driver does not accept."
        return SourceError(message, "Check driver and address.", field="address")
    if _DISK_FULL in text:
        return UnavailableError("The disk is full.", "Free some space, then run it again.")
    if "FAILED_READ_FILE" in text:
        return DataError(f"{what} has a damaged or missing file.", "Check the files, then load them again.")
    return SourceError(f"{what} could not be read completely.", _RETRY_HINT)


def source_error_of_state(state: str, said: str, what: str) -> LakeholdError:
    """Return the error for an SQLSTATE of the source database."""
    error = _source_error_of_state(state, said, what)
    error.foreign = said
    return error


def _source_error_of_state(state: str, said: str, what: str) -> LakeholdError:
    missing = f"{what} does not have it: {said}"
    match state[:2], state:
        case ("08" | "53" | "57", _):
            message, hint = f"{what} cannot be reached: {said}", "Check host, port and network."
            return UnavailableError(message, hint, field="address")
        case ("28", _):
            return SourceError(f"{what} denied access: {said}", "Check user name and password.", field="password")
        case (_, "42501"):
            message = f"{what} denied read access: {said}"
            return SourceError(message, "Ask its admin for the right to read.", field="user")
        case ("3D", _):
            return NotFoundError(missing, "Check the name.", field="address", code="unknown_database")
        case ("3F", _):
            return NotFoundError(missing, "Check the name.", field="schemas")
        case (_, "42P01" | "42703"):
            return NotFoundError(missing, "Check the name.")
    return SourceError(f"{what} refuses: {said}", "Correct the settings, then try again.")


def _delivery_error(error: Exception, what: str, hidden: tuple[str, ...]) -> LakeholdError:
    chain = list(jvm.exception_chain(error))
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOSPC or any(_DISK_FULL in str(each.getMessage()) for each in chain):
        message = f"{what} could not be written: the disk is full."
        return UnavailableError(message, "Free some space, then run it again.")
    if isinstance(error, OSError):
        why = os.strerror(number) if number else type(error).__name__
        return UnavailableError(f"{what} could not be written: {why}.", _RETRY_HINT)
    state, message = _state_and_message(chain)
    if message:
        said = shorten(_BATCH.sub("", message), *hidden)
        found = _delivery_error_of_state(state, said, what)
        found.foreign = said
        return found
    for each in chain:
        converted = convert_exception(each)
        if not isinstance(converted, UnknownException) and isinstance(
            clear := query_errors.translate_error(converted), QueryError
        ):
            # It may repeat a value.
            clear.foreign = clear.message
            return clear
    return DeliveryError(f"{what} could not be written.", _RETRY_HINT)


def _delivery_error_of_state(state: str, message: str, what: str) -> LakeholdError:
    if state.startswith(_UNREACHABLE) or (not state and "onnect" in message):
        hint = "Check host, port and network, then run it again."
        return UnavailableError(f"{what} cannot be reached: {message}", hint, field="address")
    if state.startswith(_UNAUTHORISED):
        return DeliveryError(f"{what} denied access: {message}", "Check user name and password.", field="password")
    if state.startswith(_VALUES):
        return DataError(f"{what} does not accept the rows: {message}", "Correct the rows, or the table there.")
    return DeliveryError(f"{what} refused: {message}", "Nothing was changed there. Correct it, then run it again.")


def _state_and_message(chain: list[Any]) -> tuple[str, str]:
    """Return SQLSTATE and message of the innermost SQL exception; both empty if no database is behind the error."""
    found = next((each for each in reversed(chain) if jvm.is_sql_exception(each)), None)
    if found is None:
        return "", ""
    while (more := found.getNextException()) is not None:
        found = more
    return str(found.getSQLState() or ""), str(found.getMessage() or found.getClass().getSimpleName())
