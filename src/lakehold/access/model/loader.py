"""Loads one YAML file into an `AccessModel`. Every word keeps its line, so that an error can say where it stands."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import yaml

from lakehold.access.model.errors import LocatedName, ModelError, SourceLocation, did_you_mean, quote_excerpt
from lakehold.access.model.schema import (
    FLAG,
    AccessModel,
    AttributeKind,
    Clause,
    EdgeKind,
    KindSchema,
    PolicyRule,
    RoleKind,
)
from lakehold.access.model.syntax import KEYWORDS, PathNode
from lakehold.access.model.yaml_nodes import NodeReader, compose_yaml

_VERBS = frozenset({"create", "give", "invite"})
_SEE = "see"
_PROPERTY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_MOST_ACTIONS = 62
"""So that the actions of a pair fit into one whole number in a review."""

# A kind and a role are written with the names of their declarations, but for these.
_KIND_FIELDS = {*KindSchema.__dataclass_fields__, "in"} - {"name", "model", "place", "parent"}
_ROLE_FIELDS = {*RoleKind.__dataclass_fields__, "from", "to"} - {"name", "place", "derived", "person_only"}


def load_model(path: Path) -> AccessModel:
    """Load the model in a file, and the hashes of its released versions from `model.versions` beside it."""
    file = "/".join(path.parts[-2:])
    try:
        data = path.read_bytes()
        text = data.decode("utf-8")
    except OSError as error:
        raise ModelError(SourceLocation(file, 1), f"it cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelError(SourceLocation(file, line), "this is not UTF-8.", "Save the file as UTF-8.") from error
    return replace(parse_model(text, file), released=_load_hashes(path.with_suffix(".versions")))


def _load_hashes(path: Path) -> frozenset[str]:
    """Return the first word of each line that is no comment; nothing if there is no such file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return frozenset(line.split()[0] for line in lines if line.strip() and not line.startswith("#"))


@lru_cache(maxsize=32)
def parse_model(text: str, file: str = "model.yaml") -> AccessModel:
    """Parse the model in a text."""
    return _ModelReader(file).model(compose_yaml(text, file), text)


class _ModelReader(NodeReader):
    """Reads the declarations of a model from YAML nodes."""

    def model(self, node: yaml.Node, source: str) -> AccessModel:
        fields = self._fields(node, "a model", ("model", "title", "root", "extends", "everyone", "request", "kinds"))
        for required in ("model", "kinds"):
            if required not in fields:
                raise ModelError(self._place(node), f"`{required}:` is missing.", "A model has a name and kinds.")
        name = self._name(fields["model"], "a model")
        kinds = self._named(
            fields["kinds"], "kinds", "a kind", lambda kind, key, value: self._kind(name, kind, key, value)
        )
        if not kinds:
            raise ModelError(self._place(fields["kinds"]), "a model needs at least one kind.")
        return AccessModel(
            name=name,
            title=self._title(fields.get("title"), name.replace("_", " ").capitalize()),
            root=self._one_of(fields.get("root"), "root", "kind", kinds) or next(iter(kinds)),
            extends=self._extends(fields.get("extends"), name),
            everyone=self._one_of(fields.get("everyone"), "everyone", "kind", kinds),
            kinds=kinds,
            source=source,
            place=self._place(node),
            request=self._request(fields.get("request")),
        )

    def _request(self, node: yaml.Node | None) -> dict[str, frozenset[str]]:
        if node is None:
            return {}
        sides = self._fields(node, "request", ("subject", "resource", "context"))
        declared = {side: self._some_words(part, side) for side, part in sides.items()}
        for word in (word for words in declared.values() for word in words):
            if not _PROPERTY.fullmatch(word):
                message = f"{quote_excerpt(word)} cannot be the name of a property."
                raise ModelError(word.place, message, "Use letters, digits and underscores, a letter first.")
        return {side: frozenset(map(str, words)) for side, words in declared.items()}

    def _one_of(self, node: yaml.Node | None, field: str, what: str, known: Iterable[str]) -> str | None:
        """Return the name in a field, which has to be one of those that are known."""
        if node is None:
            return None
        name = self._text(node, field)
        if name not in known:
            raise ModelError(self._place(node), f"{field}: no {what} {quote_excerpt(name)}.", did_you_mean(name, known))
        return name

    def _extends(self, node: yaml.Node | None, model: str) -> tuple[LocatedName, ...]:
        bases = self._words(node, "extends") if node else ()
        for base in bases:
            if base == model:
                raise ModelError(base.place, f"{model!r} extends itself.", "Name the models that it is based on.")
        return bases

    def _kind(self, model: str, name: str, key: yaml.Node, node: yaml.Node) -> KindSchema:
        fields = self._fields(node, f"kind {name!r}", _KIND_FIELDS)
        actions = self._actions(fields.get("actions"))
        parent, edges = self._edges(fields.get("in"), fields.get("edges"))
        define = self._named(fields.get("define"), "define", "a definition", self._define)
        roles = self._roles(fields.get("roles"), {"everyone", *define, *actions})
        kind = KindSchema(
            name=name,
            title=self._title(fields.get("title"), name.replace("_", " ").capitalize()),
            model=model,
            place=self._place(key),
            parent=parent,
            visible=self._visible(fields.get("visible"), actions, key),
            creator=self._one_of(fields.get("creator"), "creator", "role", roles),
            roles=roles,
            attributes=self._named(fields.get("attributes"), "attributes", "an attribute", self._attribute),
            membership=self._named(fields.get("membership"), "membership", "an attribute", self._membership_attribute),
            edges=edges,
            define=define,
            create=self._clause(fields.get("create"), "create"),
            edited_with=self._action_clause(fields.get("edited_with"), "edited_with", "edit", actions, key),
            deleted_with=self._action_clause(fields.get("deleted_with"), "deleted_with", "delete", actions, key),
            actions=actions,
            gates=self._rules(fields.get("gates"), ("when", "for"), name, actions),
            allow=self._rules(fields.get("allow"), ("who", "when", "may"), name, actions),
        )
        _refuse_name_clashes(kind)
        return kind

    def _actions(self, node: yaml.Node | None) -> tuple[str, ...]:
        if node is None:
            return ()
        actions = self._words(node, "actions")
        if len(actions) > _MOST_ACTIONS:
            raise ModelError(
                self._place(node), f"a kind has at most {_MOST_ACTIONS} actions, not {len(actions)}.", "Split the kind."
            )
        for part in self._parts(node):
            if self._name(part, "an action") in _VERBS:
                raise ModelError(
                    self._place(part), f"{part.value!r} applies to every kind, and cannot be an action of one."
                )
        return tuple(map(str, actions))

    def _visible(self, node: yaml.Node | None, actions: tuple[str, ...], key: yaml.Node) -> str:
        if node is None and actions and _SEE not in actions:
            raise ModelError(
                self._place(key),
                f"`visible:` is missing: without an action {_SEE!r} it has to say who sees that a resource is there.",
                did_you_mean(_SEE, actions),
            )
        return self._one_of(node, "visible", "action", actions) or _SEE

    def _action_clause(
        self, node: yaml.Node | None, field: str, usual: str, actions: tuple[str, ...], key: yaml.Node
    ) -> Clause | None:
        """Return the action that something is done with: the usual one, unless another one is named."""
        if node is None:
            return Clause(usual, PathNode((usual,)), self._place(key)) if usual in actions else None
        clause = self._clause(node, field)
        if clause is not None and (not isinstance(clause.tree, PathNode) or clause.tree.equals is not None):
            raise ModelError(
                clause.place, f"{field} names one action.", "Use one action, such as edit or tenant.create_workspace."
            )
        return clause

    def _edges(self, parent: yaml.Node | None, further: yaml.Node | None) -> tuple[str | None, dict[str, EdgeKind]]:
        name, edges = self._parent(parent)
        others = self._named(further, "edges", "an edge", self._edge)
        if name in others:
            raise ModelError(
                others[name].place, f"{name!r} is already the edge to the parent.", "Put both into `in:`, or rename it."
            )
        return name, edges | others

    def _parent(self, node: yaml.Node | None) -> tuple[str | None, dict[str, EdgeKind]]:
        if node is None:
            return None, {}
        if isinstance(node, yaml.ScalarNode):
            name = self._name(node, "a parent")
            return name, {name: EdgeKind(name, (LocatedName(name, self._place(node)),), self._place(node))}
        parents = self._named(node, "in", "a parent", self._edge)
        if len(parents) != 1 or any(parent.many for parent in parents.values()):
            raise ModelError(self._place(node), "a kind lies in one other kind.", "Write further ones as edges.")
        return next(iter(parents)), parents

    def _edge(self, name: str, key: yaml.Node, node: yaml.Node) -> EdgeKind:
        known = ("to", "many", "back", "set_with", "needs", "also_after", "beside")
        fields = self._fields(node, f"edge {name!r}", known)
        return EdgeKind(
            name=name,
            to=self._some_words(fields["to"], "to") if "to" in fields else (self._word(key, "to"),),
            place=self._place(key),
            many=self._flag(fields.get("many"), "many"),
            back=self._name(fields["back"], "an edge seen from behind") if "back" in fields else None,
            set_with=self._clause(fields.get("set_with"), "set_with"),
            needs=self._word(fields["needs"], "needs") if "needs" in fields else None,
            also_after=self._flag(fields.get("also_after"), "also_after"),
            beside=self._flag(fields.get("beside"), "beside"),
        )

    def _define(self, name: str, _key: yaml.Node, node: yaml.Node) -> Clause:
        clause = self._clause(node, f"definition {name!r}")
        assert clause is not None  # noqa: S101 - the node is there, so the clause is
        return clause

    def _roles(self, node: yaml.Node | None, others: Collection[str]) -> dict[str, RoleKind]:
        """Return the roles; `others` are the names beside them that an invitation can ask for."""
        known = self._map(node, "roles") if node else {}
        return self._named(
            node, "roles", "a role", lambda name, key, value: self._role(name, key, value, known, {*known, *others})
        )

    def _role(
        self, name: str, key: yaml.Node, node: yaml.Node, roles: Collection[str], inviting: Collection[str]
    ) -> RoleKind:
        fields = self._fields(node, f"role {name!r}", _ROLE_FIELDS)
        to = self._text(fields["to"], "to") if "to" in fields else "anyone"
        if to not in {"person", "anyone"}:
            raise ModelError(
                self._place(fields["to"]), f"a role goes to a person or to anyone, not to {quote_excerpt(to)}."
            )
        return RoleKind(
            name=name,
            title=self._title(fields.get("title"), name.replace("_", " ").title()),
            description=self._text(fields["description"], "description") if "description" in fields else "",
            place=self._place(key),
            implies=self._implied_role(fields.get("implies"), roles),
            derived=self._clause(fields.get("from"), "from"),
            when=self._clause(fields.get("when"), "when"),
            given_with=self._clause(fields.get("given_with"), "given_with"),
            invited_with=self._one_of(
                fields.get("invited_with"), "invited_with", "role, action or definition", inviting
            ),
            person_only=to == "person",
            single=self._flag(fields.get("single"), "single"),
            last_stays=self._flag(fields.get("last_stays"), "last_stays"),
        )

    def _implied_role(self, node: yaml.Node | None, roles: Collection[str]) -> LocatedName | None:
        name = self._one_of(node, "implies", "role", roles)
        return LocatedName(name, self._place(node)) if node and name else None

    def _attribute(self, name: str, key: yaml.Node, node: yaml.Node) -> AttributeKind:
        return self._membership_attribute(name, key, node, "imported")

    def _membership_attribute(self, name: str, key: yaml.Node, node: yaml.Node, *more: str) -> AttributeKind:
        fields = self._fields(node, f"attribute {name!r}", ("values", "default", "set_with", *more))
        values = self._values(fields["values"]) if "values" in fields else FLAG
        default = self._one_of(fields.get("default"), "default", "value", values) or values[0]
        imported = self._one_of(fields.get("imported"), "imported", "value", values) or ""
        set_with = self._set_with(fields.get("set_with"), values)
        return AttributeKind(name, values, default, self._place(key), set_with, imported if imported != default else "")

    def _values(self, node: yaml.Node) -> tuple[str, ...]:
        values = self._some_words(node, "values")
        for part in self._parts(node):
            # A value that no expression can name could never be tested.
            self._name(part, "a value", KEYWORDS)
        return tuple(map(str, values))

    def _set_with(self, node: yaml.Node | None, values: tuple[str, ...]) -> Mapping[str, Clause]:
        if node is None:
            return {}
        if isinstance(node, yaml.MappingNode):
            named = self._map(node, "set_with")
            for key, _ in named.values():
                self._one_of(key, "set_with", "value", values)
            return {value: self._define(value, key, part) for value, (key, part) in named.items()}
        return dict.fromkeys(values, self._define("set_with", node, node))

    def _rules(
        self, node: yaml.Node | None, known: tuple[str, ...], kind: str, actions: tuple[str, ...]
    ) -> tuple[PolicyRule, ...]:
        if node is None:
            return ()
        if not isinstance(node, yaml.SequenceNode):
            raise ModelError(self._place(node), "rules are a list.", "Begin each with a dash.")
        return tuple(self._rule(part, known, kind, actions) for part in node.value)

    def _rule(self, node: yaml.Node, known: tuple[str, ...], kind: str, actions: tuple[str, ...]) -> PolicyRule:
        fields = self._fields(node, "a rule", known)
        target = known[-1]
        if target not in fields or not fields.keys() & {"who", "when"}:
            raise ModelError(self._place(node), f"a rule needs {known[0]!r} and {target!r}.")
        who, when = self._clause(fields.get("who"), "who"), self._clause(fields.get("when"), "when")
        return PolicyRule(who, when, self._targets(fields[target], target, kind, actions), self._place(node))

    def _targets(self, node: yaml.Node, field: str, kind: str, actions: tuple[str, ...]) -> tuple[str, ...]:
        words = self._some_words(node, field)
        if words == ("all",) and actions:
            return actions
        for word in words:
            if word not in actions:
                raise ModelError(
                    word.place, f"a {kind} has no action {quote_excerpt(word)}.", did_you_mean(word, actions)
                )
        return tuple(map(str, words))


def _refuse_name_clashes(kind: KindSchema) -> None:
    """Refuse a name that means two things in one kind. Actions come first, since they keep no line."""
    seen: dict[str, str] = dict.fromkeys(kind.actions, "an action")
    groups: Mapping[str, Mapping[str, RoleKind | AttributeKind | EdgeKind | Clause]] = {
        "a role": kind.roles,
        "a definition": kind.define,
        "an attribute": kind.attributes,
        "an attribute of its membership": kind.membership,
        "an edge": kind.edges,
    }
    for what, group in groups.items():
        for name, named in group.items():
            if name in seen:
                raise ModelError(
                    named.place,
                    f"in {kind.name!r}, {name!r} is the name of both {seen[name]} and {what}.",
                    "Rename one of them, so that a rule can say which it means.",
                )
            seen[name] = what
