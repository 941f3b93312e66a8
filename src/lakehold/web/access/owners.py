"""Handing over what belongs to a person."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Add, Grant, Remove
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, ownership, resource_view
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import addresses, pages
from lakehold.web.access import choosing, previewing, undoing
from lakehold.web.access.routes import frame
from lakehold.web.effects import Asking, ask_first
from lakehold.web.flashes import Flash
from lakehold.web.routes import Sent, router

routes = router("/resources/{uid:path}/access/transfer")


@routes.get("")
def transfer_page(request: Request, ctx: ReadContext, uid: str, *, role: str, q: str = "", to: str = "") -> Response:
    """From whom to whom."""
    return _form(request, ctx, uid, {"role": role, "q": q, "to": to, "from": request.query_params.get("from", "")})


@routes.post("")
def transfer(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Hand it over, once the effect has been seen."""
    filled = {name: str(sent.get(name) or "") for name in ("role", "q", "to", "from")}
    title = _title(ctx, uid, filled["role"])
    try:
        new = choosing.subject(ctx, filled["to"])
        old = choosing.subject(ctx, filled["from"])
        changes = _changes(ctx, uid, filled["role"], new.uid, old.uid)
    except (InvalidInputError, ConflictError, NotFoundError) as error:
        return _form(request, ctx, uid, filled, error)
    asking = Asking(
        f"Hand {title} over to {new.name}?",
        f"{old.name} is no longer {title} afterwards.",
        do="Hand over",
        back=f"{addresses.resource(uid, 'access/transfer')}?{urlencode({'role': filled['role'], 'to': new.uid})}",
    )
    if question := ask_first(request, sent, asking, lambda: previewing.told(ctx, uid, changes)):
        return question
    ownership.transfer_role(ctx, uid, filled["role"], new.uid, from_=old.uid)
    told = f"{new.name} is now {title}, in place of {old.name}."
    return pages.go(request, _after(ctx, uid), Flash(told, undo=_undo(ctx, uid, filled["role"], old.uid, new.uid)))


@routes.post("/undo")
def undo_transfer(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Back to whom it belonged, if who has handed it over may still do that."""
    asked = request.query_params
    ownership.transfer_role(ctx, uid, asked.get("role", ""), asked.get("to", ""), from_=asked.get("from", ""))
    return pages.go(request, addresses.resource(uid, "access"), Flash("It is as it was."))


def _undo(ctx: RequestContext, uid: str, role: str, old: str, new: str) -> str:
    """Where it comes back; who has handed over their own cannot call it back."""
    if not undoing.may(ctx, Add(Grant(old, role, uid)), Remove(Grant(new, role, uid))):
        return ""
    return f"{addresses.resource(uid, 'access/transfer')}/undo?{urlencode({'role': role, 'to': old, 'from': new})}"


def _after(ctx: RequestContext, uid: str) -> str:
    """Who has handed over what was theirs may not see it any more."""
    return addresses.resource(uid, "access") if ctx.session.can_see(ctx.asker, uid) else "/"


def _changes(ctx: RequestContext, uid: str, role: str, new: str, old: str) -> list[Add | Remove]:
    """Both steps, refused unless the caller may make both."""
    if new == old:
        raise ConflictError("It is theirs already.", "Choose somebody else.")
    given, taken = Add(Grant(new, role, uid)), Remove(Grant(old, role, uid))
    ctx.need_change(given)
    ctx.need_change(taken)
    single = ctx.session.read_view(lambda view: kinds.schema_of(view, uid).roles[role].single)
    # Where there is one only, the new one takes the place of the old one by itself.
    return [given] if single else [given, taken]


def _form(
    request: Request, ctx: RequestContext, uid: str, filled: dict[str, str], error: Exception | None = None
) -> Response:
    title = _title(ctx, uid, filled["role"])
    ctx.need("give", uid, role=filled["role"])
    held = ctx.session.read_view(lambda view: resource_view.owners_of(view, uid)).get(filled["role"], [])
    values: dict[str, object] = {
        **frame(ctx, uid, "Hand over"),
        "title": title,
        "filled": filled,
        "holders": [(each.uid, each.name) for each in VisibleRefs(ctx).refs(held)],
        "subjects": choosing.subjects(ctx, filled["q"], persons_only=True, chosen=filled["to"]),
        "error": str(error) if error else "",
    }
    return pages.page(request, "access/transfer.html", values, status=422 if error else 200)


def _title(ctx: RequestContext, uid: str, role: str) -> str:
    ctx.need_visible(uid)
    return ctx.view.policy.role(ctx.session.read_view(lambda view: kinds.schema_of(view, uid).id), role).title
