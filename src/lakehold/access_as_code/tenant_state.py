"""The state of a tenant in the form in which files and databases are compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from lakehold import workspaces
from lakehold.access.facts.changes import resolve_fact
from lakehold.access.facts.loader import load_rows
from lakehold.access.facts.records import Attribute, Edge, Fact, Grant, mentioned_ids
from lakehold.access.facts.view import ALL_MEMBERS, AttributeRow, EdgeRow, FactRow, FactView, GrantRow, ResourceRow
from lakehold.access.model.errors import SourceLocation
from lakehold.access.model.policy import GROUP, MEMBER, Policy, compile_policy
from lakehold.access.session import AccessSession
from lakehold.access_as_code.file_format import ALL_REF, TENANT_REF, IdMapping, TimeSpan, unescape_ref
from lakehold.kit.clock import FOREVER, Moment
from lakehold.workspaces import registry

SUBJECTS = (MEMBER, GROUP, ALL_MEMBERS)
NOWHERE = SourceLocation("", 0)


@dataclass(frozen=True, slots=True)
class EntryMetadata:
    """The metadata of one entry besides its facts, without secrets. What is empty is left out."""

    email: str = ""
    service: bool = False
    """Whether the member is a service account."""
    description: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    authors: Mapping[str, object] = field(default_factory=dict)
    """The authors of its definition by part: the member, with the scope of their token if it is narrowed; or null."""
    schedules: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """When it is run, by trigger; of a trigger that is an entry itself, under its own id."""
    credentials: Sequence[str] = ()
    """The names of its secrets, whose values are nowhere in files."""

    def is_same(self, other: EntryMetadata) -> bool:
        """Whether both are equal as JSON, where true and 1 differ."""
        one, two = (json.dumps(each.to_json(), sort_keys=True) for each in (self, other))
        return one == two

    def merge(self, other: EntryMetadata) -> EntryMetadata:
        """Return this metadata with that which the other one has."""
        found = {name: getattr(other, name) or getattr(self, name) for name in ("email", "service", "description")}
        return EntryMetadata(
            **found,
            settings={**self.settings, **other.settings},
            authors={**self.authors, **other.authors},
            schedules={**self.schedules, **other.schedules},
            credentials=tuple(sorted({*self.credentials, *other.credentials})),
        )

    def to_json(self) -> dict[str, object]:
        """Return the metadata as a JSON object, without what is empty."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class ResourceEntry:
    """A member, group, workspace or other resource."""

    ref: str
    kind: str
    name: str
    place: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TimedFact:
    """A fact with the span in which it holds."""

    fact: Fact
    span: TimeSpan
    place: SourceLocation = field(default=NOWHERE, compare=False)
    implied: bool = field(default=False, compare=False)
    """Whether files leave it out, and it is what the model sets for imported entries."""


@dataclass(slots=True)
class TenantState:
    """The whole state of a tenant, with the ids that files use: entries, facts, metadata and models."""

    policy: Policy
    models: Mapping[str, str]
    """The models that are not those that come with Lakehold, as texts."""
    entries: dict[str, ResourceEntry] = field(default_factory=dict)
    facts: list[TimedFact] = field(default_factory=list)
    metadata: dict[str, EntryMetadata] = field(default_factory=dict)


Slot = tuple[str, ...]
"""Where only one fact can hold at a time: the value of an attribute, the end of an edge of which there is one."""

Entry = tuple[Fact, TimeSpan]
Timeline = tuple[Entry, ...]
"""What holds in a slot, one after the other."""
SlotFacts = dict[Slot, list[Entry]]


def slot_of(policy: Policy, entries: Mapping[str, ResourceEntry], fact: Fact) -> Slot | None:
    """Return the slot of a fact; None for one that the models do not know (any more)."""
    owner = entries.get(mentioned_ids(fact)[0])
    if owner is None or owner.kind not in policy.kinds:
        return None
    schema = policy.kinds[owner.kind].schema
    match fact:
        case Attribute(resource, name, value, member):
            declared = (schema.attributes if member is None else schema.membership).get(name)
            known = declared is not None and value in declared.values
            return ("attribute", resource, name, member or "") if known else None
        case Edge(name, source, target):
            end = entries.get(target)
            if name not in schema.edges or end is None or end.kind not in policy.kinds[owner.kind].steps[name].kinds:
                return None
            return ("edge", source, name, target if schema.edges[name].many else "")
        case Grant(subject, role, resource):
            holder = entries.get(subject)
            if role not in schema.roles or holder is None or holder.kind not in SUBJECTS:
                return None
            if schema.roles[role].person_only and holder.kind != MEMBER:
                return None
            return ("grant", resource, role, "" if schema.roles[role].single else subject)


def facts_by_slot(state: TenantState, policy: Policy, at: Moment) -> SlotFacts:
    """Return the facts that hold from a moment on, by slot, as they are stored."""
    found: SlotFacts = {}
    for timed in state.facts:
        slot, span = slot_of(policy, state.entries, timed.fact), timed.span.clip_from(at)
        if slot is not None and span is not None:
            found.setdefault(slot, []).append((timed.fact, span))
    return found


def timelines(state: TenantState, policy: Policy, at: Moment) -> dict[Slot, Timeline]:
    """Return the facts by slot in normal form, without defaults, so that equal states compare equal."""
    found = {
        slot: merge_spans(entry for entry in line if not is_default(policy, state.entries, entry[0]))
        for slot, line in facts_by_slot(state, policy, at).items()
    }
    return {slot: line for slot, line in found.items() if line}


def is_default(policy: Policy, entries: Mapping[str, ResourceEntry], fact: Fact) -> bool:
    """Whether the fact sets an attribute to its default."""
    if not isinstance(fact, Attribute):
        return False
    schema = policy.kinds[entries[fact.resource].kind].schema
    known = schema.attributes if fact.member is None else schema.membership
    return known[fact.name].default == fact.value


def merge_spans(line: Iterable[Entry]) -> Timeline:
    """Return the facts in order of time, with touching spans of the same fact merged."""
    done: list[Entry] = []
    for fact, span in sorted(line, key=lambda entry: (entry[1].begin, entry[1].end, repr(entry[0]))):
        before = next((n for n, (other, was) in enumerate(done) if other == fact and span.begin <= was.end), None)
        if before is None:
            done.append((fact, span))
        else:
            was = done[before][1]
            end = max(was.end, span.end)
            done[before] = (fact, TimeSpan(was.since, None if end == FOREVER else end))
    return tuple(done)


def child_kinds(policy: Policy, kind: str) -> Sequence[str]:
    """Return the kinds that may lie in this one, in the order of the models."""
    return [other.id for other in policy.kinds.values() if other.parent and kind in other.parent.kinds]


def schedule_keyword(policy: Policy, kind: str) -> str:
    """Return where files write schedules: `schedule` in a trigger, `schedules` in what is run if its model has no kind
    for triggers; empty for other kinds.
    """
    if registry.describe_kind(kind).is_trigger:
        return "schedule"
    has_triggers = any(registry.describe_kind(child).is_trigger for child in child_kinds(policy, kind))
    return "schedules" if kind in registry.runnable_kinds() and not has_triggers else ""


def view_at(state: TenantState, at: Moment) -> FactView:
    """Return a view of the facts that hold at a moment, with the ids that files use."""
    view = FactView(state.policy)
    for number, (ref, entry) in enumerate(state.entries.items(), 1):
        view.open(ResourceRow(number, ref, entry.kind, entry.name))
    for timed in state.facts:
        if timed.span.covers(at):
            view.open(resolve_fact(view, timed.fact))
    view.touch()
    return view


def merge_states(current: TenantState, desired: TenantState, at: Moment) -> TenantState:
    """Return the desired state with everything of the present one that it does not name."""
    models = {**current.models, **desired.models}
    policy = compile_policy(tuple(sorted({**current.policy.sources, **desired.models}.items())))
    entries = {**current.entries, **desired.entries}
    for ref, entry in current.entries.items():
        if ref not in desired.entries or desired.entries[ref].name == default_name(entry):
            entries[ref] = replace(entries[ref], name=entry.name)
    named = [each for each in desired.facts if not (each.implied and mentioned_ids(each.fact)[0] in current.entries)]
    slots = {slot_of(policy, entries, each.fact) for each in named if each.span.clip_from(at) is not None}
    kept = [each for each in current.facts if slot_of(policy, entries, each.fact) not in slots]
    metadata = {
        ref: current.metadata.get(ref, EntryMetadata()).merge(desired.metadata.get(ref, EntryMetadata()))
        for ref in {**current.metadata, **desired.metadata}
    }
    return TenantState(policy, models, entries, [*kept, *named], metadata)


def default_name(entry: ResourceEntry) -> str:
    """Return the name of an entry whose files name none."""
    return {TENANT_REF: "Tenant", ALL_REF: "All"}.get(entry.ref, unescape_ref(entry.ref))


def load_current_state(session: AccessSession, metadata: Mapping[str, EntryMetadata] | None = None) -> TenantState:
    """Return all that holds in this transaction, or will. The metadata is given by id."""
    view_policy, ids = session.read_view(lambda view: (view.policy, IdMapping.from_view(view, session.tenant)))
    rows = list(load_rows(session.transaction, session.tenant, session.at))
    resources = [row for _, row, _, _ in rows if isinstance(row, ResourceRow)]
    refs = {row.id: ids.ref(row.uid) for row in resources}
    shipped = workspaces.policy().sources
    state = TenantState(
        view_policy,
        {name: source for name, source in view_policy.sources.items() if shipped.get(name) != source},
        {refs[row.id]: ResourceEntry(refs[row.id], row.kind, row.name) for row in resources},
    )
    for _, row, since, until in rows:
        # What was taken back before it began is kept with an end that comes first.
        fact = _fact(row, refs) if since < until else None
        if fact is not None and slot_of(view_policy, state.entries, fact):
            state.facts.append(TimedFact(fact, TimeSpan(since, None if until >= FOREVER else until)))
    state.metadata.update(
        {ids.ref(uid): found for uid, found in (metadata or {}).items() if ids.ref(uid) in state.entries}
    )
    return state


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
