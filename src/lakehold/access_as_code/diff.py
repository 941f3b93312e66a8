"""The differences between a tenant and files, as bundles of steps that belong together."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lakehold import workspaces
from lakehold.access.facts.records import Add, Adopt, Attribute, Change, Edge, Fact, Grant, Remove, mentioned_ids
from lakehold.access.model.errors import quote_excerpt
from lakehold.access_as_code import tenant_state
from lakehold.access_as_code.file_format import ALWAYS, IdMapping, TimeSpan
from lakehold.access_as_code.parser import error_at
from lakehold.access_as_code.steps import Bundle, Create, Delete, MakeChange, Rename
from lakehold.access_as_code.tenant_state import Entry, ResourceEntry, Slot, SlotFacts, TenantState, Timeline
from lakehold.kit.clock import FOREVER, Moment

_BEGINNING = -FOREVER


def slot_changes(current: Sequence[Entry], desired: Timeline, is_default: Callable[[Fact], bool]) -> list[MakeChange]:
    """Return the changes that lead from the present facts to the desired ones, in order."""
    adds = [_add(entry) for entry in desired]
    new = [_add(entry) for entry in desired if entry not in current]
    facts = dict.fromkeys(fact for fact, _ in current)
    kept = {fact for fact, _ in desired}
    gone = [MakeChange(Remove(fact)) for fact in facts if fact not in kept]
    everything = [MakeChange(Remove(fact)) for fact in facts]
    for tried in ([], new, adds, gone, [*gone, *new], [*gone, *adds]):
        if tenant_state.merge_spans(entry for entry in _after(current, tried) if not is_default(entry[0])) == desired:
            return tried
    return [*everything, *adds]


def _add(entry: Entry) -> MakeChange:
    fact, span = entry
    return MakeChange(Add(fact), span.since, span.until)


def _after(current: Sequence[Entry], changes: Iterable[MakeChange]) -> Sequence[Entry]:
    """Return the facts after these changes. A fact that begins replaces the others in its slot; grants and edges keep
    their own periods.
    """
    line = list(current)
    for timed in changes:
        change, span = timed.change, TimeSpan(timed.since, timed.until)
        if isinstance(change, Remove):
            is_value = isinstance(change.fact, Attribute)
            line = [entry for entry in line if not is_value and entry[0] != change.fact]
        elif isinstance(change, Add) and isinstance(change.fact, Attribute):
            if not any(_is_open(entry, change.fact, span) for entry in line):
                line = [*_cut(line, span.begin), (change.fact, span)]
        elif isinstance(change, Add):
            own = [entry for entry in line if entry[0] == change.fact]
            others = [entry for entry in line if entry[0] != change.fact]
            line = [*_cut(others, span.begin), *own, (change.fact, span)]
    return line


def _is_open(entry: Entry, fact: Fact, span: TimeSpan) -> bool:
    return entry[0] == fact and entry[1].begin <= span.begin and entry[1].end == span.end


def _cut(line: Sequence[Entry], at: int) -> list[Entry]:
    return [
        (fact, span if span.end <= at else TimeSpan(span.since, at))
        for fact, span in line
        if span.begin < at and at != _BEGINNING
    ]


def find_changes(current: TenantState, desired: TenantState, ids: IdMapping, at: Moment) -> Iterator[Bundle]:
    """Yield a bundle for everything that differs, in the order in which it is best made."""
    _refuse_other_kinds(current, desired)
    policy = desired.policy
    yield from ((MakeChange(Adopt(source)),) for source in models_to_adopt(current, desired))
    desired_facts = tenant_state.timelines(desired, policy, at)
    current_facts = tenant_state.facts_by_slot(current, policy, at)
    for create in CreationOrder(desired, desired_facts, current.entries).create_steps():
        current_facts |= _initial_facts(desired, create)
        edges = {edge: tuple(map(ids.uid, targets)) for edge, targets in create.edges.items()}
        yield (replace(create, uid=ids.uid(create.uid), edges=edges),)
    every_slot = dict.fromkeys((*desired_facts, *current_facts))
    slots = [(current_facts.get(slot, []), desired_facts.get(slot, ())) for slot in every_slot]
    yield from _facts(current, desired, slots, ids)
    for ref, entry in desired.entries.items():
        before = current.entries.get(ref)
        if before is not None and before.name != entry.name:
            yield (Rename(ids.uid(ref), entry.name, before.name),)
    yield from _deletes(current, desired, ids)


def _refuse_other_kinds(current: TenantState, desired: TenantState) -> None:
    for ref, entry in desired.entries.items():
        before = current.entries.get(ref)
        if before is not None and before.kind != entry.kind:
            raise error_at(
                entry.place,
                f"{quote_excerpt(ref)} is a {before.kind} in the tenant, and a {entry.kind} here.",
                "Choose another id: the kind of an id never changes.",
            )


def models_to_adopt(current: TenantState, desired: TenantState) -> list[str]:
    """Return the models to adopt, each after those that it extends."""
    current_sources, desired_sources = current.policy.sources, desired.policy.sources
    used = {entry.kind.partition(".")[0] for entry in desired.entries.values()}
    new = {
        name
        for name, source in desired_sources.items()
        if current_sources.get(name) != source and (name in current_sources or name in desired.models or name in used)
    }
    order: dict[str, None] = {}
    todo = [(name, False) for name in sorted(new, reverse=True)]
    begun: set[str] = set()
    while todo:
        name, done = todo.pop()
        if done:
            order[name] = None
        elif name not in begun and (name in new or name not in current_sources):
            begun.add(name)
            todo.append((name, True))
            todo.extend((str(base), False) for base in desired.policy.models[name].extends)
    return [desired_sources[name] for name in order]


def models_to_keep(current: TenantState, desired: TenantState) -> list[str]:
    """Return models of the tenant that the files do not name. They stay: a model can be replaced, not removed."""
    shipped = workspaces.policy().sources
    return [name for name in current.models if name not in desired.models and name not in shipped]


def _initial_facts(desired: TenantState, create: Create) -> SlotFacts:
    """Return the facts by slot that an entry has from its creation on."""
    facts: list[Fact] = [Edge(edge, create.uid, end) for edge, ends in create.edges.items() for end in ends]
    facts += [Attribute(create.uid, name, value) for name, value in create.attributes.items()]
    slots = {fact: tenant_state.slot_of(desired.policy, desired.entries, fact) for fact in facts}
    return {slot: [(fact, ALWAYS)] for fact, slot in slots.items() if slot is not None}


def _facts(
    current: TenantState, desired: TenantState, slots: Iterable[tuple[Sequence[Entry], Timeline]], ids: IdMapping
) -> Iterator[Bundle]:
    gone = current.entries.keys() - desired.entries.keys()
    everything = {**current.entries, **desired.entries}
    found: list[tuple[int, Bundle]] = []
    for before, after in slots:
        changes = slot_changes(before, after, lambda fact: tenant_state.is_default(desired.policy, everything, fact))
        kept = [make for make in changes if not _ends_anyway(current, make.change, gone)]
        if kept:
            found.append((_rank(kept), tuple(_with_tenant_ids(make, ids) for make in kept)))
    found.sort(key=lambda entry: entry[0])
    yield from (bundle for _, bundle in found)


def _ends_anyway(current: TenantState, change: Change, gone: set[str]) -> bool:
    """Whether a removed fact ends with a deleted entry anyway. What stays is moved out of it first."""
    if not isinstance(change, Remove):
        return False
    fact = change.fact
    moves_out = isinstance(fact, Edge) and fact.source not in gone and _is_parent(current, fact)
    return not moves_out and not gone.isdisjoint(mentioned_ids(fact))


def _with_tenant_ids(make: MakeChange, ids: IdMapping) -> MakeChange:
    change = make.change
    assert not isinstance(change, Adopt)  # noqa: S101 - slots hold facts only
    return MakeChange(type(change)(ids.fact(change.fact)), make.since, make.until)


def _rank(changes: list[MakeChange]) -> int:
    """Return the order of a bundle: edges that end or begin, attributes, roles that are given or taken."""
    adds = any(isinstance(make.change, Add) for make in changes)
    match changes[0].change:
        case Add(Edge()) | Remove(Edge()):
            return 1 if adds else 0
        case Add(Grant()) | Remove(Grant()):
            return 3 if adds else 4
        case _:
            return 2


def _deletes(current: TenantState, desired: TenantState, ids: IdMapping) -> Iterator[Bundle]:
    """Yield the deletions, inner ones first."""
    above = {
        held.fact.source: held.fact.target
        for held in current.facts
        if isinstance(held.fact, Edge) and _is_parent(current, held.fact)
    }

    def depth(ref: str) -> int:
        steps, here = 0, ref
        while here in above and steps < len(above):
            here, steps = above[here], steps + 1
        return steps

    gone = [entry for ref, entry in current.entries.items() if ref not in desired.entries]
    for entry in sorted(gone, key=lambda entry: (-depth(entry.ref), entry.ref)):
        yield (Delete(entry.kind, ids.uid(entry.ref), entry.name),)


def _is_parent(company: TenantState, edge: Edge) -> bool:
    source = company.entries.get(edge.source)
    parent = company.policy.kinds[source.kind].parent if source else None
    return parent is not None and parent.edge == edge.name


class CreationOrder:
    """Orders the creation of entries that are in the files and not in the tenant yet."""

    def __init__(self, desired: TenantState, desired_facts: Mapping[Slot, Timeline], existing: Collection[str]) -> None:
        self._desired = desired
        self._existing = existing
        new = [entry for ref, entry in desired.entries.items() if ref not in existing]
        # People first.
        self._new = [
            entry.ref for entry in sorted(new, key=lambda entry: (entry.kind not in tenant_state.SUBJECTS, entry.ref))
        ]
        self._edges: dict[str, dict[str, list[str]]] = {ref: {} for ref in self._new}
        self._attributes: dict[str, dict[str, str]] = {ref: {} for ref in self._new}
        for line in desired_facts.values():
            fact, span = line[0]
            if len(line) > 1 or span != ALWAYS:
                continue
            if isinstance(fact, Edge) and fact.source in self._edges:
                self._edges[fact.source].setdefault(fact.name, []).append(fact.target)
            elif isinstance(fact, Attribute) and fact.member is None and fact.resource in self._attributes:
                self._attributes[fact.resource][fact.name] = fact.value
        self._parents = self._find_parents()

    def create_steps(self) -> list[Create]:
        """Return the steps that create the entries, parents and ends of edges first as far as possible."""
        done: dict[str, Create] = {}
        begun: set[str] = set()
        for start in self._new:
            todo = [(start, False)]
            while todo:
                ref, is_ready = todo.pop()
                if is_ready:
                    done[ref] = self._create(self._desired.entries[ref], done)
                elif ref in self._edges and ref not in begun and not self._is_inside(ref, begun - done.keys()):
                    begun.add(ref)
                    todo.append((ref, True))
                    todo.extend((end, False) for ends in self._edges[ref].values() for end in reversed(ends))
                    todo.append((self._parents[ref], False))
        return list(done.values())

    def _create(self, entry: ResourceEntry, done: Collection[str]) -> Create:
        """Return one step, with the edges whose ends exist by then."""
        known = {
            name: tuple(sorted(end for end in ends if end in self._existing or end in done))
            for name, ends in self._edges[entry.ref].items()
        }
        edges = {name: ends for name, ends in known.items() if ends}
        parent = self._desired.policy.kinds[entry.kind].parent
        if parent is not None:
            edges[parent.edge] = (self._parents[entry.ref],)
        return Create(entry.kind, entry.ref, entry.name, edges, self._attributes[entry.ref])

    def _is_inside(self, ref: str, unfinished: Collection[str]) -> bool:
        """Whether it lies in something that waits for the ends of its edges, and so has to wait itself."""
        while ref in self._parents:
            ref = self._parents[ref]
            if ref in unfinished:
                return True
        return False

    def _find_parents(self) -> dict[str, str]:
        """Return the parent in which each entry is created. Nothing is created without a parent, so what is to lie in
        nothing, or in something only later, is created somewhere and taken out again.
        """
        found: dict[str, str] = {}
        left = self._new
        while left:
            waiting = [ref for ref in left if not self._find_parent(ref, found)]
            if len(waiting) == len(left):
                entry = self._desired.entries[waiting[0]]
                parent = self._desired.policy.kinds[entry.kind].parent
                message = f"there is no {' or '.join(parent.kinds if parent else ())} in which "
                raise error_at(entry.place, f"{message}{quote_excerpt(entry.ref)} could be created.", "Declare one.")
            left = waiting
        return found

    def _find_parent(self, ref: str, found: dict[str, str]) -> bool:
        """Find a parent that exists or is created before, and return whether there is one."""
        things = self._desired.entries
        parent = self._desired.policy.kinds[things[ref].kind].parent
        if parent is None:
            found[ref] = ""
            return True
        possible = self._edges[ref].get(parent.edge) or [r for r, other in things.items() if other.kind in parent.kinds]
        ready = [end for end in possible if end in self._existing or end in found]
        if ready:
            found[ref] = min(ready)
        return bool(ready)
