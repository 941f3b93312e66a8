"""A destination is tried out before anything is sent, by those who may make it or edit it."""

from __future__ import annotations

from collections.abc import Mapping

import psycopg
import pytest

from lakehold.directory.caller import Caller
from lakehold.kit.errors import InvalidInputError, LakeholdError, UnavailableError
from lakehold.lake.errors import DeliveryError
from lakehold.runs import worker_client
from tests import postgres
from tests.lake.shop import ED, RITA
from tests.workspaces.lakehouse.inline_runs import InlineRuns


def tried(here: InlineRuns, settings: Mapping[str, object], by: Caller = ED, **more: object) -> str:
    """What the worker says of one that would read the orders."""
    asked = {"settings": settings, "lakehouse": "shop", "reads": ["orders"], **more}
    return worker_client.check_connection(here.shop.platform, by, "lakehouse.destination", asked)


def test_a_database_lets_us_in_or_says_why_not(here: InlineRuns, server: postgres.Server) -> None:
    name = server.create()
    there = {"to": "database", "address": f"jdbc:postgresql://127.0.0.1:{server.port}/{name}", "user": postgres.USER}
    assert tried(here, {**there, "table": "rows"}) == "Connection successful."
    with psycopg.connect(server.url(name)) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE tablename = 'rows'").fetchone() == (0,)
    server.drop(name)
    with pytest.raises(DeliveryError):
        tried(here, there)
    with pytest.raises(UnavailableError):
        tried(here, {**there, "address": f"jdbc:postgresql://127.0.0.1:1/{name}"})
    with pytest.raises(InvalidInputError):
        tried(here, {**there, "mode": "upsert"})


def test_a_file_a_webhook_and_a_mail_are_tried_without_being_sent(here: InlineRuns) -> None:
    file = {"to": "files", "name": "tried", "kind": "csv"}
    assert tried(here, file, volume="raw_files") == "tried.csv can be written."
    assert not here.volume().exists("tried.csv")
    with pytest.raises(InvalidInputError):
        tried(here, file)
    assert "Nothing was sent" in tried(here, {"to": "webhook", "address": "http://127.0.0.1:9/rows"})
    with pytest.raises(UnavailableError, match="No mails"):
        tried(here, {"to": "mail", "receivers": ["a@shop.example"], "subject": "Rows"})


def test_only_who_may_make_or_edit_it_tries_it(here: InlineRuns) -> None:
    settings = {"to": "files", "name": "tried", "kind": "csv"}
    uid = here.destination("tried", settings, volume="raw_files")
    asked = {"settings": settings, "destination": uid, "volume": "raw_files"}
    assert (
        worker_client.check_connection(here.shop.platform, ED, "lakehouse.destination", asked)
        == "tried.csv can be written."
    )
    for refused in (asked, {**asked, "destination": "", "lakehouse": "shop", "reads": ["orders"]}):
        with pytest.raises(LakeholdError) as raised:
            worker_client.check_connection(here.shop.platform, RITA, "lakehouse.destination", refused)
        assert raised.value.status in {403, 404}
