"""Unique names: where the name of a resource is looked up, so that another one there cannot have it too.

The scope in which a resource claims its name is stored beside the name, and a unique index of the database keeps both,
whoever writes at the same moment. Names are compared as `fold_name` writes them. What is deleted claims none.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from lakehold.access.facts.view import ALL_MEMBERS
from lakehold.access.model.policy import GROUP, TENANT, Policy
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import MAX_NAME, MAX_TABLE_NAME, NameScope, fold_name, is_table_name, quote

DELETED = "deleted"
"""The attribute that marks a resource as deleted until it is restored."""


class NameTakenError(ConflictError):
    """The name belongs to another resource in the same scope. It tells no more: that one may be hidden."""

    code = "name_taken"

    def __init__(self, name: str, holder: str = "", free: str = "") -> None:
        hint = f"{quote(free)} is free." if free else "Choose another name."
        super().__init__(f"The name {quote(name)} is taken.", hint, field="name")
        self.name = name
        self.holder = holder
        """The id of the resource that has it; empty if it is not known."""
        self.free = free
        """A similar name that nothing has."""


@dataclass(frozen=True, slots=True)
class UniqueNames:
    """Which kinds have unique names, and where. Groups have them in their tenant, as workspaces of all models do."""

    kinds: Mapping[str, NameScope] = field(default_factory=dict)
    enabled: bool = True

    def scope(self, policy: Policy, kind: str, parent: int, workspace: Callable[[], int]) -> str | None:
        """Return the scope in which such a resource claims its name; None if several may share one."""
        if not self.enabled or kind == TENANT:
            return None
        if kind in {GROUP, ALL_MEMBERS}:
            return f"{parent} group"
        schema = policy.kinds[kind].schema
        if schema.name == policy.models[schema.model].root:
            # SQL and the command look up workspaces of all models at once.
            return f"{parent} workspace"
        where = self.kinds.get(kind)
        return None if where is None else f"{parent if where is NameScope.PARENT else workspace()} {kind}"


NO_UNIQUE_NAMES = UniqueNames(enabled=False)
"""For facts without a catalog: several resources may share a name."""


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a similar name whose folded form is not taken: `orders_2`, `Daily report 2`."""
    separator, longest = ("_", MAX_TABLE_NAME) if is_table_name(name) else (" ", MAX_NAME)
    number = 2
    while True:
        ending = f"{separator}{number}"
        found = f"{name[: longest - len(ending)].rstrip()}{ending}"
        if fold_name(found) not in taken:
            return found
        number += 1
