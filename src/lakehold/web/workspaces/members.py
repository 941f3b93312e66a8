"""The members of a workspace: the list, adding and removing one, changing a membership, and roles from the tenant."""

from dataclasses import replace

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access.model.policy import MEMBER, TENANT
from lakehold.access.model.syntax import PathNode
from lakehold.api.http.dependencies import FormContext, ReadContext, WriteContext
from lakehold.catalog import change_preview, kinds, ownership, workspaces
from lakehold.catalog.resource_view import make_ref
from lakehold.catalog.workspaces import WorkspaceMembership
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import form_values, invite_pages, kind_pages, pages, urls
from lakehold.web.confirmation import ConfirmationChoice, ConfirmationPrompt, need_confirmed_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.form_values import FieldErrors
from lakehold.web.labels import format_count, humanize, pluralize
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.people import member_picker
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.web.workspaces import membership
from lakehold.web.workspaces.membership import MembershipForm, RoleOption


def inherited_roles(ctx: RequestContext, uid: str) -> list[tuple[str, str]]:
    """Return pairs of a tenant role and the workspace role that it implies: Admin, Project Admin."""
    on_tenant = ctx.view.policy.kind(TENANT).schema.roles
    found: list[tuple[str, str]] = []
    for role in kinds.schema_of(ctx.view, uid).roles.values():
        match role.derived.tree if role.derived else None:
            case PathNode(names=["tenant", name]) if name in on_tenant:
                found.append((on_tenant[name].title, role.title))
            case _:
                pass
    return found


routes = router("/workspaces")

NEW_OWNER = "receiver"
_SUBJECT_FILTER = ListFilter("who", "Member", (("member", "Members"), ("group", "Groups")))


@routes.get("/{uid:path}/members")
def members_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the list: all members for a caller who gives roles here, oneself and the owners for others."""
    found = workspaces.members(ctx, uid)
    space, schema = workspaces.need_workspace(ctx, uid), kinds.schema_of(ctx.view, uid)
    roles = ListFilter("role", "Role", tuple((name, role.title) for name, role in schema.roles.items()))
    listing = ListState.from_request(request, sorts=("name",), filters=(roles, _SUBJECT_FILTER))
    listing = replace(listing, path=urls.workspace(uid, "members"))
    who, role = listing.chosen["who"], listing.chosen["role"]
    found = [
        member
        for member in found
        if who in {"", "member" if member.subject.kind == MEMBER else "group"}
        and (not role or role in {held.name for held in member.roles})
    ]
    rows = listing.select(found, lambda member: member.subject.name)
    keeps = change_preview.gives_roles_on(ctx, uid)
    labels = membership.label_fields(ctx, uid)
    values: dict[str, object] = {
        **kind_pages.workspace_tab_values(uid, space.kind, kind_pages.MEMBERS_TAB),
        "space": space,
        **listing.page_values(rows),
        "value_columns": _value_columns(ctx, uid),
        "rows": [
            (n, member, _membership_values(ctx, member, labels)) for n, member in enumerate(listing.slice_page(rows))
        ],
        "keeps": keeps,
        "sees_all": keeps or change_preview.may_ask_about_others(ctx),
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
    prompt = ConfirmationPrompt(f"Remove {member.subject.name}?", text, do="Remove", danger=True, choice=choice)
    need_confirmed_effects(request, sent, prompt, lambda: preview_effects(ctx, changes))
    receiver = str(sent.get(NEW_OWNER, ""))
    if receiver:
        return _remove_and_transfer(request, ctx, uid, member, receiver)
    workspaces.remove_member(ctx, uid, member.subject.uid)
    endless = all(role.since <= ctx.at and role.until >= FOREVER for role in member.roles)
    former = MembershipForm(member.subject.uid, tuple(role.name for role in member.roles), member.attributes)
    undo = f"{urls.workspace(uid, 'members/undo')}?{former.to_query()}" if endless else ""
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
    message = f"{member.subject.name} was removed. {format_count(len(moved), 'thing')} transferred."
    if left:
        message += f" {format_count(len(left), 'thing')} kept, because you cannot transfer them."
    return pages.redirect(request, urls.workspace(uid, "members"), message)


@routes.post("/{uid:path}/members/undo")
def undo(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Restore a membership that was just removed."""
    filled = MembershipForm.parse(request.query_params)
    workspaces.set_member(ctx, uid, filled.subject, roles=filled.roles, attributes=dict(filled.values))
    return pages.redirect(request, urls.workspace(uid, "members"), "Undone.")


def find_member(ctx: RequestContext, uid: str, subject: str) -> WorkspaceMembership:
    """Return the membership of a member or group in the workspace; empty if they are not in it yet."""
    ctx.need_visible(subject, "grant")
    found = next((member for member in workspaces.members(ctx, uid) if member.subject.uid == subject), None)
    return found or WorkspaceMembership(ctx.session.read_view(lambda view: make_ref(view, subject)), [], {})


def _value_columns(ctx: RequestContext, uid: str) -> list[ListColumn]:
    titles = [humanize(name) for name in kinds.schema_of(ctx.view, uid).membership]
    titles += [pluralize(kind.title) for kind in membership.label_kinds(ctx, uid)[:1]]
    return [ListColumn(title, wide=True) for title in titles]


def _membership_values(ctx: RequestContext, member: WorkspaceMembership, labels: list[RoleOption]) -> list[str]:
    """Return the cells of the columns for membership values and labels."""
    if member.subject.kind != MEMBER:
        return []
    held = membership.held_labels(ctx, member) if labels else set()
    names = [label.title for label in labels if label.value in held]
    return [*(humanize(value) for value in member.attributes.values()), *([", ".join(names) or "–"] if labels else [])]


_ADD_PATH, _CHANGE_PATH = "members/add", "members/change"


@routes.api_route("/{uid:path}/members/add", methods=FORM_METHODS)
@routes.api_route("/{uid:path}/members/change", methods=FORM_METHODS)
def set_member(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the present membership; save after the effect is confirmed."""
    _check_may_give(ctx, uid)
    path = _CHANGE_PATH if request.url.path.endswith(_CHANGE_PATH) else _ADD_PATH
    asked, errors = request.query_params, FieldErrors()
    filled = MembershipForm.parse(sent if request.method == "POST" else asked)
    if request.method == "POST":
        invalid = errors.at("role", InvalidInputError, ConflictError, fields={"until": "until", "subject": "subject"})
        with errors.at("subject", HiddenError, NotFoundError), invalid:
            return _save_member(request, ctx, uid, filled, sent)
    elif filled.subject:
        filled = membership.current_membership(ctx, uid, find_member(ctx, uid, filled.subject))
    space = workspaces.need_workspace(ctx, uid)
    subject = picked = None
    if path == _CHANGE_PATH:
        subject = ctx.session.read_view(lambda view: make_ref(view, filled.subject))
    else:
        inside = {member.subject.uid for member in workspaces.members(ctx, uid)}
        picked = member_picker.principal_choices(ctx, asked.get("find", ""), but=inside, chosen=filled.subject)
    is_member = subject is None or subject.kind == MEMBER
    values: dict[str, object] = {
        "space": space,
        "form": urls.workspace(uid, path),
        "subject": subject,
        "picked": picked,
        "filled": filled,
        "roles": membership.role_fields(ctx, uid),
        "ladder": membership.is_role_hierarchy(kinds.schema_of(ctx.view, uid)),
        "values": membership.value_fields(ctx, uid) if is_member else [],
        "labels": membership.label_fields(ctx, uid) if is_member else [],
        "today": form_values.today(ctx),
    }
    return pages.render_form(request, "workspaces/member.html", values, errors)


def _check_may_give(ctx: RequestContext, uid: str) -> None:
    """Refuse a caller who gives no role here, with the right that they would need."""
    workspaces.need_workspace(ctx, uid)
    if not change_preview.gives_roles_on(ctx, uid):
        role = next(iter(kinds.schema_of(ctx.view, uid).roles))
        ctx.need("give", uid, role=role)


def _save_member(request: Request, ctx: RequestContext, uid: str, filled: MembershipForm, sent: FormData) -> Response:
    if not filled.subject:
        raise InvalidInputError("Select a member or group.", field="subject")
    member = find_member(ctx, uid, filled.subject)
    plan = membership.plan_membership(ctx, uid, filled, member)
    if not plan.roles and not member.roles:
        raise InvalidInputError("Select a role.", field="role")
    question = f"{'Change' if member.roles else 'Add'} {member.subject.name}?"
    prompt = ConfirmationPrompt(question, f"Until the end of {filled.until}." if filled.until else "")
    need_confirmed_effects(request, sent, prompt, lambda: preview_effects(ctx, plan.changes))
    for change in plan.labels:
        ctx.need_change(change)
    who = member.subject.uid
    workspaces.set_member(ctx, uid, who, roles=plan.roles, attributes=plan.values, until=plan.until)
    for change in plan.labels:
        ctx.make_unchecked(change)
    return pages.redirect(request, urls.workspace(uid, "members"), f"{member.subject.name} was saved.")
