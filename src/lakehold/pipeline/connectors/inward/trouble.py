"""What is told of an error at a source: what the person can put right, and nothing of the machine.

What our own code finds wrong beside Spark travels through it as text and comes out here as the error that it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.pipeline.connectors import java
from lakehold.pipeline.connectors.veiling import veiled
from lakehold.pipeline.errors import DataError, SourceError

_LONGEST = 300
_AGAIN = "Run it again; if it stays so, tell your admin when."
_TOLD = re.compile(r"<<told (\{.*?\})>>", re.DOTALL)
_KINDS: dict[str, type[LakeholdError]] = {
    each.code: each for each in (DataError, SourceError, UnavailableError, NotFoundError, InvalidInputError)
}
_POSITION = re.compile(r"\s*Position: \d+")
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")


class Told(Exception):  # noqa: N818 - it carries an error
    """An error of ours on its way through Spark."""

    def __init__(self, error: LakeholdError) -> None:
        told = {"code": error.code, "message": error.message, "hint": error.hint}
        # Signs of other alphabets would not all come through.
        super().__init__(f"<<told {json.dumps(told)}>>")
        self.error = error


@contextmanager
def told(what: str, *hidden: str) -> Iterator[None]:
    """Let what goes wrong inside be told as trouble with this; texts that are to stay hidden do."""
    try:
        yield
    except Told as carried:
        raise carried.error from None
    except (Py4JError, PySparkException) as error:
        raise clear(error, what, hidden) from error


def clear(error: Exception, what: str, hidden: tuple[str, ...] = ()) -> LakeholdError:
    """The error as a person may read it."""
    if carried := _TOLD.search(str(error)):
        told = json.loads(carried[1])
        return _KINDS.get(told["code"], DataError)(told["message"], told["hint"])
    chain = list(java.chain(error))
    database = next((each for each in reversed(chain) if java.is_sql(each)), None)
    if database is not None:
        # Where in the text it is wrong counts from what we have put before it.
        words = _POSITION.sub("", _words(chain, database))
        return of_database(str(database.getSQLState() or ""), short(words, *hidden), what)
    said = "\n".join(f"{each.getClass().getSimpleName()}: {each.getMessage()}" for each in chain)
    if "ClassNotFoundException" in said or "registered driver" in said:
        return SourceError(f"{what} needs a driver that is not there.", "Ask your admin to add its jar.")
    if "could not open a JDBC connection" in said:
        return SourceError(f"{what} has an address that its driver does not take.", "Check driver and address.")
    if "No space left on device" in said:
        return UnavailableError("There is no room left on the disk.", "Make room, then run it again.")
    if "FAILED_READ_FILE" in said:
        return DataError(f"{what} has a file that is damaged or has gone.", "Check the files, then load them again.")
    return SourceError(f"{what} could not be read to its end.", _AGAIN)


def of_database(state: str, said: str, what: str) -> LakeholdError:
    """What a database's own code means."""
    match state[:2], state:
        case ("08" | "53" | "57", _):
            return UnavailableError(f"{what} cannot be reached: {said}", "Check host, port and network.")
        case ("28", _):
            return SourceError(f"{what} does not let us in: {said}", "Check user name and password.")
        case (_, "42501"):
            return SourceError(f"{what} does not let us read: {said}", "Ask its admin for the right to read.")
        case ("3D" | "3F", _) | (_, "42P01" | "42703"):
            return NotFoundError(f"{what} does not have it: {said}", "Check the name.")
    return SourceError(f"{what} refuses: {said}", "Correct the settings, then try again.")


def short(text: str, *hidden: str) -> str:
    """Words of somebody else's as they may stand in a message: one short line without secrets and addresses."""
    line = _BLANKS.sub(" ", veiled(text, *hidden)).strip()
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"


def _words(chain: list[Any], database: Any) -> str:  # noqa: ANN401 - exceptions of Java
    """What the database says, and why it could not be reached if only the network knows."""
    said = str(database.getMessage() or database.getClass().getSimpleName())
    last = chain[-1]
    if last.getClass().getSimpleName() == "UnknownHostException":
        return f"{said} Its host is unknown."
    return said
