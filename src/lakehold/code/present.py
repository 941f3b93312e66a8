"""A tenant, as its database has it, in the form in which files are compared with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lakehold.access.facts.loader import TimedRow, load_rows
from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import AttributeRow, EdgeRow, FactRow, GrantRow, ResourceRow
from lakehold.access.session import AccessSession
from lakehold.code.company import Company, Held, Thing, shipped_sources, slot_of
from lakehold.code.refs import Ids
from lakehold.code.times import Span
from lakehold.code.told import Told
from lakehold.kit.clock import FOREVER


def present(session: AccessSession, told: Mapping[str, Told] | None = None) -> Company:
    """All that holds in this transaction, or will. What is told beside the facts is given by id."""
    view_policy, ids = session.read_view(lambda view: (view.policy, Ids.of(view, session.tenant)))
    rows = list(load_rows(session.transaction, session.tenant, session.at))
    refs = {row.id: ids.ref(row.uid) for _, row, _, _ in rows if isinstance(row, ResourceRow)}
    shipped = shipped_sources()
    company = Company(
        view_policy,
        {name: source for name, source in view_policy.sources.items() if shipped.get(name) != source},
        {
            refs[row.id]: Thing(refs[row.id], row.kind, row.name)
            for _, row, _, _ in rows
            if isinstance(row, ResourceRow)
        },
    )
    company.facts.extend(held for held in _facts(rows, refs) if slot_of(view_policy, company.things, held.fact))
    company.told.update({ids.ref(uid): found for uid, found in (told or {}).items() if ids.ref(uid) in company.things})
    return company


def _facts(rows: Iterable[TimedRow], refs: Mapping[int, str]) -> Iterator[Held]:
    for _, row, since, until in rows:
        # What was taken back before it began is kept with an end that comes first.
        fact = _fact(row, refs) if since < until else None
        if fact is not None:
            yield Held(fact, Span(since, None if until >= FOREVER else until))


def _fact(row: FactRow, refs: Mapping[int, str]) -> Fact | None:
    """The row with the ids of files; None for what is no fact, or about something that has come to its end."""
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
