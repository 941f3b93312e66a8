"""Storages of a project: made by a form for each kind, tried out, looked into; and the project's overview."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.catalog import credentials
from lakehold.demo import company
from lakehold.ledger.audit import AuditFilter
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send, token
from tests.web.lakehouse.probe_worker import demo_with_probe_worker
from tests.web.lakehouse.recorded_runs import as_member
from tests.web.marts import sample_data
from tests.web.marts.sample_data import find_resource
from tests.web.visitors import visitors

NEW = "/workspaces/sales/storages/new"
SECRET = "nobody should read this"
DATABASE = {
    "kind": "database",
    "name": "Old shop",
    "product": "postgresql",
    "host": "db.shop",
    "port": "5432",
    "database": "shop",
    "user": "reader",
    "schemas": "public, sales",
}
KIND = "marts.storage"


@pytest.fixture
def served(shop_folder: Path, tmp_path: Path) -> Iterator[Shop]:
    """With a worker that looks at files."""
    with demo_with_probe_worker(shop_folder, tmp_path / "data") as shop:
        yield shop


@pytest.mark.rare
def test_every_page_is_open_to_everybody(shop: Shop, open_as: Open, violations: Violations) -> None:
    sample_data.use_lake_storage(shop)
    sheets = sample_data.create_file_storage(shop)
    kinds = [f"{NEW}?kind={kind}" for kind in ("lake", "database", "files")]
    here = [f"/resources/lake/{part}" for part in ("storage", "tables", "storage/edit")]
    more = [f"/resources/{sheets}/{part}" for part in ("storage", "files")]
    page = open_as("tara", "/workspaces/sales")
    for path in ("/workspaces/sales/overview", NEW, *kinds, *here, *more):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert violations(page) == [], path


def filled(page: Page, path: Path) -> None:
    page.get_by_role("link", name="Files CSV, Excel").click()
    page.get_by_label("Name").fill("Tills")
    page.get_by_role("button", name="Create storage").click()
    expect(page.get_by_text("Tills was created.")).to_be_visible()
    page.get_by_role("link", name="Upload files").click()
    page.get_by_label("Choose files").set_input_files([path])
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("1 file uploaded.")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_technical_user_makes_a_storage_of_files_and_looks_at_one(
    served: Shop, browser_open: Open, tmp_path: Path, scripts: bool
) -> None:
    (tmp_path / "sales.csv").write_text(sample_data.SALES, encoding="utf-8")
    page = browser_open("tara", NEW, scripts=scripts)
    filled(page, tmp_path / "sales.csv")
    page.goto(f"/resources/{find_resource(served, KIND, 'Tills').uid}/storage")
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_role("status").get_by_text("1 file found.")).to_be_visible()
    page.get_by_role("link", name="Tables").click()
    page.get_by_role("link", name="sales.csv", exact=True).click()
    expect(page.get_by_role("cell", name="Bonn")).to_be_visible()
    page.get_by_role("link", name="New data mart").click()
    expect(page.get_by_label("Table", exact=True)).to_have_value("sales.csv")


@pytest.fixture
def browser_open(browser: Browser, served: Shop) -> Iterator[Open]:
    """As `open_as`, where there is a worker."""
    with visitors(browser, served.address, served.cookie_of) as opened:
        yield opened


def test_a_lake_shows_each_person_the_tables_that_they_may_read(shop: Shop) -> None:
    sample_data.use_lake_storage(shop)
    tara, tim = shop.client("tara"), shop.client("tim")
    tables = tara.get("/resources/lake/tables").text
    assert "Clean.orders" in tables
    assert "salaries" not in tables
    assert "/resources/salaries" not in tara.get("/resources/lake/tables?q=salaries").text
    assert "Clean.stores" not in tara.get("/resources/lake/tables?q=order").text
    # He uses the storage, and sees nothing of the lakehouse any more.
    with shop.platform.access.write(company.TENANT) as session:
        session.store.apply(Remove(Grant("tim", "member", "lake_house")))
    refused = tim.get("/resources/lake/tables").text
    assert "a lakehouse that you do not see" in refused
    assert "lake_house" not in refused
    assert "Clean." not in refused
    assert send(tara, "/resources/lake/storage", "/resources/lake/storage/test").text.count("23 tables found.") == 1
    settings = {"kind": "lake", "name": "Store lake", "lakehouse": "lake_house", "do": "next"}
    assert send(tara, NEW, NEW, **settings).status_code == 303
    assert find_resource(shop, KIND, "Store lake").settings == {"kind": "lake", "lakehouse": "lake_house"}
    assert "Select a lakehouse" in send(tara, NEW, NEW, **{**settings, "lakehouse": ""}).text


def test_a_password_is_kept_and_never_comes_back(shop: Shop) -> None:
    tara = shop.client("tara")
    wrong = send(tara, NEW, NEW, **{**DATABASE, "port": "1000000", "secret": SECRET})
    assert (wrong.status_code, "Enter a port number" in wrong.text, SECRET in wrong.text) == (422, True, False)
    assert "Saved. Fill in only to change it." in wrong.text
    nobody = send(tara, NEW, NEW, **DATABASE, secret=SECRET, do="next")
    assert "No worker is running" in nobody.text
    made = send(tara, NEW, NEW, **DATABASE, secret=SECRET, do="save")
    storage = find_resource(shop, KIND, "Old shop")
    assert (made.status_code, made.headers["location"]) == (303, f"/resources/{storage.uid}/storage")
    assert storage.settings == {
        "kind": "database",
        "address": "jdbc:postgresql://db.shop:5432/shop",
        "user": "reader",
        "schemas": ["public", "sales"],
    }
    here = f"/resources/{storage.uid}/storage"
    assert "Saved (hidden)" in tara.get(here).text
    assert SECRET not in tara.get(here).text + tara.get(f"{here}/edit").text
    with shop.platform.read(as_member("tara")) as ctx:
        assert credentials.load_for_use(ctx, storage.uid) == {"password": SECRET}


def test_credentials_are_copied_by_who_may_and_it_is_written_down(shop: Shop) -> None:
    tara, tim = shop.client("tara"), shop.client("tim")
    send(tara, NEW, NEW, **DATABASE, secret=SECRET, do="save")
    uid = find_resource(shop, KIND, "Old shop").uid
    here, copy = f"/resources/{uid}/storage", f"/resources/{uid}/credentials/copy"
    with shop.platform.write(as_member("tara")) as ctx:
        ctx.make(Add(Attribute(uid, "shared_for_use", "true")))
    with shop.platform.access.write(company.TENANT) as session:
        session.store.add(Attribute("sales", "scope", "entire_project", "tim"))
    page = tim.get(here).text
    assert "Copy credentials" in page
    assert copy not in page
    assert "db.shop" not in page
    assert send(tim, here, copy, confirmed="1").status_code == 403
    asked = send(tara, here, copy)
    assert (asked.status_code, SECRET in asked.text) == (200, False)
    sent = send(tara, here, copy, confirmed="1")
    assert SECRET in tara.get(sent.headers["location"]).text
    with shop.platform.read(as_member("olga")) as ctx:
        (line,) = ctx.audit.page(AuditFilter(action="copy_credentials", outcome="done"))
    assert line.entry.member == "tara"


def test_only_marts_that_one_sees_are_told_of(shop: Shop) -> None:
    tim = shop.client("tim").get("/resources/lake/storage").text
    assert "Store targets" in tim
    assert "And more, not visible to you" in tim
    assert "margins" not in tim.lower()
    assert "Margins" in shop.client("tara").get("/resources/lake/storage").text


def test_a_business_user_has_nothing_to_do_with_storages(shop: Shop) -> None:
    bella = shop.client("bella")
    for part in ("storage", "tables", "storage/edit", "files"):
        assert bella.get(f"/resources/lake/{part}").status_code == 404
    assert bella.get(NEW).status_code == 403
    assert bella.post(NEW, data={"csrf_token": token(bella, "/")}).status_code == 403
    overview = bella.get("/workspaces/sales/overview").text
    assert "Storages" not in overview.partition("<main")[2]
    assert "New storage" not in overview
    assert shop.client("nils").get("/workspaces/sales/overview").status_code == 404
    assert shop.client("tara").get("/resources/daily_sales/storage").status_code == 404


def test_files_of_a_storage_are_for_those_who_may_use_it_and_changed_by_who_edits_it(shop: Shop) -> None:
    uid = sample_data.create_file_storage(shop)
    here = f"/resources/{uid}/files"
    tara, tim = shop.client("tara"), shop.client("tim")
    assert tara.get(f"{here}/download?path=sales.csv").text == sample_data.SALES
    assert tim.get(here).status_code == 404
    with shop.platform.write(as_member("tara")) as ctx:
        ctx.make(Add(Attribute(uid, "shared_for_use", "true")))
    with shop.platform.access.write(company.TENANT) as session:
        session.store.add(Attribute("sales", "scope", "entire_project", "tim"))
    assert "sales.csv" in tim.get(here).text
    assert tim.get(f"{here}/download?path=sales.csv").status_code == 200
    sent = {"csrf_token": token(tim, here)}
    assert tim.post(here, data=sent, files=[("files", ("b.csv", b"id\n"))]).status_code == 403
    assert send(tim, here, f"{here}/remove", path="sales.csv", confirmed="1").status_code == 403
    assert send(tara, here, f"{here}/remove", path="sales.csv", confirmed="1").status_code == 303
    assert "No files yet" in tara.get(here).text


def test_a_new_project_says_what_to_do_first(shop: Shop) -> None:
    with shop.platform.access.write(company.TENANT) as session:
        session.store.create("marts.project", "Empty", uid="empty", edges={"tenant": company.TENANT})
    olga = shop.client("olga")
    assert olga.get("/workspaces/empty").headers["location"] == "/workspaces/empty/overview"
    overview = olga.get("/workspaces/empty/overview").text
    assert "Create a storage first" in overview
    assert "Create a storage first" in olga.get("/workspaces/empty/marts/new").text
