"""From one parent to another. What was granted on the resource itself stays; what came from above is another's now.

The model says who may: where it lies now (`set_with` of the edge), and where it goes to (`needs`).
"""

from __future__ import annotations

from lakehold.access import Add, Edge
from lakehold.access.decisions.what_if import AccessEffects
from lakehold.catalog import details, kinds, sharing
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote


def preview_move(ctx: RequestContext, uid: str, to: str) -> AccessEffects:
    """Who would win and lose what by the move. For who may make it."""
    step = need_move(ctx, uid, to)
    return sharing.seen(ctx, ctx.session.what_if([step]))


def move(ctx: RequestContext, uid: str, to: str, *, expect_version: int | None = None) -> int:
    """Let the resource lie in another parent, with all that lies in it. Returns its version."""
    step = need_move(ctx, uid, to)
    details.expect(ctx, uid, expect_version)
    if kinds.parent_of(ctx.view, uid) == to:
        return details.read(ctx, uid).version
    ctx.made(step)
    return details.changed(ctx, uid)


def need_move(ctx: RequestContext, uid: str, to: str) -> Add:
    """The step of the move, refused unless the caller may make it."""
    ctx.see(uid, "move")
    ctx.see(to, "move")
    schema = kinds.schema_of(ctx.view, uid)
    parent = schema.parent
    if parent is None or schema.edges[parent].set_with is None:
        raise ConflictError(f"A {schema.title.lower()} stays where it is; {quote(uid)} cannot be moved.", "Copy it.")
    step = Add(Edge(parent, uid, to))
    ctx.need_change(step)
    return step
