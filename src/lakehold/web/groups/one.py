"""A group's page: who is in it, what it holds, its name and its end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fastapi import Request, Response

from lakehold.access import Grant, Remove
from lakehold.access.facts.view import View
from lakehold.api.frame.works import Reading, Writing
from lakehold.catalog import grants, kinds, sharing
from lakehold.catalog.grants import Held
from lakehold.catalog.shapes import Eyes
from lakehold.directory import groups
from lakehold.directory.groups import Group
from lakehold.directory.work import Work
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import folded, valid_name
from lakehold.web import addresses, effects, pages
from lakehold.web.diffs import Effect
from lakehold.web.effects import Asking, ask_first
from lakehold.web.flashes import Flash
from lakehold.web.groups.routes import MANAGE, changing
from lakehold.web.listing import Column, Listing
from lakehold.web.navigation import Crumb
from lakehold.web.people.acting import Keeper
from lakehold.web.routes import Sent, router

routes = router("/groups")

_COLUMNS = (Column("Member", "name"),)


@routes.get("/{uid:path}/rename")
def rename_form(request: Request, work: Reading, uid: str) -> Response:
    """What it is called now."""
    groups.need_edit(work, uid)
    group = groups.one(work, uid)
    values: dict[str, object] = {"crumbs": trail(work, group, "Rename"), "group": group, "name": group.name}
    return pages.page(request, "groups/rename.html", {**values, "error": ""})


@routes.post("/{uid:path}/rename")
def rename(request: Request, work: Writing, uid: str, sent: Sent) -> Response:
    """Call it by another name."""
    groups.need_edit(work, uid)
    group, name = groups.one(work, uid), str(sent.get("name", "")).strip()
    try:
        groups.rename(work, uid, valid_name(name))
    except InvalidInputError as error:
        values: dict[str, object] = {"crumbs": trail(work, group, "Rename"), "group": group, "name": name}
        return pages.page(request, "groups/rename.html", {**values, "error": str(error)}, status=422)
    return pages.go(request, addresses.group(uid), Flash("Saved."))


@routes.post("/{uid:path}/delete")
def delete(request: Request, work: Writing, uid: str, sent: Sent) -> Response:
    """End it, once it is known what its members lose by that."""
    groups.need_edit(work, uid)
    work.need("delete", uid)
    group = groups.one(work, uid)
    asking = Asking(
        f"Delete {group.name}?",
        "Its members lose what they had by it, and nothing else.",
        do="Delete",
        back=addresses.group(uid),
        danger=True,
    )
    if question := ask_first(request, sent, asking, lambda: _lost(work, uid)):
        return question
    groups.delete(work, uid)
    return pages.go(request, "/groups", Flash(f"{group.name} was deleted."))


@routes.get("/{uid:path}")
def group_page(request: Request, work: Reading, uid: str) -> Response:
    """The page."""
    group = groups.one(work, uid)
    keeper, eyes = Keeper(work), Eyes(work)
    listing = replace(Listing.of(request, sorts=("name",)), path=addresses.group(uid))
    inside = [found for found in eyes.refs(group.members) if folded(listing.search) in folded(found.name)]
    inside.sort(key=lambda found: folded(found.name), reverse=listing.descending)
    may, held = MANAGE in keeper.may and not group.built_in, _held(work, uid)
    values: dict[str, object] = {
        "crumbs": trail(work, group),
        "group": group,
        "keeper": keeper,
        "listing": listing,
        "columns": _COLUMNS,
        "rows": list(enumerate(listing.part(inside))),
        "total": len(inside),
        "may": may,
        "add": keeper.needs("Add somebody", addresses.group(uid, "add"), "user-plus", MANAGE, dialog=True),
        "more": [] if group.built_in else changing(keeper, uid),
        "roles": keeper.needs("Change roles", addresses.group(uid, "roles"), "shield", "set_tenant_role"),
        "held": held,
        "lies_in": _lies_in(work, held or ()),
    }
    return pages.page(request, "groups/group.html", values)


def trail(work: Work, group: Group, here: str = "") -> list[Crumb]:
    """The way to a group's page, or to a part of it."""
    tenant = work.view.names.get(work.view.resource(work.caller.tenant)) or ""
    crumbs = [Crumb(tenant, "/"), Crumb("Groups", "/groups"), Crumb(group.name, addresses.group(group.uid))]
    return [*crumbs, Crumb(here)] if here else crumbs


def _held(work: Work, uid: str) -> list[Held] | None:
    """What it holds; None for those who may not ask. One's own groups, and All, everybody may."""
    number = work.view.resource(uid)
    mine = work.session.asking(lambda view: view.subject(view.member(work.caller.member)).ids_with_all)
    if number not in mine and not sharing.may_ask_about_others(work):
        return None
    return [held for held in grants.held_by(work, uid) if held.resource.uid != work.caller.tenant]


def _lies_in(work: Work, held: Iterable[Held]) -> dict[str, str]:
    """The workspace that each thing is in, if the caller sees that: layers of two lakehouses may be called alike."""
    eyes = Eyes(work)
    spaces = {each.resource.uid: kinds.workspace_of(work.view, each.resource.uid) for each in held}
    seen = {uid: eyes.ref(space) for uid, space in spaces.items() if space and space != uid}
    return {uid: space.name for uid, space in seen.items() if space}


def _lost(work: Work, uid: str) -> list[Effect]:
    """What its members lose. Who ends a group need not be who gives what it holds."""

    def held(view: View) -> list[Remove]:
        number = view.resource(uid)
        places = view.held.get(number) or {}
        return [
            Remove(grant)
            for place in places
            for grant in view.granted(place)
            if grant.subject == uid and isinstance(grant, Grant)
        ]

    changes = work.session.asking(held)
    if not changes:
        return []
    return effects.told(work.view.policy, sharing.seen(work, work.session.what_if(changes)))
