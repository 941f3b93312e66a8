"""A company as files: which file holds what, and in which order."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant, mentioned_ids
from lakehold.access.facts.view import ALL_MEMBERS
from lakehold.access.model.policy import GROUP, MEMBER, MEMBER_OF, TENANT
from lakehold.access.model.schema import FLAG
from lakehold.code import emit, refs, times, words
from lakehold.code.company import Company, Line, Slot, Thing, children, timelines
from lakehold.code.emit import Leaf, Tree
from lakehold.code.times import ALWAYS, Span
from lakehold.code.told import Told
from lakehold.kit.clock import Moment

SCHEMA_FILE = "code.schema.json"
_DEEPEST = 12
"""What lies deeper than this stands on its own and names its parent."""

Entries = list[tuple[Fact, Span]]


@dataclass(slots=True)
class _About:
    """Everything that is said of one thing."""

    said: dict[tuple[str, str], Entries] = field(default_factory=dict)
    """By `role`, `edge` or `attribute`, and name."""
    membership: dict[str, dict[str, Entries]] = field(default_factory=dict)
    members: Entries = field(default_factory=list)
    inside: dict[str, list[str]] = field(default_factory=dict)


class Layout:
    """Lays out one company as it is from a moment on."""

    def __init__(self, company: Company, at: Moment) -> None:
        self._company = company
        self._names = company.names
        self._about: dict[str, _About] = {ref: _About() for ref in company.things}
        self._parents: dict[str, str] = {}
        for slot, line in timelines(company, company.policy, at).items():
            self._sort(slot, line)
        self._say_defaults()
        self._nest()

    def files(self) -> dict[str, str]:
        """The text of every file by its name."""
        people = {
            "all": self._alone(refs.ALL),
            "members": self._all(MEMBER),
            "groups": self._all(GROUP),
        }
        found = {
            "tenant.yaml": self._file("", {"tenant": self._thing(refs.TENANT)}),
            "people.yaml": self._file("", {name: part for name, part in people.items() if part}),
        }
        tops = [ref for ref in sorted(self._company.things) if ref not in self._parents and not self._is_own(ref)]
        for ref, name in _file_names({ref: self._names[ref] for ref in tops}).items():
            kind = Leaf(self._company.things[ref].kind)
            found[f"workspaces/{name}.yaml"] = self._file(
                "../", {"workspaces": {ref: {"kind": kind, **self._thing(ref)}}}
            )
        return found | {f"models/{name}.yaml": source for name, source in sorted(self._company.models.items())}

    @staticmethod
    def _file(up: str, sections: Mapping[str, Tree]) -> str:
        return f"# yaml-language-server: $schema={up}{SCHEMA_FILE}\n" + emit.document(sections)

    # Sorting facts

    def _sort(self, slot: Slot, line: Line) -> None:
        about = self._about[mentioned_ids(line[0][0])[0]]
        for fact, span in line:
            match fact:
                case Edge(name, source, target) if name == MEMBER_OF and self._kind(source) == MEMBER:
                    self._about[target].members.append((fact, span))
                case Attribute(_, name, _, member) if member is not None:
                    about.membership.setdefault(member, {}).setdefault(name, []).append((fact, span))
                case Attribute(_, name) | Edge(name) | Grant(_, name):
                    about.said.setdefault((slot[0], name), []).append((fact, span))

    def _say_defaults(self) -> None:
        """What files would change by their silence is said."""
        for ref, about in self._about.items():
            for attribute in self._company.policy.kinds[self._kind(ref)].schema.attributes.values():
                if attribute.imported and ("attribute", attribute.name) not in about.said:
                    so = Attribute(ref, attribute.name, attribute.default)
                    about.said["attribute", attribute.name] = [(so, ALWAYS)]

    def _kind(self, ref: str) -> str:
        return self._company.things[ref].kind

    def _is_own(self, ref: str) -> bool:
        """Whether it has a section of its own."""
        return self._kind(ref) in {TENANT, ALL_MEMBERS, MEMBER, GROUP}

    def _nest(self) -> None:
        """Find the parent under which each thing stands."""
        above: dict[str, str] = {}
        for ref in self._company.things:
            step = self._company.policy.kinds[self._kind(ref)].parent
            now = (
                [fact for fact, span in self._about[ref].said.get(("edge", step.edge), ()) if span.since is None]
                if step
                else []
            )
            if now and isinstance(now[0], Edge):
                above[ref] = now[0].target
        for ref, parent in above.items():
            if self._kind(parent) != TENANT and not self._is_own(ref) and self._depth(ref, above) <= _DEEPEST:
                self._parents[ref] = parent
                self._about[parent].inside.setdefault(self._kind(ref), []).append(ref)
        for ref, about in self._about.items():
            self._leave_out_parent(ref, about, above)

    @staticmethod
    def _depth(ref: str, above: Mapping[str, str]) -> int:
        depth = 0
        while ref in above and depth <= _DEEPEST:
            ref, depth = above[ref], depth + 1
        return depth

    def _leave_out_parent(self, ref: str, about: _About, above: Mapping[str, str]) -> None:
        """The edge to the parent need not be said where the place says it."""
        step = self._company.policy.kinds[self._kind(ref)].parent
        if step is None:
            return
        entries = about.said.get(("edge", step.edge), [])
        implied = above.get(ref) == refs.TENANT if ref not in self._parents else True
        if len(entries) == 1 and entries[0][1] == ALWAYS and implied:
            del about.said["edge", step.edge]
        elif not entries:
            about.said["loose", ""] = []

    # Things as trees

    def _all(self, kind: str) -> dict[str, Tree]:
        return {ref: self._thing(ref) for ref in sorted(self._company.things) if self._kind(ref) == kind}

    def _alone(self, ref: str) -> Mapping[str, Tree]:
        return self._thing(ref) if ref in self._company.things else {}

    def _thing(self, ref: str) -> dict[str, Tree]:
        thing, about = self._company.things[ref], self._about[ref]
        tree: dict[str, Tree] = {}
        if thing.name != _default_name(thing):
            tree["name"] = Leaf(emit.quoted(thing.name))
        if ref in self._company.told:
            tree |= _told(self._company.told[ref])
        if ("loose", "") in about.said:
            tree["loose"] = Leaf("true")
        tree |= self._said(thing, about)
        if about.membership:
            tree["membership"] = {
                member: {name: self._value(entries) for name, entries in sorted(values.items())}
                for member, values in sorted(about.membership.items())
            }
        if about.members:
            tree["members"] = self._value(about.members, behind=True)
        if about.inside:
            tree["holds"] = self._inside(thing, about.inside)
        return tree

    def _said(self, thing: Thing, about: _About) -> dict[str, Tree]:
        schema = self._company.policy.kinds[thing.kind].schema
        order = [
            *(("grant", name) for name in schema.roles),
            *(("edge", name) for name in schema.edges),
            *(("attribute", name) for name in schema.attributes),
        ]
        return {words.written(key[1]): self._value(about.said[key]) for key in order if key in about.said}

    def _inside(self, thing: Thing, inside: Mapping[str, list[str]]) -> dict[str, Tree]:
        model = thing.kind.partition(".")[0]
        return {
            kind.removeprefix(f"{model}."): {ref: self._thing(ref) for ref in sorted(inside[kind])}
            for kind in children(self._company.policy, thing.kind)
            if kind in inside
        }

    def _value(self, entries: Entries, *, behind: bool = False) -> Tree:
        """What stands behind a word: one entry or several. From `behind`, an edge is named by where it comes from."""
        parts = [(_end(fact, behind=behind), fact, span) for fact, span in entries]
        parts.sort(key=lambda part: (part[2].begin, part[0], part[2].end))
        found = [self._entry("who" if behind else _KEY[type(fact)], end, fact, span) for end, fact, span in parts]
        return found[0] if len(found) == 1 else found

    def _entry(self, key: str, end: str, fact: Fact, span: Span) -> Tree:
        is_value = isinstance(fact, Attribute)
        text = end if is_value and end in FLAG else emit.quoted(end)
        leaf = Leaf(text, "" if is_value else refs.opaque(end, self._names))
        if span == ALWAYS:
            return leaf
        bounds = {"from": span.since, "until": span.until}
        return {key: leaf} | {name: Leaf(times.told(at)) for name, at in bounds.items() if at is not None}


_KEY = {Grant: "who", Edge: "to", Attribute: "is"}


def _told(told: Told) -> dict[str, Tree]:
    found: dict[str, Tree] = {"email": Leaf(emit.quoted(told.email))} if told.email else {}
    if told.service:
        found["service"] = Leaf("true")
    if told.description:
        found["description"] = emit.paragraphs(told.description)
    if told.settings:
        found["settings"] = {name: Leaf(emit.flow(value)) for name, value in sorted(told.settings.items())}
    return found


def _default_name(thing: Thing) -> str:
    return {refs.TENANT: "", refs.ALL: "All"}.get(thing.ref, refs.plain(thing.ref))


def _end(fact: Fact, *, behind: bool) -> str:
    """What stands in the entry of a fact: the other one of the two, or the value."""
    match fact:
        case Grant(subject):
            return subject
        case Edge(_, source, target):
            return source if behind else target
        case Attribute(_, _, value):
            return value


def _file_names(names: Mapping[str, str]) -> dict[str, str]:
    """A file's name for each workspace: its own, with the id behind it where two are called the same."""
    plain = {ref: slug(name) or "workspace" for ref, name in names.items()}
    shared = Counter(plain.values())
    named = {ref: f"{name}-{slug(ref)}" if shared[name] > 1 else name for ref, name in plain.items()}
    taken: Counter[str] = Counter()
    for ref, name in named.items():
        taken[name] += 1
        if taken[name] > 1:
            named[ref] = f"{name}-{taken[name]}"
    return named if len(set(named.values())) == len(named) else _numbered(named)


def _numbered(names: Iterable[str]) -> dict[str, str]:
    return {ref: f"workspace-{number}" for number, ref in enumerate(names, 1)}


def slug(name: str) -> str:
    """The name with nothing in it that a file's name could stumble over."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-")[:60].strip("-")
