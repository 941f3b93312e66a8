"""Parses the filters of the audit log from the address. Invalid values are reported beside their fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import urlencode

from fastapi import Request

from lakehold.catalog import resources
from lakehold.directory import members
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, valid_id
from lakehold.ledger.audit import DENIED, DONE, AuditFilter
from lakehold.web.form_values import parse_day
from lakehold.web.list_view import ListState

T = TypeVar("T")

OUTCOMES = ((DONE, "Done"), (DENIED, "Denied"))
FIELDS = ("person", "resource", "action", "outcome", "from", "to")
_MAX_LENGTH = 200


@dataclass(frozen=True, slots=True)
class AuditListRequest:
    """A request for a part of the audit log, parsed from the address."""

    listing: ListState
    entry_filter: AuditFilter
    errors: Mapping[str, str]

    @property
    def export(self) -> str:
        """Return the address of the REST export (JSON lines) with the same filters."""
        entry_filter = self.entry_filter
        parameters = {
            "member": entry_filter.member,
            "resource": entry_filter.resource,
            "action": entry_filter.action,
            "outcome": entry_filter.outcome,
            "since": _format_time(entry_filter.since),
            "until": _format_time(entry_filter.until),
        }
        given = {name: value for name, value in parameters.items() if value}
        return "/api/v1/access/audit/export" + (f"?{urlencode(given)}" if given else "")


def parse_list_request(request: Request, ctx: RequestContext) -> AuditListRequest:
    """Parse the query string of a request into a filter, a listing and field errors."""
    values = {name: request.query_params.get(name, "").strip()[:_MAX_LENGTH] for name in FIELDS}
    parser = _FieldParser(ctx, values)
    entry_filter = AuditFilter(
        member=parser.parse("person", _parse_member),
        resource=parser.parse("resource", _parse_resource),
        action=parser.parse("action", lambda _work, text: valid_id(text, "action")),
        outcome=values["outcome"] if values["outcome"] in dict(OUTCOMES) else None,
        since=parser.parse("from", lambda _work, text: _parse_day(text)),
        until=parser.parse("to", lambda _work, text: _parse_day(text, after=1)),
    )
    listing = ListState(path=request.url.path, after=request.query_params.get("after", ""), chosen=values)
    return AuditListRequest(listing, entry_filter, parser.errors)


class _FieldParser:
    """Parses one field after the other, and collects the errors."""

    def __init__(self, ctx: RequestContext, values: Mapping[str, str]) -> None:
        self._ctx = ctx
        self._values = values
        self.errors: dict[str, str] = {}

    def parse(self, name: str, read: Callable[[RequestContext, str], T]) -> T | None:
        """Parse one field. Returns None if the field is empty or invalid."""
        try:
            return read(self._ctx, self._values[name]) if self._values[name] else None
        except InvalidInputError as error:
            self.errors[name] = error.message
            return None


def _parse_member(ctx: RequestContext, text: str) -> str:
    """Return a member's id, given the id or a name that only one member has. Removed members are found by id."""
    if ctx.view.ids.get(valid_id(text)) is not None:
        return text
    found = [(one.uid, one.name) for one in members.page(ctx, search=text, limit=50).items]
    return _single_match(text, found)


def _parse_resource(ctx: RequestContext, text: str) -> str:
    """Return a resource's id, given the id or a unique name of a resource that the caller may see."""
    if ctx.view.ids.get(valid_id(text)) is not None:
        return text
    return _single_match(text, [(one.uid, one.name) for one in resources.find(ctx, text, limit=50).items])


def _single_match(text: str, found: list[tuple[str, str]]) -> str:
    exact = [uid for uid, name in found if fold_name(name) == fold_name(text)]
    if len(exact) == 1 or len(found) == 1:
        return exact[0] if len(exact) == 1 else found[0][0]
    if found:
        names = ", ".join(f"{name} ({uid})" for uid, name in found[:5])
        raise InvalidInputError(f"Several match: {names}.")
    return text


def _parse_day(text: str, after: int = 0) -> Moment:
    return parse_day(text, InvalidInputError("Not a date. Use the format 2031-05-04."), after=after)


def _format_time(at: Moment | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at / SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
