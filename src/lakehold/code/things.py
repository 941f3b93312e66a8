"""Reads things: members, groups, workspaces and all that lies in them, each with the facts about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import ALL_MEMBERS
from lakehold.access.model.errors import SourceLocation, did_you_mean, quote_excerpt
from lakehold.access.model.policy import GROUP, MEMBER, MEMBER_OF, TENANT, KindPolicy
from lakehold.access.model.schema import AttributeKind
from lakehold.code import refs, told, words
from lakehold.code.company import Company, Held, Thing, children
from lakehold.code.nodes import Node, Text
from lakehold.code.problems import Problems, wrong
from lakehold.code.times import ALWAYS, Span
from lakehold.code.told import Told
from lakehold.kit.ids import valid_id, valid_name

_EVERYWHERE = ("name", "description", "settings", "membership", "loose", "holds")
_ALSO = {MEMBER: ("email", "service"), GROUP: ("members",)}
_AT = {MEMBER: "members", GROUP: "groups", TENANT: "tenant", ALL_MEMBERS: "all"}


class Things:
    """Puts what it reads into a company, and what is wrong among the problems."""

    def __init__(self, company: Company, problems: Problems) -> None:
        self._company = company
        self._problems = problems
        self._addresses: dict[str, str] = {}

    # Where things stand

    def section(self, kind: str, node: Node, what: str) -> None:
        """`members:` or `groups:`: things of one kind by id."""
        self._all(kind, words.table(node, what).entries.values(), refs.TENANT)

    def single(self, kind: str, ref: str, node: Node) -> None:
        """`tenant:` or `all:`: a thing that is there anyway."""
        self._thing(kind, ref, node.place, node, None if kind == TENANT else refs.TENANT)

    def workspaces(self, node: Node) -> None:
        """`workspaces:`: things of any kind, each of which says its own."""
        for key, value in words.table(node, "workspaces").entries.values():
            with self._problems.caught():
                kind = self._kind(words.table(value, "a workspace").entries.get("kind"), key.place)
                self._thing(kind, key.value, key.place, value, None)

    def _all(self, kind: str, entries: Iterable[tuple[Text, Node]], parent: str) -> None:
        for key, value in entries:
            with self._problems.caught():
                self._thing(kind, key.value, key.place, value, parent)

    def _kind(self, entry: tuple[Text, Node] | None, place: SourceLocation) -> str:
        if entry is None:
            raise wrong(place, "`kind:` is missing.", "Say which kind of workspace it is, as in `kind: marts.project`.")
        kind = words.text(entry[1], "kind")
        known = self._company.policy.kinds
        if kind in _AT:
            raise wrong(entry[1].place, f"a {kind} is no workspace.", f"Write it under `{_AT[kind]}:`.")
        if kind not in known:
            raise wrong(entry[1].place, f"there is no kind {quote_excerpt(kind)}.", did_you_mean(kind, known))
        return kind

    # One thing

    def _thing(self, kind: str, ref: str, place: SourceLocation, node: Node, parent: str | None) -> None:
        found = words.table(node, kind, may_be_empty=True).entries
        thing = Thing(ref, kind, self._name(ref, place, found), place)
        self._refuse_twice(thing)
        self._company.things[ref] = thing
        policy = self._company.policy.kinds[kind]
        with self._problems.caught():
            self._lies_in(thing, policy, found, parent)
        for key, value in found.values():
            with self._problems.caught():
                self._said(thing, policy, key, value)
        self._imported(thing, policy, found)

    def _imported(self, thing: Thing, policy: KindPolicy, found: Collection[str]) -> None:
        """What the model says of things that files bring in and do not say it of."""
        for attribute in policy.schema.attributes.values():
            if attribute.imported and words.written(attribute.name) not in found:
                self._hold(Attribute(thing.ref, attribute.name, attribute.imported), ALWAYS, _placed(thing))

    def _name(self, ref: str, place: SourceLocation, found: dict[str, tuple[Text, Node]]) -> str:
        own = ref in {refs.TENANT, refs.ALL}
        with self._problems.caught(place):
            if not own:
                valid_id(refs.plain(ref))
        entry = found.get("name")
        if entry is None:
            if ref == refs.TENANT:
                self._problems.add(place, "`name:` is missing in tenant.", "Say what the tenant is called.")
            return "All" if ref == refs.ALL else refs.plain(ref)
        name = words.text(entry[1], "name")
        with self._problems.caught(entry[1].place):
            return valid_name(name)
        return name

    def _refuse_twice(self, thing: Thing) -> None:
        first = self._company.things.get(thing.ref)
        if first is not None and thing.place is not None:
            before = f"{first.place}" if first.place else "the beginning"
            raise wrong(
                thing.place,
                f"{quote_excerpt(thing.ref)} is there twice; first at {before}, as {first.kind}.",
                "An id belongs to one thing. Choose another, or remove one of the two.",
            )

    def _lies_in(
        self, thing: Thing, policy: KindPolicy, found: dict[str, tuple[Text, Node]], parent: str | None
    ) -> None:
        """The edge to the parent, where the place of the thing says it."""
        step = policy.parent
        loose = self._is_loose(found)
        if step is None or loose or words.written(step.edge) in found:
            return
        if parent is None and TENANT in step.kinds:
            parent = refs.TENANT
        if parent is None:
            raise wrong(
                _placed(thing),
                f"a {thing.kind} lies in a {' or '.join(step.kinds)}.",
                f"Put {quote_excerpt(thing.ref)} under `holds:` of one, or name it as `{words.written(step.edge)}:`.",
            )
        self._hold(Edge(step.edge, thing.ref, parent), ALWAYS, _placed(thing))

    @staticmethod
    def _is_loose(found: dict[str, tuple[Text, Node]]) -> bool:
        if "loose" not in found:
            return False
        node = found["loose"][1]
        if words.text(node, "loose") != "true":
            raise wrong(node.place, "`loose:` can only be true.", "Remove the line for what lies in something.")
        return True

    # What is said of it

    def _said(self, thing: Thing, policy: KindPolicy, key: Text, node: Node) -> None:
        name, schema = key.value.removeprefix("."), policy.schema
        if key.value in words.OWN:
            self._own(thing, policy, key, node)
        elif name in schema.roles:
            for subject, span, place in words.entries(node, f"`{key.value}:`", "who"):
                self._hold(Grant(subject, name, thing.ref), span, place)
        elif name in schema.edges:
            for target, span, place in words.entries(node, f"`{key.value}:`", "to"):
                self._hold(Edge(name, thing.ref, target), span, place)
        elif name in schema.attributes:
            self._values(schema.attributes[name], thing.ref, None, node)
        else:
            raise self._unknown(policy, key)

    def _unknown(self, policy: KindPolicy, key: Text) -> Exception:
        schema = policy.schema
        if key.value in schema.membership:
            hint = f"It belongs to a member in it: write `membership: {{<member>: {{{key.value}: …}}}}`."
        else:
            model = [words.written(name) for name in (*schema.roles, *schema.edges, *schema.attributes)]
            hint = did_you_mean(key.value, [*model, *_EVERYWHERE, *_ALSO.get(policy.id, ())])
        return wrong(key.place, f"a {policy.id} has no role, edge or attribute {quote_excerpt(key.value)}.", hint)

    def _own(self, thing: Thing, policy: KindPolicy, key: Text, node: Node) -> None:
        match key.value:
            case "holds":
                self._holds(thing, node)
            case "membership":
                self._membership(thing, policy, node)
            case "members" if thing.kind == GROUP:
                for member, span, place in words.entries(node, "`members:`", "who"):
                    self._hold(Edge(MEMBER_OF, member, thing.ref), span, place)
            case "email" | "service" if thing.kind == MEMBER:
                self._tell(thing, key.value, node)
            case "description" | "settings":
                self._tell(thing, key.value, node)
            case "kind":
                if thing.kind != words.text(node, "kind") or thing.kind in _AT:
                    raise wrong(key.place, "`kind:` is said by the place of a thing here.", "Remove the line.")
            case "members" | "email" | "service":
                raise self._unknown(policy, key)

    def _holds(self, thing: Thing, node: Node) -> None:
        model = thing.kind.partition(".")[0]
        known = {
            (kind.removeprefix(f"{model}.") if kind.startswith(f"{model}.") else kind): kind
            for kind in children(self._company.policy, thing.kind)
            if kind not in _AT
        }
        for key, value in words.table(node, "`holds:`").entries.values():
            with self._problems.caught():
                if key.value not in known:
                    message = f"no {quote_excerpt(key.value)} lies in a {thing.kind}."
                    raise wrong(key.place, message, did_you_mean(key.value, known))
                self._all(known[key.value], words.table(value, f"`{key.value}:`").entries.values(), thing.ref)

    def _membership(self, thing: Thing, policy: KindPolicy, node: Node) -> None:
        known = policy.schema.membership
        for member, values in words.table(node, "`membership:`").entries.values():
            for name, value in words.fields(values, f"the membership of {quote_excerpt(member.value)}", known).items():
                self._values(known[name], thing.ref, member.value, value)

    def _values(self, attribute: AttributeKind, ref: str, member: str | None, node: Node) -> None:
        for value, span, place in words.entries(node, f"`{attribute.name}:`", "is"):
            if value not in attribute.values:
                hint = did_you_mean(value, attribute.values)
                raise wrong(place, f"{quote_excerpt(value)} is no value of {attribute.name}.", hint)
            self._hold(Attribute(ref, attribute.name, value, member), span, place)

    def _tell(self, thing: Thing, word: str, node: Node) -> None:
        found = self._company.told[thing.ref] = told.read(self._company.told.get(thing.ref, Told()), word, node)
        if found.email and found.service:
            raise wrong(
                node.place, f"{quote_excerpt(thing.ref)} is a service account.", "Nobody signs in to one: no address."
            )
        first = self._addresses.setdefault(found.email.casefold(), thing.ref) if found.email else thing.ref
        if first != thing.ref:
            raise wrong(node.place, f"{quote_excerpt(found.email)} is already the address of {quote_excerpt(first)}.")

    def _hold(self, fact: Fact, span: Span, place: SourceLocation) -> None:
        self._company.facts.append(Held(fact, span, place))


def _placed(thing: Thing) -> SourceLocation:
    return thing.place or SourceLocation("", 0)
