"""The pieces of an SQL statement: terms, placeholders, common table expressions, and the limit on its nesting.

What does not vary from row to row is evaluated once, as a common table expression. SQLite's parser has a small stack,
and refuses what is nested deeply; then subqueries are moved into common table expressions, too.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count

from lakehold.access.model.expressions import EdgeStep, Expression
from lakehold.access.model.policy import MEMBER

SQL_TRUE, SQL_FALSE = "1 = 1", "1 = 0"

# PostgreSQL turns an EXISTS into a join, or works it out for all rows beforehand. One that ends so stays a look-up.
KEEP_LOOKUP = "LIMIT 1 OFFSET 0"

_PLAIN = re.compile(r"(request )?[a-z0-9_.]+")


@dataclass(frozen=True, slots=True)
class SqlTerm:
    """A member or a resource in a statement."""

    sql: str
    fixed: bool
    pairs: str = ""
    """The set of the members and resources that are queried together here; empty if it is not needed."""


@dataclass(frozen=True, slots=True)
class EdgeEnd:
    """The end of an edge, and the kinds that it can be of."""

    term: SqlTerm
    kinds: tuple[str, ...]


def literal(word: str) -> str:
    """Return a word of a model as an SQL literal. Models have plain words only, and this is where that is relied on."""
    if not _PLAIN.fullmatch(word):
        raise ValueError(word)
    return f"'{word}'"


def unindexed(column: str, nothing: str = "0") -> str:
    """Wrap a column by which rows are tested once they are found, so that no index is used for it. Bare, a planner may
    find rows by it: then each member of a set is a look-up of its own, a hundred instead of one.
    """
    return f"COALESCE({column}, {nothing})"


def in_list(words: Iterable[str]) -> str:
    """Return `IN ('a', 'b')`, or `= 'a'` for one."""
    listed = [literal(word) for word in sorted(words)]
    return f"= {listed[0]}" if len(listed) == 1 else f"IN ({', '.join(listed)})"


def edge_names(step: EdgeStep, kind: str) -> Iterator[str]:
    """Yield the stored names of the edge: with the kind that it leads away from."""
    return (f"{source}.{step.edge}" for source in (step.kinds if step.back else (kind,)))


def join_conditions(word: str, parts: Iterable[str]) -> str:
    """Join conditions by AND or OR, without neutral ones."""
    neutral, absorbing = (SQL_FALSE, SQL_TRUE) if word == "OR" else (SQL_TRUE, SQL_FALSE)
    kept: list[str] = []
    for part in parts:
        if part == absorbing:
            return absorbing
        if part != neutral:
            kept.append(part)
    if len(kept) < 2:  # noqa: PLR2004 - nothing to join
        return kept[0] if kept else neutral
    return f"({f' {word} '.join(kept)})"


UNLIMITED = 1_000


class Placeholders:
    """Writes placeholders in a database's dialect."""

    def __init__(self, dialect: str) -> None:
        self._is_sqlite = dialect == "sqlite"

    def __call__(self, name: str, cast: str = "bigint") -> str:
        """Return the placeholder of one value."""
        return f":{name}" if self._is_sqlite else f"%({name})s::{cast}"

    def list_subquery(self, name: str) -> str:
        """Return a subquery of the numbers in a bound list."""
        if self._is_sqlite:
            return f"SELECT value AS id FROM json_each(:{name})"
        return f"SELECT unnest(%({name})s::bigint[]) AS id"

    def list_value(self, numbers: list[int]) -> object:
        """Return a list of numbers in the form in which it is bound."""
        return json.dumps(numbers) if self._is_sqlite else numbers


class StatementBuilder:
    """Builds one statement with its common table expressions, at most `deepest` subqueries deep."""

    def __init__(self, bind: Placeholders, deepest: int) -> None:
        self.bind = bind
        self.me = SqlTerm(bind("me"), fixed=True)
        self._deepest = deepest
        self._depth = 0
        self._numbers = count(1)
        self._ctes: dict[object, tuple[str, str]] = {}
        self._uses_principal = False
        self.lists: dict[str, tuple[Expression, str]] = {}
        """The lists that are bound: by name, what holds for the principal on which kind."""

    def alias(self) -> str:
        """Return an alias that the statement does not use yet."""
        return f"t{next(self._numbers)}"

    def cte_ids(self, key: object, write: Callable[[], str]) -> str:
        """Return a subquery of ids that does not vary from row to row, and so is evaluated once."""
        return f"SELECT id FROM {self.cte(key, write)}"

    def cte(self, key: object, write: Callable[[], str]) -> str:
        """Return the name of the common table expression of this key, which is written on first use."""
        if key not in self._ctes:
            depth, self._depth = self._depth, 0
            query = write()
            self._depth = depth
            self._ctes[key] = (f"s{len(self._ctes) + 1}", query)
        return self._ctes[key][0]

    def bound_list(self, expression: Expression, kind: str) -> str:
        """Return a bound list of resources of a small kind, which the index evaluates faster than the database."""
        name = f"list{len(self.lists)}"
        self.lists[name] = (expression, kind)
        return self.bind.list_subquery(name)

    def build(self, query: str) -> str:
        """Return the query with its common table expressions. `me` are the principal and their groups."""
        sets = list(self._ctes.values())
        if self._uses_principal:
            sets.insert(0, ("me", self.bind.list_subquery("mine")))
        if not sets:
            return query
        return "WITH " + ", ".join(f"{name} AS MATERIALIZED ({text})" for name, text in sets) + f" {query}"

    @property
    def principal_ids(self) -> str:
        """A subquery of the principal and their groups."""
        self._uses_principal = True
        return "SELECT id FROM me"

    def is_live(self, alias: str) -> str:
        """Return the condition that the fact holds at the moment of the query."""
        return f"{alias}.since <= {self.bind('at')} AND {alias}.until > {self.bind('at')}"

    def edge_ahead(self, name: str, source: str) -> str:
        """Return a subquery of the ids at the end of an edge."""
        e = self.alias()
        return (
            f"SELECT {e}.target_id AS id FROM access_edge {e} WHERE {e}.source_id = {source}"
            f" AND {e}.name = {literal(name)} AND {self.is_live(e)}"
        )

    def kind_condition(self, kind: str, alias: str) -> str:
        """Return the condition on a row of `resource` that it is of the kind, and exists."""
        return f"{alias}.tenant_id = {self.bind('tenant')} AND {alias}.kind = {literal(kind)} AND {self.is_live(alias)}"

    # Depth

    @property
    def is_split(self) -> bool:
        """Whether subqueries are moved out at all."""
        return self._deepest < UNLIMITED

    @property
    def is_deep(self) -> bool:
        """Whether the next subquery is moved out."""
        return self._depth >= self._deepest

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Enter one more subquery."""
        self._depth += 1
        yield
        self._depth -= 1

    # Pairs of a member and a resource, for which something is worked out beforehand

    def pairs_at(self, resource: SqlTerm) -> str:
        """Return the pairs of members and this resource: all members, if nothing else is known."""
        if resource.pairs or not resource.fixed:
            return resource.pairs
        p = self.alias()
        return self.cte(
            ("members at", resource.sql),
            lambda: (
                f"SELECT {p}.id AS member_id, {resource.sql} AS id FROM resource {p}"
                f" WHERE {self.kind_condition(MEMBER, p)}"
            ),
        )

    def pairs_along(self, step: EdgeStep, kind: str, resource: SqlTerm) -> str:
        """Return the pairs of the same members and the ends of an edge."""
        start = self.pairs_at(resource) if self.is_split else ""
        if not start:
            return ""
        d, e = self.alias(), self.alias()
        near, far = ("target_id", "source_id") if step.back else ("source_id", "target_id")
        return self.cte(
            ("along", step, kind, start),
            lambda: (
                f"SELECT DISTINCT {d}.member_id, {e}.{far} AS id FROM {start} {d} JOIN access_edge {e}"
                f" ON {e}.{near} = {d}.id AND {e}.name {in_list(edge_names(step, kind))} AND {self.is_live(e)}"
            ),
        )


_MAX_LENGTH = 400_000


def write_shallow(dialect: str, write: Callable[[int], str]) -> str:
    """Return the statement with as many of its parts moved out as it takes for the database to parse it. `write` gets
    the number of nested subqueries after which the next one is moved out.
    """
    text = write(UNLIMITED)
    for deepest in (4, 3, 2, 1):
        if len(text) <= _MAX_LENGTH and not (dialect == "sqlite" and is_too_deep(text)):
            break
        text = write(deepest)
    return text


def is_too_deep(text: str) -> bool:
    """Return whether SQLite's parser gives up. It does so before it looks for the tables, so none have to exist."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(text)
        except sqlite3.Error as error:
            return "parser stack overflow" in str(error)
    return False
