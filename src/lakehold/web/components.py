"""Data classes that pages hand to template macros: actions, field changes, effects, matrix rows and access paths."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageAction:
    """An action offered on a page. One that is not allowed is displayed with the reason and a link to request it."""

    label: str
    href: str = ""
    method: str = "get"
    """`post` for what changes something: the macro makes a form of it."""
    icon: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    """What a POST sends along."""
    confirm: str = ""
    """A question to confirm first. The endpoint asks it too, see `confirmation`."""
    danger: bool = False
    dialog: bool = False
    """Whether the page at the address opens over this one."""
    why_not: str = ""
    """Why it cannot be done, in a sentence. Empty if it can."""
    request: str = ""
    """Where to ask for the right that is missing."""
    why: str = ""
    """Where it is explained."""


@dataclass(frozen=True, slots=True)
class AttributeField:
    """An attribute in a form: its value, and the options if the caller may set it."""

    name: str
    title: str
    value: str
    is_flag: bool
    options: list[tuple[str, str]]
    may: bool
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field before and after a change. None stands for no value."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class EffectSummary:
    """The numbers of members who gain or lose an action, and of resources on which they do."""

    gained: bool
    members: int
    action: str
    resources: int
    kind: str
    """The things in the singular: table."""
    href: str = ""
    """Where they are listed."""


ACCESS_ORIGINS = {
    "direct": ("check", "Direct grant"),
    "group": ("users", "Via group"),
    "inherited": ("layers", "Inherited"),
    "role": ("shield", "By role"),
}
"""How a right is held: its icon, and its words."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """The cell of one member and one action."""

    allowed: bool
    through: str = "direct"
    note: str = ""
    href: str = ""
    """Where it is explained."""
    until: str = ""
    """When it ends, if it does."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """The row of one member, with a cell for every action."""

    name: str
    note: str = ""
    href: str = ""
    cells: tuple[MatrixCell, ...] = ()


@dataclass(frozen=True, slots=True)
class AccessPathNode:
    """A step of an access path: a member, a group, a grant or a resource."""

    kind: str
    label: str
    icon: str = ""
    href: str = ""
    held: bool = True
    """Whether it is there. One that is not is what is missing."""
    note: str = ""
    """Said between this node and the one before: how they hang together."""


@dataclass(frozen=True, slots=True)
class AccessPath:
    """One path by which a right is held, or would be held, with those who could give what is missing."""

    nodes: tuple[AccessPathNode, ...]
    rule: str = ""
    place: str = ""
    givers: tuple[str, ...] = ()
    request: str = ""

    @property
    def held(self) -> bool:
        """Whether every step of the path holds."""
        return all(node.held for node in self.nodes)
