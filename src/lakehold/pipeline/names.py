"""What SQL calls a table: the names of the workspace, of what it lies in there, and its own.

Names are compared as people compare them, without case. Of several with one name, those that the asker may not read
are not there; if there are still several, the name means none of them, and its id stands for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import TENANT
from lakehold.catalog import kinds
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.kit.ids import fold_name, quote
from lakehold.pipeline.quoting import quoted

READABLE: Mapping[str, str] = {"lakehouse.table": "read", "marts.data_mart": "use"}
"""The kinds that are tables to SQL, each with the action that lets one read it."""

ALL, HERE = "lake", "here"
"""What a person's session calls the catalog of all workspaces, and that of one."""

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A table or what tables lie in, as its names lead to it."""

    uid: str
    name: str


def inside(ctx: RequestContext, path: Sequence[str]) -> list[Named]:
    """What lies behind the names and holds tables or more of such: workspaces, then their layers."""
    return _named(ctx, (here for here in _below(ctx, _at(ctx, path)) if not _is_table(ctx.view, here)))


def tables(ctx: RequestContext, path: Sequence[str]) -> list[Named]:
    """The tables behind the names that the asker may read."""
    return _named(ctx, (here for here in _below(ctx, _at(ctx, path)) if _is_table(ctx.view, here)))


def table(ctx: RequestContext, path: Sequence[str], name: str) -> str:
    """The id of the table that the names mean to the asker."""
    view, full = ctx.view, quote(".".join((*path, name)))
    places = _at(ctx, path)
    called = [here for here in _called(ctx, places, name) if _is_table(view, here)] or _by_id(view, places, name)
    found = [here for here in called if _may(ctx, here)]
    if len(found) > 1:
        raise ConflictError(f"Several tables are called {full}.", "Rename all but one, or write its id instead.")
    if found:
        return view.uid(found[0])
    missing = NotFoundError(f"There is no table {full}.", "Look its name up in the catalog.")
    if called:
        raise HiddenError(missing, action=READABLE[view.kind(called[0])], resource=view.uid(called[0]))
    raise missing


def path_of(view: FactView, uid: str) -> Names:
    """The names that lead to a table or to what it lies in, its own last."""
    names: list[str] = []
    here: str | None = uid
    while here is not None and view.kind(view.resource(here)) != TENANT:
        names.append(view.names.get(view.resource(here)) or here)
        here = kinds.parent_of(view, here)
    return tuple(reversed(names))


def sql(ctx: RequestContext, uid: str) -> str:
    """A table that the asker may read, as their session calls it wherever it lies: by its id, if others that they may
    read have its name.
    """
    *before, name = path_of(ctx.view, uid)
    places = _at(ctx, before)
    alike = [here for here in _called(ctx, places, name) if _is_table(ctx.view, here) and _may(ctx, here)]
    # An id that is the name of another one stands for that.
    by_id = len(alike) > 1 and not _called(ctx, places, uid)
    return ".".join(quoted(part) for part in (ALL, *before, uid if by_id else name))


def _at(ctx: RequestContext, path: Sequence[str]) -> list[int]:
    """All that the names mean to the asker: two workspaces may have the same one."""
    here = [ctx.view.resource(ctx.caller.tenant)]
    for name in path:
        called = _called(ctx, here, name)
        here = [place for place in called if not _is_table(ctx.view, place) and _may(ctx, place)]
        if not here:
            raise NotFoundError(f"There is nothing called {quote('.'.join(path))}.")
    return here


def _called(ctx: RequestContext, places: Iterable[int], name: str) -> list[int]:
    wanted = fold_name(name)
    return [here for place in places for here in _by_name(ctx, place).get(wanted) or ()]


def _by_id(view: FactView, places: Sequence[int], uid: str) -> list[int]:
    here = view.ids.get(uid)
    if here is None or not _is_table(view, here):
        return []
    parent = kinds.parent_of(view, uid)
    return [here] if parent is not None and view.resource(parent) in places else []


def _below(ctx: RequestContext, places: Iterable[int]) -> Iterator[int]:
    found = (here for place in places for named in _by_name(ctx, place).values() for here in named)
    return (here for here in found if _may(ctx, here))


def _by_name(ctx: RequestContext, place: int) -> dict[str, list[int]]:
    """What lies in a place, by name: sorted out once, until something changes."""

    def sorted_out(view: FactView) -> dict[str, list[int]]:
        key = (_by_name, place)
        known = cast("dict[str, list[int]] | None", view.cache.get(key))
        if known is None:
            known, holding = {}, _holding(view)
            for here in view.children(place):
                if view.kind(here) in holding:
                    known.setdefault(fold_name(view.names.get(here) or view.uid(here)), []).append(here)
            view.cache[key] = known
        return known

    return ctx.session.read_view(sorted_out)


def _holding(view: FactView) -> frozenset[str]:
    """The kinds that are tables, or that tables lie in."""
    found: set[str] = set()
    waiting = [kind for kind in READABLE if kind in view.policy.kinds]
    while waiting:
        kind = waiting.pop()
        if kind not in found and kind != TENANT:
            found.add(kind)
            parent = view.policy.kinds[kind].parent
            waiting.extend(parent.kinds if parent else ())
    return frozenset(found)


def _may(ctx: RequestContext, here: int) -> bool:
    return _reads(ctx, ctx.view.uid(here)) or (not _is_table(ctx.view, here) and here in _above(ctx))


def _above(ctx: RequestContext) -> set[int]:
    """What the tables and layers lie in that a token is narrowed to: it has their names, and shows nothing else."""
    view, narrowed, found = ctx.view, ctx.caller.narrowed, set[int]()
    for uid in (narrowed.resources if narrowed else None) or ():
        number = view.ids.get(uid)
        if number is None or view.kind(number) not in _holding(view) or not _reads(ctx, uid):
            continue
        parent = kinds.parent_of(view, uid)
        while parent is not None:
            found.add(view.resource(parent))
            parent = kinds.parent_of(view, parent)
    return found


def _reads(ctx: RequestContext, uid: str) -> bool:
    action = READABLE.get(ctx.view.kind(ctx.view.resource(uid)))
    if action is None:
        return ctx.session.can_see(ctx.asker, uid)
    return ctx.session.check(ctx.asker, action, uid)


def _is_table(view: FactView, here: int) -> bool:
    return view.kind(here) in READABLE


def _named(ctx: RequestContext, found: Iterable[int]) -> list[Named]:
    view = ctx.view
    named = [Named(view.uid(here), view.names.get(here) or view.uid(here)) for here in found]
    return sorted(named, key=lambda each: fold_name(each.name))
