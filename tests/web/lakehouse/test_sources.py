"""New sources, step by step: connect, choose streams, preview, schedule. And changing them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from lakehold.catalog import credentials, resources
from lakehold.connectors.database import connector
from lakehold.web.connections import form_page
from lakehold.web.runs import RUNS, TRIGGERS
from tests.lake.sources.fake_api import ApiRequest, ApiResponse, serve_fake_api
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.probe_worker import NEW, ORDERS, create_source, demo_with_probe_worker, find_resource, put_file
from tests.web.lakehouse.recorded_runs import as_member

FILES = {"connector": "files", "name": "Order files", "layer": "raw", "volume": "raw_files", "folder": ""}
DATABASE = {
    "connector": "database",
    "name": "Shop database",
    "layer": "raw",
    "product": "postgresql",
    "host": "db.nowhere.invalid",
    "port": "5432",
    "database": "shop",
    "user": "reader",
}
SECRET = "p4ssw0rd-of-the-api"


@pytest.fixture
def shop(shop_folder: Path, tmp_path: Path) -> Iterator[Shop]:
    """With a worker that looks."""
    with demo_with_probe_worker(shop_folder, tmp_path / "data") as opened:
        yield opened


@pytest.fixture(scope="module")
def kept(shop_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """One for all tests that change nothing."""
    with demo_with_probe_worker(shop_folder, tmp_path_factory.mktemp("kept") / "data") as opened:
        yield opened


def api(base: str, **more: str) -> dict[str, str]:
    """The form of an API with one endpoint."""
    fields = {"connector": "api", "name": "Events", "layer": "raw", "address": base, "auth": "bearer"}
    return {**fields, "endpoint_name": "events", "endpoint_path": "events", **more}


@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_brings_files_in_from_the_first_step_to_the_first_run(
    open_as: Open, shop: Shop, scripts: bool
) -> None:
    put_file(shop, "orders.csv")
    put_file(shop, "stores.csv", "id,name\n1,Ulm\n")
    page = open_as("erik", NEW, scripts=scripts)
    page.get_by_role("link", name="Files CSV").click()
    page.get_by_label("Name", exact=True).fill("Order files")
    page.get_by_label("Layer").select_option("Raw")
    page.get_by_label("Volume").select_option("Raw.raw files")
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("Connection successful: 2 streams found.")).to_be_visible()
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("heading", name="Streams of Order files")).to_be_visible()
    page.get_by_role("switch", name="orders.csv").check()
    orders = page.get_by_role("group", name="orders.csv")
    expect(orders.get_by_label("Table")).to_have_value("Raw.orders")
    orders.get_by_label("Sync mode").select_option("Upsert by key")
    orders.get_by_label("Keys").fill("id")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("cell", name="Köln")).to_be_visible()
    expect(page.get_by_label("Delimiter")).to_have_value(";")
    page.get_by_label("amount").select_option("Decimal (2 places)")
    page.get_by_role("button", name="Refresh preview").click()
    expect(page.get_by_role("columnheader", name="amount decimal(18,2)")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("radio", name="Every day").check()
    page.get_by_label("Time zone").fill("Europe/Berlin")
    page.get_by_role("button", name="Preview schedule").click()
    expect(page.get_by_text("The next times, in Europe/Berlin")).to_be_visible()
    page.get_by_role("button", name="Finish").click()
    page.wait_for_url("**/runs/run_*")
    source = find_resource(shop, "lakehouse.source", "Order files")
    with shop.platform.read(as_member("erik")) as ctx:
        (run,) = RUNS.page(ctx, resource=source.uid)
        (trigger,) = TRIGGERS.for_resource(ctx, source.uid)
    assert (run.state, trigger.when.cron, trigger.when.zone) == ("queued", "0 6 * * *", "Europe/Berlin")
    stream = find_resource(shop, "lakehouse.stream", "orders.csv")
    assert stream.settings
    assert (stream.settings["mode"], stream.settings["keys"], stream.settings["table"]) == ("merge", ["id"], "orders")
    assert stream.settings["format"]["fields"][2] == {"name": "amount", "type": "decimal(18,2)"}  # type: ignore[index]


def test_a_secret_that_is_wrong_is_told_at_its_field_and_is_in_no_page(shop: Shop) -> None:
    def events(asked: ApiRequest) -> ApiResponse:
        return (
            ApiResponse([{"id": 1}])
            if asked.headers.get("Authorization") == f"Bearer {SECRET}"
            else ApiResponse({}, 401)
        )

    client = shop.client("erik")
    with serve_fake_api() as there:
        there.routes["/v1/events"] = events
        wrong = send(client, NEW, NEW, **api(there.base, secret="wr0ng-secret", description="kept words"), do="next")
        assert wrong.status_code == 422
        assert "denied access" in re.findall(r'id="field-secret-about">(.*?)</p>', wrong.text, re.DOTALL)[0]
        assert "kept words" in wrong.text
        assert "wr0ng-secret" not in wrong.text
        # One that was filled in right is used again, though the page has it only sealed.
        off = send(client, NEW, NEW, **api(there.base, secret=SECRET, endpoint_path="gone"), do="next")
        assert "The API has nothing at" in off.text
        assert SECRET not in off.text
        kept = re.findall(r'name="kept" value="([^"]+)"', off.text)[0]
        assert send(client, NEW, NEW, **api(there.base, kept=kept), do="next").status_code == 303
        source = find_resource(shop, "lakehouse.source", "Events")
        with shop.platform.read(as_member("erik")) as ctx:
            assert credentials.load_for_use(ctx, source.uid) == {"token": SECRET}
        for part in ("connection", "pipeline", "streams", "preview"):
            answer = client.get(f"/resources/{source.uid}/{part}")
            assert answer.status_code == 200
            assert SECRET not in answer.text
        # Saved again without it, it stays.
        here = f"/resources/{source.uid}/connection"
        changed = api(there.base, name="Web events", version=str(source.version))
        assert send(client, here, here, **changed, do="next").status_code == 303
        with shop.platform.read(as_member("erik")) as ctx:
            assert credentials.load_for_use(ctx, source.uid) == {"token": SECRET}
            assert resources.get(ctx, source.uid).name == "Web events"


def test_a_sealed_secret_opens_for_who_filled_it_in_and_not_for_ever(kept: Shop) -> None:
    keys, now = kept.platform.keys, kept.platform.clock()
    text = form_page.encrypt_secret(keys, as_member("erik"), SECRET, now)
    assert form_page.decrypt_secret(keys, as_member("erik"), text, now) == SECRET
    assert form_page.decrypt_secret(keys, as_member("ana"), text, now) == ""
    assert form_page.decrypt_secret(keys, as_member("erik"), text, now + 2 * 3600 * 1_000_000) == ""
    assert form_page.decrypt_secret(keys, as_member("erik"), keys.encrypt(SECRET), now) == ""
    assert form_page.decrypt_secret(keys, as_member("erik"), "anything", now) == ""


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({**FILES, "name": ""}, "name-error", "Enter a name."),
        ({**FILES, "layer": ""}, "layer-about", "Select a layer"),
        ({**FILES, "volume": ""}, "volume-about", "Select the volume"),
        ({**FILES, "folder": "nowhere"}, "folder-error", "There is no folder"),
        ({**DATABASE, "host": "a b"}, "host-about", "Enter a host name"),
        ({**DATABASE, "port": "99999"}, "port-about", "Enter a port number"),
        ({**DATABASE, "database": ""}, "database-about", "Enter the database name."),
        ({**DATABASE, "product": "other"}, "address-about", "Enter the JDBC URL."),
        (api("nothing", secret="s"), "address-about", "starts with http"),
        (api("http://127.0.0.1:1"), "secret-about", "Enter the token."),
        (api("http://127.0.0.1:1", auth="basic", secret="s"), "user-about", "Enter the user name."),
        (api("http://127.0.0.1:1", auth="key", secret="s"), "key_name-about", "Enter the key name"),
        (api("http://127.0.0.1:1", auth="none", endpoint_path=""), "endpoint_path-0-about", "Enter a path"),
        (api("http://127.0.0.1:1", auth="none", endpoint_paging="cursor"), "endpoint_next-0-about", "next cursor"),
        (api("http://127.0.0.1:1", auth="none", per_second="many"), "per_second-error", "Enter a number"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(kept: Shop, wrong: dict[str, str], field: str, said: str) -> None:
    answer = send(kept.client("erik"), NEW, NEW, **wrong, description="kept words", do="next")
    assert answer.status_code == 422
    (message,) = re.findall(rf'id="field-{field}">(.*?)</p>', answer.text, re.DOTALL)
    assert said in message
    assert "kept words" in answer.text


def test_one_more_endpoint_loses_nothing(kept: Shop) -> None:
    sent = api("http://127.0.0.1:1", endpoint_keys="id, day", per_second="0.5", headers="X-Team: shop", secret=SECRET)
    text = send(kept.client("erik"), NEW, NEW, **sent, do="more").text
    assert "Endpoint 2" in text
    for part in ('value="events"', 'value="id, day"', 'value="0.5"', "X-Team: shop"):
        assert part in text
    assert SECRET not in text


def test_streams_are_chosen_changed_and_named_by_hand(shop: Shop) -> None:
    for number in (1, 2):
        put_file(shop, f"orders-{number}.csv")
    uid, client = create_source(shop, {"connector": "files", "volume": "raw_files"}), shop.client("erik")
    here = f"/resources/{uid}/streams"
    assert "orders-1.csv" in client.get(here).text
    more = send(client, here, here, count="0", more="orders-*.csv", do="more").text
    assert 'value="Raw.orders"' in more
    star = {"count": "1", "stream-0": "orders-*.csv", "on-0": "1", "table-0": "Raw.orders", "mode-0": "merge"}
    for wrong, said in (
        ({}, "Enter the key fields."),
        ({"mode-0": "incremental"}, "Enter the cursor field."),
        ({"mode-0": "never"}, "Select an option."),
        ({"mode-0": "full", "table-0": "orders"}, "Include the layer."),
        ({"mode-0": "full", "table-0": "Private.orders"}, "No layer of this name"),
        ({"mode-0": "full", "table-0": "Raw.Big Orders"}, "cannot be called"),
        ({"mode-0": "full", "on-0": ""}, "Select at least one stream."),
    ):
        answer = send(client, here, here, **{**star, **wrong}, do="save")
        assert answer.status_code == 422
        assert said in answer.text
    assert send(client, here, here, **star, **{"keys-0": "id"}, do="save").status_code == 303
    stream = find_resource(shop, "lakehouse.stream", "orders-*.csv")
    assert stream.settings == {
        "stream": "orders-*.csv",
        "mode": "merge",
        "keys": ["id"],
        "cursor": "",
        "table": "orders",
    }
    assert [end.uid for end in stream.edges["writes"]] == ["raw"]
    # Into a table that is there, and off: what the form does not ask for stays.
    off = {**star, "uid-0": stream.uid, "table-0": "Raw.web_orders", "mode-0": "append", "on-0": ""}
    assert send(client, here, here, **off, do="save").status_code == 303
    after = find_resource(shop, "lakehouse.stream", "orders-*.csv")
    assert after.attributes["enabled"] == "false"
    assert [end.uid for end in after.edges["writes"]] == ["web_orders"]
    assert after.settings
    assert after.settings["mode"] == "append"
    # A stream of another source is none of this one.
    assert send(client, here, here, **{**off, "uid-0": "tills_stream"}, do="save").status_code == 422


def test_signs_and_types_are_changed_and_looked_at_before_they_are_kept(shop: Shop) -> None:
    put_file(shop, "orders.csv")
    uid, client = create_source(shop, {"connector": "files", "volume": "raw_files"}), shop.client("erik")
    star = {"count": "1", "stream-0": "orders.csv", "on-0": "1", "table-0": "Raw.orders", "mode-0": "full"}
    send(client, f"/resources/{uid}/streams", f"/resources/{uid}/streams", **star, do="save")
    stream, here = find_resource(shop, "lakehouse.stream", "orders.csv"), f"/resources/{uid}/preview"
    signs = {"kind": "separated", "quote": '"', "encoding": "utf-8", "header": "1", "stream": stream.uid}
    changed = send(client, here, here, **signs, delimiter=",", do="look")
    assert "id;store;amount" in changed.text
    # The fields were found anew, and nothing was kept.
    assert find_resource(shop, "lakehouse.stream", "orders.csv").settings == stream.settings
    without = {name: value for name, value in signs.items() if name != "header"}
    send(client, here, here, **without, delimiter=";", do="save")
    kept = find_resource(shop, "lakehouse.stream", "orders.csv").settings
    assert kept
    assert kept["format"]["header"] is False  # type: ignore[index]
    assert "column_1" in client.get(here).text
    # To go on without a change keeps nothing.
    page = client.get(here).text
    (before,) = re.findall(r'name="before" value="([^"]+)"', page)
    same = {**without, "delimiter": ";", "was": json.dumps(["separated", "utf-8", ";", '"', "False", ""]), "count": "3"}
    for n, kind in enumerate(("string", "string", "string")):
        same |= {f"name-{n}": f"column_{n + 1}", f"type-{n}": kind}
    assert send(client, here, here, **same, before=html.unescape(before), do="next").status_code == 303
    assert find_resource(shop, "lakehouse.stream", "orders.csv").settings == kept
    bad = send(client, here, here, **signs, delimiter='"', do="save")
    assert bad.status_code == 422
    assert "Delimiter and quote must differ." in bad.text


def test_types_of_an_api_are_kept_with_its_endpoint(shop: Shop) -> None:
    with serve_fake_api() as there:
        there.routes["/v1/events"] = lambda _: ApiResponse([{"id": 1, "at": "2031-01-02"}])
        endpoint = {"name": "events", "path": "events", "params": {"all": "1"}}
        uid = create_source(shop, {"connector": "api", "address": there.base, "endpoints": [endpoint]})
        client = shop.client("erik")
        star = {"count": "1", "stream-0": "events", "on-0": "1", "table-0": "Raw.events", "mode-0": "full"}
        send(client, f"/resources/{uid}/streams", f"/resources/{uid}/streams", **star, do="save")
        here = f"/resources/{uid}/preview"
        types = {"count": "2", "name-0": "id", "type-0": "bigint", "name-1": "at", "type-1": "date"}
        assert send(client, here, here, **types, do="save").status_code == 303
        with shop.platform.read(as_member("erik")) as ctx:
            settings = resources.get(ctx, uid).settings
        assert settings
        fields = [{"name": "id", "type": "bigint"}, {"name": "at", "type": "date"}]
        assert settings["endpoints"] == [{**endpoint, "fields": fields}]


def test_who_may_not_make_or_edit_one_gets_no_further(shop: Shop) -> None:
    put_file(shop, "orders.csv")
    uid = create_source(shop, {"connector": "files", "volume": "raw_files"})
    ana = shop.client("ana")
    text = ana.get(f"{NEW}?connector=files").text
    assert "No layer where you can create tables." in text
    assert "raw files" not in text
    assert send(ana, NEW, NEW, **FILES, do="next").status_code in {403, 404}
    for part in ("connection", "streams", "preview", "schedule"):
        assert ana.get(f"/resources/{uid}/{part}").status_code == 404
        assert shop.client("nils").get(f"/resources/{uid}/{part}").status_code == 404
        assert shop.client("erik").get(f"/resources/orders/{part}").status_code == 422
    assert shop.client("nils").get(NEW).status_code == 404
    assert ORDERS.splitlines()[1] not in text


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("jdbc:postgresql://db:5433/shop", {"product": "postgresql", "host": "db", "port": "5433", "database": "shop"}),
        (
            "jdbc:postgresql://[::1]/shop",
            {"product": "postgresql", "host": "[::1]", "port": "5432", "database": "shop"},
        ),
        ("jdbc:postgresql://a,b/shop", {"product": "other", "address": "jdbc:postgresql://a,b/shop"}),
        ("jdbc:mysql://db/shop", {"product": "other", "address": "jdbc:mysql://db/shop"}),
    ],
)
def test_the_address_of_a_database_is_filled_in_by_its_parts(address: str, parts: dict[str, str]) -> None:
    assert connector.split_database_address(address) == parts
    again = connector.database_address(parts)
    assert connector.split_database_address(again) == parts


@pytest.mark.rare
def test_axe_finds_nothing_wrong_with_the_steps(open_as: Open, violations: Violations, shop: Shop) -> None:
    put_file(shop, "orders.csv")
    uid, client = create_source(shop, {"connector": "files", "volume": "raw_files"}), shop.client("erik")
    star = {"count": "1", "stream-0": "orders.csv", "on-0": "1", "table-0": "Raw.orders", "mode-0": "full"}
    send(client, f"/resources/{uid}/streams", f"/resources/{uid}/streams", **star, do="save")
    page = open_as("erik", NEW)
    for path in (
        *(NEW, f"{NEW}?connector=files", f"{NEW}?connector=database", f"{NEW}?connector=api"),
        *(f"/resources/{uid}/{part}?setup=1" for part in ("streams", "preview", "schedule")),
        f"/resources/{uid}/pipeline",
    ):
        page.goto(path)
        assert violations(page) == [], path
