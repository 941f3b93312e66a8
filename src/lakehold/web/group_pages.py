"""Pages of groups: the list, one group, and changes, each after a preview of what members gain or lose by it."""

from collections.abc import Iterable
from dataclasses import replace

from fastapi import Request, Response

from lakehold.access import Add, Edge, Grant, Remove
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER_OF
from lakehold.api.http.dependencies import FormContext, ReadContext, WriteContext
from lakehold.catalog import change_preview, grants, undo
from lakehold.catalog.grants import GrantedRole
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref
from lakehold.directory import groups, members
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import fold_name, valid_name
from lakehold.web import confirmation, form_values, pages, urls
from lakehold.web.access.grant_forms import undo_url
from lakehold.web.components import EffectSummary, PageAction
from lakehold.web.confirmation import ConfirmationPrompt, need_confirmed_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.form_values import FieldErrors
from lakehold.web.list_view import ListState
from lakehold.web.people import member_picker
from lakehold.web.people.member_actions import MemberActions
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router

routes = router("/groups")

MANAGE = "manage_groups"

GroupRow = tuple[ResourceRef, Moment | None, int | None, tuple[str, ...], list[PageAction]]
"""A group with its creation, number of members, tenant roles and actions. All has neither of the first two."""


@routes.get("")
def groups_page(request: Request, ctx: ReadContext) -> Response:
    """Show the list, with the built-in group All first."""
    listing = ListState.from_request(request, sorts=("name", "created"))
    found = groups.page(ctx, **listing.query)
    actions = MemberActions(ctx)
    rows = [_group_row(ctx, actions, item.uid, item.since) for item in found.items]
    values: dict[str, object] = {
        **listing.cursor_values(list(enumerate([*_all_members_row(ctx, actions, listing), *rows])), found.after),
        "new": actions.offer(PageAction("New group", "/groups/new", icon="plus", dialog=True), MANAGE),
    }
    return pages.render(request, "groups/groups.html", values)


@routes.api_route("/new", methods=FORM_METHODS)
def create_group(request: Request, ctx: FormContext, sent: SubmittedForm) -> Response:
    """Create a group without members."""
    ctx.need(MANAGE, ctx.caller.tenant)
    name, errors = str(sent.get("name", "")).strip(), FieldErrors()
    if request.method == "POST":
        with errors.at("name", InvalidInputError, ConflictError):
            created = groups.create(ctx, valid_name(name))
            return pages.redirect(request, urls.group(created), f"{name} was created. Add members next.")
    return pages.render_form(request, "groups/new.html", {"name": name}, errors)


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
    return actions.offer(PageAction("Add member", urls.group(uid, "add"), icon="user-plus", dialog=True), MANAGE)


def _group_actions(actions: MemberActions, uid: str) -> list[PageAction]:
    """Return the actions that change the group itself."""
    rename = PageAction("Rename", urls.group(uid, "rename"), icon="pencil", dialog=True)
    delete = PageAction("Delete", urls.group(uid, "delete"), "post", "trash-2", danger=True)
    return [actions.offer(rename, MANAGE), actions.offer(delete, MANAGE)]


@routes.api_route("/{uid:path}/add", methods=FORM_METHODS)
def add_member(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show what the member gains, then add them, permanently or until a day."""
    groups.need_edit(ctx, uid)
    group, errors = groups.get(ctx, uid), {}
    asked = sent if request.method == "POST" else request.query_params
    filled = {name: str(asked.get(name, "")) for name in ("member", "until", "from")}
    if request.method == "POST":
        try:
            until, member = form_values.parse_end_of_day(ctx, filled["until"]), members.get(ctx, filled["member"])
        except (InvalidInputError, NotFoundError) as error:
            errors = form_values.errors_by_field(error, {"until": "until"}, "member")
        else:
            text = f"Until the end of {filled['until']}." if until is not None else ""
            asking = ConfirmationPrompt(f"Add {member.name} to {group.name}?", text, do="Add")
            fact = Edge(MEMBER_OF, member.uid, uid)
            need_confirmed_effects(request, sent, asking, lambda: preview_effects(ctx, [Add(fact)]))
            before = undo.held_periods(ctx, fact)
            groups.add(ctx, uid, member.uid, until=until)
            flash = Flash(f"{member.name} was added to {group.name}.", undo=undo_url(ctx, urls.group(uid), before))
            return pages.redirect(request, _return_address(uid, filled), flash)
    find, others = request.query_params.get("find", ""), set(group.members)
    picked = member_picker.member_choices(ctx, find, but=others, chosen=filled["member"])
    values = {"group": group, "filled": filled, "picked": picked, "today": form_values.today(ctx)}
    return pages.render_form(request, "groups/add.html", values, errors)


@routes.post("/{uid:path}/remove")
def remove_member(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Show what the member loses, then remove them."""
    groups.need_edit(ctx, uid)
    group, member = groups.get(ctx, uid), members.get(ctx, str(sent.get("member", "")))
    back = _return_address(uid, {"member": member.uid, "from": str(sent.get("from", ""))})
    fact = Edge(MEMBER_OF, member.uid, uid)
    asking = ConfirmationPrompt(f"Remove {member.name} from {group.name}?", do="Remove", danger=True)
    need_confirmed_effects(request, sent, asking, lambda: preview_effects(ctx, [Remove(fact)]))
    before = undo.held_periods(ctx, fact)
    groups.remove(ctx, uid, member.uid)
    flash = Flash(f"{member.name} was removed from {group.name}.", undo=undo_url(ctx, urls.group(uid), before))
    return pages.redirect(request, back, flash)


@routes.post("/{uid:path}/undo")
def undo_membership_change(request: Request, ctx: WriteContext, uid: str, before: str = "") -> Response:
    """Undo the last change of the membership."""
    undo.restore(ctx, undo.parse(before))
    return pages.redirect(request, urls.group(uid), "Undone.")


def _return_address(uid: str, filled: dict[str, str]) -> str:
    """Return the address to go back to: the member's page or the group's."""
    return urls.member(filled["member"]) if filled["from"] == "member" else urls.group(uid)


@routes.api_route("/{uid:path}/rename", methods=FORM_METHODS)
def rename_group(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Rename a group."""
    groups.need_edit(ctx, uid)
    group, errors = groups.get(ctx, uid), FieldErrors()
    name = group.name
    if request.method == "POST":
        name = str(sent.get("name", "")).strip()
        with errors.at("name", InvalidInputError, ConflictError):
            groups.rename(ctx, uid, valid_name(name))
            return pages.redirect(request, urls.group(uid), "Saved.")
    return pages.render_form(request, "groups/rename.html", {"group": group, "name": name}, errors)


@routes.post("/{uid:path}/delete")
def delete_group(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Delete a group, after showing what its members lose."""
    groups.need_edit(ctx, uid)
    ctx.need("delete", uid)
    group = groups.get(ctx, uid)
    text = "Its members lose the access they have through it."
    asking = ConfirmationPrompt(f"Delete {group.name}?", text, do="Delete", danger=True)
    need_confirmed_effects(request, sent, asking, lambda: _lost_access(ctx, uid))
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
        "roles": actions.offer(PageAction("Change roles", urls.group(uid, "roles"), icon="shield"), "set_tenant_role"),
        "held": held,
        "lies_in": _workspace_names(ctx, held or ()),
    }
    return pages.render(request, "groups/group.html", values)


def _held_roles(ctx: RequestContext, uid: str) -> list[GrantedRole] | None:
    """Return the roles of a group, or None if the caller may not know. Members may know those of their own groups."""
    number = ctx.view.resource(uid)
    mine = ctx.session.read_view(lambda view: view.subject(view.member(ctx.caller.member)).ids_with_all)
    if number not in mine and not change_preview.may_ask_about_others(ctx):
        return None
    return [held for held in grants.list_held_by(ctx, uid) if held.resource.uid != ctx.caller.tenant]


def _workspace_names(ctx: RequestContext, held: Iterable[GrantedRole]) -> dict[str, str]:
    """Return the name of each resource's visible workspace: layers of two lakehouses may have equal names."""
    visible = VisibleRefs(ctx)
    spaces = {each.resource.uid: visible.workspace(each.resource.uid) for each in held}
    return {uid: space.name for uid, space in spaces.items() if space and space.uid != uid}


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
