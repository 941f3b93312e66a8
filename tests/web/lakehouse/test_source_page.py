"""The page of a source: its connection, its streams and what became of them."""

from __future__ import annotations

import pytest

from lakehold.access import Grant
from lakehold.catalog import credentials, resource_metadata, resources
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.web.runs import TRIGGERS
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.probe_worker import NEW, create_source
from tests.web.lakehouse.recorded_runs import as_member, queue_run, record_run_state

SETTINGS = {"connector": "database", "address": "jdbc:postgresql://db.shop.internal:5432/shop", "user": "reader"}
SECRET = "k3pt-secret"


def source(shop: Shop) -> str:
    """One with a password and two streams, one of them off."""
    uid = create_source(shop, SETTINGS, name="Shop database")
    with shop.platform.write(as_member("erik")) as ctx:
        credentials.save(ctx, uid, {"password": SECRET})
        for name, on in (("orders", True), ("clicks", False)):
            stream_settings = {"stream": f"public.{name}", "mode": "merge", "keys": ["id"], "table": f"shop_{name}"}
            edges = {"source": uid, "writes": "raw"}
            resources.create(
                ctx, "lakehouse.stream", name, edges=edges, settings=stream_settings, attributes={"enabled": on}
            )
    return uid


def test_it_tells_how_it_is_connected_and_what_became_of_its_streams(shop: Shop) -> None:
    uid = source(shop)
    run = queue_run(shop, uid)
    record_run_state(shop, run, "succeeded", step="orders", rows=1234, bad=7)
    text = shop.client("erik").get(f"/resources/{uid}/pipeline").text
    for expected in (
        "jdbc:postgresql://db.shop.internal",
        "reader",
        "Saved (hidden)",
        "shop_orders",
        "1,234",
        ">7<",
    ):
        assert expected in text
    assert "Upsert by key" in text
    assert f"/runs/{run}" in text
    assert text.count("Off</span>") == 1
    assert SECRET not in text


def test_who_may_only_see_it_is_told_nothing_of_the_connection(shop: Shop) -> None:
    uid = source(shop)
    with shop.platform.access.write("corner") as session:
        session.store.add(Grant("nils", "viewer", "raw"))
    text = shop.client("nils").get(f"/resources/{uid}/pipeline").text
    assert "Only editors see the connection." in text
    assert "You need Editor" in text
    for hidden in ("db.shop.internal", "reader", "Saved (hidden)", SECRET, "public.orders"):
        assert hidden not in text
    for part in ("connection", "streams", "preview", "schedule"):
        assert shop.client("nils").get(f"/resources/{uid}/{part}").status_code == 403
    assert shop.client("ana").get(f"/resources/{uid}/pipeline").status_code == 404


def test_without_a_worker_nothing_is_lost_and_it_can_be_kept_untried(shop: Shop) -> None:
    client = shop.client("erik")
    sent = {"connector": "database", "name": "Shop", "layer": "raw", "product": "postgresql"}
    sent |= {"host": "db.shop.internal", "port": "5433", "database": "shop", "schemas": "public, sales"}
    answer = send(client, NEW, NEW, **sent, secret=SECRET, do="next")
    assert answer.status_code == 422
    assert "No worker is running." in answer.text
    assert 'value="db.shop.internal"' in answer.text
    assert SECRET not in answer.text
    kept = send(client, NEW, NEW, **sent, secret=SECRET, do="save")
    uid = kept.headers["Location"].split("/")[2]
    with shop.platform.read(as_member("erik")) as ctx:
        found, secrets = resources.get(ctx, uid), credentials.load_for_use(ctx, uid)
    assert found.settings == {
        "connector": "database",
        "address": "jdbc:postgresql://db.shop.internal:5433/shop",
        "user": "",
        "schemas": ["public", "sales"],
    }
    assert secrets == {"password": SECRET}
    page = client.get(kept.headers["Location"])
    assert page.status_code == 200
    assert "add one by name below" in page.text
    assert "Setup incomplete" in client.get(f"/resources/{uid}/pipeline").text


def test_of_two_who_change_a_connection_the_second_is_told(shop: Shop) -> None:
    uid, client = source(shop), shop.client("erik")
    here = f"/resources/{uid}/connection"
    sent = {"connector": "database", "name": "First", "layer": "raw", "product": "other", "version": "1"}
    sent |= {"address": "jdbc:mysql://db/shop", "driver": "com.shop.Driver"}
    assert send(client, here, here, **sent, secret="f1rst-secret", do="save").status_code == 303
    late = send(client, here, here, **{**sent, "name": "Second"}, secret="s3cond-secret", do="save")
    assert late.status_code == 422
    assert 'value="Second"' in late.text
    with shop.platform.read(as_member("erik")) as ctx:
        assert resources.get(ctx, uid).name == "First"
        assert credentials.load_for_use(ctx, uid) == {"password": "f1rst-secret"}


def test_a_kept_password_does_not_go_to_another_address(shop: Shop) -> None:
    uid, client = source(shop), shop.client("erik")
    here = f"/resources/{uid}/connection"
    sent = {"connector": "database", "name": "Elsewhere", "layer": "raw", "product": "other", "version": "1"}
    sent |= {"address": "jdbc:mysql://elsewhere/shop", "driver": "com.shop.Driver"}
    with shop.platform.read(as_member("erik")) as ctx:
        assert credentials.load_for_use(ctx, uid) == {"password": SECRET}
    assert send(client, here, here, **sent, do="save").status_code == 303
    with shop.platform.read(as_member("erik")) as ctx:
        assert credentials.load_for_use(ctx, uid) == {}


def test_it_is_deactivated_and_activated(shop: Shop) -> None:
    uid, client = source(shop), shop.client("erik")
    here = f"/resources/{uid}/pipeline"
    assert "pipeline/activate" not in client.get(here).text
    with shop.platform.write(as_member("erik")) as ctx:
        TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *"))
    assert "Deactivate" in client.get(here).text
    for part, active in (("deactivate", False), ("activate", True)):
        assert send(client, here, f"{here}/{part}").status_code == 303
        with shop.platform.read(as_member("erik")) as ctx:
            assert [each.active for each in TRIGGERS.for_resource(ctx, uid)] == [active]
    assert send(shop.client("ana"), "/", f"{here}/deactivate").status_code in {403, 404}


def test_somebody_else_takes_its_definition_over(shop: Shop) -> None:
    uid, here = source(shop), "pipeline/take-over"
    overview = f"/resources/{uid}/pipeline"
    assert "Take over definition" not in shop.client("erik").get(overview).text
    olga = shop.client("olga")
    assert "instead of those of Erik" in olga.get(overview).text
    assert send(shop.client("ana"), "/", f"/resources/{uid}/{here}").status_code in {403, 404}
    assert send(olga, overview, f"/resources/{uid}/{here}").status_code == 303
    with shop.platform.read(as_member("erik")) as ctx:
        author = resource_metadata.load_author(ctx, uid)
    assert author is not None
    assert author.caller.member == "olga"
    assert "Take over definition" in shop.client("erik").get(overview).text


def test_one_that_says_nothing_yet_is_connected_later(shop: Shop) -> None:
    client = shop.client("erik")
    assert "Setup incomplete" in client.get("/resources/till_source/pipeline").text
    text = client.get("/resources/till_source/connection?setup=1").text
    assert "/resources/till_source/connection?setup=1&amp;connector=files" in text
    assert "Volume" in client.get("/resources/till_source/connection?setup=1&connector=files").text


@pytest.mark.rare
def test_axe_finds_nothing_wrong_with_the_page(open_as: Open, violations: Violations, shop: Shop) -> None:
    page = open_as("olga", f"/resources/{source(shop)}/pipeline")
    assert violations(page) == []
    page.goto("/resources/till_source/pipeline")
    assert violations(page) == []
