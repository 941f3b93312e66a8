"""What can be done with a thing, for the pages of all rooms: each of its model's actions, or why it cannot be done.

acting.actions_of(work, uid, {"edit": Action("Edit", addresses.resource(uid, "edit"), icon="pencil"), …})
acting.tabs(work, uid)
acting.crumbs(work, uid)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lakehold.access.facts.view import View
from lakehold.access.model.policy import TENANT
from lakehold.catalog import kinds
from lakehold.catalog.kinds import Right
from lakehold.directory.work import Work
from lakehold.kit.errors import LakeholdError
from lakehold.web import addresses, views
from lakehold.web.access import saying
from lakehold.web.access.nearness import nearest_first
from lakehold.web.actions import Action
from lakehold.web.navigation import Crumb, Place
from lakehold.web.words import spoken

_DEEPEST = 12


def actions_of(
    work: Work, uid: str, wanted: Mapping[str, Action] | None = None, *, exactly: bool = True
) -> list[Action]:
    """The wanted actions of a thing that the caller sees, by their names in the model: as they were given if they are
    allowed, refused with the reason otherwise. Without `wanted`: all of its model, each leading to its explanation.

    Not `exactly` says only that a right is missing, and not which: for rows of a list, where to find that out for every
    row would take too long.
    """
    chosen = wanted if wanted is not None else {name: _plain(uid, name) for name in _all(work, uid)}
    may = frozenset(work.session.actions(work.asker, uid))
    return [act if name in may else refused(work, uid, name, act, exactly=exactly) for name, act in chosen.items()]


def refused(work: Work, uid: str, action: str, act: Action, *, exactly: bool = True) -> Action:
    """The same action as one that the caller may not take: why not, and where to ask for it."""
    missing = _missing(work, uid, action) if exactly else ""
    return replace(
        act,
        href="",
        why_not=f"You need {missing}." if missing else f"You may not {spoken(action).lower()} it yet.",
        request=addresses.request(uid, action),
        why=addresses.why(uid, action),
    )


def if_right(work: Work, right: Right | None, act: Action) -> Action:
    """An action that any kind of thing has, and that needs what its model names for it."""
    if kinds.has(work, right):
        return act
    if right is None or not work.session.sees(work.asker, right.resource):
        return replace(act, href="", why_not=f"You may not {act.label.lower()} it.")
    return refused(work, right.resource, right.action, act)


def tabs(work: Work, uid: str) -> list[Place]:
    """The views of a thing: itself, those that its kind has, who has access, and why."""
    kind = work.session.asking(lambda view: view.kind(view.resource(uid)))
    return [
        Place("Overview", home_of(work, uid), "layout-dashboard"),
        *views.of(uid, kind),
        Place("Access", addresses.resource(uid, "access"), "shield"),
        Place("Why?", addresses.resource(uid, "why"), "circle-help"),
    ]


def home_of(work: Work, uid: str) -> str:
    """The page of a thing itself: a workspace has another one than what lies in it, and the tenant is home."""
    kind = work.session.asking(lambda view: view.kind(view.resource(uid)))
    if kind == TENANT:
        return "/"
    is_workspace = work.session.asking(lambda view: kinds.workspace_of(view, uid)) == uid
    return addresses.workspace(uid) if is_workspace else views.home(uid, kind) or addresses.of(uid, kind)


def crumbs(work: Work, uid: str, *more: str) -> list[Crumb]:
    """The way to a thing, through those of its containers that the caller sees; `more` are the last steps."""
    above = work.session.asking(lambda view: _above(view, uid))
    seen = [container for container in above if work.session.sees(work.asker, container)]
    way = [Crumb(_name(work, container), home_of(work, container)) for container in reversed(seen)]
    here = Crumb(_name(work, uid), home_of(work, uid) if more else "")
    return [*way, here, *(Crumb(label) for label in more)]


def _above(view: View, uid: str) -> list[str]:
    found: list[str] = []
    here = kinds.parent_of(view, uid)
    while here is not None and len(found) < _DEEPEST:
        found.append(here)
        here = kinds.parent_of(view, here)
    return found


def _all(work: Work, uid: str) -> tuple[str, ...]:
    return work.session.asking(lambda view: kinds.schema_of(view, uid).actions)


def _plain(uid: str, action: str) -> Action:
    return Action(spoken(action), addresses.why(uid, action), dialog=True)


def _missing(work: Work, uid: str, action: str) -> str:
    """The nearest thing that would have to be given, if the caller may know of it: found once for all actions that ask
    for the same, and kept until something changes.
    """
    asked = work.session.asking(lambda view: view.policy.relations.get((view.kind(view.resource(uid)), action)))
    return work.session.kept((_missing, work.asker, uid, asked), lambda: _nearest(work, uid, action))


def _nearest(work: Work, uid: str, action: str) -> str:
    try:
        ways = work.session.asking(lambda _: work.session.decisions.ways(work.asker, action, uid))
    except LakeholdError:
        return ""
    if not ways:
        return ""
    _, way = nearest_first(work, uid, ways)[0]
    told = (needed.fact for needed in way.needed)
    return work.session.asking(lambda view: " and ".join(saying.fact(view, each, work.caller.member) for each in told))


def _name(work: Work, uid: str) -> str:
    return work.session.asking(lambda view: saying.name_of(view, uid))
