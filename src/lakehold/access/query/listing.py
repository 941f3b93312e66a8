"""Listings: all resources that a principal may do something with, paged, sorted and searched by the database."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from lakehold.access.decisions.check import compiled_checks
from lakehold.access.decisions.principal import Principal, TokenPrincipal, lies_within
from lakehold.access.facts.records import require_moment, require_text
from lakehold.access.facts.view import FactView
from lakehold.access.model.expressions import Expression
from lakehold.access.model.policy import Policy
from lakehold.access.query.conditions import ConditionWriter
from lakehold.access.query.resource_sets import AllowedResources
from lakehold.access.query.reverse_lookup import GrantSelectivity, ReverseLookup
from lakehold.access.query.statement import SQL_TRUE, Placeholders, SqlTerm, in_list, join_conditions, write_shallow
from lakehold.kit.clock import Moment
from lakehold.kit.database import CursorPage, Transaction
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, quote, valid_id

SMALL_KIND = 2_000
SCAN_SIZES: tuple[int, ...] = (100, 400, 500)
"""So many are handed out in order, one lot after the other, before the database looks for what is the principal's."""
MAX_PAGE_SIZE = 1_000
_MAX_QUOTED = 40
_LONGEST = 4_000
_SORTS = {"name": ("sort_name", "ASC"), "-name": ("sort_name", "DESC"), "created": ("since", "ASC")}
_SORTS["-created"] = ("since", "DESC")


class ListedResource(NamedTuple):
    """A resource in a listing."""

    id: int
    uid: str
    kind: str
    name: str
    since: Moment


ListingPage = CursorPage[ListedResource]


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """An SQL text with named parameters."""

    sql: str
    lists: Mapping[str, tuple[Expression, str]] = field(default_factory=dict)
    """The lists that are bound, see `StatementBuilder.lists`."""

    def run(self, transaction: Transaction, values: dict[str, object]) -> Sequence[Any]:
        """Execute the statement. The rows are as the driver gives them, without an object around each."""
        with transaction.connection.exec_driver_sql(self.sql, values) as result:
            return result.cursor.fetchall()


@dataclass(frozen=True, slots=True)
class ListRequest:
    """The subject of a listing: an action on a kind, in a container of some kind, narrowed by a token's resources."""

    kind: str
    action: str
    within: str | None = None
    token: tuple[int, ...] | None = None


class ListStrategy(Enum):
    """The strategy by which a statement finds the principal's resources."""

    GRANTS = 1
    """They are found from the principal's grants, and then sorted."""
    INDEX = 2
    """All are handed out in order; the index tells."""
    DATABASE = 3
    """All are scanned in order, and the database filters them."""


@dataclass(frozen=True, slots=True)
class ListingShape:
    """The sorting, filtering and strategy of a page."""

    sort: str
    searched: bool
    after: bool
    by: ListStrategy


class _ListStatementWriter:
    """Writes the statements for one policy, dialect and set of small kinds."""

    def __init__(self, policy: Policy, dialect: str, small: frozenset[str]) -> None:
        self.policy = policy
        self.bind = Placeholders(dialect)
        self.dialect = dialect
        self._small = small

    @lru_cache(maxsize=2_048)  # noqa: B019 - writers are few and live as long as their policy
    def page(self, request: ListRequest, shape: ListingShape) -> SqlStatement:
        """Return the statement of one page of a listing."""
        tried: list[ConditionWriter] = []

        def write(deepest: int) -> str:
            tried.append(ConditionWriter(self.policy, self.bind, self._small.__contains__, deepest))
            return self._page(request, shape, tried[-1])

        text = write_shallow(self.dialect, write)
        return SqlStatement(text, tried[-1].lists)

    def _page(self, request: ListRequest, shape: ListingShape, sql: ConditionWriter) -> str:
        column, order = _SORTS[shape.sort]
        columns = "r.id, r.uid, r.kind, r.name, r.since"
        relation = self.policy.relations[request.kind, request.action]
        narrow = self._narrowing(request, sql)
        by_grants = shape.by is ListStrategy.GRANTS
        ids = ReverseLookup(self.policy, sql).ids(relation, request.kind) if by_grants else None
        if ids is not None:
            query = f"SELECT {columns} FROM resource r WHERE r.id IN ({ids}) AND {narrow}"
        else:
            here = SqlTerm("r.id", fixed=False)
            by_index = shape.by is ListStrategy.INDEX
            holds = SQL_TRUE if by_index else sql.holds(relation, request.kind, sql.me, here)
            query = (
                f"SELECT {columns} FROM resource r WHERE {sql.kind_condition(request.kind, 'r')}"
                f" AND {join_conditions('AND', (narrow, holds))}"
            )
        if shape.searched:
            found = f"instr(r.sort_name, {self.bind('search', 'text')}) > 0"
            query += " AND " + (found if self.dialect == "sqlite" else found.replace("instr", "strpos"))
        if shape.after:
            bound = self.bind("after", "text") if column == "sort_name" else self.bind("after")
            query += f" AND (r.{column}, r.id) {'>' if order == 'ASC' else '<'} ({bound}, {self.bind('after_id')})"
        query += f" ORDER BY r.{column} {order}, r.id {order} LIMIT {self.bind('limit')}"
        return sql.build(query)

    def _narrowing(self, request: ListRequest, sql: ConditionWriter) -> str:
        """Return the condition of a container, and of a token's resources with all that lies in them."""
        conditions: list[str] = []
        if request.within is not None:
            conditions.append(self._lies_in(request.kind, f"= {self.bind('within')}", request.within, sql))
        if request.token is not None:
            one_of = f"IN ({', '.join(map(str, request.token or (-1,)))})"
            inside = self._lies_in(request.kind, one_of, None, sql)
            conditions.append(join_conditions("OR", (f"r.id {one_of}", inside)))
        return join_conditions("AND", conditions)

    def _lies_in(self, kind: str, test: str, container: str | None, sql: ConditionWriter) -> str:
        """Return the condition that a container of the resource, of the given kind, passes the test."""
        levels = list(islice(self._levels(kind), len(self.policy.kinds)))
        if len(levels) == len(self.policy.kinds):
            # Some kind lies in itself, and nobody knows how often.
            return f"r.id IN ({self._all_inside(test, sql)})"
        term, found = "r.id", []
        for edges, kinds in levels:
            e = sql.alias()
            term = (
                f"(SELECT {e}.target_id FROM access_edge {e} WHERE {e}.source_id = {term}"
                f" AND {e}.name {in_list(edges)} AND {sql.is_live(e)} LIMIT 1)"
            )
            if container is None or container in kinds:
                found.append(f"{term} {test}")
        return join_conditions("OR", found)

    def _levels(self, kind: str) -> Iterator[tuple[set[str], set[str]]]:
        """Yield the levels upwards from a kind: the edges that lead to the next level, and the kinds there."""
        kinds = {kind}
        while True:
            parents = [(here, parent) for here in kinds if (parent := self.policy.kinds[here].parent)]
            if not parents:
                return
            kinds = {end for _, parent in parents for end in parent.kinds}
            yield {f"{here}.{parent.edge}" for here, parent in parents}, kinds

    def _all_inside(self, test: str, sql: ConditionWriter) -> str:
        e, f = sql.alias(), sql.alias()
        edges = in_list(f"{kind.id}.{kind.parent.edge}" for kind in self.policy.kinds.values() if kind.parent)
        return (
            f"WITH RECURSIVE inside(id) AS (SELECT {e}.source_id FROM access_edge {e} WHERE {e}.target_id {test}"
            f" AND {e}.name {edges} AND {sql.is_live(e)} UNION SELECT {f}.source_id FROM access_edge {f} JOIN inside"
            f" ON {f}.target_id = inside.id WHERE {f}.name {edges} AND {sql.is_live(f)}) SELECT id FROM inside"
        )


_cached_writer = lru_cache(maxsize=64)(_ListStatementWriter)


@dataclass(frozen=True, slots=True)
class ResourceListing:
    """Lists resources in one transaction, at one moment."""

    transaction: Transaction
    tenant: int
    view: FactView
    at: Moment

    def page(
        self,
        principal: Principal,
        action: str,
        kind: str,
        *,
        within: str | None = None,
        search: str = "",
        sort: str = "name",
        after: str | None = None,
        limit: int = 50,
    ) -> ListingPage:
        """Return one page of the resources that the principal may do this with."""
        if require_text(sort, "sort") not in _SORTS:
            raise InvalidInputError(f"Cannot sort by {quote(sort)}.", f"Sort by: {', '.join(_SORTS)}.")
        if type(limit) is not int or not 1 <= limit <= MAX_PAGE_SIZE:
            raise InvalidInputError(
                f"{repr(limit)[:_MAX_QUOTED]} is not a valid page size.", f"Use 1 to {MAX_PAGE_SIZE}."
            )
        request = self._list_request(principal, action, kind, within)
        if request is None:
            return CursorPage([], None)
        values = self._values(principal, within)
        values["limit"] = limit + 1
        if after is not None:
            values |= parse_cursor(after, sort)
        if search != "":
            values |= {"search": fold_name(valid_id(search, "search"))}
        shape = ListingShape(
            sort,
            search != "",
            after is not None,
            ListStrategy.GRANTS if self._is_selective(principal, request) else ListStrategy.INDEX,
        )
        rows = list(islice(self._rows(principal, request, shape, values), limit + 1))
        more = len(rows) > limit
        return CursorPage(rows[:limit], to_cursor(rows[limit - 1], sort) if more else None)

    def _rows(
        self, principal: Principal, request: ListRequest, shape: ListingShape, values: dict[str, object]
    ) -> Iterator[ListedResource]:
        """Yield the rows in order. The first ones are checked against the index; the rest is left to the database,
        which need not return what is not the principal's.
        """
        statement = self._writer().page(request, shape)
        if shape.by is ListStrategy.INDEX:
            view, subject = self.view, self.view.subject(self._member(principal))
            holds = compiled_checks(view.policy).relation_test(request.kind, request.action)
            page_limit = values["limit"]
            for size in SCAN_SIZES:
                found = statement.run(self.transaction, {**values, "limit": size})
                for row in found:
                    if holds(view, subject, row[0]):
                        yield ListedResource._make(row)
                if len(found) < size:
                    return
                values |= _after_values(ListedResource._make(found[-1]), shape.sort) | {"limit": page_limit}
                shape = replace(shape, after=True)
                statement = self._writer().page(request, shape)
            statement = self._writer().page(request, replace(shape, by=ListStrategy.DATABASE))
        values |= self._bound_lists(principal, statement)
        yield from map(ListedResource._make, statement.run(self.transaction, values))

    def ids(self, principal: Principal, action: str, kind: str, *, within: str | None = None) -> Sequence[int]:
        """Return the numbers of all resources that the principal may do this with, unordered."""
        view = self.view
        if self._list_request(principal, action, kind, within) is None:
            return []
        held = AllowedResources(view, view.subject(self._member(principal))).resources(
            view.policy.action(kind, action), kind
        )
        found: Sequence[int] = held.numbers()
        if within is not None:
            inside = frozenset({within})
            found = [here for here in found if view.uid(here) != within and lies_within(view, here, inside)]
        if isinstance(principal, TokenPrincipal) and principal.resources is not None:
            found = [here for here in found if lies_within(view, here, principal.resources)]
        return found

    def _list_request(self, principal: Principal, action: str, kind: str, within: str | None) -> ListRequest | None:
        """Return the list request; None if a token's narrowing leaves nothing of it."""
        self.view.policy.action(require_text(kind, "kind"), require_text(action, "action"))
        self._member(principal)
        container = self.view.kind(self.view.resource(within)) if within is not None else None
        if not isinstance(principal, TokenPrincipal) or not principal.is_narrowed:
            return ListRequest(kind, action, container)
        if (kind, action) in self.view.policy.granting_actions:
            return None
        if principal.actions is not None and action not in principal.actions:
            return None
        if principal.resources is None:
            return ListRequest(kind, action, container)
        numbers = (number for uid in principal.resources if (number := self.view.ids.get(uid)) is not None)
        return ListRequest(kind, action, container, tuple(sorted(numbers)))

    def _member(self, principal: Principal) -> int:
        return self.view.member(principal.member if isinstance(principal, TokenPrincipal) else principal)

    def _values(self, principal: Principal, within: str | None) -> dict[str, object]:
        return {
            "me": self._member(principal),
            "at": self.at,
            "tenant": self.tenant,
            "everyone": self.view.everyone,
            "within": self.view.resource(within) if within is not None else 0,
        }

    def _bound_lists(self, principal: Principal, statement: SqlStatement) -> dict[str, object]:
        """Return the bound lists: each resource of small kinds is checked in memory, which is fast."""
        view, checks = self.view, compiled_checks(self.view.policy)
        subject = view.subject(self._member(principal))
        bind_list = Placeholders(self.transaction.dialect).list_value
        values = {"mine": bind_list(list(subject.ids))}
        for name, (expression, kind) in statement.lists.items():
            holds = checks.expression_test(expression)
            values[name] = bind_list([here for here in view.by_kind.get(kind) or () if holds(view, subject, here)])
        return values

    def _writer(self) -> _ListStatementWriter:
        few = frozenset(kind for kind in self.view.policy.kinds if len(self.view.by_kind.get(kind) or ()) <= SMALL_KIND)
        return _cached_writer(self.view.policy, self.transaction.dialect, few)

    def _is_selective(self, principal: Principal, request: ListRequest) -> bool:
        """Return whether the principal's grants lead to few enough resources to fetch them and then sort."""
        subject = self.view.subject(self._member(principal))
        relation = self.view.policy.relations[request.kind, request.action]
        return GrantSelectivity(self.view, subject, SMALL_KIND).is_selective(relation, request.kind)


def to_cursor(last: ListedResource, sort: str) -> str:
    """Return the cursor of the page after this resource. It is valid for every kind."""
    after = _after_values(last, sort)
    return base64.urlsafe_b64encode(json.dumps([sort, after["after"], after["after_id"]]).encode()).decode()


def _after_values(last: ListedResource, sort: str) -> dict[str, object]:
    """Return the values to bind to continue after this resource."""
    return {"after": last.since if _SORTS[sort][0] == "since" else fold_name(last.name), "after_id": last.id}


def _sortable(name: object) -> str:
    """Return a name in the form in which it is sorted, if it is a valid one."""
    if not isinstance(name, str) or "\0" in name:
        raise ValueError(name)
    name.encode()
    return name


def parse_cursor(cursor: object, sort: str) -> dict[str, object]:
    """Return the values to bind to continue after a cursor of this order."""
    by_time = _SORTS[sort][0] == "since"
    if isinstance(cursor, str) and len(cursor) <= _LONGEST:
        try:
            made_for, value, number = json.loads(base64.urlsafe_b64decode(cursor.encode()))
            if made_for == sort and type(number) is int:
                return {
                    "after": require_moment(value) if by_time else _sortable(value),
                    "after_id": require_moment(number),
                }
        except (ValueError, TypeError, RecursionError, InvalidInputError):
            pass
    raise InvalidInputError("The cursor is not valid.", "Start again without a cursor, or use that of the last page.")
