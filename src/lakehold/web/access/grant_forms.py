"""Forms that give, change and revoke a role on a resource, and endpoints that undo it."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Add, Grant, Remove
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import grants, kinds
from lakehold.catalog.grants import GrantedRole
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.web import pages, urls
from lakehold.web.access import effect_preview, fact_labels, form_fields
from lakehold.web.access.access_page import page_frame
from lakehold.web.access.form_fields import PERIOD_OPTIONS, FormPeriod
from lakehold.web.confirmation import ConfirmationPrompt, confirm_effects
from lakehold.web.cookies import Flash
from lakehold.web.form_values import errors_by_field, last_day_value
from lakehold.web.routing import SubmittedForm, router

undo_routes = router("/resources/{uid:path}/access/undo")

_UNDONE = Flash("Undone.")


def give_undo_url(ctx: RequestContext, grant: Grant) -> str:
    """Return the URL that undoes a new grant; empty if the caller may not."""
    return _undo_url("give", grant) if may_undo(ctx, Remove(grant)) else ""


def change_undo_url(ctx: RequestContext, now: Grant, before: GrantedRole) -> str:
    """Return the URL that restores the previous role and end; empty if the caller may not."""
    back = Grant(now.subject, before.role, now.resource)
    return _undo_url("change", now, to=before.role, until=before.until) if may_undo(ctx, Add(back), Remove(now)) else ""


def revoke_undo_url(ctx: RequestContext, held: GrantedRole) -> str:
    """Return the URL that gives a revoked role again; empty if the caller may not."""
    grant = Grant(held.subject.uid, held.role, held.resource.uid)
    since = held.since if held.since > ctx.at else 0
    return _undo_url("revoke", grant, since=since, until=held.until) if may_undo(ctx, Add(grant)) else ""


def may_undo(ctx: RequestContext, *changes: Add | Remove) -> bool:
    """Whether the caller may still undo the change: they may have given their own right away."""
    try:
        return all(ctx.session.check_change(ctx.principal, change) for change in changes)
    except LakeholdError:
        return False


@undo_routes.post("/give")
def undo_give(request: Request, ctx: WriteContext, uid: str, *, subject: str, role: str) -> Response:
    """Revoke a role that was just given."""
    grants.revoke(ctx, Grant(subject, role, uid))
    return _redirect_back(request, uid)


@undo_routes.post("/revoke")
def undo_revoke(
    request: Request, ctx: WriteContext, uid: str, *, subject: str, role: str, until: int = FOREVER, since: int = 0
) -> Response:
    """Give a role that was just revoked."""
    grants.give(ctx, Grant(subject, role, uid), since=since or None, until=_end_or_none(until))
    return _redirect_back(request, uid)


@undo_routes.post("/change")
def undo_change(
    request: Request, ctx: WriteContext, uid: str, *, subject: str, role: str, to: str, until: int = FOREVER
) -> Response:
    """Restore the role that was there before the change."""
    grants.change_role(ctx, Grant(subject, role, uid), to, until=_end_or_none(until))
    return _redirect_back(request, uid)


def _end_or_none(until: Moment) -> Moment | None:
    return None if until >= FOREVER else until


def _redirect_back(request: Request, uid: str) -> Response:
    return pages.redirect(request, urls.resource(uid, "access"), _UNDONE)


def _undo_url(what: str, grant: Grant, **more: object) -> str:
    query = {"subject": grant.subject, "role": grant.role, **{key: value for key, value in more.items() if value}}
    return f"{urls.resource(grant.resource, 'access/undo')}/{what}?{urlencode(query)}"


routes = router("/resources/{uid:path}/access")

_FORM_ERRORS = (InvalidInputError, ConflictError, NotFoundError)


@routes.get("/give")
def give_page(
    request: Request, ctx: ReadContext, uid: str, *, q: str = "", subject: str = "", role: str = ""
) -> Response:
    """Render the form that gives a role."""
    return _give_form(request, ctx, uid, {"q": q, "subject": subject, "role": role})


@routes.post("/give")
def give(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Give a role after its effect is confirmed."""
    filled = _form_values(sent)
    try:
        who = form_fields.find_subject(ctx, filled["subject"])
        new_grant = Grant(who.uid, filled["role"], uid)
        span = form_fields.parse_period(sent, ctx.at)
        ctx.need_change(Add(new_grant))
    except _FORM_ERRORS as error:
        return _give_form(request, ctx, uid, filled, error)
    title = _role_title(ctx, new_grant)
    back = f"{_access_url(uid)}/give?{urlencode({'subject': who.uid, 'role': new_grant.role})}"
    prompt = ConfirmationPrompt(f"Grant {title} to {who.name}?", _period_sentence(span), do=f"Grant {title}", back=back)
    if question := confirm_effects(
        request, sent, prompt, lambda: effect_preview.preview_with_links(ctx, uid, [Add(new_grant)])
    ):
        return question
    before = next((each for each in grants.list_direct(ctx, uid) if _is_same_grant(each, new_grant)), None)
    grants.give(ctx, new_grant, since=span.since, until=span.until)
    message = f"{who.name} is now {title} on {_resource_name(ctx, uid)}{_period_suffix(span)}."
    undo = give_undo_url(ctx, new_grant) if before is None else change_undo_url(ctx, new_grant, before)
    return pages.redirect(request, _access_url(uid), Flash(message, undo=undo))


@routes.get("/change")
def change_page(request: Request, ctx: ReadContext, uid: str, subject: str, role: str) -> Response:
    """Render the form that changes a grant's role or end."""
    return _change_form(request, ctx, _find_grant(ctx, Grant(subject, role, uid)), {"new_role": role})


@routes.post("/change")
def change(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Replace a grant after the effect is confirmed."""
    filled = _form_values(sent)
    old = Grant(filled["subject"], filled["role"], uid)
    held = _find_grant(ctx, old)
    new_grant = Grant(old.subject, filled["new_role"], uid)
    changes: list[Add | Remove] = [] if new_grant == old else [Remove(old), Add(new_grant)]
    try:
        span = form_fields.parse_period(sent, ctx.at)
        ctx.need_change(Add(new_grant))
    except _FORM_ERRORS as error:
        return _change_form(request, ctx, held, filled, error)
    title = _role_title(ctx, new_grant)
    prompt = ConfirmationPrompt(
        f"Change role of {held.subject.name} to {title}?",
        _period_sentence(span),
        back=f"{_access_url(uid)}/change?{urlencode({'subject': old.subject, 'role': old.role})}",
    )
    if question := confirm_effects(request, sent, prompt, lambda: effect_preview.preview_with_links(ctx, uid, changes)):
        return question
    grants.change_role(ctx, old, new_grant.role, until=span.until)
    message = f"{held.subject.name} is now {title} on {_resource_name(ctx, uid)}{_period_suffix(span)}."
    return pages.redirect(request, _access_url(uid), Flash(message, undo=change_undo_url(ctx, new_grant, held)))


@routes.post("/revoke")
def revoke(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Revoke a role after the effect is confirmed."""
    filled = _form_values(sent)
    grant = Grant(filled["subject"], filled["role"], uid)
    held = _find_grant(ctx, grant)
    prompt = ConfirmationPrompt(
        f"Revoke {held.title} from {held.subject.name}?",
        f"On {_resource_name(ctx, uid)}, effective immediately.",
        do=f"Revoke {held.title}",
        back=_access_url(uid),
        danger=True,
    )
    if question := confirm_effects(
        request, sent, prompt, lambda: effect_preview.preview_with_links(ctx, uid, [Remove(grant)])
    ):
        return question
    grants.revoke(ctx, grant)
    message = f"{held.subject.name} is no longer {held.title} on {held.resource.name}."
    there = _access_url(uid) if ctx.session.can_see(ctx.principal, uid) else "/"
    return pages.redirect(request, there, Flash(message, undo=revoke_undo_url(ctx, held)))


def _give_form(
    request: Request, ctx: RequestContext, uid: str, filled: dict[str, str], error: LakeholdError | None = None
) -> Response:
    roles = _givable_roles(ctx, uid)
    found = form_fields.subject_options(ctx, filled.get("q", ""), chosen=filled.get("subject", ""))
    values: dict[str, object] = {
        **page_frame(ctx, uid, "Grant access"),
        "roles": roles,
        "subjects": found,
        "filled": filled,
        "ends": PERIOD_OPTIONS,
        **_error_values(error, "subject"),
    }
    return pages.render(request, "access/give.html", values, status=422 if error else 200)


def _change_form(
    request: Request, ctx: RequestContext, held: GrantedRole, filled: dict[str, str], error: LakeholdError | None = None
) -> Response:
    uid = held.resource.uid
    values: dict[str, object] = {
        **page_frame(ctx, uid, "Change access"),
        "held": held,
        "roles": _givable_roles(ctx, uid, held),
        "filled": filled,
        "ends": PERIOD_OPTIONS,
        "until": last_day_value(held.until),
        **_error_values(error, "new_role"),
    }
    return pages.render(request, "access/change.html", values, status=422 if error else 200)


def _error_values(error: LakeholdError | None, field: str) -> dict[str, object]:
    return {"errors": {} if error is None else errors_by_field(error, form_fields.PERIOD_FIELDS, field)}


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


def _find_grant(ctx: RequestContext, grant: Grant) -> GrantedRole:
    for held in grants.list_direct(ctx, grant.resource):
        if _is_same_grant(held, grant):
            return held
    raise NotFoundError("There is no such grant.", "It may have been revoked already.")


def _is_same_grant(held: GrantedRole, grant: Grant) -> bool:
    return (held.subject.uid, held.role) == (grant.subject, grant.role)


def _form_values(sent: FormData) -> dict[str, str]:
    names = ("q", "subject", "role", "new_role", "until", "until_date", "since_date")
    return {name: str(sent.get(name) or "") for name in names}


def _access_url(uid: str) -> str:
    return urls.resource(uid, "access")


def _role_title(ctx: RequestContext, grant: Grant) -> str:
    return ctx.session.read_view(lambda view: fact_labels.role_title(view, grant.role, grant.resource))


def _resource_name(ctx: RequestContext, uid: str) -> str:
    return ctx.session.read_view(lambda view: fact_labels.name_of(view, uid))


def _period_sentence(span: FormPeriod) -> str:
    return f"{span.label[:1].upper()}{span.label[1:]}." if span.label else "Effective immediately, without expiration."


def _period_suffix(span: FormPeriod) -> str:
    return f", {span.label}" if span.label else ""
