"""Form fields for a member or group and for a period. All of them work without scripts."""

from dataclasses import dataclass

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment, format_moment
from lakehold.kit.errors import InvalidInputError
from lakehold.web.access.fact_labels import capitalize
from lakehold.web.form_values import last_day_value, parse_day

_ISO_DATE_LENGTH = 10


def find_subject(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return the member or group that was chosen."""
    found = VisibleRefs(ctx).ref(uid)
    if found is None:
        raise InvalidInputError("Select a member or group.", "Search for them by name.")
    return found


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


def parse_period(sent: FormData, now: Moment) -> FormPeriod:
    """Parse the period of a form; an error names the field that is not valid."""
    since = _parse_field(sent, "since_date", "Select a start date.") if sent.get("since_date") else None
    begin = now if since is None or since <= now else since
    until: Moment | None
    match sent.get("until"):
        case "7" | "30" as days:
            until = begin + int(days) * DAY
        case "date":
            until = _parse_field(sent, "until_date", "Select an end date.", after=1)
        case _:
            until = None
    if until is not None and until <= begin:
        raise InvalidInputError("The end date must be after the start date.", field="until_date")
    return FormPeriod(None if begin == now else since, until)


PERIOD_FIELDS = {name: name for name in ("since_date", "until_date")}
"""The form fields of a period that an error may be about."""


def _parse_field(sent: FormData, field: str, missing: str, after: int = 0) -> Moment:
    return parse_day(str(sent.get(field) or ""), InvalidInputError(missing, field=field), after=after)
