"""Parsing of submitted form values, dates and periods among them, and the errors that a form is rendered again for."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, cast

from starlette.datastructures import FormData, ImmutableMultiDict

from lakehold.access.facts.names import NameTakenError
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, FOREVER, SECOND, Moment, format_moment, to_moment
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.web.labels import capitalize

CORRECTABLE_ERRORS = (InvalidInputError, ConflictError, HiddenError, DeniedError, VersionConflictError)
"""Errors that the user can correct: the form is rendered again, with all that was filled in."""
_SEPARATORS = re.compile(r"[,\n]")
_ISO_DATE_LENGTH = 10


def error_field(error: LakeholdError, fields: Mapping[str, str]) -> str:
    """Return the form field that an error is about; empty if it is about none that the form shows.

    `fields` has the form fields by setting, and by code where one setting has several fields. Those of a list have a
    place for its number: `endpoints.path` is shown at `endpoint_path-{}`. A part of a setting that has no field of its
    own belongs to the field of the whole. A taken name is shown at `name`, as every form calls it.
    """
    if isinstance(error, NameTakenError):
        return "name"
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


def parse_integer(text: str, digits: int = 9) -> int | None:
    """Parse a non-negative integer; return None if the text is not one or is too long."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


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


@dataclass(frozen=True, slots=True)
class FormPeriod:
    """The period of a grant. None as start means now, None as end means no end."""

    since: Moment | None = None
    until: Moment | None = None

    @property
    def label(self) -> str:
        """The period as text: `from 2031-05-04 until 2031-06-03`; empty for from now on without an end."""
        parts = [f"from {format_moment(self.since)[:_ISO_DATE_LENGTH]}"] if self.since is not None else []
        if self.until is not None:
            parts.append(f"until {last_day_value(self.until)}")
        return " ".join(parts)

    @property
    def sentence(self) -> str:
        """The period as a sentence."""
        return f"{capitalize(self.label)}." if self.label else "Effective immediately, without expiration."

    @property
    def suffix(self) -> str:
        """The period as the end of a sentence."""
        return f", {self.label}" if self.label else ""


PERIOD_FIELDS = {name: name for name in ("since_date", "until_date")}
"""The form fields of a period that an error may be about."""


def parse_period(sent: FormData, now: Moment) -> FormPeriod:
    """Parse the period of a form; an error names the field that is not valid."""

    def parse(field: str, missing: str, after: int = 0) -> Moment:
        return parse_day(text_field(sent, field), InvalidInputError(missing, field=field), after=after)

    since = parse("since_date", "Select a start date.") if sent.get("since_date") else None
    begin = now if since is None or since <= now else since
    until: Moment | None = None
    match sent.get("until"):
        case "7" | "30" as days:
            until = begin + int(days) * DAY
        case "date":
            until = parse("until_date", "Select an end date.", after=1)
    if until is not None and until <= begin:
        raise InvalidInputError("The end date must be after the start date.", field="until_date")
    return FormPeriod(None if begin == now else since, until)


class FieldErrors(dict[str, str]):
    """The messages of a form by field."""

    def at(
        self, field: str, *kinds: type[LakeholdError], fields: Mapping[str, str] | None = None
    ) -> AbstractContextManager[None, bool]:
        """Catch errors of these kinds. Their message is shown at the field that they name, or else at this one."""

        @contextmanager
        def catch() -> Iterator[None]:
            try:
                yield
            except kinds as error:
                self.update(errors_by_field(error, fields or {}, field))

        return cast("AbstractContextManager[None, bool]", catch())


def collect_errors(**fields: Callable[[], object]) -> FieldErrors:
    """Run a validator for each field and return the messages of those that failed."""
    errors = FieldErrors()
    for name, validate in fields.items():
        with errors.at(name, InvalidInputError):
            validate()
    return errors


def text_field(sent: ImmutableMultiDict[str, Any], name: str) -> str:
    """Return the text of a form field. A missing field and a file count as an empty text."""
    value = sent.get(name)
    return value if isinstance(value, str) else ""


def text_fields(sent: ImmutableMultiDict[str, Any], *names: str) -> dict[str, str]:
    """Return the texts of form fields by their names."""
    return {name: text_field(sent, name) for name in names}
