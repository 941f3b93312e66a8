"""The named sets of a statement: what is worked out once, and what is set apart so that nothing is nested deeply."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from lakehold.access.model.expressions import Expression, Step
from lakehold.access.model.policy import MEMBER
from lakehold.access.query.terms import Term, edge_names, in_words, literal

UNLIMITED = 1_000


class Bind:
    """Writes placeholders, as a dialect has them."""

    def __init__(self, dialect: str) -> None:
        self._is_sqlite = dialect == "sqlite"

    def __call__(self, name: str, cast: str = "bigint") -> str:
        """One value."""
        return f":{name}" if self._is_sqlite else f"%({name})s::{cast}"

    def numbers(self, name: str) -> str:
        """A subquery of the numbers in a list."""
        if self._is_sqlite:
            return f"SELECT value AS id FROM json_each(:{name})"
        return f"SELECT unnest(%({name})s::bigint[]) AS id"

    def told(self, numbers: list[int]) -> object:
        """A list of numbers as it is bound."""
        return json.dumps(numbers) if self._is_sqlite else numbers


class Sets:
    """Those of one statement. After `deepest` subqueries inside each other, the next one is set apart."""

    def __init__(self, bind: Bind, deepest: int) -> None:
        self.bind = bind
        self.me = Term(bind("me"), fixed=True)
        self._deepest = deepest
        self._depth = 0
        self._numbers = count(1)
        self._sets: dict[object, tuple[str, str]] = {}
        self._asks_for_me = False
        self.lists: dict[str, tuple[Expression, str]] = {}
        """The lists that are bound: by name, what holds for the asker on which kind."""

    def alias(self) -> str:
        """A name that the statement does not use yet."""
        return f"t{next(self._numbers)}"

    def set_once(self, key: object, write: Callable[[], str]) -> str:
        """A subquery of ids that does not vary from row to row, and so is worked out once."""
        return f"SELECT id FROM {self.named(key, write)}"

    def named(self, key: object, write: Callable[[], str]) -> str:
        """The name of the set of this key, which is written when it is first asked for."""
        if key not in self._sets:
            depth, self._depth = self._depth, 0
            query = write()
            self._depth = depth
            self._sets[key] = (f"s{len(self._sets) + 1}", query)
        return self._sets[key][0]

    def listed(self, expression: Expression, kind: str) -> str:
        """Few resources, for which the index tells faster than the database whether it holds: they are bound."""
        name = f"list{len(self.lists)}"
        self.lists[name] = (expression, kind)
        return self.bind.numbers(name)

    def statement(self, query: str) -> str:
        """The query with the sets that it uses. `me` are the asker and their groups."""
        sets = list(self._sets.values())
        if self._asks_for_me:
            sets.insert(0, ("me", self.bind.numbers("mine")))
        if not sets:
            return query
        return "WITH " + ", ".join(f"{name} AS MATERIALIZED ({text})" for name, text in sets) + f" {query}"

    @property
    def mine(self) -> str:
        """A subquery of the asker and their groups."""
        self._asks_for_me = True
        return "SELECT id FROM me"

    def live(self, alias: str) -> str:
        """The fact holds at the moment of the question."""
        return f"{alias}.since <= {self.bind('at')} AND {alias}.until > {self.bind('at')}"

    def edge_ahead(self, name: str, source: str) -> str:
        """The ids at the end of an edge."""
        e = self.alias()
        return (
            f"SELECT {e}.target_id AS id FROM access_edge {e} WHERE {e}.source_id = {source}"
            f" AND {e}.name = {literal(name)} AND {self.live(e)}"
        )

    def all_of(self, kind: str, alias: str) -> str:
        """The condition on a row of `resource` that it is of the kind, and there."""
        return f"{alias}.tenant_id = {self.bind('tenant')} AND {alias}.kind = {literal(kind)} AND {self.live(alias)}"

    # Depth

    @property
    def is_cut(self) -> bool:
        """Whether anything is set apart at all."""
        return self._deepest < UNLIMITED

    @property
    def is_deep(self) -> bool:
        """Whether the next subquery is set apart."""
        return self._depth >= self._deepest

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Inside one more subquery."""
        self._depth += 1
        yield
        self._depth -= 1

    # Pairs of a member and a resource, for which something is worked out beforehand

    def pairs_at(self, resource: Term) -> str:
        """Those who are asked here: all members, if the resource is fixed and nothing else is known."""
        if resource.pairs or not resource.fixed:
            return resource.pairs
        p = self.alias()
        return self.named(
            ("members at", resource.sql),
            lambda: (
                f"SELECT {p}.id AS member_id, {resource.sql} AS id FROM resource {p} WHERE {self.all_of(MEMBER, p)}"
            ),
        )

    def pairs_along(self, step: Step, kind: str, resource: Term) -> str:
        """The same members at the ends of an edge."""
        start = self.pairs_at(resource) if self.is_cut else ""
        if not start:
            return ""
        d, e = self.alias(), self.alias()
        near, far = ("target_id", "source_id") if step.back else ("source_id", "target_id")
        return self.named(
            ("along", step, kind, start),
            lambda: (
                f"SELECT DISTINCT {d}.member_id, {e}.{far} AS id FROM {start} {d} JOIN access_edge {e}"
                f" ON {e}.{near} = {d}.id AND {e}.name {in_words(edge_names(step, kind))} AND {self.live(e)}"
            ),
        )
