"""Exports a tenant to files: which file holds what, in which order, and how files are written to a folder."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant, mentioned_ids
from lakehold.access.facts.view import ALL_MEMBERS
from lakehold.access.model.errors import SourceLocation
from lakehold.access.model.policy import GROUP, MEMBER, MEMBER_OF, TENANT
from lakehold.access.model.schema import FLAG
from lakehold.access.session import AccessSession
from lakehold.access_as_code import file_format, json_schema, tenant_state, yaml_writer
from lakehold.access_as_code.desired_state import SUFFIXES, load_texts
from lakehold.access_as_code.file_format import ALWAYS, TimeSpan
from lakehold.access_as_code.parser import error_at, parse_document
from lakehold.access_as_code.tenant_state import Entry, EntryMetadata, ResourceEntry, Slot, TenantState, Timeline
from lakehold.access_as_code.yaml_writer import YamlLeaf, YamlTree
from lakehold.kit.clock import Moment

SCHEMA_FILE = "code.schema.json"
_MAX_DEPTH = 12
"""What lies deeper than this stands on its own and names its parent."""


def export_tenant(session: AccessSession, metadata: Mapping[str, EntryMetadata] | None = None) -> dict[str, str]:
    """Return the files of the whole tenant by name. The metadata is given by id."""
    state = tenant_state.load_current_state(session, metadata)
    files = FileLayout(state, session.at).files()
    return {**files, SCHEMA_FILE: json_schema.render_schema(state.policy)}


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """The result for one file: `written`, `removed`, or `kept` because it was right already."""

    file: str
    done: str


def write_files(folder: Path, files: Mapping[str, str]) -> list[WrittenFile]:
    """Bring a folder to these files. Tests in it stay: in their file, or alone if the file has gone."""
    folder.mkdir(parents=True, exist_ok=True)
    old_files = load_texts(folder)
    new_files = dict(files)
    for name, text in old_files.items():
        tests = _tests(text, name)
        if tests and name in files:
            new_files[name] = f"{files[name]}\n{tests}"
        elif tests:
            new_files[name] = text if parse_document(text, name).entries.keys() == {"tests"} else tests
    written = list(_write(folder, new_files))
    gone = [name for name in old_files if name not in new_files]
    for name in gone:
        (folder / name).unlink()
    return [*written, *(WrittenFile(name, "removed") for name in gone)]


def _write(folder: Path, files: Mapping[str, str]) -> Iterator[WrittenFile]:
    for name, text in sorted(files.items()):
        file, data = _inside(folder, name), text.encode("utf-8")
        if file.is_file() and file.read_bytes() == data:
            yield WrittenFile(name, "kept")
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        yield WrittenFile(name, "written")


def _inside(folder: Path, name: str) -> Path:
    """Return the path of this file, or refuse one outside the folder, because names may come from a server."""
    file = folder / name
    if file.suffix.lower() not in {*SUFFIXES, ".json"} or not file.resolve().is_relative_to(folder.resolve()):
        raise error_at(SourceLocation(name[:80], 1), "this is not a valid file name for access as code.")
    return file


def _tests(text: str, name: str) -> str:
    """Return the text of the section `tests:` of a file."""
    document = parse_document(text, name)
    if "model" in document.entries or "tests" not in document.entries:
        return ""
    first = document.entries["tests"][0].place.line
    after = [other.place.line - 1 for other, _ in document.entries.values() if other.place.line > first]
    last = min(after, default=max(document.ends, first))
    return "\n".join(text.splitlines()[first - 1 : last]).rstrip() + "\n"


@dataclass(slots=True)
class _EntryFacts:
    """All facts about one entry."""

    facts: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)
    """By `role`, `edge` or `attribute`, and name."""
    membership: dict[str, dict[str, list[Entry]]] = field(default_factory=dict)
    members: list[Entry] = field(default_factory=list)
    children: dict[str, list[str]] = field(default_factory=dict)


class FileLayout:
    """Lays out the state of a tenant from a moment on."""

    def __init__(self, state: TenantState, at: Moment) -> None:
        self._state = state
        self._names = {ref: entry.name for ref, entry in state.entries.items()}
        self._about: dict[str, _EntryFacts] = {ref: _EntryFacts() for ref in state.entries}
        self._parents: dict[str, str] = {}
        for slot, line in tenant_state.timelines(state, state.policy, at).items():
            self._collect(slot, line)
        self._add_defaults()
        self._find_parents()

    def files(self) -> dict[str, str]:
        """Return the text of every file by its name."""
        people = {
            "all": self._entry_tree(file_format.ALL_REF) if file_format.ALL_REF in self._state.entries else {},
            "members": self._kind_trees(MEMBER),
            "groups": self._kind_trees(GROUP),
        }
        found = {
            "tenant.yaml": self._file("", {"tenant": self._entry_tree(file_format.TENANT_REF)}),
            "people.yaml": self._file("", {name: part for name, part in people.items() if part}),
        }
        tops = [ref for ref in sorted(self._state.entries) if ref not in self._parents and not self._has_section(ref)]
        for ref, name in _file_names({ref: self._names[ref] for ref in tops}).items():
            kind = YamlLeaf(self._state.entries[ref].kind)
            found[f"workspaces/{name}.yaml"] = self._file(
                "../", {"workspaces": {ref: {"kind": kind, **self._entry_tree(ref)}}}
            )
        return found | {f"models/{name}.yaml": source for name, source in sorted(self._state.models.items())}

    @staticmethod
    def _file(up: str, sections: Mapping[str, YamlTree]) -> str:
        return f"# yaml-language-server: $schema={up}{SCHEMA_FILE}\n" + yaml_writer.render_document(sections)

    def _collect(self, slot: Slot, line: Timeline) -> None:
        about = self._about[mentioned_ids(line[0][0])[0]]
        for fact, span in line:
            match fact:
                case Edge(name, source, target) if name == MEMBER_OF and self._kind(source) == MEMBER:
                    self._about[target].members.append((fact, span))
                case Attribute(_, name, _, member) if member is not None:
                    about.membership.setdefault(member, {}).setdefault(name, []).append((fact, span))
                case Attribute(_, name) | Edge(name) | Grant(_, name):
                    about.facts.setdefault((slot[0], name), []).append((fact, span))

    def _add_defaults(self) -> None:
        """Add defaults that files would change by leaving them out."""
        for ref, about in self._about.items():
            for attribute in self._state.policy.kinds[self._kind(ref)].schema.attributes.values():
                if attribute.imported and ("attribute", attribute.name) not in about.facts:
                    so = Attribute(ref, attribute.name, attribute.default)
                    about.facts["attribute", attribute.name] = [(so, ALWAYS)]

    def _kind(self, ref: str) -> str:
        return self._state.entries[ref].kind

    def _has_section(self, ref: str) -> bool:
        """Whether it has a section of its own."""
        return self._kind(ref) in {TENANT, ALL_MEMBERS, MEMBER, GROUP}

    def _find_parents(self) -> None:
        """Find the parent under which each entry is written."""
        above: dict[str, str] = {}
        for ref in self._state.entries:
            step = self._state.policy.kinds[self._kind(ref)].parent
            edges = self._about[ref].facts.get(("edge", step.edge), ()) if step else ()
            now = [fact for fact, span in edges if span.since is None]
            if now and isinstance(now[0], Edge):
                above[ref] = now[0].target
        for ref, parent in above.items():
            if self._kind(parent) != TENANT and not self._has_section(ref) and self._depth(ref, above) <= _MAX_DEPTH:
                self._parents[ref] = parent
                self._about[parent].children.setdefault(self._kind(ref), []).append(ref)
        for ref, about in self._about.items():
            self._omit_implied_parent(ref, about, above)

    @staticmethod
    def _depth(ref: str, above: Mapping[str, str]) -> int:
        depth = 0
        while ref in above and depth <= _MAX_DEPTH:
            ref, depth = above[ref], depth + 1
        return depth

    def _omit_implied_parent(self, ref: str, about: _EntryFacts, above: Mapping[str, str]) -> None:
        """Omit the edge to the parent where the nesting implies it."""
        step = self._state.policy.kinds[self._kind(ref)].parent
        if step is None:
            return
        entries = about.facts.get(("edge", step.edge), [])
        implied = above.get(ref) == file_format.TENANT_REF if ref not in self._parents else True
        if len(entries) == 1 and entries[0][1] == ALWAYS and implied:
            del about.facts["edge", step.edge]
        elif not entries:
            about.facts["loose", ""] = []

    def _kind_trees(self, kind: str) -> dict[str, YamlTree]:
        return {ref: self._entry_tree(ref) for ref in sorted(self._state.entries) if self._kind(ref) == kind}

    def _entry_tree(self, ref: str) -> dict[str, YamlTree]:
        entry, about = self._state.entries[ref], self._about[ref]
        tree: dict[str, YamlTree] = {}
        if ref == file_format.TENANT_REF or entry.name != tenant_state.default_name(entry):
            tree["name"] = YamlLeaf(yaml_writer.quote_scalar(entry.name))
        if ref in self._state.metadata:
            tree |= _metadata_tree(
                self._state.metadata[ref], tenant_state.schedule_keyword(self._state.policy, entry.kind)
            )
        if ("loose", "") in about.facts:
            tree["loose"] = YamlLeaf("true")
        tree |= self._fact_trees(entry, about)
        if about.membership:
            tree["membership"] = {
                member: {name: self._value_tree(entries) for name, entries in sorted(values.items())}
                for member, values in sorted(about.membership.items())
            }
        if about.members:
            tree["members"] = self._value_tree(about.members, reverse=True)
        if about.children:
            tree["holds"] = self._child_trees(entry, about.children)
        return tree

    def _fact_trees(self, entry: ResourceEntry, about: _EntryFacts) -> dict[str, YamlTree]:
        schema = self._state.policy.kinds[entry.kind].schema
        order = [
            *(("grant", name) for name in schema.roles),
            *(("edge", name) for name in schema.edges),
            *(("attribute", name) for name in schema.attributes),
        ]
        return {
            file_format.escape_keyword(key[1]): self._value_tree(about.facts[key])
            for key in order
            if key in about.facts
        }

    def _child_trees(self, entry: ResourceEntry, inside: Mapping[str, list[str]]) -> dict[str, YamlTree]:
        model = entry.kind.partition(".")[0]
        return {
            kind.removeprefix(f"{model}."): {ref: self._entry_tree(ref) for ref in sorted(inside[kind])}
            for kind in tenant_state.child_kinds(self._state.policy, entry.kind)
            if kind in inside
        }

    def _value_tree(self, entries: list[Entry], *, reverse: bool = False) -> YamlTree:
        """Return the value of a field, one entry or several. With `reverse`, an edge is named by its source."""
        parts = [(_fact_end(fact, reverse=reverse), fact, span) for fact, span in entries]
        parts.sort(key=lambda part: (part[2].begin, part[0], part[2].end))
        found = [self._fact_tree("who" if reverse else _KEY[type(fact)], end, fact, span) for end, fact, span in parts]
        return found[0] if len(found) == 1 else found

    def _fact_tree(self, key: str, end: str, fact: Fact, span: TimeSpan) -> YamlTree:
        is_value = isinstance(fact, Attribute)
        text = end if is_value and end in FLAG else yaml_writer.quote_scalar(end)
        leaf = YamlLeaf(text, "" if is_value else file_format.readable_name(end, self._names))
        if span == ALWAYS:
            return leaf
        bounds = {"from": span.since, "until": span.until}
        return {key: leaf} | {
            name: YamlLeaf(file_format.format_moment(at)) for name, at in bounds.items() if at is not None
        }


_KEY = {Grant: "who", Edge: "to", Attribute: "is"}


def _metadata_tree(metadata: EntryMetadata, schedule_keyword: str) -> dict[str, YamlTree]:
    found: dict[str, YamlTree] = {"email": YamlLeaf(yaml_writer.quote_scalar(metadata.email))} if metadata.email else {}
    if metadata.service:
        found["service"] = YamlLeaf("true")
    if metadata.description:
        found["description"] = yaml_writer.block_scalar(metadata.description)
    if metadata.settings:
        found["settings"] = _leaves(dict(sorted(metadata.settings.items())))
    if metadata.authors:
        whole = metadata.authors.get(file_format.DEFINITION)
        only = len(metadata.authors) == 1 and not isinstance(whole, Mapping)
        found["authors"] = YamlLeaf(yaml_writer.flow_value(whole if only else metadata.authors))
    schedules = {uid: _leaves(schedule) for uid, schedule in sorted(metadata.schedules.items())}
    if schedules and schedule_keyword:
        found[schedule_keyword] = schedules if schedule_keyword == "schedules" else next(iter(schedules.values()))
    if metadata.credentials:
        found["credentials"] = YamlLeaf(yaml_writer.flow_value(list(metadata.credentials)))
    return found


def _leaves(values: Mapping[str, object]) -> dict[str, YamlTree]:
    return {name: YamlLeaf(yaml_writer.flow_value(value)) for name, value in values.items()}


def _fact_end(fact: Fact, *, reverse: bool) -> str:
    """Return the other end of a fact, or its value."""
    match fact:
        case Grant(subject):
            return subject
        case Edge(_, source, target):
            return source if reverse else target
        case Attribute(_, _, value):
            return value


def _file_names(names: Mapping[str, str]) -> dict[str, str]:
    """Return a file name for each workspace, with the id appended where two have the same name."""
    plain = {ref: slug(name) or "workspace" for ref, name in names.items()}
    shared = Counter(plain.values())
    named = {ref: f"{name}-{slug(ref)}" if shared[name] > 1 else name for ref, name in plain.items()}
    taken: Counter[str] = Counter()
    for ref, name in named.items():
        taken[name] += 1
        if taken[name] > 1:
            named[ref] = f"{name}-{taken[name]}"
    if len(set(named.values())) == len(named):
        return named
    return {ref: f"workspace-{number}" for number, ref in enumerate(named, 1)}


def slug(name: str) -> str:
    """Return the name with only characters that are safe in file names."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-")[:60].strip("-")
