"""A member's page: profile, groups, roles, sessions; editing, groups to add to, sign-in links, signing out, removal."""

from fastapi import Request, Response

from lakehold.api.http.dependencies import CurrentPlatform, FormContext, ReadContext, WriteContext
from lakehold.catalog import change_preview, grants, kinds
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import groups, links, member_removal, members, sign_ins, tokens
from lakehold.directory.act_for import MANAGE
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.member_removal import RemovalResult
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import valid_name
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.cookies import Flash
from lakehold.web.form_values import FieldErrors, collect_errors
from lakehold.web.labels import format_count
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.people import member_picker
from lakehold.web.people.member_actions import MemberActions
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router

routes = router("/people")

_MAX_GROUPS = 500
HAND_OVER, LEAVE = "hand_over", "leave"


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


@routes.api_route("/{uid:path}/edit", methods=FORM_METHODS)
def edit_member(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Edit name and e-mail address. Both are validated before either is changed."""
    members.need_rename(ctx, uid)
    member, errors = members.get(ctx, uid), FieldErrors()
    name, email = member.name, member.email or ""
    if request.method == "POST":
        name, email = str(sent.get("name", "")).strip(), str(sent.get("email", email)).strip()
        errors = collect_errors(name=lambda: valid_name(name))
        if email != (member.email or "") and not errors:
            with errors.at("email", InvalidInputError, ConflictError):
                members.set_email(ctx, uid, email)
        if not errors:
            members.rename(ctx, uid, name)
            return pages.redirect(request, urls.member(uid), "Saved.")
    may_set = not member.service and may_set_email(ctx, uid)
    values: dict[str, object] = {"member": member, "name": name, "email": email, "may_set_email": may_set}
    return pages.render_form(request, "people/edit.html", values, errors)


def may_set_email(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller may change the e-mail address. Its reader could sign in, so not everybody may."""
    try:
        members.need_set_email(ctx, uid)
    except DeniedError:
        return False
    return True


@routes.get("/{uid:path}/groups")
def add_to_group_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the groups that the member can be added to. Each leads to the group's form, with the member filled in."""
    member = members.get(ctx, uid)
    ctx.need("manage_groups", ctx.caller.tenant)
    found = [item for item in groups.page(ctx, limit=_MAX_GROUPS).items if item.uid not in member.groups]
    return pages.render(request, "people/join.html", {"member": member, "groups": found})


@routes.post("/{uid:path}/links")
def create_link(
    request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: SubmittedForm
) -> Response:
    """Create a link to sign in or to set a password. Older links become invalid."""
    member = members.get(ctx, uid)
    try:
        ends, mail = bool(sent.get("revoke_tokens")), bool(sent.get("mail"))
        purpose = str(sent.get("purpose", ""))
        created = links.create(ctx, platform.settings, uid, purpose, mail=mail, revoke_tokens=ends)
    except ConflictError as error:
        return pages.redirect(request, urls.member(uid), Flash(str(error), "bad"))
    if created.mailed:
        return pages.redirect(request, urls.member(uid), f"The link was mailed to {member.name}.")
    signs_in = created.purpose == links.SIGN_IN
    secret = OneTimeSecret(
        title=f"Sign-in link for {member.name}" if signs_in else f"Password link for {member.name}",
        label="Link",
        secret=created.link,
        text="Anyone who opens it is signed in. Works once."
        if signs_in
        else "Anyone who opens it can set the password. Works once and ends all sessions.",
        until=created.until,
        back=urls.member(uid),
        mail=[urls.member(uid, "links"), created.purpose] if links.can_send_mail(platform.settings) else (),
    )
    return one_time_secret.redirect_to_secret(request, ctx.caller, secret)


@routes.post("/{uid:path}/sign-out")
def sign_out_member(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """End one session of the member, or all."""
    name = members.get(ctx, uid).name
    sign_in_id = str(sent.get("sign_in", ""))
    back = urls.member(uid)
    question = f"End this session of {name}?" if sign_in_id else f"Sign {name} out everywhere?"
    need_confirmation(request, sent, question, "They can sign in again.", do="Sign out", back=back)
    if sign_in_id:
        sign_ins.end(ctx, uid, sign_in_id)
        return pages.redirect(request, back, "The session has ended.")
    sign_ins.end_all(ctx, uid, but=ctx.caller.sign_in_id if uid == ctx.caller.member else "")
    return pages.redirect(request, back, f"{name} was signed out everywhere.")


@routes.api_route("/{uid:path}/remove", methods=FORM_METHODS)
def remove_member(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show what happens to the member's resources, then remove the member after confirmation."""
    what = str(sent.get("what", LEAVE)) if request.method == "POST" else ""
    receiver, errors = str(sent.get("receiver", "")), FieldErrors()
    mine = uid == ctx.caller.member
    if request.method == "POST" and what == HAND_OVER and not receiver:
        errors["receiver"] = "Select a new owner."
    elif request.method == "POST":
        name = members.get(ctx, uid).name
        question = "Leave for good?" if mine else f"Remove {name}?"
        text = "Their sessions, tokens and links are revoked. Nothing that they own is deleted."
        do, back = "Leave" if mine else "Remove", urls.member(uid, "remove")
        need_confirmation(request, sent, question, text, do=do, back=back)
        with errors.at("receiver", ConflictError, InvalidInputError, HiddenError, NotFoundError):
            removed = member_removal.remove(ctx, uid, receiver=receiver if what == HAND_OVER else None)
            return pages.redirect(request, "/sign-in") if mine else _redirect_after_removal(request, removed)
    preview = member_removal.preview(ctx, uid)
    find = request.query_params.get("find", "")
    values: dict[str, object] = {
        "member": members.get(ctx, uid),
        "mine": mine,
        "preview": preview,
        "what": what or (HAND_OVER if preview.owns or preview.more else LEAVE),
        "receiver": receiver,
        "picked": member_picker.member_choices(ctx, find, but={uid}, chosen=receiver),
    }
    return pages.render_form(request, "people/remove.html", values, errors)


def _redirect_after_removal(request: Request, removed: RemovalResult) -> Response:
    message = f"{removed.name} was removed."
    if removed.moved:
        message += f" {format_count(len(removed.moved), 'ownership')} transferred."
    if removed.left:
        message += f" {format_count(len(removed.left), 'thing')} left without an owner."
    return pages.redirect(request, "/people", message)


@routes.get("/{uid:path}")
def member_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the page of a member."""
    member = members.get(ctx, uid)
    actions, mine = MemberActions(ctx), uid == ctx.caller.member
    may_ask = mine or change_preview.may_ask_about_others(ctx)
    roots = {root.id for root in kinds.workspace_kinds(ctx.view.policy)}
    values: dict[str, object] = {
        "member": member,
        "mine": mine,
        "edit": actions.edit(member),
        "roles": actions.change_roles(uid),
        "more": actions.page_actions(member),
        "groups": VisibleRefs(ctx).refs(member.groups),
        "join": actions.offer(
            PageAction("Add to a group", urls.member(uid, "groups"), icon="plus", dialog=True), "manage_groups"
        ),
        "may_ask": may_ask,
        "ask": PageAction(
            "View effective access",
            why_not=f"You need permission to view others' access in {actions.name}.",
            request=urls.request(ctx.caller.tenant, change_preview.ASK),
        ),
        "held": grants.list_held_by(ctx, uid, among=roots) if may_ask else None,
        **_credential_values(ctx, member),
    }
    return pages.render(request, "people/member.html", values)
