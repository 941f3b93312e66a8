"""A group's page: its members, its roles, renaming and deleting it, adding and removing members.

Before a change its effect is shown: what members gain or lose by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Add, Edge, Grant, Remove
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER_OF
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import change_preview, grants, kinds
from lakehold.catalog.grants import GrantedRole
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import groups, members
from lakehold.directory.groups import Group
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import fold_name, valid_name
from lakehold.web import confirmation, form_values, pages, urls
from lakehold.web.components import EffectSummary
from lakehold.web.confirmation import ConfirmationPrompt, confirm_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.groups.group_list import MANAGE, group_actions
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.navigation import Breadcrumb, breadcrumb_trail
from lakehold.web.people import member_picker
from lakehold.web.people.member_actions import MemberActions
from lakehold.web.routing import SubmittedForm, router

routes = router("/groups")

_COLUMNS = (ListColumn("Member", "name"),)


@routes.get("/{uid:path}/rename")
def rename_group_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the form that renames a group."""
    groups.need_edit(ctx, uid)
    group = groups.get(ctx, uid)
    values: dict[str, object] = {"crumbs": group_breadcrumbs(ctx, group, "Rename"), "group": group, "name": group.name}
    return pages.render(request, "groups/rename.html", {**values, "error": ""})


@routes.post("/{uid:path}/rename")
def rename_group(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Rename a group."""
    groups.need_edit(ctx, uid)
    group, name = groups.get(ctx, uid), str(sent.get("name", "")).strip()
    try:
        groups.rename(ctx, uid, valid_name(name))
    except InvalidInputError as error:
        values: dict[str, object] = {"crumbs": group_breadcrumbs(ctx, group, "Rename"), "group": group, "name": name}
        return pages.render(request, "groups/rename.html", {**values, "error": str(error)}, status=422)
    return pages.redirect(request, urls.group(uid), Flash("Saved."))


@routes.post("/{uid:path}/delete")
def delete_group(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Delete a group, after showing what its members lose."""
    groups.need_edit(ctx, uid)
    ctx.need("delete", uid)
    group = groups.get(ctx, uid)
    asking = ConfirmationPrompt(
        f"Delete {group.name}?",
        "Its members lose the access they have through it.",
        do="Delete",
        back=urls.group(uid),
        danger=True,
    )
    if question := confirm_effects(request, sent, asking, lambda: _lost_access(ctx, uid)):
        return question
    groups.delete(ctx, uid)
    return pages.redirect(request, "/groups", Flash(f"{group.name} was deleted."))


@routes.get("/{uid:path}")
def group_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the page of a group."""
    group = groups.get(ctx, uid)
    member_actions, eyes = MemberActions(ctx), VisibleRefs(ctx)
    listing = replace(ListState.from_request(request, sorts=("name",)), path=urls.group(uid))
    inside = [found for found in eyes.refs(group.members) if fold_name(listing.search) in fold_name(found.name)]
    inside.sort(key=lambda found: fold_name(found.name), reverse=listing.descending)
    may, held = MANAGE in member_actions.may and not group.built_in, _held_roles(ctx, uid)
    values: dict[str, object] = {
        "crumbs": group_breadcrumbs(ctx, group),
        "group": group,
        "keeper": member_actions,
        "listing": listing,
        "columns": _COLUMNS,
        "rows": list(enumerate(listing.slice_page(inside))),
        "total": len(inside),
        "may": may,
        "add": member_actions.action_for_right("Add member", urls.group(uid, "add"), "user-plus", MANAGE, dialog=True),
        "more": [] if group.built_in else group_actions(member_actions, uid),
        "roles": member_actions.action_for_right("Change roles", urls.group(uid, "roles"), "shield", "set_tenant_role"),
        "held": held,
        "lies_in": _workspace_names(ctx, held or ()),
    }
    return pages.render(request, "groups/group.html", values)


def group_breadcrumbs(ctx: RequestContext, group: Group, here: str = "") -> list[Breadcrumb]:
    """Return the breadcrumbs of a group's page, or of a page below it."""
    crumbs = breadcrumb_trail(ctx, Breadcrumb("Groups", "/groups"), Breadcrumb(group.name, urls.group(group.uid)))
    return [*crumbs, Breadcrumb(here)] if here else crumbs


def _held_roles(ctx: RequestContext, uid: str) -> list[GrantedRole] | None:
    """Return the roles that a group holds, or None if the caller may not know. Everybody may know those of their own
    groups.
    """
    number = ctx.view.resource(uid)
    mine = ctx.session.read_view(lambda view: view.subject(view.member(ctx.caller.member)).ids_with_all)
    if number not in mine and not change_preview.may_ask_about_others(ctx):
        return None
    return [held for held in grants.list_held_by(ctx, uid) if held.resource.uid != ctx.caller.tenant]


def _workspace_names(ctx: RequestContext, held: Iterable[GrantedRole]) -> dict[str, str]:
    """Return the name of each resource's workspace, where the caller may see it. Layers of two lakehouses may have
    equal names.
    """
    eyes = VisibleRefs(ctx)
    spaces = {each.resource.uid: kinds.workspace_of(ctx.view, each.resource.uid) for each in held}
    seen = {uid: eyes.ref(space) for uid, space in spaces.items() if space and space != uid}
    return {uid: space.name for uid, space in seen.items() if space}


def _lost_access(ctx: RequestContext, uid: str) -> list[EffectSummary]:
    """Return what members lose by the deletion. Deleting a group does not require the right to revoke its roles."""

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


membership_routes = router("/groups")


@membership_routes.get("/{uid:path}/add")
def add_member_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the form that adds a member, with an optional end date."""
    groups.need_edit(ctx, uid)
    asked = request.query_params
    filled = {name: asked.get(name, "") for name in ("member", "until", "from")}
    return _add_form(request, ctx, groups.get(ctx, uid), filled, find=asked.get("find", ""))


@membership_routes.post("/{uid:path}/add")
def add_member(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Show what the member gains, then add them."""
    groups.need_edit(ctx, uid)
    group = groups.get(ctx, uid)
    filled = {name: str(sent.get(name, "")) for name in ("member", "until", "from")}
    try:
        until, member = form_values.parse_end_of_day(ctx, filled["until"]), members.get(ctx, filled["member"])
    except (InvalidInputError, NotFoundError) as error:
        return _add_form(request, ctx, group, filled, error=error)
    fact = Edge(MEMBER_OF, member.uid, uid)
    asking = ConfirmationPrompt(
        f"Add {member.name} to {group.name}?",
        f"Until the end of {filled['until']}." if until is not None else "",
        do="Add",
        back=f"{urls.group(uid, 'add')}?{urlencode(filled)}",
    )
    if question := confirm_effects(request, sent, asking, lambda: preview_effects(ctx, [Add(fact)])):
        return question
    groups.add(ctx, uid, member.uid, until=until)
    undo = f"{urls.group(uid, 'undo')}?{urlencode({'member': member.uid, 'do': 'remove'})}"
    return pages.redirect(
        request, _return_address(uid, filled), Flash(f"{member.name} was added to {group.name}.", undo=undo)
    )


@membership_routes.post("/{uid:path}/remove")
def remove_member(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Show what the member loses, then remove them."""
    groups.need_edit(ctx, uid)
    group, member = groups.get(ctx, uid), members.get(ctx, str(sent.get("member", "")))
    back = _return_address(uid, {"member": member.uid, "from": str(sent.get("from", ""))})
    fact = Edge(MEMBER_OF, member.uid, uid)
    asking = ConfirmationPrompt(f"Remove {member.name} from {group.name}?", do="Remove", back=back, danger=True)
    if question := confirm_effects(request, sent, asking, lambda: preview_effects(ctx, [Remove(fact)])):
        return question
    groups.remove(ctx, uid, member.uid)
    undo = f"{urls.group(uid, 'undo')}?{urlencode({'member': member.uid, 'do': 'add'})}"
    return pages.redirect(request, back, Flash(f"{member.name} was removed from {group.name}.", undo=undo))


@membership_routes.post("/{uid:path}/undo")
def undo_membership_change(request: Request, ctx: WriteContext, uid: str, member: str = "", do: str = "") -> Response:
    """Undo the last change of the membership."""
    if do == "add":
        groups.add(ctx, uid, member)
    else:
        groups.remove(ctx, uid, member)
    return pages.redirect(request, urls.group(uid), Flash("Undone."))


def _return_address(uid: str, filled: dict[str, str]) -> str:
    """Return the address to go back to: the member's page or the group's."""
    return urls.member(filled["member"]) if filled["from"] == "member" else urls.group(uid)


def _add_form(
    request: Request,
    ctx: RequestContext,
    group: Group,
    filled: dict[str, str],
    *,
    find: str = "",
    error: LakeholdError | None = None,
) -> Response:
    chosen = filled["member"]
    values: dict[str, object] = {
        "crumbs": group_breadcrumbs(ctx, group, "Add member"),
        "group": group,
        "filled": filled,
        "picked": member_picker.member_choices(ctx, find, but=set(group.members), chosen=chosen),
        "errors": form_values.errors_by_field(error, {"until": "until"}, "member") if error else {},
        "today": form_values.today(ctx),
    }
    return pages.render(request, "groups/add.html", values, status=422 if error else 200)
