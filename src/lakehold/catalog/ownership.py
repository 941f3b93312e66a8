"""Handing over what is held by a person: the new one gets it and the old one loses it, in one step."""

from __future__ import annotations

from lakehold.access import Add, Grant, Remove
from lakehold.access.facts.records import require_text
from lakehold.catalog import kinds, shapes
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote


def transfer(ctx: RequestContext, uid: str, role: str, to: str, *, from_: str | None = None) -> None:
    """Hand a role over to another member. `from_` may be left out where one person holds it.

    The model says who may: both steps are asked about before the first is made.
    """
    ctx.see(uid, "transfer")
    declared = ctx.view.policy.role(kinds.schema_of(ctx.view, uid).id, require_text(role, "role"))
    if not declared.person_only:
        raise InvalidInputError(
            f"{declared.title} is no role that a person owns something by.", "Give and take it as a grant."
        )
    old = _holder(ctx, uid, role, from_)
    if old == to:
        raise ConflictError(f"{quote(to)} holds it already.", "Name another member.")
    given, taken = Add(Grant(to, role, uid)), Remove(Grant(old, role, uid))
    ctx.need_change(given)
    ctx.need_change(taken)
    ctx.made(given)
    if not declared.single:
        ctx.made(taken)
    ctx.note("transfer", uid, before={role: old}, after={role: to})


def _holder(ctx: RequestContext, uid: str, role: str, named: str | None) -> str:
    held = ctx.session.read_view(lambda view: shapes.owners_of(view, uid)[role])
    if named is not None:
        if named not in held:
            raise NotFoundError(f"{quote(named)} does not hold {quote(role)} there.", "Look at who does.")
        return named
    if not held:
        raise ConflictError(f"Nobody holds {quote(role)} there.", "Give it as a grant.")
    if len(held) > 1:
        raise InvalidInputError(f"{len(held)} members hold {quote(role)} there.", "Say from whom it goes.")
    return held[0]
