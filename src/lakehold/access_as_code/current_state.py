"""Reads the current state of a tenant from its database, in the form in which it is compared with files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lakehold.access.facts.loader import TimedRow, load_rows
from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import AttributeRow, EdgeRow, FactRow, GrantRow, ResourceRow
from lakehold.access.session import AccessSession
from lakehold.access_as_code.file_format import IdMapping, TimeSpan
from lakehold.access_as_code.metadata import EntryMetadata
from lakehold.access_as_code.tenant_state import ResourceEntry, TenantState, TimedFact, shipped_sources, slot_of
from lakehold.kit.clock import FOREVER


def load_current_state(session: AccessSession, metadata: Mapping[str, EntryMetadata] | None = None) -> TenantState:
    """Return all that holds in this transaction, or will. The metadata is given by id."""
    view_policy, ids = session.read_view(lambda view: (view.policy, IdMapping.from_view(view, session.tenant)))
    rows = list(load_rows(session.transaction, session.tenant, session.at))
    refs = {row.id: ids.ref(row.uid) for _, row, _, _ in rows if isinstance(row, ResourceRow)}
    shipped = shipped_sources()
    state = TenantState(
        view_policy,
        {name: source for name, source in view_policy.sources.items() if shipped.get(name) != source},
        {
            refs[row.id]: ResourceEntry(refs[row.id], row.kind, row.name)
            for _, row, _, _ in rows
            if isinstance(row, ResourceRow)
        },
    )
    state.facts.extend(timed for timed in _facts(rows, refs) if slot_of(view_policy, state.entries, timed.fact))
    state.metadata.update(
        {ids.ref(uid): found for uid, found in (metadata or {}).items() if ids.ref(uid) in state.entries}
    )
    return state


def _facts(rows: Iterable[TimedRow], refs: Mapping[int, str]) -> Iterator[TimedFact]:
    for _, row, since, until in rows:
        # What was taken back before it began is kept with an end that comes first.
        fact = _fact(row, refs) if since < until else None
        if fact is not None:
            yield TimedFact(fact, TimeSpan(since, None if until >= FOREVER else until))


def _fact(row: FactRow, refs: Mapping[int, str]) -> Fact | None:
    """Return the fact of a row with the ids of files; None for other rows, and facts about deleted resources."""
    match row:
        case GrantRow(subject, role, resource) if subject in refs and resource in refs:
            return Grant(refs[subject], role, refs[resource])
        case EdgeRow(name, source, target) if source in refs and target in refs:
            return Edge(name, refs[source], refs[target])
        case AttributeRow(resource, 0, name, value) if resource in refs:
            return Attribute(refs[resource], name, value)
        case AttributeRow(resource, member, name, value) if resource in refs and member in refs:
            return Attribute(refs[resource], name, value, refs[member])
        case _:
            return None
