"""Resources of every kind: make, get, list, search, delete, restore."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakehold.access import Add, Attribute
from lakehold.access.decide.words import named
from lakehold.access.facts.view import View
from lakehold.access.query.listing import Found, cursor
from lakehold.catalog import credentials, details, kinds, shapes
from lakehold.catalog.shapes import Resource, Summary
from lakehold.directory.work import Targets, Work
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import folded, shown


@dataclass(frozen=True, slots=True)
class Listed:
    """Some resources, and where the next ones begin; None after the last."""

    items: list[Summary]
    after: str | None


def create(
    work: Work,
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
    kinds.kept_here(work.view.policy, kind)
    details.valid_description(description)
    details.valid_settings({} if settings is None else settings)
    made = work.create(kind, name, uid=uid, edges=edges, attributes=attributes)
    details.made(work, made, description=description, settings=settings)
    return made


def get(work: Work, uid: str) -> Resource:
    """A resource as the caller may see it."""
    work.see(uid)
    kinds.kept_here(work.view.policy, kinds.schema_of(work.view, uid).id)
    return shapes.resource(work, uid)


def page(
    work: Work,
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
    schema = kinds.kept_here(work.view.policy, kind)
    if within is not None:
        work.see(within)
    found = work.session.list(
        work.asker,
        action or schema.visible,
        kind,
        within=within,
        search=search,
        sort=sort,
        after=after,
        limit=limit,
    )
    return Listed(shapes.summaries(work, found.items), found.after)


def find(
    work: Work,
    search: str = "",
    *,
    among: Iterable[str] | None = None,
    within: str | None = None,
    sort: str = "name",
    after: str | None = None,
    limit: int = 50,
) -> Listed:
    """Resources of several kinds, or of all, in one order."""
    policy = work.view.policy
    schemas = kinds.all_kinds(policy) if among is None else [kinds.kept_here(policy, kind) for kind in among]
    if within is not None:
        work.see(within)
    by_kind: list[list[Found]] = []
    more = False
    for schema in schemas:
        if not schema.actions:
            continue
        found = work.session.list(
            work.asker,
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
    following = cursor(items[-1], sort) if more or len(merged) > limit else None
    return Listed(shapes.summaries(work, items), following)


def delete(work: Work, uid: str, *, expect_version: int | None = None) -> bool:
    """End a resource. Where the model knows `deleted` and others point at it, it can be restored: then False."""
    work.writing()
    view = work.view
    kinds.need(work, work.session.asking(lambda view: kinds.deleting(view, uid)), uid, "delete")
    kinds.kept_here(view.policy, kinds.schema_of(view, uid).id)
    details.expect(work, uid, expect_version)
    if kinds.DELETED in kinds.schema_of(view, uid).attributes and work.session.asking(lambda view: _in_use(view, uid)):
        work.make(Add(Attribute(uid, kinds.DELETED, "true")))
        details.changed(work, uid)
        return False
    _refuse_losing_what_lies_in_it(work, uid)
    _refuse_losing_what_others_are_made_with(work, uid)
    number = view.resource(uid)
    work.deleted(uid)
    details.gone(work, number)
    credentials.gone(work, number)
    return True


def restore(work: Work, uid: str, *, expect_version: int | None = None) -> int:
    """Bring back what was deleted while others pointed at it, also for who may though they do not see it: they see
    what points at it. Returns its version.
    """
    may = may_restore(work, uid)
    if not may:
        work.see(uid, "restore")
    if not is_deleted(work.view, uid):
        raise ConflictError(f"{shown(uid)} is not deleted.", "Only what was deleted can be restored.")
    details.expect(work, uid, expect_version)
    back = Add(Attribute(uid, kinds.DELETED, "false"))
    if may:
        work.made(back)
    else:
        work.make(back)
    return details.changed(work, uid)


def may_restore(work: Work, uid: str) -> bool:
    """Whether the caller may bring it back."""
    if work.view.ids.get(uid) is None or kinds.DELETED not in kinds.schema_of(work.view, uid).attributes:
        return False
    return work.session.check_change(work.asker, Add(Attribute(uid, kinds.DELETED, "false")))


def is_deleted(view: View, uid: str) -> bool:
    """Whether it was deleted while others pointed at it."""
    return shapes.attributes_of(view, uid).get(kinds.DELETED) == "true"


def _in_use(view: View, uid: str) -> bool:
    """Whether something that does not lie in it points at it."""
    number = view.resource(uid)
    here = view.kind(number)
    return any(
        view.back[edge].get(number)
        for kind in view.policy.kinds.values()
        for edge, step in kind.steps.items()
        if not step.back and here in step.kinds and edge != kind.schema.parent
    )


def _refuse_losing_what_lies_in_it(work: Work, uid: str) -> None:
    inside = work.session.asking(lambda view: [view.uid(child) for child in view.inside(view.resource(uid))])
    if inside:
        said = f"The {named(work.view, uid)} still holds others, {_example(work, inside)}."
        raise ConflictError(said, "They must be deleted or moved first.")


def _refuse_losing_what_others_are_made_with(work: Work, uid: str) -> None:
    found = work.session.asking(lambda view: _made_with_it(view, uid))
    if found:
        said = f"The {named(work.view, uid)} is still needed by others, {_example(work, found)}."
        raise ConflictError(said, "Let them point at another one first, or delete them.")


def _made_with_it(view: View, uid: str) -> list[str]:
    number = view.resource(uid)
    return [
        view.uid(source)
        for kind in view.policy.kinds.values()
        for edge in kinds.made_with(kind.schema)
        if view.kind(number) in kind.steps[edge].kinds
        for source in view.back[edge].get(number) or ()
    ]


def _example(work: Work, uids: Sequence[str]) -> str:
    eyes = shapes.Eyes(work)
    seen = next((uid for uid in uids if eyes.sees(uid)), None)
    return f"{named(work.view, seen)} among them" if seen else "though none that you may see"


def _place_in(sort: str) -> Callable[[Found], tuple[str | Moment, int]]:
    if sort in {"name", "-name"}:
        return lambda item: (folded(item.name), item.id)
    return lambda item: (item.since, item.id)
