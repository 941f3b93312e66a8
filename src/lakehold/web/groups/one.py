"""A group's page: who is in it, what it holds, its name and its end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fastapi import Request, Response

from lakehold.access import Grant, Remove
from lakehold.access.facts.view import FactView
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import change_preview, grants, kinds
from lakehold.catalog.grants import GrantedRole
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import groups
from lakehold.directory.groups import Group
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, valid_name
from lakehold.web import confirmation, pages, urls
from lakehold.web.components import EffectSummary
from lakehold.web.confirmation import ConfirmationPrompt, confirm_effects
from lakehold.web.cookies import Flash
from lakehold.web.groups.routes import MANAGE, changing
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.navigation import Breadcrumb
from lakehold.web.people.acting import Keeper
from lakehold.web.routing import SubmittedForm, router

routes = router("/groups")

_COLUMNS = (ListColumn("Member", "name"),)


@routes.get("/{uid:path}/rename")
def rename_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """What it is called now."""
    groups.need_edit(ctx, uid)
    group = groups.get(ctx, uid)
    values: dict[str, object] = {"crumbs": trail(ctx, group, "Rename"), "group": group, "name": group.name}
    return pages.render(request, "groups/rename.html", {**values, "error": ""})


@routes.post("/{uid:path}/rename")
def rename(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Call it by another name."""
    groups.need_edit(ctx, uid)
    group, name = groups.get(ctx, uid), str(sent.get("name", "")).strip()
    try:
        groups.rename(ctx, uid, valid_name(name))
    except InvalidInputError as error:
        values: dict[str, object] = {"crumbs": trail(ctx, group, "Rename"), "group": group, "name": name}
        return pages.render(request, "groups/rename.html", {**values, "error": str(error)}, status=422)
    return pages.redirect(request, urls.group(uid), Flash("Saved."))


@routes.post("/{uid:path}/delete")
def delete(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """End it, once it is known what its members lose by that."""
    groups.need_edit(ctx, uid)
    ctx.need("delete", uid)
    group = groups.get(ctx, uid)
    asking = ConfirmationPrompt(
        f"Delete {group.name}?",
        "Its members lose what they had by it, and nothing else.",
        do="Delete",
        back=urls.group(uid),
        danger=True,
    )
    if question := confirm_effects(request, sent, asking, lambda: _lost(ctx, uid)):
        return question
    groups.delete(ctx, uid)
    return pages.redirect(request, "/groups", Flash(f"{group.name} was deleted."))


@routes.get("/{uid:path}")
def group_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The page."""
    group = groups.get(ctx, uid)
    keeper, eyes = Keeper(ctx), VisibleRefs(ctx)
    listing = replace(ListState.from_request(request, sorts=("name",)), path=urls.group(uid))
    inside = [found for found in eyes.refs(group.members) if fold_name(listing.search) in fold_name(found.name)]
    inside.sort(key=lambda found: fold_name(found.name), reverse=listing.descending)
    may, held = MANAGE in keeper.may and not group.built_in, _held(ctx, uid)
    values: dict[str, object] = {
        "crumbs": trail(ctx, group),
        "group": group,
        "keeper": keeper,
        "listing": listing,
        "columns": _COLUMNS,
        "rows": list(enumerate(listing.slice_page(inside))),
        "total": len(inside),
        "may": may,
        "add": keeper.needs("Add somebody", urls.group(uid, "add"), "user-plus", MANAGE, dialog=True),
        "more": [] if group.built_in else changing(keeper, uid),
        "roles": keeper.needs("Change roles", urls.group(uid, "roles"), "shield", "set_tenant_role"),
        "held": held,
        "lies_in": _lies_in(ctx, held or ()),
    }
    return pages.render(request, "groups/group.html", values)


def trail(ctx: RequestContext, group: Group, here: str = "") -> list[Breadcrumb]:
    """The way to a group's page, or to a part of it."""
    tenant = ctx.view.names.get(ctx.view.resource(ctx.caller.tenant)) or ""
    crumbs = [Breadcrumb(tenant, "/"), Breadcrumb("Groups", "/groups"), Breadcrumb(group.name, urls.group(group.uid))]
    return [*crumbs, Breadcrumb(here)] if here else crumbs


def _held(ctx: RequestContext, uid: str) -> list[GrantedRole] | None:
    """What it holds; None for those who may not ask. One's own groups, and All, everybody may."""
    number = ctx.view.resource(uid)
    mine = ctx.session.read_view(lambda view: view.subject(view.member(ctx.caller.member)).ids_with_all)
    if number not in mine and not change_preview.may_ask_about_others(ctx):
        return None
    return [held for held in grants.list_held_by(ctx, uid) if held.resource.uid != ctx.caller.tenant]


def _lies_in(ctx: RequestContext, held: Iterable[GrantedRole]) -> dict[str, str]:
    """The workspace that each thing is in, if the caller sees that: layers of two lakehouses may be called alike."""
    eyes = VisibleRefs(ctx)
    spaces = {each.resource.uid: kinds.workspace_of(ctx.view, each.resource.uid) for each in held}
    seen = {uid: eyes.ref(space) for uid, space in spaces.items() if space and space != uid}
    return {uid: space.name for uid, space in seen.items() if space}


def _lost(ctx: RequestContext, uid: str) -> list[EffectSummary]:
    """What its members lose. Who ends a group need not be who gives what it holds."""

    def held(view: FactView) -> list[Remove]:
        number = view.resource(uid)
        places = view.grants_by_subject.get(number) or {}
        return [
            Remove(grant)
            for place in places
            for grant in view.grants_on(place)
            if grant.subject == uid and isinstance(grant, Grant)
        ]

    changes = ctx.session.read_view(held)
    if not changes:
        return []
    return confirmation.summarize_effects(
        ctx.view.policy, change_preview.visible_effects(ctx, ctx.session.what_if(changes))
    )
