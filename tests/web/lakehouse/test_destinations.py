"""Destinations: made and changed by a form for each way of sending, tried out, and their page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from lakehold.access import Grant
from lakehold.catalog import credentials, resources
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.probe_worker import demo_with_probe_worker, find_resource
from tests.web.lakehouse.recorded_runs import LAKE, as_member, queue_run, record_run_state

NEW = f"/workspaces/{LAKE}/pipelines/new/destination"
FILE = {"to": "files", "name": "Orders", "reads": "orders", "volume": "clean_files", "file": "orders", "kind": "csv"}
HOOK = {"to": "webhook", "name": "Orders", "reads": "orders", "address": "https://127.0.0.1/rows", "batch": "100"}
MAIL = {"to": "mail", "name": "Orders", "reads": "orders", "receivers": "a@shop.example", "subject": "Orders"}
DATABASE = {"to": "database", "name": "Orders", "reads": "orders", "product": "postgresql", "host": "db"}
DATABASE |= {"port": "5432", "database": "shop", "table": "orders", "mode": "upsert", "keys": "id", "user": "writer"}
NOWHERE = "no.such.host.invalid"
SECRET = "s1gned-with-this"


@pytest.fixture
def shop(shop_folder: Path, tmp_path: Path) -> Iterator[Shop]:
    """With a worker that tries things out."""
    with demo_with_probe_worker(shop_folder, tmp_path / "data") as opened:
        yield opened


@pytest.fixture(scope="module")
def kept(shop_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """One for all tests that change nothing."""
    with demo_with_probe_worker(shop_folder, tmp_path_factory.mktemp("kept") / "data") as opened:
        yield opened


@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_lets_a_table_be_sent_as_a_file_and_changes_it(open_as: Open, shop: Shop, scripts: bool) -> None:
    page = open_as("erik", NEW, scripts=scripts)
    page.get_by_role("link", name="File CSV").click()
    page.get_by_label("Name", exact=True).fill("Orders for finance")
    page.get_by_label("Clean.orders", exact=True).check()
    page.get_by_label("Volume").select_option("Clean.clean files")
    page.get_by_label("File name").fill("orders")
    page.get_by_label("Delimiter").select_option("Semicolon")
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("orders.csv can be written.")).to_be_visible()
    page.get_by_role("button", name="Create destination").click()
    expect(page.get_by_role("heading", name="Orders for finance", level=1)).to_be_visible()
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("orders.csv can be written.")).to_be_visible()
    made = find_resource(shop, "lakehouse.destination", "Orders for finance")
    assert made.settings == {"to": "files", "name": "orders", "kind": "csv", "delimiter": ";", "header": True}
    assert {name: [end.uid for end in ends] for name, ends in made.edges.items() if ends} == {
        "reads": ["orders"],
        "writes": ["clean_files"],
    }
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Format").select_option("Excel")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. Applies from the next run.")).to_be_visible()
    after = find_resource(shop, "lakehouse.destination", "Orders for finance").settings
    assert after
    assert after["kind"] == "xlsx"


def test_each_way_of_sending_keeps_what_it_needs_and_its_secret_apart(shop: Shop) -> None:
    client = shop.client("erik")
    cases: list[tuple[dict[str, str], dict[str, object], dict[str, str]]] = [
        (
            {**HOOK, "name": "Hook", "headers": "X-Team: shop", "secret": SECRET},
            {"to": "webhook", "address": HOOK["address"], "headers": {"X-Team": "shop"}, "batch": 100},
            {"secret": SECRET},
        ),
        (
            {**MAIL, "name": "Mail", "receivers": "a@shop.example, b@shop.example", "kind": "xlsx"},
            {
                "to": "mail",
                "receivers": ["a@shop.example", "b@shop.example"],
                "name": "",
                "kind": "xlsx",
                "subject": "Orders",
                "body": "",
            },
            {},
        ),
        (
            {**DATABASE, "name": "Table", "secret": SECRET},
            {
                "to": "database",
                "address": "jdbc:postgresql://db:5432/shop",
                "keys": ["id"],
                "user": "writer",
                "schema": "",
                "table": "orders",
                "mode": "upsert",
            },
            {"password": SECRET},
        ),
    ]
    for sent, settings, secrets in cases:
        assert send(client, NEW, NEW, **sent, do="save").status_code == 303
        made = find_resource(shop, "lakehouse.destination", sent["name"])
        assert made.settings == settings
        with shop.platform.read(as_member("erik")) as ctx:
            assert credentials.load_for_use(ctx, made.uid) == secrets
        here = f"/resources/{made.uid}/delivery"
        for page in (here, f"/resources/{made.uid}/pipeline"):
            assert SECRET not in client.get(page).text
        # The form says all that was kept: saved again, nothing is another.
        again = {name: value for name, value in sent.items() if name != "secret"}
        assert send(client, here, here, **again, version=str(made.version), do="save").status_code == 303
        with shop.platform.read(as_member("erik")) as ctx:
            assert resources.get(ctx, made.uid).settings == settings
            assert credentials.load_for_use(ctx, made.uid) == secrets


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({**FILE, "name": ""}, "name-error", "Enter a name."),
        ({**FILE, "volume": ""}, "volume-about", "Select a volume"),
        ({**FILE, "kind": "pdf"}, "kind-about", "Select CSV"),
        ({**FILE, "file": ".hidden"}, "file-error", "A file cannot be called"),
        ({**HOOK, "address": "ftp://there"}, "address-about", "starts with https"),
        ({**HOOK, "address": f"https://{NOWHERE}/rows"}, "address-about", "The host in the address does not exist"),
        ({**HOOK, "batch": "none"}, "batch-about", "Enter a number"),
        ({**HOOK, "headers": "Host: here"}, "headers-error", "cannot be set"),
        ({**MAIL, "receivers": ""}, "receivers-error", "Enter at least one receiver."),
        ({**MAIL, "receivers": "nobody"}, "receivers-error", "nobody"),
        ({**MAIL, "subject": ""}, "subject-error", "Enter a subject."),
        ({**DATABASE, "mode": "pour"}, "mode-error", "Select "),
        ({**DATABASE, "keys": ""}, "keys-about", "Enter the key fields."),
        ({**DATABASE, "host": ""}, "host-about", "Enter a host name"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(kept: Shop, wrong: dict[str, str], field: str, said: str) -> None:
    answer = send(kept.client("erik"), NEW, NEW, **wrong, description="kept words", secret=SECRET, do="test")
    assert answer.status_code == 422
    (message,) = re.findall(rf'id="field-{field}">(.*?)</p>', answer.text, re.DOTALL)
    assert said in message
    assert "kept words" in answer.text
    assert SECRET not in answer.text


def test_a_table_is_needed_and_mails_have_to_be_set_up(kept: Shop) -> None:
    client = kept.client("erik")
    assert "Select at least one table" in send(client, NEW, NEW, **{**FILE, "reads": ""}, do="save").text
    assert "No mails can be sent." in send(client, NEW, NEW, **MAIL, do="test").text


def test_who_may_not_make_or_edit_one_gets_no_further(shop: Shop) -> None:
    with shop.platform.write(as_member("erik")) as ctx:
        edges = {"lakehouse": LAKE, "reads": ["orders"], "writes": ["clean_files"]}
        fields = {"to": "files", "name": "quiet name"}
        uid = resources.create(ctx, "lakehouse.destination", "Out", edges=edges, settings=fields)
    with shop.platform.access.write("corner") as session:
        session.store.add(Grant("nils", "viewer", "clean"))
    text = shop.client("nils").get(f"/resources/{uid}/pipeline").text
    assert "Only editors see the configuration." in text
    assert "You need Editor" in text
    assert "quiet name" not in text
    assert shop.client("nils").get(f"/resources/{uid}/delivery").status_code == 403
    assert send(shop.client("nils"), "/", f"/resources/{uid}/delivery/try").status_code == 403
    assert send(shop.client("nils"), NEW, NEW, **FILE, do="save").status_code == 422
    assert send(shop.client("nils"), NEW, NEW, **FILE, do="test").status_code == 403
    assert shop.client("bella").get(f"/resources/{uid}/delivery").status_code == 404
    assert shop.client("erik").get("/resources/orders/delivery").status_code == 422
    assert "salaries" not in shop.client("erik").get(f"{NEW}?to=files").text


@pytest.mark.rare
def test_axe_finds_nothing_wrong_with_forms_and_page(open_as: Open, violations: Violations, shop: Shop) -> None:
    send(shop.client("erik"), NEW, NEW, **FILE, do="save")
    uid = find_resource(shop, "lakehouse.destination", "Orders").uid
    record_run_state(shop, queue_run(shop, uid), "succeeded", step="orders", rows=12, size=300)
    page = open_as("erik", NEW)
    for path in (NEW, *(f"{NEW}?to={way}" for way in ("files", "database", "webhook", "mail"))):
        page.goto(path)
        assert violations(page) == [], path
    page.goto(f"/resources/{uid}/pipeline")
    expect(page.get_by_role("region", name="Latest deliveries").get_by_role("link", name="orders")).to_be_visible()
    assert violations(page) == []
