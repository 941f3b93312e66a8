"""Where something is, and as whom it is used, stands in no word of others that a run repeats."""

from __future__ import annotations

import pytest

from lakehold.connectors.database.jdbc import JdbcDatabase
from lakehold.connectors.destinations.http_delivery import WebhookDestination
from lakehold.connectors.error_translation import hosts_of_url, redact

BASIC = "Basic YW5uOmh1bnRlcjI="
API, HOOKS = "api.corp.test", "hooks.corp.test"
HOOK = f"https://{HOOKS}/services/AbCdEfGhIjKlMn?key=T0KEN%2Fwith%3Dsigns"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("jdbc:postgresql://db.corp.test:5432,two.corp.test/shop?x=1", {"db.corp.test", "two.corp.test"}),
        ("jdbc:oracle:thin:@ora.corp.test:1521:sid", {"ora.corp.test"}),
        ("jdbc:sqlserver://sql.corp.test;databaseName=shop", {"sql.corp.test"}),
        (f"https://{API}/v1", {API}),
        ("jdbc:postgresql://db/shop", set()),
        ("jdbc:sqlite:/srv/shop.db", set()),
    ],
)
def test_hosts_of_addresses(url: str, found: set[str]) -> None:
    assert {each for each in hosts_of_url(url) if ":" not in each} == found


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Connection to db:5432 refused. Check it.", "Connection to … refused. Check it."),
        ("Connection to 10.0.0.5:5432 refused.", "Connection to … refused."),
        ('no pg_hba.conf entry for host "172.17.0.1"', 'no pg_hba.conf entry for host "…"'),
        ("neither fe80::1%eth0 nor [2001:db8::1]:443", "neither … nor …"),
        ("Could not open the file /root/.postgresql/root.crt", "Could not open the file …"),
        ("at 10:20:30 on 2031-05-04T10:20:30, line 1:7", "at 10:20:30 on 2031-05-04T10:20:30, line 1:7"),
        ('relation "public.orders" does not exist', 'relation "public.orders" does not exist'),
        ("integer / text, 1.2.3, N/A and a/b/c", "integer / text, 1.2.3, N/A and a/b/c"),
    ],
)
def test_addresses_and_files_are_veiled_and_nothing_else(text: str, redacted: str) -> None:
    assert redact(text) == redacted


def test_a_database_hides_where_it_is_and_as_whom_it_is_used() -> None:
    database = JdbcDatabase(
        "jdbc:sqlserver://sql.corp.test:1433;databaseName=shop",
        "ann",
        "hunter2",
        "x.Y",
        {"trustStorePassword": "geheim"},
    )
    said = "The connection to the host sql.corp.test, port 1433 failed for 'ann' with hunter2 and geheim: shop"
    assert (
        redact(said, *database.redactions) == "The connection to the host …, port 1433 failed for … with … and …: shop"
    )


@pytest.mark.parametrize(
    "echo",
    [
        "hunter2",
        BASIC,
        BASIC.split()[1],
        "T0KEN/with=signs",
        "T0KEN%2Fwith%3Dsigns",
        "AbCdEfGhIjKlMn",
        HOOKS,
        HOOK,
        "s1gning",
    ],
)
def test_a_receiver_that_repeats_what_it_was_sent_tells_nothing(echo: str) -> None:
    how = WebhookDestination(HOOK, "s1gning", {"Authorization": BASIC})
    assert echo not in redact(f"I have got {echo} and no rows", *how.redactions)
    assert "and no rows" in redact(f"I have got {echo} and no rows", *how.redactions)
