"""Reads members, groups, workspaces and the resources in them from files, with the facts about each."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import ALL_MEMBERS
from lakehold.access.model.errors import SourceLocation, did_you_mean, quote_excerpt
from lakehold.access.model.policy import GROUP, MEMBER, MEMBER_OF, TENANT
from lakehold.access.model.schema import AttributeKind, KindPolicy
from lakehold.access_as_code import file_format
from lakehold.access_as_code.file_format import ALWAYS, TimeSpan
from lakehold.access_as_code.parser import ListNode, MappingNode, Node, ProblemList, ScalarNode, error_at
from lakehold.access_as_code.tenant_state import (
    EntryMetadata,
    ResourceEntry,
    TenantState,
    TimedFact,
    child_kinds,
    schedule_keyword,
)
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import valid_id, valid_name
from lakehold.workspaces import registry

_COMMON_KEYWORDS = ("name", "description", "settings", "authors", "credentials", "membership", "loose", "holds")
_EXTRA_KEYWORDS = {MEMBER: ("email", "service"), GROUP: ("members",)}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LONGEST_NUMBER = 300
_CONSTANTS: Mapping[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}
_SECTIONS = {MEMBER: "members", GROUP: "groups", TENANT: "tenant", ALL_MEMBERS: "all"}


class ResourceReader:
    """Reads entries into a tenant's state, and collects problems."""

    def __init__(self, state: TenantState, problems: ProblemList) -> None:
        self._state = state
        self._problems = problems
        self._addresses: dict[str, str] = {}

    def read_section(self, name: str, node: Node) -> None:
        """Read a section: an entry that always exists, entries of one kind, or workspaces, which name their kind."""
        match name:
            case "tenant":
                self._read_entry(TENANT, file_format.TENANT_REF, node.place, node, None)
            case "all":
                self._read_entry(ALL_MEMBERS, file_format.ALL_REF, node.place, node, file_format.TENANT_REF)
            case "members" | "groups":
                entries = file_format.read_mapping(node, name).entries.values()
                self._read_entries(MEMBER if name == "members" else GROUP, entries, file_format.TENANT_REF)
            case "workspaces":
                for key, value in file_format.read_mapping(node, name).entries.values():
                    with self._problems.collect():
                        kind = self._kind(file_format.read_mapping(value, "a workspace").entries.get("kind"), key.place)
                        self._read_entry(kind, key.value, key.place, value, None)

    def _read_entries(self, kind: str, entries: Iterable[tuple[ScalarNode, Node]], parent: str) -> None:
        for key, value in entries:
            with self._problems.collect():
                self._read_entry(kind, key.value, key.place, value, parent)

    def _kind(self, entry: tuple[ScalarNode, Node] | None, place: SourceLocation) -> str:
        if entry is None:
            raise error_at(place, "`kind:` is missing.", "State the kind of workspace, as in `kind: marts.project`.")
        kind = file_format.read_text(entry[1], "kind")
        known = self._state.policy.kinds
        if kind in _SECTIONS:
            raise error_at(entry[1].place, f"a {kind} is not a workspace.", f"Write it under `{_SECTIONS[kind]}:`.")
        if kind not in known:
            raise error_at(entry[1].place, f"there is no kind {quote_excerpt(kind)}.", did_you_mean(kind, known))
        return kind

    def _read_entry(self, kind: str, ref: str, place: SourceLocation, node: Node, parent: str | None) -> None:
        found = file_format.read_mapping(node, kind, may_be_empty=True).entries
        entry = ResourceEntry(ref, kind, self._name(ref, place, found), place)
        first = self._state.entries.setdefault(ref, entry)
        if first is not entry:
            raise error_at(
                place,
                f"{quote_excerpt(ref)} is defined twice; first at {first.place}, as {first.kind}.",
                "An id belongs to one entry. Choose another, or remove one of the two.",
            )
        policy = self._state.policy.kinds[kind]
        with self._problems.collect():
            self._add_parent(entry, policy, found, parent)
        for key, value in found.values():
            with self._problems.collect():
                self._read_field(entry, policy, key, value)
        # What the model sets for imported entries that leave it out.
        for attribute in policy.schema.attributes.values():
            if attribute.imported and file_format.escape_keyword(attribute.name) not in found:
                fact = Attribute(entry.ref, attribute.name, attribute.imported)
                self._state.facts.append(TimedFact(fact, ALWAYS, entry.place, implied=True))

    def _name(self, ref: str, place: SourceLocation, found: dict[str, tuple[ScalarNode, Node]]) -> str:
        own = ref in {file_format.TENANT_REF, file_format.ALL_REF}
        with self._problems.collect(place):
            if not own:
                valid_id(file_format.unescape_ref(ref))
        entry = found.get("name")
        if entry is None:
            if ref == file_format.TENANT_REF:
                self._problems.add(place, "`name:` is missing in tenant.", "Give the tenant a name.")
            return "All" if ref == file_format.ALL_REF else file_format.unescape_ref(ref)
        name = file_format.read_text(entry[1], "name")
        with self._problems.collect(entry[1].place):
            return valid_name(name)
        return name

    def _add_parent(
        self, entry: ResourceEntry, policy: KindPolicy, found: dict[str, tuple[ScalarNode, Node]], parent: str | None
    ) -> None:
        """Add the edge to the parent, where the place of the entry implies it."""
        step = policy.parent
        loose = self._is_loose(found)
        if step is None or loose or file_format.escape_keyword(step.edge) in found:
            return
        if parent is None and TENANT in step.kinds:
            parent = file_format.TENANT_REF
        if parent is None:
            raise error_at(
                entry.place,
                f"a {entry.kind} lies in a {' or '.join(step.kinds)}.",
                f"Put {quote_excerpt(entry.ref)} under `holds:` of one,"
                f" or name it as `{file_format.escape_keyword(step.edge)}:`.",
            )
        self._add_fact(Edge(step.edge, entry.ref, parent), ALWAYS, entry.place)

    @staticmethod
    def _is_loose(found: dict[str, tuple[ScalarNode, Node]]) -> bool:
        if "loose" not in found:
            return False
        node = found["loose"][1]
        if file_format.read_text(node, "loose") != "true":
            raise error_at(node.place, "`loose:` can only be true.", "Remove the line for what lies in something.")
        return True

    def _read_field(self, entry: ResourceEntry, policy: KindPolicy, key: ScalarNode, node: Node) -> None:
        name, schema = key.value.removeprefix("."), policy.schema
        if key.value in file_format.KEYWORDS:
            self._read_keyword(entry, policy, key, node)
        elif name in schema.roles:
            for subject, span, place in file_format.read_entries(node, f"`{key.value}:`", "who"):
                self._add_fact(Grant(subject, name, entry.ref), span, place)
        elif name in schema.edges:
            for target, span, place in file_format.read_entries(node, f"`{key.value}:`", "to"):
                self._add_fact(Edge(name, entry.ref, target), span, place)
        elif name in schema.attributes:
            self._read_values(schema.attributes[name], entry.ref, None, node)
        else:
            raise self._unknown_field(policy, key)

    def _unknown_field(self, policy: KindPolicy, key: ScalarNode) -> Exception:
        schema = policy.schema
        if key.value in schema.membership:
            hint = f"It belongs to a member in it: write `membership: {{<member>: {{{key.value}: …}}}}`."
        else:
            model = [file_format.escape_keyword(name) for name in (*schema.roles, *schema.edges, *schema.attributes)]
            hint = did_you_mean(key.value, [*model, *_COMMON_KEYWORDS, *_EXTRA_KEYWORDS.get(policy.id, ())])
        return error_at(key.place, f"a {policy.id} has no role, edge or attribute {quote_excerpt(key.value)}.", hint)

    def _read_keyword(self, entry: ResourceEntry, policy: KindPolicy, key: ScalarNode, node: Node) -> None:
        match key.value:
            case "holds":
                self._read_children(entry, node)
            case "membership":
                self._read_membership(entry, policy, node)
            case "members" if entry.kind == GROUP:
                for member, span, place in file_format.read_entries(node, "`members:`", "who"):
                    self._add_fact(Edge(MEMBER_OF, member, entry.ref), span, place)
            case "email" | "service" if entry.kind == MEMBER:
                self._read_metadata(entry, key.value, node)
            case "description" | "settings" | "credentials":
                self._read_metadata(entry, key.value, node)
            case "authors" if entry.kind not in _SECTIONS:
                self._read_metadata(entry, key.value, node)
            case "schedule" | "schedules" if key.value == schedule_keyword(self._state.policy, entry.kind):
                self._read_metadata(entry, key.value, node)
            case "kind":
                if entry.kind != file_format.read_text(node, "kind") or entry.kind in _SECTIONS:
                    raise error_at(key.place, "`kind:` follows from the place of the entry here.", "Remove the line.")
            case "members" | "email" | "service" | "authors" | "schedule" | "schedules":
                raise self._unknown_field(policy, key)

    def _read_children(self, entry: ResourceEntry, node: Node) -> None:
        model = entry.kind.partition(".")[0]
        known = {
            (kind.removeprefix(f"{model}.") if kind.startswith(f"{model}.") else kind): kind
            for kind in child_kinds(self._state.policy, entry.kind)
            if kind not in _SECTIONS
        }
        for key, value in file_format.read_mapping(node, "`holds:`").entries.values():
            with self._problems.collect():
                if key.value not in known:
                    message = f"no {quote_excerpt(key.value)} lies in a {entry.kind}."
                    raise error_at(key.place, message, did_you_mean(key.value, known))
                self._read_entries(
                    known[key.value], file_format.read_mapping(value, f"`{key.value}:`").entries.values(), entry.ref
                )

    def _read_membership(self, entry: ResourceEntry, policy: KindPolicy, node: Node) -> None:
        known = policy.schema.membership
        for member, values in file_format.read_mapping(node, "`membership:`").entries.values():
            for name, value in file_format.read_fields(
                values, f"the membership of {quote_excerpt(member.value)}", known
            ).items():
                self._read_values(known[name], entry.ref, member.value, value)

    def _read_values(self, attribute: AttributeKind, ref: str, member: str | None, node: Node) -> None:
        for value, span, place in file_format.read_entries(node, f"`{attribute.name}:`", "is"):
            if value not in attribute.values:
                hint = did_you_mean(value, attribute.values)
                raise error_at(place, f"{quote_excerpt(value)} is not a valid value of {attribute.name}.", hint)
            self._add_fact(Attribute(ref, attribute.name, value, member), span, place)

    def _read_metadata(self, entry: ResourceEntry, word: str, node: Node) -> None:
        found = self._state.metadata[entry.ref] = _with_field(
            self._state.metadata.get(entry.ref, EntryMetadata()), word, node, entry
        )
        if found.email and found.service:
            raise error_at(
                node.place,
                f"{quote_excerpt(entry.ref)} is a service account.",
                "A service account has no e-mail address.",
            )
        first = self._addresses.setdefault(found.email.casefold(), entry.ref) if found.email else entry.ref
        if first != entry.ref:
            raise error_at(
                node.place, f"{quote_excerpt(found.email)} is already the address of {quote_excerpt(first)}."
            )

    def _add_fact(self, fact: Fact, span: TimeSpan, place: SourceLocation) -> None:
        self._state.facts.append(TimedFact(fact, span, place))


def _with_field(metadata: EntryMetadata, field_name: str, node: Node, entry: ResourceEntry) -> EntryMetadata:
    """Return the metadata with one more field, read from a node."""
    match field_name:
        case "schedule":
            return replace(metadata, schedules={file_format.unescape_ref(entry.ref): _read_schedule(node)})
        case "schedules":
            by_id = file_format.read_mapping(node, "`schedules:`").entries.values()
            return replace(metadata, schedules={valid_id(key.value): _read_schedule(value) for key, value in by_id})
        case "authors":
            return replace(metadata, authors=_read_authors(node, entry.kind))
        case "credentials":
            names = {file_format.read_text(each, "a credential") for each in file_format.read_items(node)}
            return replace(metadata, credentials=tuple(sorted(names)))
        case "email":
            return replace(metadata, email=_valid_email(node))
        case "service":
            if file_format.read_text(node, "service") != "true":
                raise error_at(node.place, "`service:` can only be true.", "Remove the line for a person.")
            return replace(metadata, service=True)
        case "description":
            return replace(metadata, description=file_format.read_text(node, "description"))
        case _:
            file_format.read_mapping(node, "`settings:`")
            found = to_json_value(node)
            return replace(metadata, settings=found if isinstance(found, dict) else {})


def _read_authors(node: Node, kind: str) -> dict[str, object]:
    """Return the authors of a definition: of all of it, or by part."""
    if not isinstance(node, MappingNode):
        return {file_format.DEFINITION: _read_author(node)}
    schema = registry.find_settings_schema(kind)
    for key, _ in node.entries.values():
        if key.value != file_format.DEFINITION and not (schema and schema.part_of(key.value)):
            message = f"{quote_excerpt(key.value)} of a {kind} has no author of its own."
            raise error_at(key.place, message, f"Write `{file_format.DEFINITION}:` for the whole definition.")
    return {name: _read_author(value) for name, (_, value) in node.entries.items()}


def _read_author(node: Node) -> object:
    if isinstance(node, ScalarNode) and node.bare and node.value == "null":
        return None
    if not isinstance(node, MappingNode):
        return valid_id(file_format.read_text(node, "an author"))
    scope = file_format.read_fields(node, "an author", file_format.AUTHOR_FIELDS)
    if "member" not in scope:
        raise error_at(node.place, "`member:` is missing in an author.", "Name the member, or nothing but the member.")
    member = valid_id(file_format.read_text(scope.pop("member"), "member"))
    parts = {
        name: [file_format.read_text(each, name) for each in file_format.read_items(n)] for name, n in scope.items()
    }
    return {"member": member, **parts}


def _read_schedule(node: Node) -> dict[str, object]:
    """Return the fields of a schedule, in the form in which the tenant's own are compared with them."""
    nodes = file_format.read_fields(node, "a schedule", file_format.SCHEDULE_FIELDS)
    found = {name: to_json_value(value) for name, value in nodes.items()}
    if "after" in found:
        found["after"] = sorted(file_format.read_text(each, "after") for each in file_format.read_items(nodes["after"]))
    for name, default in (("zone", "UTC"), ("every", False), ("enabled", True), ("parameters", {})):
        if name in found and type(found[name]) is not type(default):
            raise error_at(nodes[name].place, f"`{name}:` of a schedule cannot be {quote_excerpt(str(found[name]))}.")
        if found.get(name) == default:
            del found[name]
    try:
        file_format.schedule_of(found).validate()
    except InvalidInputError as error:
        raise error_at(node.place, error.message, error.hint) from error
    return found


def _valid_email(node: Node) -> str:
    address = file_format.read_text(node, "email")
    before, _, after = address.partition("@")
    if not before or not after or "@" in after or any(letter.isspace() for letter in address):
        raise error_at(node.place, f"{quote_excerpt(address)} is not an e-mail address.", "Write name@host.")
    return address


def to_json_value(node: Node) -> object:
    """Return the value of a node as JSON has it: a number, a text, true, false or null, lists and mappings of them."""
    if isinstance(node, MappingNode):
        return {name: to_json_value(part) for name, (_, part) in node.entries.items()}
    if isinstance(node, ListNode):
        return [to_json_value(part) for part in node.items]
    if not node.bare:
        return node.value
    if node.value in _CONSTANTS:
        return _CONSTANTS[node.value]
    is_number = len(node.value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(node.value)
    return json.loads(node.value) if is_number else node.value
