"""A member's page: profile, groups, roles, sessions; editing, adding to a group, sign-in links and signing out.

Sign-in and password links are created by who manages members, and shown once.
"""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import change_preview, grants, kinds
from lakehold.catalog.grants import GrantedRole
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import groups, links, members, sign_ins, tokens
from lakehold.directory.act_for import MANAGE
from lakehold.directory.errors import DeniedError
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.form_values import collect_errors
from lakehold.web.navigation import Breadcrumb, breadcrumb_trail
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.people.member_actions import MemberActions
from lakehold.web.routing import SubmittedForm, router

routes = router("/people")


@routes.get("/{uid:path}")
def member_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the page of a member."""
    member = members.get(ctx, uid)
    member_actions = MemberActions(ctx)
    values: dict[str, object] = {
        "crumbs": member_breadcrumbs(ctx, member),
        "member": member,
        "mine": uid == ctx.caller.member,
        "keeper": member_actions,
        "edit": member_actions.edit(member),
        "roles": member_actions.change_roles(uid),
        "more": member_actions.page_actions(member),
        "groups": VisibleRefs(ctx).refs(member.groups),
        "join": member_actions.action_for_right(
            "Add to a group", urls.member(uid, "groups"), "plus", "manage_groups", dialog=True
        ),
        "may_ask": may_see_access(ctx, uid),
        "ask": PageAction(
            "View effective access",
            why_not=f"You need permission to view others' access in {member_actions.name}.",
            request=urls.request(ctx.caller.tenant, change_preview.ASK),
        ),
        "held": _workspace_roles(ctx, member.uid) if may_see_access(ctx, uid) else None,
        **_credential_values(ctx, member),
    }
    return pages.render(request, "people/member.html", values)


def may_see_access(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller may know what the member can access. Everybody may know it about themselves."""
    return uid == ctx.caller.member or change_preview.may_ask_about_others(ctx)


def member_breadcrumbs(ctx: RequestContext, member: Member, here: str = "") -> list[Breadcrumb]:
    """Return the breadcrumbs of a member's page, or of a page below it."""
    crumbs = breadcrumb_trail(ctx, Breadcrumb("People", "/people"), Breadcrumb(member.name, urls.member(member.uid)))
    return [*crumbs, Breadcrumb(here)] if here else crumbs


def _workspace_roles(ctx: RequestContext, uid: str) -> list[GrantedRole]:
    """Return the roles that the member holds directly in workspaces."""
    roots = {root.id for root in kinds.workspace_kinds(ctx.view.policy)}
    return grants.list_held_by(ctx, uid, among=roots)


def _credential_values(ctx: RequestContext, member: Member) -> dict[str, object]:
    """Return the sessions and, for service accounts, the tokens, if the caller may see them."""
    whole = ctx.caller.narrowed is None
    keeps = ctx.session.check(ctx.principal, MANAGE, ctx.caller.tenant)
    may_see = whole and (keeps or member.uid == ctx.caller.member)
    return {
        "sign_ins": sign_ins.list_of_member(ctx, member.uid) if may_see and not member.service else None,
        "tokens": tokens.list_of_member(ctx, member.uid) if may_see and keeps and member.service else None,
        "may_group": ctx.session.check(ctx.principal, "manage_groups", ctx.caller.tenant),
    }


edit_routes = router("/people")


@edit_routes.get("/{uid:path}/edit")
def edit_member_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the form with the current name and e-mail address."""
    members.need_rename(ctx, uid)
    return _edit_form(request, ctx, members.get(ctx, uid))


@edit_routes.post("/{uid:path}/edit")
def edit_member(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Save both. Both are validated before either is changed."""
    members.need_rename(ctx, uid)
    member = members.get(ctx, uid)
    name, email = str(sent.get("name", "")).strip(), str(sent.get("email", member.email or "")).strip()
    changes_email = email != (member.email or "")
    errors = collect_errors(name=lambda: valid_name(name))
    try:
        if changes_email and not errors:
            members.set_email(ctx, uid, email)
    except (InvalidInputError, ConflictError) as error:
        errors["email"] = str(error)
    if errors:
        return _edit_form(request, ctx, member, filled=(name, email), errors=errors)
    members.rename(ctx, uid, name)
    return pages.redirect(request, urls.member(uid), Flash("Saved."))


def _edit_form(
    request: Request,
    ctx: RequestContext,
    member: Member,
    *,
    filled: tuple[str, str] | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    name, email = filled or (member.name, member.email or "")
    values: dict[str, object] = {
        "crumbs": member_breadcrumbs(ctx, member, "Edit"),
        "member": member,
        "name": name,
        "email": email,
        "may_set_email": _may_set_email(ctx, member),
        "errors": errors or {},
    }
    return pages.render(request, "people/edit.html", values, status=422 if errors else 200)


def _may_set_email(ctx: RequestContext, member: Member) -> bool:
    if member.service:
        return False
    try:
        members.need_set_email(ctx, member.uid)
    except DeniedError:
        return False
    return True


join_routes = router("/people")

_MAX_GROUPS = 500


@join_routes.get("/{uid:path}/groups")
def add_to_group_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the groups that the member can be added to. Each leads to the group's form, with the member filled in."""
    member = members.get(ctx, uid)
    ctx.need("manage_groups", ctx.caller.tenant)
    found = [item for item in groups.page(ctx, limit=_MAX_GROUPS).items if item.uid not in member.groups]
    values: dict[str, object] = {
        "crumbs": member_breadcrumbs(ctx, member, "Add to a group"),
        "member": member,
        "groups": [
            (item.name, f"{urls.group(item.uid, 'add')}?{urlencode({'member': uid, 'from': 'member'})}")
            for item in found
        ],
    }
    return pages.render(request, "people/join.html", values)


sign_in_routes = router("/people")


@sign_in_routes.post("/{uid:path}/links")
def create_link(
    request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: SubmittedForm
) -> Response:
    """Create a link to sign in or to set a password. Older links become invalid."""
    member = members.get(ctx, uid)
    try:
        created = links.create(ctx, platform.settings, uid, str(sent.get("purpose", "")), mail=bool(sent.get("mail")))
    except ConflictError as error:
        return pages.redirect(request, urls.member(uid), Flash(str(error), "bad"))
    if created.mailed:
        return pages.redirect(request, urls.member(uid), Flash(f"The link was mailed to {member.name}."))
    signs_in = created.purpose == links.SIGN_IN
    secret = OneTimeSecret(
        title=f"Sign-in link for {member.name}" if signs_in else f"Password link for {member.name}",
        label="Link",
        secret=created.link,
        text="Signs in whoever opens it. Works once."
        if signs_in
        else "Whoever opens it can set the password. Works once and ends all sessions.",
        until=created.until,
        back=urls.member(uid),
        mail=[urls.member(uid, "links"), created.purpose] if links.can_send_mail(platform.settings) else (),
    )
    return one_time_secret.redirect_to_secret(request, ctx.caller, secret)


@sign_in_routes.post("/{uid:path}/sign-out")
def sign_out_member(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """End one session of the member, or all."""
    name = members.get(ctx, uid).name
    sign_in_id = str(sent.get("sign_in", ""))
    back = urls.member(uid)
    question = f"End this session of {name}?" if sign_in_id else f"Sign {name} out everywhere?"
    if confirmation := confirm(request, sent, question, "They can sign in again.", do="Sign out", back=back):
        return confirmation
    if sign_in_id:
        sign_ins.end(ctx, uid, sign_in_id)
        return pages.redirect(request, back, Flash("The session has ended."))
    sign_ins.end_all(ctx, uid, but=ctx.caller.sign_in_id if uid == ctx.caller.member else "")
    return pages.redirect(request, back, Flash(f"{name} was signed out everywhere."))
