"""What somebody does is theirs alone and for that one query; what was taken from them is gone at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpx
import pytest

from lakehold.access import Grant, TokenPrincipal
from lakehold.directory.caller import Caller
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import LakeholdError
from lakehold.kit.keys import KeyRing
from lakehold.lake import catalog_tokens
from lakehold.runs import heartbeat
from lakehold.runs.worker_client import QUERY_PATH
from tests.api.client import Api, serve_api
from tests.lake.attacks.queries import find_leaks
from tests.lake.shop import ADA, ED, RITA, TENANT, Shop

LATER = (
    ("CREATE TEMPORARY VIEW mine AS SELECT * FROM raw.orders", "SELECT * FROM mine"),
    ("CREATE GLOBAL TEMPORARY VIEW mine AS SELECT * FROM raw.orders", "SELECT * FROM global_temp.mine"),
    ("DECLARE VARIABLE mine INT DEFAULT 5", "SELECT mine"),
    ("CREATE TEMPORARY FUNCTION mine() RETURNS INT RETURN 5", "SELECT mine()"),
    ("CREATE TABLE spark_catalog.default.mine USING parquet AS SELECT 5", "SELECT * FROM spark_catalog.default.mine"),
    ("CACHE TABLE mine AS SELECT * FROM raw.orders", "SELECT * FROM mine"),
    ("SET spark.sql.runSQLOnFiles = true", "SELECT * FROM text.`/etc/passwd`"),
    ("USE NAMESPACE raw", "SELECT * FROM orders"),
)


@pytest.mark.parametrize(("first", "then"), LATER)
def test_nothing_is_left_of_a_query(shop: Shop, first: str, then: str) -> None:
    for caller in (ADA, RITA):
        with pytest.raises(LakeholdError, match=r"may not (use|contain)"):
            shop.ask(caller, first)
    for caller in (RITA, ED, ADA):
        with pytest.raises(LakeholdError):
            shop.ask(caller, then)


def test_the_same_words_mean_to_each_what_they_may_read(shop: Shop) -> None:
    text = "SELECT count(*) FROM secret.hidden"
    assert shop.ask(ADA, text) == [(1,)]
    for caller in (RITA, ED, RITA):
        with pytest.raises(LakeholdError, match="cannot be found"):
            shop.ask(caller, text)
    assert shop.ask(ADA, text) == [(1,)]


@contextmanager
def granted(shop: Shop, grant: Grant) -> Iterator[None]:
    with shop.platform.access.write(TENANT) as session:
        session.store.add(grant)
    try:
        yield
    finally:
        with shop.platform.access.write(TENANT) as session:
            session.store.remove(grant)


def test_what_is_taken_away_is_gone_for_the_very_next_query(shop: Shop) -> None:
    text = "SELECT id FROM secret.hidden"
    for _ in range(2):
        with granted(shop, Grant("rita", "viewer", "hidden")):
            assert shop.ask(RITA, text) == [(1,)]
            assert shop.ask(RITA, text) == [(1,)]
        with pytest.raises(LakeholdError, match="cannot be found"):
            shop.ask(RITA, text)


def test_who_views_as_somebody_gets_no_rows(shop: Shop) -> None:
    viewing = replace(RITA, impersonator="ada")
    for text in ("SELECT * FROM raw.orders", "SELECT 1", "SELECT * FROM secret.hidden"):
        with pytest.raises(LakeholdError, match="Viewing as somebody else"):
            shop.ask(viewing, text)


@pytest.mark.parametrize(
    ("narrowed", "readable"),
    [
        (TokenPrincipal("rita", resources=frozenset({"orders"})), {"raw.orders"}),
        (TokenPrincipal("rita", resources=frozenset({"service"})), {"service.sums"}),
        (TokenPrincipal("rita", actions=frozenset({"lakehouse.lakehouse.see"})), set()),
        (TokenPrincipal("rita", resources=frozenset({"hidden"})), set()),
        (TokenPrincipal("rita"), {"raw.orders", "raw.customers", "service.sums"}),
    ],
)
def test_a_narrowed_token_reads_what_it_is_narrowed_to(
    shop: Shop, narrowed: TokenPrincipal, readable: set[str]
) -> None:
    caller = replace(RITA, narrowed=narrowed, token_id="some")
    found = set()
    for table in ("raw.orders", "raw.customers", "service.sums", "secret.hidden"):
        try:
            shop.ask(caller, f"SELECT count(*) FROM {table}")
        except LakeholdError:
            continue
        found.add(table)
    assert found == readable


# Tickets


@pytest.fixture
def worker(shop: Shop) -> Iterator[httpx.Client]:
    with shop.platform.database.read() as transaction:
        address = heartbeat.worker_addresses(transaction)[0]
    with httpx.Client(base_url=address, trust_env=False) as client:
        yield client


@pytest.fixture(scope="module")
def api(shop: Shop) -> Iterator[Api]:
    """The server that people reach."""
    with serve_api(shop.platform, TENANT) as found:
        yield found


QUERY = {"id": "mine", "workspace": "Shop", "text": "SELECT 1", "rows": 10}


def bad_tickets(shop: Shop, api: Api) -> dict[str, str]:
    platform = shop.platform
    good = catalog_tokens.issue_token(platform.keys, RITA, platform.clock(), 60)
    body, _, seal = good.partition(".")
    others = catalog_tokens.issue_token(platform.keys, ADA, platform.clock(), 60).partition(".")[0]
    return {
        "none at all": "",
        "an old one": catalog_tokens.issue_token(platform.keys, RITA, platform.clock() - 120 * SECOND, 60),
        "one of another installation": catalog_tokens.issue_token(KeyRing(["k" * 43 + "="]), ADA, platform.clock(), 60),
        "another's body": f"{others}.{seal}",
        "no seal": body,
        "an empty seal": f"{body}.",
        "a seal that is not plain": f"{body}.é",
        "no prefix": good.removeprefix("lht_"),
        "some letters": "lht_abc.def",
        "a token of the member": api.token("ada"),
    }


def test_a_bad_ticket_is_refused_by_the_worker(shop: Shop, api: Api, worker: httpx.Client) -> None:
    for name, ticket in bad_tickets(shop, api).items():
        headers = {b"authorization": f"Bearer {ticket}".encode()} if ticket else {}
        for method, path in (
            ("POST", QUERY_PATH),
            ("DELETE", f"{QUERY_PATH}/mine"),
            ("GET", "/iceberg/v1/config"),
            ("GET", "/iceberg/v1/shop/namespaces/raw/tables/orders"),
        ):
            found = worker.request(method, path, headers=headers, json=QUERY if method == "POST" else None)
            assert found.status_code == 401, name
            assert find_leaks(shop, "127.0.0.1", found.text) == []


def test_a_ticket_is_good_for_the_worker_alone(shop: Shop, api: Api, worker: httpx.Client) -> None:
    ticket = catalog_tokens.issue_token(shop.platform.keys, ADA, shop.platform.clock(), 60)
    assert worker.get("/iceberg/v1/config", headers={"authorization": f"Bearer {ticket}"}).status_code == 200
    for path in ("/iceberg/v1/config", "/api/v1/me", "/api/v1/members", "/api/v1/tokens"):
        assert api.get(path, token=ticket).status_code == 401
    assert api.get("/iceberg/v1/config", "ada").status_code == 200


def test_a_ticket_says_no_more_than_its_caller(shop: Shop) -> None:
    platform = shop.platform
    for caller in (
        RITA,
        replace(RITA, impersonator="ada"),
        replace(RITA, narrowed=TokenPrincipal("rita", frozenset({"see"}), None)),
    ):
        ticket = catalog_tokens.issue_token(platform.keys, caller, platform.clock(), 60)
        assert catalog_tokens.verify_token(platform.keys, ticket, platform.clock()) == replace(caller, address="worker")
    assert (
        catalog_tokens.verify_token(
            platform.keys, catalog_tokens.issue_token(platform.keys, RITA, 0, 60), platform.clock()
        )
        is None
    )
    assert isinstance(
        catalog_tokens.verify_token(
            platform.keys, catalog_tokens.issue_token(platform.keys, RITA, platform.clock(), 1), platform.clock()
        ),
        Caller,
    )


def test_nobody_stops_the_query_of_another(shop: Shop, worker: httpx.Client) -> None:
    ticket = catalog_tokens.issue_token(shop.platform.keys, RITA, shop.platform.clock(), 60)
    found = worker.delete(f"{QUERY_PATH}/theirs", headers={"authorization": f"Bearer {ticket}"})
    assert found.status_code == 404
