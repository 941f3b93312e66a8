"""Parsing of submitted form values, dates among them, and the errors that a form is rendered again for."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from starlette.datastructures import ImmutableMultiDict

from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, SECOND, Moment, to_moment
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError

CORRECTABLE_ERRORS = (InvalidInputError, ConflictError, HiddenError, DeniedError, VersionConflictError)
"""Errors that the user can correct: the form is rendered again, with all that was filled in."""
_SEPARATORS = re.compile(r"[,\n]")
_INTEGER = re.compile(r"[0-9]{1,9}")


def error_field(error: LakeholdError, fields: Mapping[str, str]) -> str:
    """Return the form field that an error is about; empty if it is about none that the form shows.

    `fields` has the form fields by setting, and by code where one setting has several fields. Those of a list have a
    place for its number: `endpoints.path` is shown at `endpoint_path-{}`. A part of a setting that has no field of its
    own belongs to the field of the whole.
    """
    if error.code in fields:
        return fields[error.code]
    path = error.field.split(".")
    number = next((part for part in path if part.isdigit()), "0")
    names = [part for part in path if not part.isdigit()]
    while names:
        if found := fields.get(".".join(names)):
            return found.format(number)
        names.pop()
    return ""


def errors_by_field(error: LakeholdError, fields: Mapping[str, str], default: str) -> dict[str, str]:
    """Return an error as the text at its form field, or at the default one."""
    return {error_field(error, fields) or default: str(error)}


def parse_integer(text: str) -> int | None:
    """Parse a non-negative integer; return None if the text is not one or is too long."""
    return int(text) if _INTEGER.fullmatch(text) else None


def list_setting(settings: Mapping[str, object], name: str) -> list[Any]:
    """Return a setting that is a list; empty if it is none."""
    found = settings.get(name)
    return found if isinstance(found, list) else []


def row_settings(settings: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """Return a setting that is a list of objects; whatever else it has is left out."""
    return [each for each in list_setting(settings, name) if isinstance(each, Mapping)]


def split_names(text: str) -> list[str]:
    """Split names at commas and line breaks."""
    return [part.strip() for part in _SEPARATORS.split(text) if part.strip()]


def parse_day(text: str, error: InvalidInputError, *, after: int = 0) -> Moment:
    """Return the beginning of a day in UTC, or of one so many days after; raise the error if the text is no date."""
    try:
        day = date.fromisoformat(text) + timedelta(days=after)
    except (ValueError, OverflowError):
        raise error from None
    return to_moment(datetime.combine(day, time(), UTC))


def parse_end_of_day(ctx: RequestContext, day: str) -> Moment | None:
    """Return the end of a day in UTC; None for an empty text. A day in the past is refused."""
    if not day.strip():
        return None
    error = InvalidInputError("Not a date.", "Use the format 2031-05-04.", field="until")
    end = parse_day(day.strip(), error, after=1)
    if end <= ctx.at:
        raise InvalidInputError("This date is in the past.", "Select a future date.", field="until")
    return end


def last_day_value(at: Moment) -> str:
    """Return the last day covered, as the value of a date field; empty for no end."""
    if at >= FOREVER:
        return ""
    return datetime.fromtimestamp((at - 1) // SECOND, UTC).date().isoformat()


def today(ctx: RequestContext) -> str:
    """Return the current day, the first that can be chosen."""
    return datetime.fromtimestamp(ctx.at / SECOND, UTC).date().isoformat()


FieldErrors = dict[str, str]


def collect_errors(**fields: Callable[[], object]) -> FieldErrors:
    """Run a validator for each field and return the messages of those that failed."""
    errors: FieldErrors = {}
    for name, validate in fields.items():
        try:
            validate()
        except InvalidInputError as error:
            errors[name] = str(error)
    return errors


def text_field(sent: ImmutableMultiDict[str, Any], name: str) -> str:
    """Return the text of a form field. A missing field and a file count as an empty text."""
    value = sent.get(name)
    return value if isinstance(value, str) else ""


def text_fields(sent: ImmutableMultiDict[str, Any], *names: str) -> dict[str, str]:
    """Return the texts of form fields by their names."""
    return {name: text_field(sent, name) for name in names}
