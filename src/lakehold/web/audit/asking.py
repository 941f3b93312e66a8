"""Which entries are wanted, as the address says. What it says wrongly is told beside its field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import TypeVar
from urllib.parse import urlencode

from fastapi import Request

from lakehold.catalog import resources
from lakehold.directory import members
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, SECOND, Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, valid_id
from lakehold.ledger.audit import DENIED, DONE, AuditFilter
from lakehold.web.list_view import ListState

T = TypeVar("T")

OUTCOMES = ((DONE, "Done"), (DENIED, "Denied"))
FIELDS = ("person", "resource", "action", "outcome", "from", "to")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for."""

    listing: ListState
    wanted: AuditFilter
    errors: Mapping[str, str]

    @property
    def export(self) -> str:
        """The address of the same entries as JSON lines."""
        wanted = self.wanted
        said = {
            "member": wanted.member,
            "resource": wanted.resource,
            "action": wanted.action,
            "outcome": wanted.outcome,
            "since": _told(wanted.since),
            "until": _told(wanted.until),
        }
        kept = {name: value for name, value in said.items() if value}
        return "/api/v1/access/audit/export" + (f"?{urlencode(kept)}" if kept else "")


def asked(request: Request, ctx: RequestContext) -> Asked:
    """Read the address."""
    said = {name: request.query_params.get(name, "").strip()[:_LONGEST] for name in FIELDS}
    reading = _Reading(ctx, said)
    wanted = AuditFilter(
        member=reading.of("person", _person),
        resource=reading.of("resource", _resource),
        action=reading.of("action", lambda _work, text: valid_id(text, "action")),
        outcome=said["outcome"] if said["outcome"] in dict(OUTCOMES) else None,
        since=reading.of("from", lambda _work, text: _day(text)),
        until=reading.of("to", lambda _work, text: _day(text) + DAY),
    )
    listing = ListState(path=request.url.path, after=request.query_params.get("after", ""), chosen=said)
    return Asked(listing, wanted, reading.errors)


class _Reading:
    """Reads one field after the other, and remembers what is wrong."""

    def __init__(self, ctx: RequestContext, said: Mapping[str, str]) -> None:
        self._ctx = ctx
        self._said = said
        self.errors: dict[str, str] = {}

    def of(self, name: str, read: Callable[[RequestContext, str], T]) -> T | None:
        """One field; None if it says nothing, or nothing right."""
        try:
            return read(self._ctx, self._said[name]) if self._said[name] else None
        except InvalidInputError as error:
            self.errors[name] = error.message
            return None


def _person(ctx: RequestContext, said: str) -> str:
    """By id, or by name where only one is called so. Who was removed is still known by their id."""
    if ctx.view.ids.get(valid_id(said)) is not None:
        return said
    found = [(one.uid, one.name) for one in members.page(ctx, search=said, limit=50).items]
    return _only(said, found)


def _resource(ctx: RequestContext, said: str) -> str:
    """The same for things, of those that the caller may see."""
    if ctx.view.ids.get(valid_id(said)) is not None:
        return said
    return _only(said, [(one.uid, one.name) for one in resources.find(ctx, said, limit=50).items])


def _only(said: str, found: list[tuple[str, str]]) -> str:
    exact = [uid for uid, name in found if fold_name(name) == fold_name(said)]
    if len(exact) == 1 or len(found) == 1:
        return exact[0] if len(exact) == 1 else found[0][0]
    if found:
        names = ", ".join(f"{name} ({uid})" for uid, name in found[:5])
        raise InvalidInputError(f"Several are called that: {names}.")
    return said


def _day(text: str) -> Moment:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InvalidInputError("This is no day: write it as 2031-05-04.") from None
    return round(datetime.combine(day, time(), UTC).timestamp()) * SECOND


def _told(at: Moment | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at / SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
