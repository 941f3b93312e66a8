"""The store, which writes facts. A transaction sees at once what it has written; others see it after its commit."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from lakehold.access.facts import tables
from lakehold.access.facts.changes import (
    refuse_missing_end,
    require_change,
    resolve_fact,
    to_fact,
    validate_value,
    with_draft,
    with_models,
)
from lakehold.access.facts.deletions import Deletion, EndedFact
from lakehold.access.facts.last_holder import refuse_losing_last_holder
from lakehold.access.facts.loader import TABLE_NAMES, to_columns, to_row
from lakehold.access.facts.name_claims import NameClaims
from lakehold.access.facts.names import NO_UNIQUE_NAMES, UniqueNames
from lakehold.access.facts.records import (
    Add,
    Adopt,
    Attribute,
    Change,
    Draft,
    Edge,
    Grant,
    Remove,
    require_moment,
    require_text,
    to_texts,
)
from lakehold.access.facts.transaction_state import Overlay, RowLocks
from lakehold.access.facts.view import (
    ALL_MEMBERS,
    AttributeRow,
    EdgeRow,
    FactRow,
    FactView,
    GrantRow,
    ModelRow,
    ResourceRow,
)
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import TENANT
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import TenantRows, Transaction
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import fold_name, quote, valid_id, valid_name
from lakehold.ledger import change_log

EdgeTargetIds = Mapping[str, str | Sequence[str]]
MomentInput = Moment | datetime
Period = tuple[Moment, Moment]
"""From one moment until another."""


@dataclass(slots=True)
class FactStore:
    """Writes the facts of one tenant in one transaction."""

    transaction: Transaction
    tenant: int
    overlay: Overlay
    at: Moment
    names: UniqueNames = NO_UNIQUE_NAMES
    entries: list[change_log.ChangeLogEntry] = field(default_factory=list)
    locks: RowLocks = field(init=False)
    claims: NameClaims = field(init=False)

    def __post_init__(self) -> None:
        """Create the row locks, which last as long as the transaction, and the claims of names."""
        self.locks = RowLocks(self.transaction)
        self.claims = NameClaims(self.transaction, self.overlay, self.names)

    @property
    def view(self) -> FactView:
        """The view of the transaction, with its own changes on top."""
        return self.overlay.view

    def append_to_log(self) -> None:
        """Append the written facts to the change log, as the last step before the commit."""
        if self.entries:
            change_log.append_changes(self.transaction, self.tenant, self.at, self.entries)

    # What exists

    def create(
        self,
        kind: str,
        name: str,
        *,
        uid: str | None = None,
        edges: EdgeTargetIds | None = None,
        attributes: Mapping[str, str | bool] | None = None,
        creator: str | None = None,
    ) -> str:
        """Create a resource with its parent, edges and attributes. Its creator gets the role that the model names."""
        draft = Draft(kind, {} if edges is None else edges, {} if attributes is None else attributes)
        # All that can be wrong is refused before anything is written.
        with_draft(self.view, draft)
        schema = self.view.policy.kind(kind).schema
        chosen = secrets.token_hex(8) if uid is None else valid_id(uid)
        if self.view.ids.get(chosen) is not None or self._was_used(chosen):
            raise ConflictError(f"The id {quote(chosen)} is taken.", "Choose another; ids are never used twice.")
        if creator is not None:
            self.view.member(creator)
        scope = self.claims.draft_scope(draft)
        self.claims.refuse_taken(scope, valid_name(name))
        self._insert_resource(chosen, kind, name, draft.edges, scope)
        for edge, targets in draft.edges.items():
            for target in to_texts(targets, "id"):
                self.add(Edge(edge, chosen, target))
        for attribute, value in draft.attributes.items():
            self.add(Attribute(chosen, attribute, validate_value(schema.attributes[attribute], value)))
        if creator is not None and schema.creator:
            self.add(Grant(creator, schema.creator, chosen))
        return chosen

    def create_tenant(self, uid: str, name: str) -> None:
        """Create the resource of the tenant itself, which is its first row."""
        self.tenant = self._insert_resource(uid, TENANT, name, {})
        table = tables.resource
        self.transaction.connection.execute(
            table.update().where(table.c.id == self.tenant).values(tenant_id=self.tenant)
        )

    def rename(self, uid: str, name: str) -> None:
        """Rename a resource. Its id and all facts about it stay."""
        here, new_name = self.view.resource(uid), valid_name(name)
        old = ResourceRow(here, uid, self.view.kind(here), self.view.names.get(here) or "")
        if old.name == new_name:
            return
        self.claims.refuse_taken(self.claims.place_scope(here), new_name, here)
        self.locks.lock_for_update(here)
        self.claims.update(here, new_name, name=new_name, sort_name=fold_name(new_name))
        self.entries.append(change_log.ChangeLogEntry("resource", here, FOREVER, FOREVER))
        self.overlay.close(old)
        self.overlay.open(old._replace(name=new_name))

    def delete(self, uid: str) -> None:
        """End a resource and every fact about it. The resources in it must be deleted first."""
        here = self.view.resource(uid)
        if self.view.kind(here) in {TENANT, ALL_MEMBERS}:
            raise ConflictError(f"{quote(uid)} is built in and cannot be deleted.", "Delete what lies in it instead.")
        inside = self.view.children(here)
        if inside:
            raise ConflictError(
                f"{quote(uid)} still holds {len(inside)} others, {quote(self.view.uid(inside[0]))} among them.",
                "Delete or move them first.",
            )
        # Also what it will hold, which the view does not know.
        for period in tables.grants_held_by(self.transaction, self.tenant, here, self.at):
            held = GrantRow(here, period.role, period.resource)
            self._lock_rows(held)
            refuse_losing_last_holder(self.transaction, self.view, held, self.at, self.at)
        self.locks.lock_for_delete(here)
        grant, edge, attribute = tables.grant.c, tables.edge.c, tables.attribute.c
        self._close("grant", (grant.resource_id == here) | (grant.subject_id == here), self.at)
        self._close("edge", (edge.source_id == here) | (edge.target_id == here), self.at)
        self._close("attribute", (attribute.resource_id == here) | (attribute.member_id == here), self.at)
        self._close("resource", tables.resource.c.id == here, self.at)
        self.claims.release(here)

    def restore(self, deletion: Deletion, name: str, facts: Sequence[EndedFact]) -> None:
        """Let a deleted resource exist again with its number and these facts, which begin now: that nothing was so
        meanwhile stays written.
        """
        number, kind, valid = deletion.number, deletion.kind, valid_name(name)
        above = [each.row for each in facts if isinstance(each.row, EdgeRow) and each.row.source == number]
        self.claims.refuse_taken(self.claims.restored_scope(kind, above), valid, number)
        self.locks.lock_for_update(number)
        self._set_end("resource", number, deletion.at, FOREVER)
        self.claims.update(number, valid, name=valid, sort_name=fold_name(valid))
        self.overlay.open(ResourceRow(number, deletion.uid, kind, valid))
        for each in facts:
            # What the model or another fact does not allow any more does not come back.
            with suppress(InvalidInputError, ConflictError):
                if (fact := to_fact(self.view, each.row)) is not None and each.until > self.at:
                    self.add(fact, since=max(each.since, self.at), until=each.until)

    # What is so

    def add(
        self, fact: Grant | Attribute | Edge, *, since: MomentInput | None = None, until: MomentInput | None = None
    ) -> None:
        """Add a fact, from now on or for a period. A grant or an edge keeps the periods in which it holds already: only
        a removal, now or `since` a moment, ends one.
        """
        self.apply(Add(fact), since=since, until=until)

    def remove(self, fact: Grant | Attribute | Edge, *, since: MomentInput | None = None) -> None:
        """Remove a fact, from now on or from a moment on. If it did not hold, nothing changes."""
        self.apply(Remove(fact), since=since)

    def periods(self, fact: Grant | Edge) -> list[Period]:
        """Return when a fact holds from now on, in order."""
        row = resolve_fact(self.view, fact)
        return [(max(one.since, self.at), one.until) for one in self._periods(TABLE_NAMES[type(row)], row)]

    def apply(self, change: Change, *, since: MomentInput | None = None, until: MomentInput | None = None) -> None:
        """Apply a change."""
        begin = self.at if since is None else require_moment(since)
        end = FOREVER if until is None else require_moment(until)
        if begin < self.at:
            raise InvalidInputError("A fact cannot begin in the past.", "Let it begin now or later.")
        if end <= begin:
            raise InvalidInputError("A fact must end after it begins.", "Choose a later end.")
        if isinstance(change, Adopt):
            if (since, until) != (None, None):
                raise InvalidInputError("A model cannot be adopted for a period.", "Leave the times out.")
            self.adopt([require_text(change.source, "model")])
            return
        require_change(change)
        row = resolve_fact(self.view, change.fact)
        fact = TABLE_NAMES[type(row)]
        if isinstance(row, EdgeRow) and (begin > self.at or end < FOREVER):
            refuse_missing_end(self.view, row.source, row.name)
        if begin <= self.at:
            self.claims.check(row, adds=isinstance(change, Add))
        self._lock_rows(row)
        if isinstance(change, Remove):
            refuse_losing_last_holder(self.transaction, self.view, row, begin, self.at)
            ended = self._replaced_condition(row) if isinstance(row, AttributeRow) else self._row_condition(row)
            self._close(fact, ended, begin)
        elif isinstance(row, AttributeRow):
            if not self._is_open(fact, row, begin, end):
                self._close(fact, self._replaced_condition(row), begin)
                self._open(row, begin, end)
        else:
            self._close(fact, self._replaced_condition(row) & ~self._row_condition(row), begin)
            self._open_union(fact, row, begin, end)
            if isinstance(row, EdgeRow) and begin <= self.at:
                self._update_workspace(row)
        if begin <= self.at:
            self.claims.follow(row)

    def _lock_rows(self, row: FactRow) -> None:
        policy, kind = self.view.policy, self.view.kind
        match row:
            case AttributeRow(resource, member):
                self.locks.lock_shared((resource, member))
                self.locks.lock_for_update(resource)
            case EdgeRow(name, source, target):
                self.locks.lock_shared((source, target))
                if not policy.edge(kind(source), name).many:
                    self.locks.lock_for_update(source)
            case GrantRow(subject, role, resource):
                self.locks.lock_shared((subject, resource))
                if policy.role(kind(resource), role).single or policy.role(kind(resource), role).last_stays:
                    self.locks.lock_for_update(resource)

    def _replaced_condition(self, row: FactRow) -> sa.ColumnElement[bool]:
        """Return the condition for the fact itself, and for the facts that it replaces where there can be only one."""
        match row:
            case AttributeRow(resource, member, name, _):
                return _where(tables.attribute, resource_id=resource, member_id=member, name=name)
            case EdgeRow(name, source, _) if not self.view.policy.edge(self.view.kind(source), name).many:
                return _where(tables.edge, source_id=source, name=f"{self.view.kind(source)}.{name}")
            case GrantRow(_, role, resource) if self.view.policy.role(self.view.kind(resource), role).single:
                return _where(tables.grant, role=f"{self.view.kind(resource)}.{role}", resource_id=resource)
            case _:
                return self._row_condition(row)

    def adopt(self, sources: Iterable[str]) -> None:
        """Adopt models, all or none: refused if they do not go together, or if facts would lose their meaning."""
        old = dict(self.view.sources)
        rows = [ModelRow(parse_model(source).name, source) for source in sources]
        new = [row for row in rows if old.get(row.name) != row.source]
        if new:
            with_models(self.view, [row.source for row in new])
        for row in new:
            if row.name in old:
                self._close("model", self._row_condition(ModelRow(row.name, old[row.name])), self.at)
            self.put_model(row)

    def put_model(self, row: ModelRow) -> None:
        """Put a model into force from now on."""
        self._open(row, self.at, FOREVER)

    # Rows

    def _insert_resource(
        self, uid: str, kind: str, name: str, edges: EdgeTargetIds, name_scope: str | None = None
    ) -> int:
        columns = {"uid": uid, "kind": kind, "name": name, "sort_name": fold_name(name), "workspace_id": 0}
        number = self._insert("resource", columns, self.at, FOREVER)
        self.locks.add_new(number)
        claim = {} if name_scope is None else {"name_scope": name_scope}
        self.claims.update(number, name, workspace_id=self._workspace(kind, number, edges), **claim)
        self.overlay.open(ResourceRow(number, uid, kind, name))
        return number

    def _workspace(self, kind: str, number: int, edges: EdgeTargetIds) -> int:
        """Return the workspace that the resource lies in, found by going up; a workspace lies in itself."""
        schema = self.view.policy.kind(kind).schema
        above = edges.get(schema.parent) if schema.parent else None
        if above is None or schema.name == self.view.policy.models[schema.model].root:
            return number
        return self.claims.workspace_of(self.view.resource(above if isinstance(above, str) else above[0]))

    def _update_workspace(self, row: EdgeRow) -> None:
        """Set the workspace of a resource that was moved, and of all that lies in it."""
        table = tables.resource
        moved, above = row.source, self.claims.workspace_of(row.target)
        parent = self.view.policy.kinds[self.view.kind(moved)].parent
        if parent is None or parent.edge != row.name or self.claims.workspace_of(moved) in {above, moved}:
            return
        inside = [moved]
        for number in inside:
            inside.extend(self.view.children(number))
            self.transaction.connection.execute(table.update().where(table.c.id == number).values(workspace_id=above))

    def _was_used(self, uid: str) -> bool:
        table = tables.resource
        query = sa.select(table.c.id).where(table.c.tenant_id == self.tenant, table.c.uid == uid)
        return self.transaction.connection.execute(query).first() is not None

    def _open(self, row: FactRow, since: Moment, until: Moment) -> None:
        self._insert(TABLE_NAMES[type(row)], to_columns(row, self._kind_of), since, until)
        if since <= self.at:
            self.overlay.open(row)

    def _open_union(self, fact: str, row: FactRow, since: Moment, until: Moment) -> None:
        """Let the fact hold in this period too. Periods that meet become one: none is ever cut short."""
        held = self._periods(fact, row)
        if any(one.since <= since and until <= one.until for one in held):
            return
        for one in held:
            if one.since <= until and since <= one.until:
                until = max(until, one.until)
        first = next((one for one in held if one.since <= since <= one.until), None)
        for one in held:
            if since < one.since <= until:
                self._set_end(fact, one.id, one.until, one.since)
        if first is not None:
            self._set_end(fact, first.id, first.until, until)
        else:
            self._open(row, since, until)

    def _periods(self, fact: str, row: FactRow) -> Sequence[sa.Row[Any, Any, Any]]:
        """Return the rows of a fact that hold or will hold, with their periods, in order."""
        table = tables.TABLES[fact]
        query = sa.select(table.c.id, table.c.since, table.c.until).where(
            self._row_condition(row), table.c.until > self.at, table.c.until > table.c.since
        )
        return self.transaction.connection.execute(query.order_by(table.c.since)).all()

    def _set_end(self, fact: str, number: int, was_until: Moment, until: Moment) -> None:
        table = tables.TABLES[fact]
        self.transaction.connection.execute(table.update().where(table.c.id == number).values(until=until))
        self.entries.append(change_log.ChangeLogEntry(fact, number, was_until, until))

    def _insert(self, fact: str, values: Mapping[str, object], since: Moment, until: Moment) -> int:
        rows = TenantRows(self.transaction, self.tenant, tables.TABLES[fact])
        number = int(rows.insert(since=since, until=until, **values))
        self.entries.append(change_log.ChangeLogEntry(fact, number, 0, until))
        return number

    def _kind_of(self, resource: int) -> str:
        return self.view.kind(resource)

    def _row_condition(self, row: FactRow) -> sa.ColumnElement[bool]:
        return _where(tables.TABLES[TABLE_NAMES[type(row)]], **to_columns(row, self._kind_of))

    def _is_open(self, fact: str, row: FactRow, since: Moment, until: Moment) -> bool:
        table = tables.TABLES[fact]
        query = sa.select(table.c.id).where(self._row_condition(row), table.c.since <= since, table.c.until == until)
        return self.transaction.connection.execute(query).first() is not None

    def _close(self, fact: str, which: sa.ColumnElement[bool], until: Moment) -> None:
        """End facts, including those that have not begun."""
        table = tables.TABLES[fact]
        query = sa.select(table).where(table.c.tenant_id == self.tenant, table.c.until > until, which)
        for found in self.transaction.connection.execute(query).mappings().all():
            self._set_end(fact, found["id"], found["until"], until)
            if until <= self.at and found["since"] <= self.at:
                self.overlay.close(to_row(fact, found))


def _where(table: sa.Table, **values: object) -> sa.ColumnElement[bool]:
    return sa.and_(*(table.c[name] == value for name, value in values.items()))
