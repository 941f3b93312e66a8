"""Grants on a resource, with their times, and who may do what with it by which path."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from lakehold.access import Add, Grant, Remove
from lakehold.access.decisions.member_sets import Members, bit_positions, compiled_member_sets
from lakehold.access.facts import tables
from lakehold.access.facts.layered_maps import LayeredMap, Map, NestedMap
from lakehold.access.facts.records import require_moment, require_text
from lakehold.access.facts.store import Period
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER
from lakehold.catalog import change_preview, kinds
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import MomentLike, RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote


@dataclass(frozen=True, slots=True)
class GrantedRole:
    """A role that a member or group holds, or will hold."""

    subject: ResourceRef
    role: str
    title: str
    resource: ResourceRef
    since: Moment
    until: Moment


def give(
    ctx: RequestContext, grant: Grant, *, since: MomentLike | None = None, until: MomentLike | None = None
) -> None:
    """Give a role to a member or a group, from now on or for a time, beside the times for which they have it."""
    ctx.make(Add(grant), since=since, until=until)


def revoke(ctx: RequestContext, grant: Grant) -> list[Period]:
    """Revoke a role, also one that has not begun. Return the periods that end by it."""
    held = _need_held(ctx, grant)
    ctx.make(Remove(grant))
    return held


def change_role(ctx: RequestContext, grant: Grant, role: str, *, until: MomentLike | None = None) -> None:
    """Replace a role by another one in the same periods, or set another end of the last of them."""
    held = _need_held(ctx, grant)
    new_grant = Grant(grant.subject, require_text(role, "role"), grant.resource)
    # Both are checked first: a caller who revokes their own right by the first change could not make the second.
    ctx.need_change(Add(new_grant))
    if new_grant == grant:
        if until is not None:
            set_end_unchecked(ctx, grant, until)
        return
    ctx.need_change(Remove(grant))
    periods = held if until is None else _periods_until(ctx, held, until)
    for since, end in periods:
        ctx.refuse_replacing(new_grant, since, end)
    ctx.make_unchecked(Remove(grant))
    for since, end in periods:
        ctx.make_unchecked(Add(new_grant), since=since, until=end)


def set_end_unchecked(ctx: RequestContext, grant: Grant, until: MomentLike) -> None:
    """Let a role be held until a moment and not after it, `FOREVER` for no end. It begins when it did; one that is not
    held begins now. The right has been checked.
    """
    held = ctx.session.store.periods(grant)
    since, end = _periods_until(ctx, held, until)[-1] if held else (ctx.at, require_moment(until))
    ctx.refuse_replacing(grant, since, end)
    if held and end < held[-1][1]:
        ctx.make_unchecked(Remove(grant), since=end)
    ctx.make_unchecked(Add(grant), since=since, until=end)


def _periods_until(ctx: RequestContext, held: list[Period], until: MomentLike) -> list[Period]:
    """Return the periods that begin before a moment, the last of them until then."""
    end = require_moment(until)
    if end <= ctx.at:
        raise InvalidInputError("The end of a grant must be in the future.", "Choose a later end, or revoke it now.")
    left = [period for period in held if period[0] < end]
    if not left:
        raise InvalidInputError("The grant begins only after this end.", "Choose a later end, or revoke it.")
    return [*left[:-1], (left[-1][0], end)]


def list_direct(ctx: RequestContext, uid: str) -> list[GrantedRole]:
    """Return the roles on the resource itself; who may not know all sees their own, and the owners, whom to ask."""
    ctx.need_visible(uid)
    found = tables.grants_on(ctx.session.transaction, ctx.session.tenant, ctx.view.resource(uid), ctx.at)
    if not change_preview.may_know_holders(ctx, uid):
        mine = ctx.session.read_view(lambda view: view.subject(view.member(ctx.caller.member)).ids_with_all)
        roles = kinds.schema_of(ctx.view, uid).roles
        found = [span for span in found if span.subject in mine or roles[span.role].person_only]
    return _to_held_roles(ctx, found)


def list_held_by(ctx: RequestContext, subject: str, among: Collection[str] | None = None) -> list[GrantedRole]:
    """Return the roles that one holds directly, with `among` on these kinds. For oneself, or with the right to ask."""
    ctx.need_visible(subject)
    mine = ctx.session.read_view(lambda view: view.subject(view.member(ctx.caller.member)).ids_with_all)
    number = ctx.view.resource(subject)
    if number not in mine:
        ctx.need(change_preview.ASK, ctx.caller.tenant)
    found = tables.grants_held_by(ctx.session.transaction, ctx.session.tenant, number, ctx.at)
    if among is not None:
        found = ctx.session.read_view(lambda view: [span for span in found if view.kind(span.resource) in among])
    return _to_held_roles(ctx, found)


def list_effective(ctx: RequestContext, action: str, uid: str) -> list[ResourceRef]:
    """Return all members who may do the action, by any path. For those who give roles here, or may ask about others."""
    ctx.need_visible(uid)
    if not change_preview.gives_roles_on(ctx, uid):
        ctx.need(change_preview.ASK, ctx.caller.tenant)
    return VisibleRefs(ctx).refs(ctx.session.who(action, uid))


def _to_held_roles(ctx: RequestContext, found: list[tables.GrantPeriod]) -> list[GrantedRole]:
    visible_refs = VisibleRefs(ctx)
    held = []
    for span in found:
        who, what = visible_refs.by_number(span.subject), visible_refs.by_number(span.resource)
        if who and what:
            title = ctx.view.policy.role(what.kind, span.role).title
            held.append(GrantedRole(who, span.role, title, what, span.since, span.until))
    return sorted(held, key=lambda one: (one.resource.name, one.resource.uid, one.role, one.subject.name, one.since))


def _need_held(ctx: RequestContext, grant: Grant) -> list[Period]:
    """Return when a role is held, or refuse to revoke one that is not, so that a wrong name does not read as done."""
    for uid in (grant.resource, grant.subject):
        ctx.need_visible(require_text(uid, "id"), "revoke")
    held = ctx.session.store.periods(grant)
    if not held:
        # Checked first, so that a caller who may not revoke it does not learn whether it is held.
        ctx.need_change(Remove(grant))
        raise NotFoundError(
            f"{quote(grant.subject)} does not hold {quote(grant.role)} there.", "Check the list of grants."
        )
    return held


ROLE, INHERITED, GROUP, DIRECT = "role", "inherited", "group", "direct"
PATHS = (ROLE, INHERITED, GROUP, DIRECT)
"""By a role in the workspace or tenant; by something else that is held elsewhere; by a group's grant on the resource
itself; by an own grant on it."""

GrantFilter = Callable[[int, int], bool]
"""Whether a grant counts, by its resource and its subject."""


@dataclass(frozen=True, slots=True)
class ActionHolders:
    """The members of each action and path of one resource, in its model's order of actions."""

    actions: tuple[str, ...]
    _paths: Mapping[str, Mapping[str, Members]]
    """For each action and path those who hold it by this path, or by one before it."""
    _numbers: Mapping[int, int]
    everybody: bool
    """Whether all members are covered, not the caller alone."""

    def path(self, action: str, member: int) -> str:
        """Return the path by which the member may do the action; empty if they may not."""
        bit = 1 << self._numbers[member]
        return next((path for path in PATHS if self._paths[action][path] & bit), "")

    def members(self, action: str = "", path: str = "") -> Iterator[int]:
        """Yield the members who may do the action, or any, by this path or any."""
        found = 0
        for each in (action,) if action else self.actions:
            found |= self._only_by(each, path) if path else self._paths[each][DIRECT]
        order = list(self._numbers)
        return (order[number] for number in bit_positions(found))

    def _only_by(self, action: str, path: str) -> Members:
        """Return the members by this path, and none before it."""
        at = PATHS.index(path)
        before = self._paths[action][PATHS[at - 1]] if at else 0
        return self._paths[action][path] & ~before


def load_holders(ctx: RequestContext, uid: str) -> ActionHolders:
    """Return all holders for those who give roles there or may ask about others; else the caller alone."""
    ctx.need_visible(uid)
    everybody = change_preview.may_know_holders(ctx, uid)
    return ctx.session.read_view(lambda view: _find_holders(view, uid, "" if everybody else ctx.caller.member))


def _find_holders(view: FactView, uid: str, only: str) -> ActionHolders:
    here = view.resource(uid)
    actions = kinds.schema_of(view, uid).actions
    most = 1 << view.members[view.member(only)] if only else -1
    found: dict[str, dict[str, Members]] = {action: {} for action in actions}
    for path in PATHS:
        for action, members in zip(actions, _member_sets(view, here, path, actions), strict=True):
            found[action][path] = members & most
    return ActionHolders(actions, found, dict(view.members), everybody=not only)


def _member_sets(view: FactView, here: int, path: str, actions: tuple[str, ...]) -> list[Members]:
    """Return the members who may, if only the grants of this path and of those before it count. Cached with the view,
    because a container can hold a hundred thousand resources.
    """
    kind, sets = view.kind(here), compiled_member_sets(view.policy)
    if path == DIRECT:
        return [sets.relation_set(kind, action)(view, here) for action in actions]
    keys = [("through", path, kind, action, here) for action in actions]
    if any(key not in view.sets for key in keys):
        less = _with_grants(view, _grant_filter(view, here, path))
        view.sets.update(zip(keys, [sets.relation_set(kind, action)(less, here) for action in actions], strict=True))
    return [view.sets[key] for key in keys]


def _grant_filter(view: FactView, here: int, path: str) -> GrantFilter:
    match path:
        case "role":
            roots = {"tenant.tenant", *(kind.id for kind in kinds.workspace_kinds(view.policy))}
            return lambda resource, _: resource != here and view.kind(resource) in roots
        case "inherited":
            return lambda resource, _: resource != here
        case _:
            return lambda resource, subject: resource != here or view.kind(subject) != MEMBER


class _FilteredGrants(LayeredMap[int, dict[int, int]]):
    """The grants that a filter leaves."""

    __slots__ = ("_kept",)

    def __init__(self, base: Map[int, dict[int, int]], is_counted: GrantFilter) -> None:
        super().__init__(base)
        self._kept = is_counted

    def get(self, key: int, default: dict[int, int] | None = None, /) -> dict[int, int] | None:
        held = self._base.get(key)
        if not held:
            return default
        return {subject: roles for subject, roles in held.items() if self._kept(key, subject)} or default


def _with_grants(view: FactView, is_counted: GrantFilter) -> FactView:
    """Return the view with only those grants that the filter leaves."""
    less = FactView(view.policy, view)
    filtered = _FilteredGrants(view.grants.outer, is_counted)
    less.grants = NestedMap(view.grants)
    less.grants.outer, less.grants.get = filtered, filtered.get
    return less
