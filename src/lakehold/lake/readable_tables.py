"""Resolves the names of tables in SQL to the tables that the caller may read.

Names are compared without case. Tables that the caller may not read do not exist for them; if several tables still
share a name, the name is ambiguous, and the table's id can be used instead.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import TENANT
from lakehold.catalog import kinds
from lakehold.directory.caller import Caller
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, ForbiddenError, NotFoundError
from lakehold.kit.ids import fold_name, quote
from lakehold.lake.errors import SourceClosedError
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.row_formats import quote_identifier
from lakehold.workspaces.registry import describe_kind, readable_kinds

LAKE_CATALOG, WORKSPACE_CATALOG = "lake", "here"
"""The names of the catalogs of all workspaces and of one, in a user's session."""

NamePath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A table, or a container of tables, under the name that the caller sees."""

    uid: str
    name: str


def list_containers(ctx: RequestContext, path: Sequence[str]) -> list[CatalogEntry]:
    """Return the workspaces or layers under these names that hold tables."""
    return _list_entries(ctx, path, tables=False)


def list_tables(ctx: RequestContext, path: Sequence[str]) -> list[CatalogEntry]:
    """Return the tables under these names that the caller may read."""
    return _list_entries(ctx, path, tables=True)


def _list_entries(ctx: RequestContext, path: Sequence[str], *, tables: bool) -> list[CatalogEntry]:
    view, places = ctx.view, _resolve_containers(ctx, path)
    children = (here for place in places for named in _by_name(ctx, place).values() for here in named)
    found = (here for here in children if _is_table(view, here) == tables and _is_visible(ctx, here))
    entries = [CatalogEntry(view.uid(here), view.names.get(here) or view.uid(here)) for here in found]
    return sorted(entries, key=lambda each: fold_name(each.name))


def resolve_table(ctx: RequestContext, path: Sequence[str], name: str) -> str:
    """Return the id of the table that these names resolve to for the caller."""
    view, full = ctx.view, quote(".".join((*path, name)))
    places = _resolve_containers(ctx, path)
    named = [here for here in _children_named(ctx, places, name) if _is_table(view, here)]
    called = named or _by_id(view, places, name)
    found = [here for here in called if _is_visible(ctx, here)]
    if len(found) > 1:
        raise ConflictError(f"Several tables are called {full}.", "Rename all but one, or write its id instead.")
    if found:
        return view.uid(found[0])
    missing = NotFoundError(f"There is no table {full}.", "Check the name in the catalog.")
    if called:
        raise HiddenError(missing, action=readable_kinds()[view.kind(called[0])], resource=view.uid(called[0]))
    raise missing


def name_path(view: FactView, uid: str) -> NamePath:
    """Return the names that lead to a table or container, its own last."""
    names: list[str] = []
    here: str | None = uid
    while here is not None and view.kind(view.resource(here)) != TENANT:
        names.append(view.names.get(view.resource(here)) or here)
        here = kinds.parent_of(view, here)
    return tuple(reversed(names))


def qualified_name(ctx: RequestContext, uid: str) -> str:
    """Return the SQL name of a table in any session of the caller: by id if other readable tables share its name."""
    *before, name = name_path(ctx.view, uid)
    places = _resolve_containers(ctx, before)
    named = _children_named(ctx, places, name)
    alike = [here for here in named if _is_table(ctx.view, here) and _is_visible(ctx, here)]
    # An id that is the name of another one stands for that.
    by_id = len(alike) > 1 and not _children_named(ctx, places, uid)
    return ".".join(quote_identifier(part) for part in (LAKE_CATALOG, *before, uid if by_id else name))


def _resolve_containers(ctx: RequestContext, path: Sequence[str]) -> list[int]:
    """Return all containers that the names resolve to for the caller; two workspaces may have the same name."""
    here = [ctx.view.resource(ctx.caller.tenant)]
    for name in path:
        called = _children_named(ctx, here, name)
        containers = [place for place in called if not _is_table(ctx.view, place)]
        here = [place for place in containers if _is_visible(ctx, place)]
        if not here:
            missing = NotFoundError(f"There is nothing called {quote('.'.join(path))}.")
            if containers:
                raise HiddenError(missing, action="see", resource=ctx.view.uid(containers[0]))
            raise missing
    return here


def _children_named(ctx: RequestContext, places: Iterable[int], name: str) -> list[int]:
    folded_name = fold_name(name)
    return [here for place in places for here in _by_name(ctx, place).get(folded_name) or ()]


def _by_id(view: FactView, places: Sequence[int], uid: str) -> list[int]:
    here = view.ids.get(uid)
    if here is None or not _is_table(view, here):
        return []
    parent = kinds.parent_of(view, uid)
    return [here] if parent is not None and view.resource(parent) in places else []


def _by_name(ctx: RequestContext, place: int) -> dict[str, list[int]]:
    """Return the children of a container by folded name, cached in the view until something changes."""

    def by_name(view: FactView) -> dict[str, list[int]]:
        found, holding = dict[str, list[int]](), _container_kinds(view)
        for here in view.children(place):
            if view.kind(here) in holding:
                found.setdefault(fold_name(view.names.get(here) or view.uid(here)), []).append(here)
        return found

    return ctx.session.cached((_by_name, place), lambda: ctx.session.read_view(by_name))


def _container_kinds(view: FactView) -> frozenset[str]:
    found: set[str] = set()
    waiting = [kind for kind in readable_kinds() if kind in view.policy.kinds]
    while waiting:
        kind = waiting.pop()
        if kind not in found and kind != TENANT:
            found.add(kind)
            parent = view.policy.kinds[kind].parent
            waiting.extend(parent.kinds if parent else ())
    return frozenset(found)


def _is_visible(ctx: RequestContext, here: int) -> bool:
    return _may_read(ctx, ctx.view.uid(here)) or (
        not _is_table(ctx.view, here) and here in _ancestors_of_token_scope(ctx)
    )


def _ancestors_of_token_scope(ctx: RequestContext) -> set[int]:
    """Return the ancestors of the resources that a token is narrowed to. Only their names are visible."""
    view, caller, found = ctx.view, ctx.caller, set[int]()
    narrowed = caller.narrowed.resources if caller.narrowed else None
    for uid in (narrowed if caller.inputs is None else caller.inputs) or ():
        number = view.ids.get(uid)
        if number is None or view.kind(number) not in _container_kinds(view) or not _may_read(ctx, uid):
            continue
        parent = kinds.parent_of(view, uid)
        while parent is not None:
            found.add(view.resource(parent))
            parent = kinds.parent_of(view, parent)
    return found


def _may_read(ctx: RequestContext, uid: str) -> bool:
    if ctx.caller.inputs is not None:
        return uid in ctx.caller.inputs
    action = readable_kinds().get(ctx.view.kind(ctx.view.resource(uid)))
    if action is None:
        return ctx.session.can_see(ctx.principal, uid)
    return ctx.session.check(ctx.principal, action, uid)


def _is_table(view: FactView, here: int) -> bool:
    return view.kind(here) in readable_kinds()


def refuse_impersonation(ctx: RequestContext) -> None:
    """Refuse to show rows while the caller impersonates somebody."""
    refuse_impersonated_caller(ctx.caller)


def refuse_impersonated_caller(caller: Caller) -> None:
    """Refuse to show rows to a caller who impersonates somebody, before there is a request context."""
    if caller.impersonator:
        raise ForbiddenError("Viewing as somebody else shows no data.", "Stop viewing as them to read rows.")


def identifier_of(ctx: RequestContext, uid: str) -> TableIdentifier:
    """Return the identifier of a table's own place, where it is written and kept up. The caller has been authorised
    before. A registered table has nothing there: its rows are those of `source_table`.
    """
    return TableIdentifier(ctx.session.tenant, ctx.view.resource(uid))


def source_table(ctx: RequestContext, uid: str) -> str:
    """Return the table whose rows a table shows: itself, unless it is a registered one. Refuses if they are closed."""
    find = describe_kind(ctx.view.kind(ctx.view.resource(uid))).source_table
    return uid if find is None else find(ctx, uid)


def find_source_places(ctx: RequestContext, uids: Iterable[str]) -> dict[str, TableIdentifier]:
    """Return the places of the rows that tables show, without those that are closed."""
    found: dict[str, TableIdentifier] = {}
    for uid in uids:
        with suppress(SourceClosedError):
            found[uid] = identifier_of(ctx, source_table(ctx, uid))
    return found
