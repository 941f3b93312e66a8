"""Pages of groups: the list, a group's page, creating, renaming and deleting one, adding and removing members.

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
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref
from lakehold.directory import groups, members
from lakehold.directory.groups import Group
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import fold_name, valid_name
from lakehold.web import confirmation, form_values, pages, urls
from lakehold.web.components import EffectSummary, PageAction
from lakehold.web.confirmation import ConfirmationPrompt, confirm_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListState
from lakehold.web.people import member_picker
from lakehold.web.people.member_actions import MemberActions
from lakehold.web.routing import SubmittedForm, router

routes = router("/groups")

MANAGE = "manage_groups"

GroupRow = tuple[ResourceRef, Moment | None, int | None, tuple[str, ...], list[PageAction]]
"""A group with its creation, number of members, tenant roles and actions. All has neither of the first two."""


@routes.get("")
def groups_page(request: Request, ctx: ReadContext) -> Response:
    """Show the list, with the built-in group All first."""
    listing = ListState.from_request(request, sorts=("name", "created"))
    found = groups.page(ctx, search=listing.search, sort=listing.order, after=listing.after or None, limit=listing.size)
    actions = MemberActions(ctx)
    rows = [_group_row(ctx, actions, item.uid, item.since) for item in found.items]
    values: dict[str, object] = {
        "listing": listing,
        "rows": list(enumerate([*_all_members_row(ctx, actions, listing), *rows])),
        "after": found.after or "",
        "new": actions.action_for_right("New group", "/groups/new", "plus", MANAGE, dialog=True),
    }
    return pages.render(request, "groups/groups.html", values)


@routes.get("/new")
def new_group_form(request: Request, ctx: ReadContext) -> Response:
    """Show the form for a new group."""
    ctx.need(MANAGE, ctx.caller.tenant)
    return pages.render(request, "groups/new.html", {"name": "", "error": ""})


@routes.post("/new")
def create_group(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Create a group without members."""
    ctx.need(MANAGE, ctx.caller.tenant)
    name = str(sent.get("name", "")).strip()
    try:
        made = groups.create(ctx, valid_name(name))
    except InvalidInputError as error:
        return pages.render(request, "groups/new.html", {"name": name, "error": str(error)}, status=422)
    return pages.redirect(request, urls.group(made), f"{name} was created. Add members next.")


def _all_members_row(ctx: RequestContext, actions: MemberActions, listing: ListState) -> list[GroupRow]:
    """Return the row of the group All, if it belongs on this page and matches the search."""
    uid = groups.all_members_group(ctx)
    if listing.after or not ctx.session.can_see(ctx.principal, uid):
        return []
    row = _group_row(ctx, actions, uid, None)
    return [row] if fold_name(listing.search) in fold_name(row[0].name) else []


def _group_row(ctx: RequestContext, actions: MemberActions, uid: str, since: Moment | None) -> GroupRow:
    ref, roles = make_ref(ctx.view, uid), members.tenant_roles(ctx, uid)
    page = PageAction("Open", urls.group(uid), icon="arrow-right")
    if since is None:
        return ref, None, None, roles, [page]
    inside = len(ctx.view.edges_in[MEMBER_OF].get(ctx.view.resource(uid)) or ())
    return ref, since, inside, roles, [page, _add_action(actions, uid), *_group_actions(actions, uid)]


def _add_action(actions: MemberActions, uid: str) -> PageAction:
    return actions.action_for_right("Add member", urls.group(uid, "add"), "user-plus", MANAGE, dialog=True)


def _group_actions(actions: MemberActions, uid: str) -> list[PageAction]:
    """Return the actions that change the group itself."""
    end = actions.action_for_right("Delete", urls.group(uid, "delete"), "trash-2", MANAGE)
    return [
        actions.action_for_right("Rename", urls.group(uid, "rename"), "pencil", MANAGE, dialog=True),
        replace(end, method="post", danger=True),
    ]


@routes.get("/{uid:path}/add")
def add_member_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the form that adds a member, with an optional end date."""
    groups.need_edit(ctx, uid)
    asked = request.query_params
    filled = {name: asked.get(name, "") for name in ("member", "until", "from")}
    return _add_form(request, ctx, groups.get(ctx, uid), filled, find=asked.get("find", ""))


@routes.post("/{uid:path}/add")
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
    flash = Flash(f"{member.name} was added to {group.name}.", undo=undo)
    return pages.redirect(request, _return_address(uid, filled), flash)


@routes.post("/{uid:path}/remove")
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


@routes.post("/{uid:path}/undo")
def undo_membership_change(request: Request, ctx: WriteContext, uid: str, member: str = "", do: str = "") -> Response:
    """Undo the last change of the membership."""
    change = groups.add if do == "add" else groups.remove
    change(ctx, uid, member)
    return pages.redirect(request, urls.group(uid), "Undone.")


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
    values: dict[str, object] = {
        "group": group,
        "filled": filled,
        "picked": member_picker.member_choices(ctx, find, but=set(group.members), chosen=filled["member"]),
        "today": form_values.today(ctx),
    }
    errors = form_values.errors_by_field(error, {"until": "until"}, "member") if error else None
    return pages.render_form(request, "groups/add.html", values, errors)


@routes.get("/{uid:path}/rename")
def rename_group_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the form that renames a group."""
    groups.need_edit(ctx, uid)
    group = groups.get(ctx, uid)
    return pages.render(request, "groups/rename.html", {"group": group, "name": group.name, "error": ""})


@routes.post("/{uid:path}/rename")
def rename_group(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Rename a group."""
    groups.need_edit(ctx, uid)
    group, name = groups.get(ctx, uid), str(sent.get("name", "")).strip()
    try:
        groups.rename(ctx, uid, valid_name(name))
    except InvalidInputError as error:
        values: dict[str, object] = {"group": group, "name": name, "error": str(error)}
        return pages.render(request, "groups/rename.html", values, status=422)
    return pages.redirect(request, urls.group(uid), "Saved.")


@routes.post("/{uid:path}/delete")
def delete_group(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Delete a group, after showing what its members lose."""
    groups.need_edit(ctx, uid)
    ctx.need("delete", uid)
    group = groups.get(ctx, uid)
    text = "Its members lose the access they have through it."
    asking = ConfirmationPrompt(f"Delete {group.name}?", text, do="Delete", back=urls.group(uid), danger=True)
    if question := confirm_effects(request, sent, asking, lambda: _lost_access(ctx, uid)):
        return question
    groups.delete(ctx, uid)
    return pages.redirect(request, "/groups", f"{group.name} was deleted.")


@routes.get("/{uid:path}")
def group_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the page of a group."""
    group, actions, held = groups.get(ctx, uid), MemberActions(ctx), _held_roles(ctx, uid)
    listing = replace(ListState.from_request(request, sorts=("name",)), path=urls.group(uid))
    inside = listing.select(VisibleRefs(ctx).refs(group.members), lambda member: member.name)
    values: dict[str, object] = {
        "group": group,
        **listing.page_values(inside),
        "may": MANAGE in actions.may and not group.built_in,
        "add": _add_action(actions, uid),
        "more": [] if group.built_in else _group_actions(actions, uid),
        "roles": actions.action_for_right("Change roles", urls.group(uid, "roles"), "shield", "set_tenant_role"),
        "held": held,
        "lies_in": _workspace_names(ctx, held or ()),
    }
    return pages.render(request, "groups/group.html", values)


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
        places = view.grants_by_subject.get(view.resource(uid)) or {}
        found = (grant for place in places for grant in view.grants_on(place))
        return [Remove(grant) for grant in found if grant.subject == uid and isinstance(grant, Grant)]

    changes = ctx.session.read_view(held)
    if not changes:
        return []
    effects = change_preview.visible_effects(ctx, ctx.session.what_if(changes))
    return confirmation.summarize_effects(ctx.view.policy, effects)
