"""The rows of the matrix: only those members are worked out that the page shows."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from lakehold.access.facts.view import FactView
from lakehold.catalog import grants
from lakehold.catalog.grants import ActionHolders, GrantedRole
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.ids import fold_name
from lakehold.web import addresses
from lakehold.web.access import choosing
from lakehold.web.listing import Filter, Listing
from lakehold.web.matrix import THROUGH, Cell, Row
from lakehold.web.words import spoken

SIZE = 25
WITH, WITHOUT = "with", "without"


@dataclass(frozen=True, slots=True)
class Matrix:
    """One page of members × actions."""

    actions: list[str]
    rows: list[Row]
    total: int
    everybody: bool
    """Whether others are told of, or the caller alone."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What all rows are made from."""

    found: ActionHolders
    why: dict[str, str]
    """Where each action is explained, for oneself."""
    ends: dict[str, Moment]
    me: str


def filters(actions: tuple[str, ...]) -> tuple[Filter, ...]:
    """By what can be done, by the path, and by whether anything can be done at all."""
    return (
        Filter("may", "May", tuple((each, spoken(each)) for each in actions)),
        Filter("path", "Path", tuple((path, words) for path, (_, words) in THROUGH.items())),
        Filter("access", "Access", ((WITH, "With access"), (WITHOUT, "Without access"))),
    )


def matrix(ctx: RequestContext, uid: str, listing: Listing, given: list[GrantedRole]) -> Matrix:
    """Those who have something first, then all others, each by name."""
    found = grants.load_holders(ctx, uid)
    members = ctx.session.read_view(lambda view: _chosen(view, found, listing, ctx.caller.member))
    seen = ctx.session.read_view(lambda view: _seen(ctx, view, members))
    why = {action: addresses.why(uid, action) for action in found.actions}
    asked = _Asked(found, why, _ends(given), ctx.caller.member)
    rows = ctx.session.read_view(lambda view: [_row(view, asked, member) for member in listing.part(seen)])
    return Matrix([spoken(each) for each in found.actions], rows, len(seen), found.everybody)


def _chosen(view: FactView, found: ActionHolders, listing: Listing, me: str) -> list[int]:
    may, path, access = (listing.chosen[key] for key in ("may", "path", "access"))
    having = set(found.members(may, path))
    if not found.everybody:
        everyone = [view.member(me)]
    elif may or path or access == WITH:
        everyone = list(having)
    else:
        everyone = list(view.members)
    if access == WITHOUT:
        everyone = [member for member in everyone if member not in having]
    wanted = fold_name(listing.search)
    named = ((member not in having, fold_name(view.names.get(member) or ""), member) for member in everyone)
    return [member for *_, member in sorted(each for each in named if wanted in each[1])]


def _seen(ctx: RequestContext, view: FactView, members: list[int]) -> list[int]:
    decisions = ctx.session.evaluator
    return [member for member in members if decisions.can_see(ctx.asker, view.uid(member))]


def _row(view: FactView, asked: _Asked, member: int) -> Row:
    who, found = view.uid(member), asked.found
    about = f"&{urlencode({'member': who})}"
    cells = tuple(_cell(asked, who, f"{why}{about}", found.path(action, member)) for action, why in asked.why.items())
    return Row(view.names.get(member) or who, "You" if who == asked.me else "", addresses.member(who), cells)


def _cell(asked: _Asked, who: str, href: str, path: str) -> Cell:
    until = choosing.last_day(asked.ends[who]) if path == grants.DIRECT and who in asked.ends else ""
    note = f"Given to them until {until}" if until else ""
    return Cell(bool(path), path or grants.DIRECT, note, href, until)


def _ends(given: list[GrantedRole]) -> dict[str, Moment]:
    """When all that somebody holds here themself has ended, if it does."""
    last: dict[str, Moment] = {}
    for held in given:
        last[held.subject.uid] = max(last.get(held.subject.uid, 0), held.until)
    return {who: at for who, at in last.items() if at < FOREVER}
