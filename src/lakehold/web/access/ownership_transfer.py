"""The form that transfers ownership, and any other role that only members can hold."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Add, Grant, Remove
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, ownership, resource_view
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import pages, urls
from lakehold.web.access import effect_preview, form_fields, grant_forms
from lakehold.web.access.access_page import page_frame
from lakehold.web.confirmation import ConfirmationPrompt, confirm_effects
from lakehold.web.cookies import Flash
from lakehold.web.routing import SubmittedForm, router

routes = router("/resources/{uid:path}/access/transfer")


@routes.get("")
def transfer_page(request: Request, ctx: ReadContext, uid: str, *, role: str, q: str = "", to: str = "") -> Response:
    """Render the form with the present and the new holder."""
    return _form(request, ctx, uid, {"role": role, "q": q, "to": to, "from": request.query_params.get("from", "")})


@routes.post("")
def transfer(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Transfer the role after the effect is confirmed."""
    filled = {name: str(sent.get(name) or "") for name in ("role", "q", "to", "from")}
    title = _role_title(ctx, uid, filled["role"])
    try:
        new = form_fields.find_subject(ctx, filled["to"])
        old = form_fields.find_subject(ctx, filled["from"])
        changes = _planned_changes(ctx, uid, filled["role"], new.uid, old.uid)
    except (InvalidInputError, ConflictError, NotFoundError) as error:
        return _form(request, ctx, uid, filled, error)
    prompt = ConfirmationPrompt(
        f"Transfer {title} to {new.name}?",
        f"{old.name} will no longer be {title}.",
        do="Transfer ownership",
        back=f"{urls.resource(uid, 'access/transfer')}?{urlencode({'role': filled['role'], 'to': new.uid})}",
    )
    if question := confirm_effects(request, sent, prompt, lambda: effect_preview.preview_with_links(ctx, uid, changes)):
        return question
    ownership.transfer_role(ctx, uid, filled["role"], new.uid, from_=old.uid)
    message = f"{new.name} is now {title}, in place of {old.name}."
    return pages.redirect(
        request, _next_url(ctx, uid), Flash(message, undo=_undo_url(ctx, uid, filled["role"], old.uid, new.uid))
    )


@routes.post("/undo")
def undo_transfer(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Transfer the role back, if the caller still may."""
    query = request.query_params
    ownership.transfer_role(ctx, uid, query.get("role", ""), query.get("to", ""), from_=query.get("from", ""))
    return pages.redirect(request, urls.resource(uid, "access"), Flash("Undone."))


def _undo_url(ctx: RequestContext, uid: str, role: str, old: str, new: str) -> str:
    """Return the URL that transfers the role back; empty if the caller may not."""
    if not grant_forms.may_undo(ctx, Add(Grant(old, role, uid)), Remove(Grant(new, role, uid))):
        return ""
    return f"{urls.resource(uid, 'access/transfer')}/undo?{urlencode({'role': role, 'to': old, 'from': new})}"


def _next_url(ctx: RequestContext, uid: str) -> str:
    """Return the URL after a transfer: the caller may no longer see the resource."""
    return urls.resource(uid, "access") if ctx.session.can_see(ctx.principal, uid) else "/"


def _planned_changes(ctx: RequestContext, uid: str, role: str, new: str, old: str) -> list[Add | Remove]:
    """Return the changes of the transfer; refused unless the caller may make both."""
    if new == old:
        raise ConflictError("They are already the owner.", "Select another member.")
    given, taken = Add(Grant(new, role, uid)), Remove(Grant(old, role, uid))
    ctx.need_change(given)
    ctx.need_change(taken)
    single = ctx.session.read_view(lambda view: kinds.schema_of(view, uid).roles[role].single)
    # Where there is one only, the new one takes the place of the old one by itself.
    return [given] if single else [given, taken]


def _form(
    request: Request, ctx: RequestContext, uid: str, filled: dict[str, str], error: Exception | None = None
) -> Response:
    title = _role_title(ctx, uid, filled["role"])
    ctx.need("give", uid, role=filled["role"])
    held = ctx.session.read_view(lambda view: resource_view.owners_of(view, uid)).get(filled["role"], [])
    values: dict[str, object] = {
        **page_frame(ctx, uid, "Transfer ownership"),
        "title": title,
        "filled": filled,
        "holders": [(each.uid, each.name) for each in VisibleRefs(ctx).refs(held)],
        "subjects": form_fields.subject_options(ctx, filled["q"], persons_only=True, chosen=filled["to"]),
        "error": str(error) if error else "",
    }
    return pages.render(request, "access/transfer.html", values, status=422 if error else 200)


def _role_title(ctx: RequestContext, uid: str, role: str) -> str:
    ctx.need_visible(uid)
    return ctx.view.policy.role(ctx.session.read_view(lambda view: kinds.schema_of(view, uid).id), role).title
