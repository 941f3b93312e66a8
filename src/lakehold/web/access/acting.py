"""What can be done with a thing, for the pages of all rooms: each of its model's actions, or why it cannot be done.

acting.actions_of(work, uid, {"edit": Action("Edit", addresses.resource(uid, "edit"), icon="pencil"), …})
acting.tabs(work, uid)
acting.crumbs(work, uid)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import TENANT
from lakehold.catalog import kinds
from lakehold.catalog.kinds import RequiredRight
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import addresses, views
from lakehold.web.access import saying
from lakehold.web.access.nearness import nearest_first
from lakehold.web.actions import Action
from lakehold.web.navigation import Crumb, Place
from lakehold.web.words import spoken

_DEEPEST = 12


def actions_of(
    ctx: RequestContext, uid: str, wanted: Mapping[str, Action] | None = None, *, exactly: bool = True
) -> list[Action]:
    """The wanted actions of a thing that the caller sees, by their names in the model: as they were given if they are
    allowed, refused with the reason otherwise. Without `wanted`: all of its model, each leading to its explanation.

    Not `exactly` says only that a right is missing, and not which: for rows of a list, where to find that out for every
    row would take too long.
    """
    chosen = wanted if wanted is not None else {name: _plain(uid, name) for name in _all(ctx, uid)}
    may = frozenset(ctx.session.actions(ctx.asker, uid))
    return [act if name in may else refused(ctx, uid, name, act, exactly=exactly) for name, act in chosen.items()]


def refused(ctx: RequestContext, uid: str, action: str, act: Action, *, exactly: bool = True) -> Action:
    """The same action as one that the caller may not take: why not, and where to ask for it."""
    missing = _missing(ctx, uid, action) if exactly else ""
    return replace(
        act,
        href="",
        why_not=f"You need {missing}." if missing else f"You may not {spoken(action).lower()} it yet.",
        request=addresses.request(uid, action),
        why=addresses.why(uid, action),
    )


def if_right(ctx: RequestContext, right: RequiredRight | None, act: Action) -> Action:
    """An action that any kind of thing has, and that needs what its model names for it."""
    if kinds.has_right(ctx, right):
        return act
    if right is None or not ctx.session.can_see(ctx.asker, right.resource):
        return replace(act, href="", why_not=f"You may not {act.label.lower()} it.")
    return refused(ctx, right.resource, right.action, act)


def tabs(ctx: RequestContext, uid: str) -> list[Place]:
    """The views of a thing: itself, those that its kind has, who has access, and why."""
    kind = ctx.session.read_view(lambda view: view.kind(view.resource(uid)))
    return [
        Place("Overview", home_of(ctx, uid), "layout-dashboard"),
        *views.of(uid, kind),
        Place("Access", addresses.resource(uid, "access"), "shield"),
        Place("Why?", addresses.resource(uid, "why"), "circle-help"),
    ]


def home_of(ctx: RequestContext, uid: str) -> str:
    """The page of a thing itself: a workspace has another one than what lies in it, and the tenant is home."""
    kind = ctx.session.read_view(lambda view: view.kind(view.resource(uid)))
    if kind == TENANT:
        return "/"
    is_workspace = ctx.session.read_view(lambda view: kinds.workspace_of(view, uid)) == uid
    return addresses.workspace(uid) if is_workspace else views.home(uid, kind) or addresses.of(uid, kind)


def crumbs(ctx: RequestContext, uid: str, *more: str) -> list[Crumb]:
    """The way to a thing, through those of its containers that the caller sees; `more` are the last steps."""
    above = ctx.session.read_view(lambda view: _above(view, uid))
    seen = [container for container in above if ctx.session.can_see(ctx.asker, container)]
    way = [Crumb(_name(ctx, container), home_of(ctx, container)) for container in reversed(seen)]
    here = Crumb(_name(ctx, uid), home_of(ctx, uid) if more else "")
    return [*way, here, *(Crumb(label) for label in more)]


def _above(view: FactView, uid: str) -> list[str]:
    found: list[str] = []
    here = kinds.parent_of(view, uid)
    while here is not None and len(found) < _DEEPEST:
        found.append(here)
        here = kinds.parent_of(view, here)
    return found


def _all(ctx: RequestContext, uid: str) -> tuple[str, ...]:
    return ctx.session.read_view(lambda view: kinds.schema_of(view, uid).actions)


def _plain(uid: str, action: str) -> Action:
    return Action(spoken(action), addresses.why(uid, action), dialog=True)


def _missing(ctx: RequestContext, uid: str, action: str) -> str:
    """The nearest thing that would have to be given, if the caller may know of it: found once for all actions that ask
    for the same, and kept until something changes.
    """
    asked = ctx.session.read_view(lambda view: view.policy.relations.get((view.kind(view.resource(uid)), action)))
    return ctx.session.cached((_missing, ctx.asker, uid, asked), lambda: _nearest(ctx, uid, action))


def _nearest(ctx: RequestContext, uid: str, action: str) -> str:
    try:
        ways = ctx.session.read_view(lambda _: ctx.session.evaluator.ways(ctx.asker, action, uid))
    except LakeholdError:
        return ""
    if not ways:
        return ""
    _, way = nearest_first(ctx, uid, ways)[0]
    told = (needed.fact for needed in way.needed)
    return ctx.session.read_view(lambda view: " and ".join(saying.fact(view, each, ctx.caller.member) for each in told))


def _name(ctx: RequestContext, uid: str) -> str:
    return ctx.session.read_view(lambda view: saying.name_of(view, uid))
