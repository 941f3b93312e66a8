"""From one parent to another. What was granted on the resource itself stays; what came from above is another's now.

The model says who may: where it lies now (`set_with` of the edge), and where it goes to (`needs`).
"""

from __future__ import annotations

from lakehold.access import Add, Edge
from lakehold.access.decide.effects import Effects
from lakehold.catalog import details, kinds, sharing
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import shown


def preview_move(work: Work, uid: str, to: str) -> Effects:
    """Who would win and lose what by the move. For who may make it."""
    step = need_move(work, uid, to)
    return sharing.seen(work, work.session.what_if([step]))


def move(work: Work, uid: str, to: str, *, expect_version: int | None = None) -> int:
    """Let the resource lie in another parent, with all that lies in it. Returns its version."""
    step = need_move(work, uid, to)
    details.expect(work, uid, expect_version)
    if kinds.parent_of(work.view, uid) == to:
        return details.read(work, uid).version
    work.made(step)
    return details.changed(work, uid)


def need_move(work: Work, uid: str, to: str) -> Add:
    """The step of the move, refused unless the caller may make it."""
    work.see(uid, "move")
    work.see(to, "move")
    schema = kinds.schema_of(work.view, uid)
    parent = schema.parent
    if parent is None or schema.edges[parent].set_with is None:
        raise ConflictError(f"A {schema.title.lower()} stays where it is; {shown(uid)} cannot be moved.", "Copy it.")
    step = Add(Edge(parent, uid, to))
    work.need_change(step)
    return step
