"""The members of a workspace, their removal, and the roles that come from the tenant."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access.model.policy import MEMBER, TENANT
from lakehold.access.model.syntax import PathNode
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import change_preview, kinds, ownership, workspaces
from lakehold.catalog.resource_view import ResourceRef, make_ref
from lakehold.catalog.workspaces import WorkspaceMembership
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER
from lakehold.kit.ids import fold_name
from lakehold.web import invite_pages, kind_pages, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.confirmation import ConfirmationChoice, ConfirmationPrompt, confirm_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count, humanize, pluralize
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.navigation import Breadcrumb, breadcrumb_trail
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.workspaces import membership
from lakehold.web.workspaces.membership import LabelField, MembershipForm

_TENANT_PATH_STEPS = 2


def inherited_roles(ctx: RequestContext, uid: str) -> list[tuple[str, str]]:
    """Return pairs of a tenant role and the workspace role that it implies: Admin, Project Admin."""
    on_tenant = ctx.view.policy.kind(TENANT).schema.roles
    found: list[tuple[str, str]] = []
    for role in kinds.schema_of(ctx.view, uid).roles.values():
        tree = role.derived.tree if role.derived else None
        if (
            isinstance(tree, PathNode)
            and len(tree.names) == _TENANT_PATH_STEPS
            and tree.names[0] == "tenant"
            and tree.names[1] in on_tenant
        ):
            found.append((on_tenant[tree.names[1]].title, role.title))
    return found


routes = router("/workspaces")

NEW_OWNER = "receiver"
_SUBJECT_FILTER = ListFilter("who", "Member", (("member", "Members"), ("group", "Groups")))


@routes.get("/{uid:path}/members")
def members_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the list: all members for a caller who gives roles here, oneself and the owners for others."""
    found = workspaces.members(ctx, uid)
    space, schema = workspace_ref(ctx, uid), kinds.schema_of(ctx.view, uid)
    roles = ListFilter("role", "Role", tuple((name, role.title) for name, role in schema.roles.items()))
    listing = ListState.from_request(request, sorts=("name",), filters=(roles, _SUBJECT_FILTER))
    listing = replace(listing, path=urls.workspace(uid, "members"))
    rows = [member for member in found if _matches(member, listing)]
    rows.sort(key=lambda member: fold_name(member.subject.name), reverse=listing.descending)
    keeps = change_preview.gives_roles_on(ctx, uid)
    labels = membership.label_fields(ctx, uid)
    values: dict[str, object] = {
        "crumbs": breadcrumbs(ctx, space, "Members"),
        **kind_pages.workspace_tab_values(uid, space.kind, kind_pages.MEMBERS_TAB),
        "space": space,
        "listing": listing,
        "columns": [ListColumn("Member", "name"), ListColumn("Roles"), *_value_columns(ctx, uid)],
        "rows": [
            (n, member, _membership_values(ctx, member, labels), _member_actions(uid, member, keeps))
            for n, member in enumerate(listing.slice_page(rows))
        ],
        "total": len(rows),
        "keeps": keeps,
        "sees_all": keeps or change_preview.may_ask_about_others(ctx),
        "add": _add_action(uid, keeps=keeps),
        "inherited": inherited_roles(ctx, uid),
        "may_invite": bool(invite_pages.invitable_roles(ctx, uid)),
    }
    return pages.render(request, "workspaces/members.html", values)


@routes.post("/{uid:path}/members/remove")
def remove_member(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Remove a member after the effect is confirmed."""
    changes = workspaces.plan_removal(ctx, uid, str(sent.get("subject", "")))
    member = find_member(ctx, uid, str(sent["subject"]))
    back = urls.workspace(uid, "members")
    text = "Direct grants on single resources are kept, and apply again if they are added back."
    choice = _transfer_choice(ctx, uid, member)
    prompt = ConfirmationPrompt(
        f"Remove {member.subject.name}?", text, do="Remove", back=back, danger=True, choice=choice
    )
    if question := confirm_effects(request, sent, prompt, lambda: preview_effects(ctx, changes)):
        return question
    receiver = str(sent.get(NEW_OWNER, ""))
    if receiver:
        return _remove_and_transfer(request, ctx, uid, member, receiver)
    workspaces.remove_member(ctx, uid, member.subject.uid)
    endless = all(role.until >= FOREVER for role in member.roles)
    pairs = [("subject", member.subject.uid), *(("role", role.name) for role in member.roles)]
    pairs += [(membership.VALUE_PREFIX + name, value) for name, value in member.attributes.items()]
    undo = f"{urls.workspace(uid, 'members/undo')}?{urlencode(pairs)}" if endless else ""
    return pages.redirect(request, back, Flash(f"{member.subject.name} was removed.", undo=undo))


def _transfer_choice(ctx: RequestContext, uid: str, member: WorkspaceMembership) -> ConfirmationChoice | None:
    """Return the choice of a new owner for what the member owns; None if they own nothing."""
    owns = ownership.owned_in_workspace(ctx, uid, member.subject.uid)
    if not owns:
        return None
    others = [each.subject for each in workspaces.members(ctx, uid) if each.subject.kind == MEMBER]
    options = [(each.uid, each.name) for each in others if each.uid != member.subject.uid]
    hint = f"They own {format_count(len(owns), 'thing')} here. Nothing is deleted."
    return ConfirmationChoice(NEW_OWNER, "New owner", [("", "Keep the current owner"), *options], hint)


def _remove_and_transfer(
    request: Request, ctx: RequestContext, uid: str, member: WorkspaceMembership, receiver: str
) -> Response:
    """Transfer what the member owns and remove them. This has no undo."""
    moved, left = ownership.transfer_all(ctx, uid, member.subject.uid, receiver)
    workspaces.remove_member(ctx, uid, member.subject.uid)
    words = [f"{member.subject.name} was removed.", f"{format_count(len(moved), 'thing')} transferred."]
    words += [f"{format_count(len(left), 'thing')} kept, because you cannot transfer them."] if left else []
    return pages.redirect(request, urls.workspace(uid, "members"), Flash(" ".join(words)))


@routes.post("/{uid:path}/members/undo")
def undo(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Restore a membership that was just removed."""
    filled = MembershipForm.parse(request.query_params)
    values: dict[str, str | bool] = dict(filled.values)
    workspaces.set_member(ctx, uid, filled.subject, roles=filled.roles, attributes=values)
    return pages.redirect(request, urls.workspace(uid, "members"), Flash("Undone."))


def breadcrumbs(ctx: RequestContext, space: ResourceRef, here: str) -> list[Breadcrumb]:
    """Return the breadcrumbs to a page of a workspace."""
    there = Breadcrumb(space.name, urls.workspace(space.uid))
    return breadcrumb_trail(ctx, Breadcrumb("Workspaces", "/workspaces"), there, Breadcrumb(here))


def workspace_ref(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return a reference to a workspace."""
    workspaces.need_workspace(ctx, uid)
    return ctx.session.read_view(lambda view: make_ref(view, uid))


def find_member(ctx: RequestContext, uid: str, subject: str) -> WorkspaceMembership:
    """Return the membership of a member or group in the workspace; empty if they are not in it yet."""
    ctx.need_visible(subject, "grant")
    found = next((member for member in workspaces.members(ctx, uid) if member.subject.uid == subject), None)
    return found or WorkspaceMembership(ctx.session.read_view(lambda view: make_ref(view, subject)), [], {})


def _matches(member: WorkspaceMembership, listing: ListState) -> bool:
    who = "member" if member.subject.kind == MEMBER else "group"
    role = listing.chosen["role"]
    return (
        fold_name(listing.search) in fold_name(member.subject.name)
        and listing.chosen["who"] in {"", who}
        and (not role or role in {held.name for held in member.roles})
    )


def _value_columns(ctx: RequestContext, uid: str) -> list[ListColumn]:
    kept = [humanize(name) for name in kinds.schema_of(ctx.view, uid).membership]
    kept += [pluralize(kind.title) for kind in membership.label_kinds(ctx, uid)[:1]]
    return [ListColumn(title, wide=True) for title in kept]


def _membership_values(ctx: RequestContext, member: WorkspaceMembership, labels: list[LabelField]) -> list[str]:
    """Return the cells of the columns for membership values and labels."""
    if member.subject.kind != MEMBER:
        return []
    held = membership.held_labels(ctx, member) if labels else set()
    names = [label.name for label in labels if label.value in held]
    return [*(humanize(value) for value in member.attributes.values()), *([", ".join(names) or "–"] if labels else [])]


def _member_actions(uid: str, member: WorkspaceMembership, keeps: bool) -> list[PageAction]:  # noqa: FBT001 - read at the one place
    who = urlencode({"subject": member.subject.uid})
    page = PageAction("Open", urls.for_kind(member.subject.uid, member.subject.kind), icon="arrow-right")
    if not keeps:
        return [page]
    change = PageAction("Change", f"{urls.workspace(uid, 'members/change')}?{who}", icon="pencil")
    fields = (("subject", member.subject.uid),)
    end = PageAction("Remove", urls.workspace(uid, "members/remove"), "post", "trash-2", fields, danger=True)
    return [page, change, end]


def _add_action(uid: str, *, keeps: bool) -> PageAction:
    if keeps:
        return PageAction("Add", urls.workspace(uid, "members/add"), icon="user-plus")
    return PageAction(
        "Add",
        why_not="You cannot grant roles here.",
        request=urls.request(uid, ""),
        why=urls.resource(uid, "access"),
    )
