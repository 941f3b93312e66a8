"""The names that resources claim in their scopes, as one transaction reads and writes them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.access.facts import tables
from lakehold.access.facts.names import DELETED, NameTakenError, UniqueNames, free_name
from lakehold.access.facts.records import Draft, to_texts
from lakehold.access.facts.transaction_state import Overlay
from lakehold.access.facts.view import AttributeRow, EdgeRow, FactRow, FactView
from lakehold.access.model.policy import TENANT
from lakehold.kit.database import Transaction
from lakehold.kit.ids import fold_name


@dataclass(frozen=True, slots=True)
class NameClaims:
    """Claims and releases names in one transaction."""

    transaction: Transaction
    overlay: Overlay
    names: UniqueNames
    _claimed: dict[int, str | None] = field(default_factory=dict)
    """The scopes of resources that this transaction has set."""

    @property
    def _view(self) -> FactView:
        return self.overlay.view

    @property
    def _tenant(self) -> int:
        return next(iter(self._view.by_kind.get(TENANT) or ()), 0)

    def draft_scope(self, draft: Draft) -> str | None:
        """Return the scope in which a new resource claims its name, if it claims one."""
        if draft.attributes.get(DELETED) in {True, "true"}:
            return None
        parent = self._view.policy.kind(draft.kind).schema.parent
        above = to_texts(draft.edges[parent], "id") if parent else ()
        return self._scope_in(draft.kind, self._view.resource(above[0]) if above else self._tenant)

    def restored_scope(self, kind: str, edges: Iterable[EdgeRow]) -> str | None:
        """Return the scope in which a deleted resource claims its name again, with these edges."""
        parent = self._view.policy.kinds[kind].schema.parent
        above = next((edge.target for edge in edges if edge.name == parent), self._tenant)
        return self._scope_in(kind, above)

    def scope(self, number: int) -> str | None:
        """Return the scope in which the resource claims its name where it lies now, if it claims one."""
        is_deleted = self._view.attributes[DELETED].get(number) == "true"
        return None if is_deleted else self.place_scope(number)

    def place_scope(self, number: int) -> str | None:
        """Return the scope that the resource's names have where it lies now, also while it is marked as deleted."""
        parent = self._parent_edge(number)
        above = self._view.edges_out[parent].get(number) if parent else None
        return self._scope_in(self._view.kind(number), above[0] if above else self._tenant)

    def _parent_edge(self, number: int) -> str | None:
        return self._view.policy.kinds[self._view.kind(number)].schema.parent

    def _scope_in(self, kind: str, parent: int) -> str | None:
        return self.names.scope(self._view.policy, kind, parent, lambda: self.workspace_of(parent))

    def refuse_taken(self, scope: str | None, name: str, number: int = 0) -> None:
        """Refuse a name that another resource of the scope has."""
        if scope is None:
            return
        c, connection = tables.resource.c, self.transaction.connection
        query = sa.select(c.uid).where(c.name_scope == scope, c.sort_name == fold_name(name), c.id != number)
        holder = connection.execute(query).scalar()
        if holder is not None:
            taken = connection.execute(sa.select(c.sort_name).where(c.name_scope == scope)).scalars()
            raise NameTakenError(name, holder, free_name(name, set(taken)))

    def check(self, row: FactRow, *, adds: bool) -> None:
        """Refuse to move or restore a resource to where its name is taken, before anything is written."""
        match row:
            case AttributeRow(here, 0, name, value) if name == DELETED and not (adds and value == "true"):
                scope = self.place_scope(here)
            case EdgeRow(name, here, target) if adds and name == self._parent_edge(here):
                is_deleted = self._view.attributes[DELETED].get(here) == "true"
                scope = None if is_deleted else self._scope_in(self._view.kind(here), target)
            case _:
                return
        self.refuse_taken(scope, self._view.names.get(here) or "", here)

    def follow(self, row: FactRow) -> None:
        """Let what was moved, marked as deleted or restored claim its name where it lies now."""
        match row:
            case AttributeRow(resource, 0, name) if name == DELETED:
                self.claim(resource)
            case EdgeRow(name, source) if name == self._parent_edge(source):
                moved = [source]
                for number in moved:
                    self.claim(number)
                    moved.extend(self._view.children(number))

    def claim(self, number: int) -> None:
        """Let the resource claim its name where it lies now, or release it if it is marked as deleted."""
        if self.place_scope(number) is None:
            return
        scope, name = self.scope(number), self._view.names.get(number) or ""
        if number in self._claimed and self._claimed[number] == scope:
            return
        self.refuse_taken(scope, name, number)
        self.update(number, name, name_scope=scope)

    def release(self, number: int) -> None:
        """Release the name of a resource that is deleted."""
        if self.names.enabled:
            self.update(number, "", name_scope=None)

    def update(self, number: int, claimed: str, /, **values: str | int | None) -> None:
        """Change the row of a resource. That the name which it claims is free was checked."""
        table = tables.resource
        try:
            self.transaction.connection.execute(table.update().where(table.c.id == number).values(**values))
        except sa.exc.IntegrityError as error:
            diagnosis = getattr(error.orig, "diag", None)
            if getattr(diagnosis, "constraint_name", "") == tables.NAME_INDEX:
                raise NameTakenError(claimed) from error
            raise
        if "name_scope" in values:
            self._claimed[number] = str(values["name_scope"]) if values["name_scope"] else None

    def workspace_of(self, number: int) -> int:
        """Return the workspace that a resource lies in."""
        query = sa.select(tables.resource.c.workspace_id).where(tables.resource.c.id == number)
        return int(self.transaction.connection.execute(query).scalar_one())
