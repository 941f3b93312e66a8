"""Forms that give, change, revoke and transfer a role on a resource, and endpoints that undo it."""

from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Add, Grant, Remove
from lakehold.access.facts.descriptions import role_title
from lakehold.api.http.dependencies import FormContext, WriteContext
from lakehold.catalog import grants, kinds, ownership, resource_view, undo
from lakehold.catalog.grants import GrantedRole
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.catalog.undo import HeldPeriods
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import form_values, pages, urls
from lakehold.web.access import fact_labels, resource_header
from lakehold.web.access.access_page import may_change, page_frame
from lakehold.web.confirmation import ConfirmationPrompt, need_confirmed_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.form_values import FieldErrors, text_field, text_fields
from lakehold.web.people import member_picker
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router

routes = router("/resources/{uid:path}/access")

_MAX_UNDO_LENGTH = 2_000
"""It is kept in a cookie."""
_FORM_ERRORS = (InvalidInputError, ConflictError, NotFoundError)
_FORM_FIELDS = ("q", "subject", "role", "new_role", "until", "until_date", "since_date", "to", "from")


@routes.api_route("/give", methods=FORM_METHODS)
def give(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the form; give the role after its effect is confirmed."""
    filled, errors = _filled(request, sent), FieldErrors()
    if request.method == "POST":
        with errors.at("subject", *_FORM_ERRORS, fields=form_values.PERIOD_FIELDS):
            return _give(request, ctx, uid, sent, filled)
    values: dict[str, object] = {
        "roles": _givable_roles(ctx, uid),
        **page_frame(ctx, uid, "Grant access"),
        "subjects": member_picker.principal_choices(ctx, filled["q"], chosen=filled["subject"]),
        "filled": filled,
    }
    return pages.render_form(request, "access/give.html", values, errors)


def _filled(request: Request, sent: FormData) -> dict[str, str]:
    """Return the values of a form: those that were submitted, or those of the URL that it is opened with."""
    return text_fields(sent if request.method == "POST" else request.query_params, *_FORM_FIELDS)


def _give(request: Request, ctx: RequestContext, uid: str, sent: FormData, filled: dict[str, str]) -> Response:
    who = _find_subject(ctx, filled["subject"])
    new_grant = Grant(who.uid, filled["role"], uid)
    span = form_values.parse_period(sent, ctx.at)
    ctx.need_change(Add(new_grant))
    title = role_title(ctx.view, new_grant.role, uid)
    prompt = ConfirmationPrompt(f"Grant {title} to {who.name}?", span.sentence, do=f"Grant {title}")
    need_confirmed_effects(request, sent, prompt, lambda: preview_effects(ctx, [Add(new_grant)], uid))
    before = undo.held_periods(ctx, new_grant)
    grants.give(ctx, new_grant, since=span.since, until=span.until)
    message = f"{who.name} is now {title} on {fact_labels.resource_name(ctx, uid)}{span.suffix}."
    flash = Flash(message, undo=undo_url(ctx, urls.resource(uid, "access"), before))
    return pages.redirect(request, urls.resource(uid, "access"), flash)


@routes.api_route("/change", methods=FORM_METHODS)
def change(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the form of a grant's role and end; replace the grant after the effect is confirmed."""
    filled, errors = _filled(request, sent), FieldErrors()
    held = _need_grant(ctx, Grant(filled["subject"], filled["role"], uid))
    if request.method == "POST":
        with errors.at("new_role", *_FORM_ERRORS, fields=form_values.PERIOD_FIELDS):
            return _change(request, ctx, held, sent, filled["new_role"])
    roles = _givable_roles(ctx, uid, held)
    values = {**page_frame(ctx, uid, "Change access"), "held": held, "roles": roles, "filled": filled}
    return pages.render_form(request, "access/change.html", values, errors)


def _change(request: Request, ctx: RequestContext, held: GrantedRole, sent: FormData, new_role: str) -> Response:
    uid, who = held.resource.uid, held.subject.name
    old, new_grant = Grant(held.subject.uid, held.role, uid), Grant(held.subject.uid, new_role, uid)
    changes: list[Add | Remove] = [] if new_grant == old else [Remove(old), Add(new_grant)]
    span = form_values.parse_period(sent, ctx.at)
    ctx.need_change(Add(new_grant))
    title = role_title(ctx.view, new_role, uid)
    until = FOREVER if text_field(sent, "until") == "never" else span.until
    prompt = ConfirmationPrompt(
        f"Change role of {who} to {title}?", "Its start and end stay as they are." if until is None else span.sentence
    )
    need_confirmed_effects(request, sent, prompt, lambda: preview_effects(ctx, changes, uid))
    before = undo.held_periods(ctx, old, new_grant)
    grants.change_role(ctx, old, new_role, until=until)
    message = f"{who} is now {title} on {fact_labels.resource_name(ctx, uid)}{span.suffix}."
    flash = Flash(message, undo=undo_url(ctx, urls.resource(uid, "access"), before))
    return pages.redirect(request, urls.resource(uid, "access"), flash)


@routes.post("/revoke")
def revoke(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Revoke a role after the effect is confirmed."""
    grant = Grant(text_field(sent, "subject"), text_field(sent, "role"), uid)
    held = _need_grant(ctx, grant)
    prompt = ConfirmationPrompt(
        f"Revoke {held.title} from {held.subject.name}?",
        f"On {fact_labels.resource_name(ctx, uid)}, effective immediately.",
        do=f"Revoke {held.title}",
        danger=True,
    )
    need_confirmed_effects(request, sent, prompt, lambda: preview_effects(ctx, [Remove(grant)], uid))
    before = undo.held_periods(ctx, grant)
    grants.revoke(ctx, grant)
    message = f"{held.subject.name} is no longer {held.title} on {held.resource.name}."
    flash = Flash(message, undo=undo_url(ctx, urls.resource(uid, "access"), before))
    return pages.redirect(request, resource_header.url_if_visible(ctx, uid, "access"), flash)


@routes.post("/undo")
def undo_change(request: Request, ctx: WriteContext, uid: str, before: str = "") -> Response:
    """Restore the grants as they were before a change."""
    undo.restore(ctx, undo.parse(before))
    return pages.redirect(request, resource_header.url_if_visible(ctx, uid, "access"), "Undone.")


def undo_url(ctx: RequestContext, page: str, before: HeldPeriods) -> str:
    """Return the URL that undoes what was done; empty if the caller may not: they may have given their right away."""
    url = f"{page}/undo?{urlencode({'before': undo.dump(before)})}"
    may = may_change(ctx, *(each.change for each in undo.plan(ctx, before)))
    return url if may and len(url) < _MAX_UNDO_LENGTH else ""


def _givable_roles(ctx: RequestContext, uid: str, held: GrantedRole | None = None) -> list[tuple[str, str]]:
    """Return the roles that the caller may give on the resource, highest first; refused if there are none."""
    ctx.need_visible(uid)
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    may = [role for role in schema.roles.values() if ctx.session.check(ctx.principal, "give", uid, role=role.name)]
    if held and schema.roles[held.role].person_only:
        may = [role for role in may if role.name == held.role]
    if not may:
        for role in reversed(list(schema.roles.values())):
            ctx.need("give", uid, role=role.name)
        raise NotFoundError("No roles can be granted there.", "Its model has no roles for it.")
    return [(role.name, role.title) for role in may]


def _find_subject(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return the member or group that was chosen."""
    found = VisibleRefs(ctx).ref(uid)
    if found is None:
        raise InvalidInputError("Select a member or group.", "Search for them by name.")
    return found


def _need_grant(ctx: RequestContext, grant: Grant) -> GrantedRole:
    for held in grants.list_direct(ctx, grant.resource):
        if (held.subject.uid, held.role) == (grant.subject, grant.role):
            return held
    raise NotFoundError("There is no such grant.", "It may have been revoked already.")


@routes.api_route("/transfer", methods=FORM_METHODS)
def transfer(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the present and the new holder of a role that only members can hold; transfer it after confirmation."""
    filled, errors = _filled(request, sent), FieldErrors()
    ctx.need_visible(uid)
    title = role_title(ctx.view, filled["role"], uid)
    if request.method == "POST":
        with errors.at("to", *_FORM_ERRORS):
            return _transfer(request, ctx, uid, sent, title)
    ctx.need("give", uid, role=filled["role"])
    held = ctx.session.read_view(lambda view: resource_view.owners_of(view, uid)).get(filled["role"], [])
    values: dict[str, object] = {
        **page_frame(ctx, uid, "Transfer ownership"),
        "title": title,
        "filled": filled,
        "holders": [(each.uid, each.name) for each in VisibleRefs(ctx).refs(held)],
        "subjects": member_picker.member_choices(ctx, filled["q"], chosen=filled["to"]),
    }
    return pages.render_form(request, "access/transfer.html", values, errors)


def _transfer(request: Request, ctx: RequestContext, uid: str, sent: FormData, title: str) -> Response:
    role = text_field(sent, "role")
    new, old = (_find_subject(ctx, text_field(sent, name)) for name in ("to", "from"))
    changes = _transfer_changes(ctx, uid, role, new.uid, old.uid)
    prompt = ConfirmationPrompt(
        f"Transfer {title} to {new.name}?",
        f"{old.name} will no longer be {title}.",
        do="Transfer ownership",
    )
    need_confirmed_effects(request, sent, prompt, lambda: preview_effects(ctx, changes, uid))
    before = undo.held_periods(ctx, *(Grant(each.uid, role, uid) for each in (old, new)))
    ownership.transfer_role(ctx, uid, role, new.uid, from_=old.uid)
    undone = undo_url(ctx, urls.resource(uid, "access"), before)
    flash = Flash(f"{new.name} is now {title}, in place of {old.name}.", undo=undone)
    return pages.redirect(request, resource_header.url_if_visible(ctx, uid, "access"), flash)


def _transfer_changes(ctx: RequestContext, uid: str, role: str, new: str, old: str) -> list[Add | Remove]:
    """Return the changes of the transfer; refused unless the caller may make both."""
    if new == old:
        raise ConflictError("They are already the owner.", "Select another member.")
    given, taken = Add(Grant(new, role, uid)), Remove(Grant(old, role, uid))
    ctx.need_change(given)
    ctx.need_change(taken)
    single = ctx.session.read_view(lambda view: kinds.schema_of(view, uid).roles[role].single)
    # Where there is one only, the new one takes the place of the old one by itself.
    return [given] if single else [given, taken]
