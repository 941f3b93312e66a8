"""All that an asker may do something with, paged, sorted and searched by the database."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from lakehold.access.decide.decisions import checks_of
from lakehold.access.decide.subjects import Asker, Token
from lakehold.access.decide.subjects import within as lies_within
from lakehold.access.facts.inputs import text, when
from lakehold.access.facts.view import View
from lakehold.access.model.expressions import Expression
from lakehold.access.model.policy import Policy
from lakehold.access.query.drivers import Drivers
from lakehold.access.query.held import Held
from lakehold.access.query.nesting import shallow
from lakehold.access.query.reach import Reach
from lakehold.access.query.sets import Bind
from lakehold.access.query.sql import Conditions
from lakehold.access.query.terms import YES, Term, in_words, joined
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import folded, quote, valid_id

SMALL = 2_000
LOOKED_AT: tuple[int, ...] = (100, 400, 500)
"""So many are handed out in order, one lot after the other, before the database looks for what is the asker's."""
MOST = 1_000
_SHOWN = 40
_LONGEST = 4_000
_SORTS = {"name": ("sort_name", "ASC"), "-name": ("sort_name", "DESC"), "created": ("since", "ASC")}
_SORTS["-created"] = ("since", "DESC")


class Found(NamedTuple):
    """A resource in a listing."""

    id: int
    uid: str
    kind: str
    name: str
    since: Moment


@dataclass(frozen=True, slots=True)
class Page:
    """Some resources, and where the next ones begin; None after the last."""

    items: list[Found]
    after: str | None


@dataclass(frozen=True, slots=True)
class Statement:
    """An SQL text with names to bind."""

    sql: str
    lists: Mapping[str, tuple[Expression, str]] = field(default_factory=dict)
    """The lists that are bound, see `Sets`."""

    def run(self, transaction: Transaction, values: dict[str, object]) -> Sequence[Any]:
        """Execute it as it stands. The rows are as the driver gives them, without an object around each."""
        with transaction.connection.exec_driver_sql(self.sql, values) as result:
            return result.cursor.fetchall()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a listing is of: an action on a kind, in a container of some kind, narrowed by a token's resources."""

    kind: str
    action: str
    within: str | None = None
    token: tuple[int, ...] | None = None


class By(Enum):
    """By what the asker's are told from others'."""

    GRANTS = 1
    """They are found from the asker's grants, and then sorted."""
    INDEX = 2
    """All are handed out in order; the index tells."""
    DATABASE = 3
    """All are looked at in order, and the database tells."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a page is put together."""

    sort: str
    searched: bool
    after: bool
    by: By


class _Writer:
    """Writes the statements for one policy, dialect and set of small kinds."""

    def __init__(self, policy: Policy, dialect: str, small: frozenset[str]) -> None:
        self.policy = policy
        self.bind = Bind(dialect)
        self.dialect = dialect
        self._small = small

    @lru_cache(maxsize=2_048)  # noqa: B019 - writers are few and live as long as their policy
    def page(self, asked: Asked, shape: Shape) -> Statement:
        """One page of a listing."""
        tried: list[Conditions] = []

        def write(deepest: int) -> str:
            tried.append(Conditions(self.policy, self.bind, self._small.__contains__, deepest))
            return self._page(asked, shape, tried[-1])

        text = shallow(self.dialect, write)
        return Statement(text, tried[-1].lists)

    def _page(self, asked: Asked, shape: Shape, sql: Conditions) -> str:
        column, order = _SORTS[shape.sort]
        columns = "r.id, r.uid, r.kind, r.name, r.since"
        narrow = self._narrow(asked, sql)
        ids = self._driven(asked, sql) if shape.by is By.GRANTS else None
        if ids is not None:
            query = f"SELECT {columns} FROM resource r WHERE r.id IN ({ids}) AND {narrow}"
        else:
            holds = YES if shape.by is By.INDEX else self._holds(asked, sql)
            query = (
                f"SELECT {columns} FROM resource r WHERE {sql.all_of(asked.kind, 'r')}"
                f" AND {joined('AND', (narrow, holds))}"
            )
        if shape.searched:
            found = f"instr(r.sort_name, {self.bind('search', 'text')}) > 0"
            query += " AND " + (found if self.dialect == "sqlite" else found.replace("instr", "strpos"))
        if shape.after:
            bound = self.bind("after", "text") if column == "sort_name" else self.bind("after")
            query += f" AND (r.{column}, r.id) {'>' if order == 'ASC' else '<'} ({bound}, {self.bind('after_id')})"
        query += f" ORDER BY r.{column} {order}, r.id {order} LIMIT {self.bind('limit')}"
        return sql.statement(query)

    def _driven(self, asked: Asked, sql: Conditions) -> str | None:
        return Drivers(self.policy, sql).ids(self.policy.relations[asked.kind, asked.action], asked.kind)

    def _holds(self, asked: Asked, sql: Conditions) -> str:
        relation = self.policy.relations[asked.kind, asked.action]
        return sql.holds(relation, asked.kind, sql.me, Term("r.id", fixed=False))

    def _narrow(self, asked: Asked, sql: Conditions) -> str:
        return joined(
            "AND", (self._within(asked.kind, asked.within, sql), self._narrowed(asked.kind, asked.token, sql))
        )

    def _within(self, kind: str, within: str | None, sql: Conditions) -> str:
        if within is None:
            return YES
        return self._lies_in(kind, f"= {self.bind('within')}", within, sql)

    def _narrowed(self, kind: str, token: tuple[int, ...] | None, sql: Conditions) -> str:
        """What a token's resources leave: they themselves, and all that lies in them."""
        if token is None:
            return YES
        one_of = f"IN ({', '.join(map(str, token))})" if token else "IN (-1)"
        return joined("OR", (f"r.id {one_of}", self._lies_in(kind, one_of, None, sql)))

    def _lies_in(self, kind: str, test: str, container: str | None, sql: Conditions) -> str:
        """One of those that a resource of the kind lies in passes the test; it is of the container's kind, if given."""
        levels = list(islice(self._levels(kind), len(self.policy.kinds)))
        if len(levels) == len(self.policy.kinds):
            # Some kind lies in itself, and nobody knows how often.
            return f"r.id IN ({self._all_inside(test, sql)})"
        term, found = "r.id", []
        for edges, kinds in levels:
            e = sql.alias()
            term = (
                f"(SELECT {e}.target_id FROM access_edge {e} WHERE {e}.source_id = {term}"
                f" AND {e}.name {in_words(edges)} AND {sql.live(e)} LIMIT 1)"
            )
            if container is None or container in kinds:
                found.append(f"{term} {test}")
        return joined("OR", found)

    def _levels(self, kind: str) -> Iterator[tuple[set[str], set[str]]]:
        """Upwards from a kind: the edges that lead to the next level, and the kinds there."""
        kinds = {kind}
        while True:
            parents = [(here, parent) for here in kinds if (parent := self.policy.kinds[here].parent)]
            if not parents:
                return
            kinds = {end for _, parent in parents for end in parent.kinds}
            yield {f"{here}.{parent.edge}" for here, parent in parents}, kinds

    def _all_inside(self, test: str, sql: Conditions) -> str:
        e, f = sql.alias(), sql.alias()
        edges = in_words(f"{kind.id}.{kind.parent.edge}" for kind in self.policy.kinds.values() if kind.parent)
        return (
            f"WITH RECURSIVE inside(id) AS (SELECT {e}.source_id FROM access_edge {e} WHERE {e}.target_id {test}"
            f" AND {e}.name {edges} AND {sql.live(e)} UNION SELECT {f}.source_id FROM access_edge {f} JOIN inside"
            f" ON {f}.target_id = inside.id WHERE {f}.name {edges} AND {sql.live(f)}) SELECT id FROM inside"
        )


_writer = lru_cache(maxsize=64)(_Writer)


@dataclass(frozen=True, slots=True)
class Listing:
    """Listings in one transaction, at one moment."""

    transaction: Transaction
    tenant: int
    view: View
    at: Moment

    def page(
        self,
        asker: Asker,
        action: str,
        kind: str,
        *,
        within: str | None = None,
        search: str = "",
        sort: str = "name",
        after: str | None = None,
        limit: int = 50,
    ) -> Page:
        """One page of all that the asker may do this with."""
        if text(sort, "sort") not in _SORTS:
            raise InvalidInputError(f"Cannot sort by {quote(sort)}.", f"Sort by: {', '.join(_SORTS)}.")
        if type(limit) is not int or not 1 <= limit <= MOST:
            raise InvalidInputError(f"A page of {repr(limit)[:_SHOWN]} is not to be had.", f"Ask for 1 to {MOST}.")
        asked = self._asked(asker, action, kind, within)
        if asked is None:
            return Page([], None)
        values = self._values(asker, within)
        values["limit"] = limit + 1
        if after is not None:
            values |= _read_cursor(after, sort)
        if search != "":
            values |= {"search": folded(valid_id(search, "search"))}
        shape = Shape(sort, search != "", after is not None, By.GRANTS if self._are_few(asker, asked) else By.INDEX)
        rows = list(islice(self._rows(asker, asked, shape, values), limit + 1))
        more = len(rows) > limit
        return Page(rows[:limit], cursor(rows[limit - 1], sort) if more else None)

    def _rows(self, asker: Asker, asked: Asked, shape: Shape, values: dict[str, object]) -> Iterator[Found]:
        """In order. Of those that come first in order the index tells which are the asker's; the rest is left to the
        database, which need not hand out what is not.
        """
        statement = self._writer().page(asked, shape)
        if shape.by is By.INDEX:
            view, subject = self.view, self.view.subject(self._member(asker))
            holds = checks_of(view.policy).test(asked.kind, asked.action)
            wanted = values["limit"]
            for size in LOOKED_AT:
                found = statement.run(self.transaction, {**values, "limit": size})
                for row in found:
                    if holds(view, subject, row[0]):
                        yield Found._make(row)
                if len(found) < size:
                    return
                values |= _after(Found._make(found[-1]), shape.sort) | {"limit": wanted}
                shape = replace(shape, after=True)
                statement = self._writer().page(asked, shape)
            statement = self._writer().page(asked, replace(shape, by=By.DATABASE))
        values |= self._lists(asker, statement)
        yield from map(Found._make, statement.run(self.transaction, values))

    def ids(self, asker: Asker, action: str, kind: str, *, within: str | None = None) -> Sequence[int]:
        """The numbers of all that the asker may do this with, without order."""
        view = self.view
        if self._asked(asker, action, kind, within) is None:
            return []
        held = Held(view, view.subject(self._member(asker))).of(view.policy.action(kind, action), kind)
        found: Sequence[int] = held.numbers()
        if within is not None:
            inside = frozenset({within})
            found = [here for here in found if view.uid(here) != within and lies_within(view, here, inside)]
        if isinstance(asker, Token) and asker.resources is not None:
            found = [here for here in found if lies_within(view, here, asker.resources)]
        return found

    def _asked(self, asker: Asker, action: str, kind: str, within: str | None) -> Asked | None:
        """What is asked for; None if a token's narrowing leaves nothing of it."""
        self.view.policy.action(text(kind, "kind"), text(action, "action"))
        self._member(asker)
        container = self.view.kind(self.view.resource(within)) if within is not None else None
        if not isinstance(asker, Token) or not asker.is_narrowed:
            return Asked(kind, action, container)
        if (kind, action) in self.view.policy.handing_out:
            return None
        if asker.actions is not None and action not in asker.actions:
            return None
        if asker.resources is None:
            return Asked(kind, action, container)
        numbers = (number for uid in asker.resources if (number := self.view.ids.get(uid)) is not None)
        return Asked(kind, action, container, tuple(sorted(numbers)))

    def _member(self, asker: Asker) -> int:
        return self.view.member(asker.member if isinstance(asker, Token) else asker)

    def _values(self, asker: Asker, within: str | None) -> dict[str, object]:
        return {
            "me": self._member(asker),
            "at": self.at,
            "tenant": self.tenant,
            "everyone": self.view.everyone,
            "within": self.view.resource(within) if within is not None else 0,
        }

    def _lists(self, asker: Asker, statement: Statement) -> dict[str, object]:
        """Of few resources each is asked in memory, where that is done a thousand times in a millisecond."""
        view, checks = self.view, checks_of(self.view.policy)
        subject = view.subject(self._member(asker))
        told = Bind(self.transaction.dialect).told
        values = {"mine": told(list(subject.ids))}
        for name, (expression, kind) in statement.lists.items():
            holds = checks.of(expression)
            values[name] = told([here for here in view.of_kind.get(kind) or () if holds(view, subject, here)])
        return values

    def _writer(self) -> _Writer:
        few = frozenset(kind for kind in self.view.policy.kinds if len(self.view.of_kind.get(kind) or ()) <= SMALL)
        return _writer(self.view.policy, self.transaction.dialect, few)

    def _are_few(self, asker: Asker, asked: Asked) -> bool:
        """Whether what the asker's grants lead to is little enough to be fetched and then sorted."""
        subject = self.view.subject(self._member(asker))
        relation = self.view.policy.relations[asked.kind, asked.action]
        return Reach(self.view, subject, SMALL).is_near(relation, asked.kind)


def cursor(last: Found, sort: str) -> str:
    """Where the next page begins, after this one. It is good for every kind: numbers are no kind's own."""
    after = _after(last, sort)
    return base64.urlsafe_b64encode(json.dumps([sort, after["after"], after["after_id"]]).encode()).decode()


def _after(last: Found, sort: str) -> dict[str, object]:
    """What is bound to go on behind this one."""
    return {"after": last.since if _SORTS[sort][0] == "since" else folded(last.name), "after_id": last.id}


def _sortable(name: object) -> str:
    """A name in the form in which it is sorted, if one can have it."""
    if not isinstance(name, str) or "\0" in name:
        raise ValueError(name)
    name.encode()
    return name


def _read_cursor(cursor: object, sort: str) -> dict[str, object]:
    by_time = _SORTS[sort][0] == "since"
    if isinstance(cursor, str) and len(cursor) <= _LONGEST:
        try:
            made_for, value, number = json.loads(base64.urlsafe_b64decode(cursor.encode()))
            if made_for == sort and type(number) is int:
                return {"after": when(value) if by_time else _sortable(value), "after_id": when(number)}
        except (ValueError, TypeError, RecursionError, InvalidInputError):
            pass
    raise InvalidInputError("The cursor cannot be read.", "Begin again without one, or with the last page's.")
