"""Resources of every kind: make, get, list, search, delete, restore."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakehold.access import Add, Attribute
from lakehold.access.decisions.explanation import describe_resource
from lakehold.access.facts.view import FactView
from lakehold.access.query.listing import ListedResource, to_cursor
from lakehold.catalog import credentials, details, kinds, shapes
from lakehold.catalog.shapes import Resource, Summary
from lakehold.directory.request_context import RequestContext, Targets
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name, quote


@dataclass(frozen=True, slots=True)
class Listed:
    """Some resources, and where the next ones begin; None after the last."""

    items: list[Summary]
    after: str | None


def create(
    ctx: RequestContext,
    kind: str,
    name: str,
    *,
    uid: str | None = None,
    edges: Targets | None = None,
    attributes: Mapping[str, str | bool] | None = None,
    description: str = "",
    settings: Mapping[str, object] | None = None,
) -> str:
    """Make a resource from a draft: its parent and edges, attributes, and what is told of it. Returns its id."""
    kinds.kept_here(ctx.view.policy, kind)
    details.valid_description(description)
    details.valid_settings({} if settings is None else settings)
    made = ctx.create(kind, name, uid=uid, edges=edges, attributes=attributes)
    details.made(ctx, made, description=description, settings=settings)
    return made


def get(ctx: RequestContext, uid: str) -> Resource:
    """A resource as the caller may see it."""
    ctx.see(uid)
    kinds.kept_here(ctx.view.policy, kinds.schema_of(ctx.view, uid).id)
    return shapes.resource(ctx, uid)


def page(
    ctx: RequestContext,
    kind: str,
    *,
    action: str | None = None,
    within: str | None = None,
    search: str = "",
    sort: str = "name",
    after: str | None = None,
    limit: int = 50,
) -> Listed:
    """Resources of one kind that the caller may see, or do something with."""
    schema = kinds.kept_here(ctx.view.policy, kind)
    if within is not None:
        ctx.see(within)
    found = ctx.session.list(
        ctx.asker,
        action or schema.visible,
        kind,
        within=within,
        search=search,
        sort=sort,
        after=after,
        limit=limit,
    )
    return Listed(shapes.summaries(ctx, found.items), found.after)


def find(
    ctx: RequestContext,
    search: str = "",
    *,
    among: Iterable[str] | None = None,
    within: str | None = None,
    sort: str = "name",
    after: str | None = None,
    limit: int = 50,
) -> Listed:
    """Resources of several kinds, or of all, in one order."""
    policy = ctx.view.policy
    schemas = kinds.all_kinds(policy) if among is None else [kinds.kept_here(policy, kind) for kind in among]
    if within is not None:
        ctx.see(within)
    by_kind: list[list[ListedResource]] = []
    more = False
    for schema in schemas:
        if not schema.actions:
            continue
        found = ctx.session.list(
            ctx.asker,
            schema.visible,
            schema.id,
            within=within,
            search=search,
            sort=sort,
            after=after,
            limit=limit,
        )
        by_kind.append(found.items)
        more = more or found.after is not None
    merged = list(heapq.merge(*by_kind, key=_place_in(sort), reverse=sort.startswith("-")))
    items = merged[:limit]
    following = to_cursor(items[-1], sort) if more or len(merged) > limit else None
    return Listed(shapes.summaries(ctx, items), following)


def delete(ctx: RequestContext, uid: str, *, expect_version: int | None = None) -> bool:
    """End a resource. Where the model knows `deleted` and others point at it, it can be restored: then False."""
    ctx.writing()
    view = ctx.view
    kinds.need(ctx, ctx.session.read_view(lambda view: kinds.deleting(view, uid)), uid, "delete")
    kinds.kept_here(view.policy, kinds.schema_of(view, uid).id)
    details.expect(ctx, uid, expect_version)
    if kinds.DELETED in kinds.schema_of(view, uid).attributes and ctx.session.read_view(
        lambda view: _in_use(view, uid)
    ):
        ctx.make(Add(Attribute(uid, kinds.DELETED, "true")))
        details.changed(ctx, uid)
        return False
    _refuse_losing_what_lies_in_it(ctx, uid)
    _refuse_losing_what_others_are_made_with(ctx, uid)
    number = view.resource(uid)
    ctx.deleted(uid)
    details.gone(ctx, number)
    credentials.gone(ctx, number)
    return True


def restore(ctx: RequestContext, uid: str, *, expect_version: int | None = None) -> int:
    """Bring back what was deleted while others pointed at it, also for who may though they do not see it: they see
    what points at it. Returns its version.
    """
    may = may_restore(ctx, uid)
    if not may:
        ctx.see(uid, "restore")
    if not is_deleted(ctx.view, uid):
        raise ConflictError(f"{quote(uid)} is not deleted.", "Only what was deleted can be restored.")
    details.expect(ctx, uid, expect_version)
    back = Add(Attribute(uid, kinds.DELETED, "false"))
    if may:
        ctx.made(back)
    else:
        ctx.make(back)
    return details.changed(ctx, uid)


def may_restore(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller may bring it back."""
    if ctx.view.ids.get(uid) is None or kinds.DELETED not in kinds.schema_of(ctx.view, uid).attributes:
        return False
    return ctx.session.check_change(ctx.asker, Add(Attribute(uid, kinds.DELETED, "false")))


def is_deleted(view: FactView, uid: str) -> bool:
    """Whether it was deleted while others pointed at it."""
    return shapes.attributes_of(view, uid).get(kinds.DELETED) == "true"


def _in_use(view: FactView, uid: str) -> bool:
    """Whether something that does not lie in it points at it."""
    number = view.resource(uid)
    here = view.kind(number)
    return any(
        view.edges_in[edge].get(number)
        for kind in view.policy.kinds.values()
        for edge, step in kind.steps.items()
        if not step.back and here in step.kinds and edge != kind.schema.parent
    )


def _refuse_losing_what_lies_in_it(ctx: RequestContext, uid: str) -> None:
    inside = ctx.session.read_view(lambda view: [view.uid(child) for child in view.children(view.resource(uid))])
    if inside:
        said = f"The {describe_resource(ctx.view, uid)} still holds others, {_example(ctx, inside)}."
        raise ConflictError(said, "They must be deleted or moved first.")


def _refuse_losing_what_others_are_made_with(ctx: RequestContext, uid: str) -> None:
    found = ctx.session.read_view(lambda view: _made_with_it(view, uid))
    if found:
        said = f"The {describe_resource(ctx.view, uid)} is still needed by others, {_example(ctx, found)}."
        raise ConflictError(said, "Let them point at another one first, or delete them.")


def _made_with_it(view: FactView, uid: str) -> list[str]:
    number = view.resource(uid)
    return [
        view.uid(source)
        for kind in view.policy.kinds.values()
        for edge in kinds.made_with(kind.schema)
        if view.kind(number) in kind.steps[edge].kinds
        for source in view.edges_in[edge].get(number) or ()
    ]


def _example(ctx: RequestContext, uids: Sequence[str]) -> str:
    eyes = shapes.VisibleRefs(ctx)
    seen = next((uid for uid in uids if eyes.sees(uid)), None)
    return f"{describe_resource(ctx.view, seen)} among them" if seen else "though none that you may see"


def _place_in(sort: str) -> Callable[[ListedResource], tuple[str | Moment, int]]:
    if sort in {"name", "-name"}:
        return lambda item: (fold_name(item.name), item.id)
    return lambda item: (item.since, item.id)
