"""The matrix of members and actions. Only the members on the current page are computed."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from lakehold.access.facts.view import FactView
from lakehold.catalog import grants
from lakehold.catalog.grants import ActionHolders, GrantedRole
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.ids import fold_name
from lakehold.web import urls
from lakehold.web.components import ACCESS_ORIGINS, MatrixCell, MatrixRow
from lakehold.web.form_values import last_day_value
from lakehold.web.labels import humanize
from lakehold.web.list_view import ListFilter, ListState

PAGE_SIZE = 25
WITH_ACCESS, WITHOUT_ACCESS = "with", "without"


@dataclass(frozen=True, slots=True)
class AccessMatrix:
    """One page of the matrix of members and actions."""

    actions: list[str]
    rows: list[MatrixRow]
    total: int
    everybody: bool
    """Whether all members are listed, or the caller alone."""


@dataclass(frozen=True, slots=True)
class _MatrixSource:
    """The data that all rows are built from."""

    found: ActionHolders
    why: dict[str, str]
    """Where each action is explained, for oneself."""
    ends: dict[str, Moment]
    me: str


def matrix_filters(actions: tuple[str, ...]) -> tuple[ListFilter, ...]:
    """Return the filters of the matrix: by action, by path, and by whether there is any access."""
    return (
        ListFilter("may", "Action", tuple((each, humanize(each)) for each in actions)),
        ListFilter("path", "Path", tuple((path, words) for path, (_, words) in ACCESS_ORIGINS.items())),
        ListFilter("access", "Access", ((WITH_ACCESS, "With access"), (WITHOUT_ACCESS, "Without access"))),
    )


def build_matrix(ctx: RequestContext, uid: str, listing: ListState, given: list[GrantedRole]) -> AccessMatrix:
    """Build the current page of the matrix: members with access first, then all others, each by name."""
    found = grants.load_holders(ctx, uid)
    members = ctx.session.read_view(lambda view: _filter_members(view, found, listing, ctx.caller.member))
    seen = ctx.session.read_view(lambda view: _visible_members(ctx, view, members))
    why = {action: urls.why(uid, action) for action in found.actions}
    source = _MatrixSource(found, why, _grant_ends(given), ctx.caller.member)
    rows = ctx.session.read_view(
        lambda view: [_matrix_row(view, source, member) for member in listing.slice_page(seen)]
    )
    return AccessMatrix([humanize(each) for each in found.actions], rows, len(seen), found.everybody)


def _filter_members(view: FactView, found: ActionHolders, listing: ListState, me: str) -> list[int]:
    may, path, access = (listing.chosen[key] for key in ("may", "path", "access"))
    having = set(found.members(may, path))
    if not found.everybody:
        everyone = [view.member(me)]
    elif may or path or access == WITH_ACCESS:
        everyone = list(having)
    else:
        everyone = list(view.members)
    if access == WITHOUT_ACCESS:
        everyone = [member for member in everyone if member not in having]
    search_text = fold_name(listing.search)
    named = ((member not in having, fold_name(view.names.get(member) or ""), member) for member in everyone)
    return [member for *_, member in sorted(each for each in named if search_text in each[1])]


def _visible_members(ctx: RequestContext, view: FactView, members: list[int]) -> list[int]:
    decisions = ctx.session.evaluator
    return [member for member in members if decisions.can_see(ctx.principal, view.uid(member))]


def _matrix_row(view: FactView, source: _MatrixSource, member: int) -> MatrixRow:
    who, found = view.uid(member), source.found
    about = f"&{urlencode({'member': who})}"
    cells = tuple(
        _matrix_cell(source, who, f"{why}{about}", found.path(action, member)) for action, why in source.why.items()
    )
    return MatrixRow(view.names.get(member) or who, "You" if who == source.me else "", urls.member(who), cells)


def _matrix_cell(source: _MatrixSource, who: str, href: str, path: str) -> MatrixCell:
    until = last_day_value(source.ends[who]) if path == grants.DIRECT and who in source.ends else ""
    note = f"Direct grant until {until}" if until else ""
    return MatrixCell(bool(path), path or grants.DIRECT, note, href, until)


def _grant_ends(given: list[GrantedRole]) -> dict[str, Moment]:
    """Return when the last grant of each member on the resource ends, for those that end."""
    last: dict[str, Moment] = {}
    for held in given:
        last[held.subject.uid] = max(last.get(held.subject.uid, 0), held.until)
    return {who: at for who, at in last.items() if at < FOREVER}
