"""What a model says, before any name in an expression is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakehold.access.model.errors import Place, Word
from lakehold.access.model.syntax import Tree

FLAG = ("false", "true")


@dataclass(frozen=True, slots=True)
class Clause:
    """An expression with its words and its line, as a reader of the file sees it."""

    text: str
    tree: Tree
    place: Place


@dataclass(frozen=True, slots=True)
class Role:
    """Something that a subject can hold on a resource."""

    name: str
    title: str
    place: Place
    implies: Word | None = None
    derived: Clause | None = None
    when: Clause | None = None
    given_with: Clause | None = None
    invited_with: str | None = None
    person_only: bool = False
    single: bool = False
    last_stays: bool = False
    """Whether it cannot be taken from the last one who holds it."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A value of a resource, or, for a membership, of a member in a resource."""

    name: str
    values: tuple[str, ...]
    default: str
    place: Place
    set_with: Mapping[str, Clause] = field(default_factory=dict)
    imported: str = ""
    """What it is of a resource that files tell of and that they do not say it of; empty if that is the default."""

    @property
    def in_files(self) -> str:
        """What it is where files do not say it."""
        return self.imported or self.default

    @property
    def is_flag(self) -> bool:
        """Whether it is on or off, and can be asked for by its bare name."""
        return set(self.values) == set(FLAG)


@dataclass(frozen=True, slots=True)
class EdgeKind:
    """How resources of one kind may point at others."""

    name: str
    to: tuple[Word, ...]
    place: Place
    many: bool = False
    back: str | None = None
    set_with: Clause | None = None
    needs: Word | None = None
    """What one must be allowed at the other end."""
    also_after: bool = False
    """Whether the right to set it must still be held once it is set."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Who, under which condition, may do what."""

    who: Clause | None
    when: Clause | None
    may: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Kind:
    """What one kind of resource is, and who may do what with it."""

    name: str
    title: str
    model: str
    place: Place
    parent: str | None
    visible: str
    creator: str | None
    roles: Mapping[str, Role]
    attributes: Mapping[str, Attribute]
    membership: Mapping[str, Attribute]
    edges: Mapping[str, EdgeKind]
    define: Mapping[str, Clause]
    create: Clause | None
    edited_with: Clause | None
    """Which action, here or further up, is needed to change its name and what is told of it."""
    deleted_with: Clause | None
    """Which action, here or further up, is needed to end it."""
    actions: tuple[str, ...]
    gates: tuple[Rule, ...]
    allow: tuple[Rule, ...]

    @property
    def id(self) -> str:
        """The name that is unique among all models: `marts.data_mart`."""
        return f"{self.model}.{self.name}"


@dataclass(frozen=True, slots=True)
class Model:
    """One access model: one YAML file."""

    name: str
    title: str
    root: str
    extends: tuple[Word, ...]
    everyone: str | None
    kinds: Mapping[str, Kind]
    source: str
    place: Place
    request: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The properties that a question may bring along, by side: what conditions may read."""
