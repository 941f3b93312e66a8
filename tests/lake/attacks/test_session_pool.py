"""A session that waits for its person's next query: it is theirs alone, nothing of a query is left in it, and what it
may read is asked anew each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakehold.access import Grant, TokenPrincipal
from lakehold.directory.caller import Caller
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import LakeholdError
from lakehold.kit.settings import Settings
from lakehold.lake.spark.queries import Query, QueryService
from lakehold.lake.spark.session_pool import UserSession, UserSessions
from lakehold.runs import heartbeat
from tests.lake.attacks.queries import fill_placeholders, hostile_queries
from tests.lake.shop import ADA, ED, RITA, TENANT, Shop

LIMITS = Settings(queries_at_once=5, query_seconds=60, query_rows=1_000, query_megabytes=10, query_patience=60)
ORDERS = "SELECT count(*) FROM raw.orders"


class Counted(UserSessions):
    """Counts the sessions that it makes."""

    made = 0

    def create_session(self, ticket: str, workspace: str) -> SparkSession:
        self.made += 1
        return super().create_session(ticket, workspace)


class Desk:
    """Where queries are asked, with a look behind it."""

    def __init__(self, spark: SparkSession, shop: Shop, data: Path) -> None:
        with shop.platform.database.read() as transaction:
            address = heartbeat.worker_addresses(transaction)[0]
        self.persons = Counted(spark, shop.platform.keys, self.clock, address)
        self.ahead = 0
        """How many seconds the clock is turned."""
        self._clock = shop.platform.clock
        self.queries = QueryService(spark, self.persons, LIMITS.model_copy(update={"data": data}))
        self._numbers = iter(range(10_000))

    def clock(self) -> int:
        return self._clock() + self.ahead * SECOND

    def ask(self, caller: Caller, text: str) -> list[dict[str, Any]]:
        query = Query(f"desk-{next(self._numbers)}", caller, "Shop", text, 100)
        return [row for batch in self.queries.run(query).batches for row in batch.to_pylist()]

    def refused(self, caller: Caller, text: str) -> str:
        with pytest.raises(LakeholdError) as raised:
            self.ask(caller, text)
        return str(raised.value)

    @property
    def waiting(self) -> list[UserSession]:
        return list(self.persons._idle)


@pytest.fixture
def desk(spark: SparkSession, shop: Shop, tmp_path: Path) -> Desk:
    return Desk(spark, shop, tmp_path)


@pytest.fixture
def change(shop: Shop) -> Iterator[Callable[..., None]]:
    """Change who may do what; at the end it is as it was."""
    with ExitStack() as undone:

        def changed(add: Grant | None = None, remove: Grant | None = None) -> None:
            with shop.platform.access.write(TENANT) as session:
                for grant, do, undo in ((add, "add", "remove"), (remove, "remove", "add")):
                    if grant is not None:
                        getattr(session.store, do)(grant)
                        undone.callback(_made, shop, undo, grant)

        yield changed


def _made(shop: Shop, do: str, grant: Grant) -> None:
    with shop.platform.access.write(TENANT) as session:
        getattr(session.store, do)(grant)


def test_a_session_is_lent_again(desk: Desk) -> None:
    for _ in range(3):
        assert desk.ask(RITA, ORDERS) == [{"count(1)": 100}]
    assert (desk.persons.made, len(desk.waiting)) == (1, 1)
    # What belongs to one request, and not to the person, makes no other.
    assert desk.ask(replace(RITA, request="other", address="10.0.0.9", sign_in_id="s2"), ORDERS)
    assert desk.persons.made == 1


def test_what_is_taken_away_between_two_queries_is_gone_in_the_same_session(
    desk: Desk, change: Callable[..., None]
) -> None:
    assert desk.ask(RITA, ORDERS)
    change(remove=Grant("rita", "viewer", "orders"))
    assert "cannot be found" in desk.refused(RITA, ORDERS)
    assert "cannot be found" in desk.refused(RITA, "SELECT * FROM lake.Shop.raw.orders VERSION AS OF 1")
    assert desk.persons.made == 1
    assert desk.ask(RITA, "SELECT count(*) AS n FROM raw.customers") == [{"n": 5}]


def test_what_is_given_between_two_queries_is_there_in_the_same_session(
    desk: Desk, change: Callable[..., None]
) -> None:
    text = "SELECT id FROM secret.hidden"
    assert "cannot be found" in desk.refused(RITA, text)
    change(add=Grant("rita", "viewer", "hidden"))
    assert desk.ask(RITA, text) == [{"id": 1}]
    assert desk.persons.made == 1


def test_a_narrower_token_of_the_same_person_gets_another(desk: Desk) -> None:
    assert desk.ask(RITA, ORDERS)
    narrow = replace(RITA, narrowed=TokenPrincipal("rita", resources=frozenset({"customers"})), token_id="one")
    assert "cannot be found" in desk.refused(narrow, ORDERS)
    assert desk.ask(narrow, "SELECT count(*) AS n FROM raw.customers") == [{"n": 5}]
    assert desk.persons.made == 2
    # Nor does the wide one get that of the narrow one, nor one narrow token that of another.
    assert desk.ask(RITA, ORDERS)
    other = replace(narrow, token_id="two")
    assert "cannot be found" in desk.refused(other, ORDERS)
    still = replace(RITA, narrowed=TokenPrincipal("rita", resources=frozenset({"orders"})), token_id="one")
    assert desk.ask(still, ORDERS)
    assert "cannot be found" in desk.refused(still, "SELECT * FROM raw.customers")
    assert desk.persons.made == 4


def test_nobody_gets_that_of_another(desk: Desk) -> None:
    assert desk.ask(ADA, "SELECT id FROM secret.hidden") == [{"id": 1}]
    for caller in (RITA, ED):
        assert "cannot be found" in desk.refused(caller, "SELECT id FROM secret.hidden")
    assert desk.persons.made == 3


def test_who_views_as_somebody_gets_none_even_if_one_waits(desk: Desk) -> None:
    assert desk.ask(RITA, ORDERS)
    assert "Viewing as somebody else" in desk.refused(replace(RITA, impersonator="ada"), ORDERS)
    assert "Viewing as somebody else" in desk.refused(replace(ADA, impersonator="rita"), ORDERS)
    assert desk.persons.made == 1


def test_a_ticket_that_would_end_meanwhile_is_not_used_again(desk: Desk) -> None:
    assert desk.ask(RITA, ORDERS)
    (first,) = desk.waiting
    desk.ahead = 500
    assert desk.ask(RITA, ORDERS)
    assert desk.persons.made == 1
    # It would be good for a moment still, and not for as long as a query may take.
    desk.ahead = 650
    assert desk.ask(RITA, ORDERS)
    assert desk.persons.made == 2
    desk.ahead = 100_000
    assert desk.persons._take_idle((RITA, "Shop"), desk.clock()) is None
    assert first not in desk.waiting


def test_an_old_ticket_opens_nothing(desk: Desk) -> None:
    """Should one ever be used all the same."""
    desk.ahead = -1_000
    old = desk.persons.create_session(desk.persons.issue_token(RITA, 60), "Shop")
    desk.ahead = 0
    with pytest.raises(Exception, match=r"(?i)not authorized|ticket|cannot be found"):
        old.sql(ORDERS).collect()


def test_what_the_platform_tells_of_itself_is_made_anew(desk: Desk, change: Callable[..., None]) -> None:
    text = "SELECT count(*) AS n FROM system.access WHERE member = 'rita' AND resource = 'hidden'"
    assert desk.ask(RITA, text) == [{"n": 0}]
    change(add=Grant("rita", "viewer", "hidden"))
    assert desk.ask(RITA, text)[0]["n"] > 0
    assert desk.persons.made == 1


def test_two_queries_at_once_have_each_their_own(desk: Desk) -> None:
    lending = desk.persons
    with lending.borrow(RITA, "Shop", 60) as one, lending.borrow(RITA, "Shop", 60) as other:
        assert one.session is not other.session
        assert one.token != other.token
    assert len(desk.waiting) == 2
    with lending.borrow(RITA, "", 60) as nowhere:
        assert nowhere.session not in (one.session, other.session)


def test_nothing_of_any_hostile_text_is_left_in_the_session(desk: Desk, shop: Shop) -> None:
    desk.ask(RITA, ORDERS)
    (lent,) = desk.waiting
    before = state_of(lent.session)
    for each in hostile_queries():
        try:
            desk.ask(RITA, fill_placeholders(shop, each.text))
        except LakeholdError:
            continue
    assert (desk.persons.made, [each.session for each in desk.waiting]) == (1, [lent.session])
    assert state_of(lent.session) == before
    assert desk.ask(RITA, ORDERS) == [{"count(1)": 100}]


def state_of(session: SparkSession) -> dict[str, object]:
    """All that a statement could leave in a session."""
    state = session._jsparkSession.sessionState()
    catalogs, catalog = state.catalogManager(), state.catalog()
    settings = state.conf().getAllConfs()
    return {
        "settings": settings.toString(),
        "catalog": catalogs.currentCatalog().name(),
        "namespace": ".".join(catalogs.currentNamespace()),
        "views": catalog.listLocalTempViews("*").toString(),
        "views of all": catalog.listTables("global_temp").toString() if catalog.databaseExists("global_temp") else "",
        "functions": sorted(each.toString() for each in _each(catalog.listTemporaryFunctions())),
        "variables": catalogs.tempVariableManager().isEmpty(),
        "cached": session._jsparkSession.sharedState().cacheManager().isEmpty(),
        "databases": catalog.listDatabases().toString(),
    }


def _each(found: Any) -> list[Any]:  # noqa: ANN401 - a list of Scala's
    return [found.apply(number) for number in range(found.size())]
