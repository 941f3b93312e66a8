"""Destinations of a project: made and changed by a form for each way, tried out, deleted and brought back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from lakehold.catalog import credentials, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.ledger.audit import AuditFilter
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.probe_worker import demo_with_probe_worker
from tests.web.lakehouse.recorded_runs import as_member, queue_run, record_run_state

NEW = "/workspaces/sales/destinations/new"
SECRET = "nobody should read this"
NOWHERE = "nowhere.invalid"
HOOK = {"to": "webhook", "name": "Hook", "address": f"https://{NOWHERE}/rows", "headers": "X-Team: sales"}
MAIL = {"to": "mail", "name": "Board", "receivers": "board@shop.example", "kind": "xlsx"}
PLACE = {"product": "postgresql", "host": "db", "port": "5432", "database": "shop"}
TABLE = {"to": "database", "name": "Table", **PLACE, "user": "writer", "table": "sales", "mode": "overwrite"}
CHAT = {"to": "chat", "name": "Channel"}
WAYS = ("files", "mail", "chat", "webhook", "database", "live")


def made(shop: Shop, name: str) -> ResourceView:
    with shop.platform.read(as_member("olga")) as ctx:
        some = resources.find(ctx, among=["marts.destination"], within="sales", search=name).items
        (item,) = (each for each in some if each.name == name)
        return resources.get(ctx, item.uid)


@pytest.fixture
def kept(shop_folder: Path, tmp_path: Path) -> Iterator[Shop]:
    """With a worker that tries destinations out."""
    with demo_with_probe_worker(shop_folder, tmp_path / "data") as shop:
        yield shop


def test_a_business_user_makes_one_of_each_way(shop: Shop) -> None:
    bella = shop.client("bella")
    cases: list[tuple[dict[str, str], dict[str, object], dict[str, str]]] = [
        (
            {"to": "files", "name": "Sheets", "kind": "csv", "delimiter": ";", "header": "1"},
            {"to": "files", "kind": "csv", "delimiter": ";", "header": True},
            {},
        ),
        (MAIL, {"to": "mail", "receivers": ["board@shop.example"], "kind": "xlsx"}, {}),
        ({**CHAT, "secret": SECRET}, {"to": "chat"}, {"address": SECRET}),
        (
            {**HOOK, "secret": SECRET},
            {"to": "webhook", "address": HOOK["address"], "headers": {"X-Team": "sales"}, "batch": 500},
            {"secret": SECRET},
        ),
        (
            {**TABLE, "secret": SECRET},
            {
                "to": "database",
                "address": "jdbc:postgresql://db:5432/shop",
                "user": "writer",
                "table": "sales",
                "mode": "overwrite",
            },
            {"password": SECRET},
        ),
        ({"to": "live", "name": "Live one"}, {"to": "live"}, {}),
    ]
    for sent, settings, secrets in cases:
        answer = send(bella, NEW, NEW, **sent, do="save")
        assert answer.status_code == 303, answer.text
        found = made(shop, sent["name"])
        assert found.settings == settings
        with shop.platform.read(as_member("bella")) as ctx:
            assert credentials.load_for_use(ctx, found.uid) == secrets
        here = f"/resources/{found.uid}/destination"
        for page in (here, f"{here}/edit"):
            answer_page = bella.get(page)
            assert answer_page.status_code == 200
            assert SECRET not in answer_page.text
        # The form says all that was kept: saved again, nothing is another.
        again = {name: value for name, value in sent.items() if name != "secret"}
        assert send(bella, f"{here}/edit", f"{here}/edit", **again, version=str(found.version)).status_code == 303
        assert made(shop, sent["name"]).settings == settings


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({**MAIL, "name": ""}, "name-error", "Enter a name."),
        ({**MAIL, "receivers": ""}, "receivers-error", "Enter at least one receiver."),
        ({**CHAT}, "secret-about", "Enter the webhook URL"),
        ({**TABLE, "table": ""}, "table-about", "Enter a table"),
        ({**HOOK, "address": "ftp://there"}, "address-about", "starts with https"),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_nothing_is_lost(
    shop: Shop, wrong: dict[str, str], field: str, said: str
) -> None:
    answer = send(shop.client("bella"), NEW, NEW, **wrong, description="kept words", do="save")
    assert answer.status_code == 422
    (message,) = re.findall(rf'id="field-{field}">(.*?)</p>', answer.text, re.DOTALL)
    assert said in message
    assert "kept words" in answer.text


def test_one_is_tried_out_before_it_is_made_and_after(kept: Shop) -> None:
    bella = kept.client("bella")
    answer = send(bella, NEW, NEW, **HOOK, secret=SECRET, do="test")
    assert answer.status_code == 422
    assert "The host in the address does not exist" in answer.text
    assert SECRET not in answer.text
    assert "report.csv can be written." in send(bella, NEW, NEW, to="files", name="Sheets", do="test").text
    send(bella, NEW, NEW, to="files", name="Sheets", kind="csv", do="save")
    here = f"/resources/{made(kept, 'Sheets').uid}/destination"
    bella.cookies.update(send(bella, here, f"{here}/try").cookies)
    assert "report.csv can be written." in bella.get(here).text


def test_without_a_worker_a_test_says_so_and_the_form_can_still_be_saved(shop: Shop) -> None:
    answer = send(shop.client("bella"), NEW, NEW, **HOOK, do="test")
    assert answer.status_code == 422
    assert "No worker is running." in answer.text
    assert HOOK["address"] in answer.text


def test_one_that_reports_use_is_deleted_and_brought_back(shop: Shop) -> None:
    bella, tara, boris = shop.client("bella"), shop.client("tara"), shop.client("boris")
    here = "/resources/board_mail"
    gone = send(bella, f"{here}/destination", f"{here}/delete", confirmed="1")
    bella.cookies.update(gone.cookies)
    page = bella.get(f"{here}/destination").text
    assert "This destination is deleted" in page
    assert f'action="{here}/restore"' in page
    # A Technical User who sees a report that goes there may restore it; who only uses it is told who can.
    assert f'action="{here}/restore"' in tara.get(f"{here}/destination").text
    page_text = boris.get(f"{here}/destination").text
    assert f'action="{here}/restore"' not in page_text
    assert "It can be restored by its owners (Bella" in page_text
    assert send(boris, "/", f"{here}/restore").status_code == 403
    assert send(bella, f"{here}/destination", f"{here}/destination/try").status_code == 403
    assert send(tara, f"{here}/destination", f"{here}/restore").status_code == 303
    assert "This destination is deleted" not in bella.get(f"{here}/destination").text


def test_only_reports_that_one_sees_are_named(shop: Shop) -> None:
    run = queue_run(shop, "morning_sales", member="bella")
    record_run_state(shop, run, "succeeded", step="send", rows=12)
    tara = shop.client("tara").get("/resources/board_mail/destination").text
    assert "Morning sales" in tara
    assert "Loyalty letter" in tara
    assert run in tara
    # Bella owns the destination, and not the mart that the letter is about.
    assert "Loyalty letter" not in shop.client("bella").get("/resources/board_mail/destination").text
    assert shop.client("nils").get("/resources/board_mail/destination").status_code == 404


def test_credentials_are_copied_by_who_may_after_a_question_and_it_is_written_down(shop: Shop) -> None:
    bella, boris = shop.client("bella"), shop.client("boris")
    send(bella, NEW, NEW, **HOOK, secret=SECRET, do="save")
    uid = made(shop, "Hook").uid
    here, copy = f"/resources/{uid}/destination", f"/resources/{uid}/credentials/copy"
    asked = send(bella, here, copy)
    assert "This is recorded in the audit log" in asked.text
    assert SECRET not in asked.text
    answer_page = send(bella, here, copy, confirmed="1")
    assert answer_page.headers["location"] == "/shown-once"
    bella.cookies.update(answer_page.cookies)
    assert SECRET in bella.get("/shown-once").text
    assert send(boris, "/", copy, confirmed="1").status_code == 404
    with shop.platform.read(as_member("olga")) as ctx:
        (line,) = ctx.audit.page(AuditFilter(action="copy_credentials", outcome="done"))
    assert line.entry.member == "bella"


def test_who_may_not_edit_one_sees_no_settings_and_gets_no_further(shop: Shop) -> None:
    boris = shop.client("boris")
    with shop.platform.write(as_member("bella")) as ctx:
        resource_edit.apply_edit(
            ctx, "board_mail", ResourceEdit(settings={"to": "mail", "receivers": ["quiet@shop.example"]})
        )
    text = boris.get("/resources/board_mail/destination").text
    assert "Only editors see the configuration." in text
    assert "quiet@shop.example" not in text
    for path in ("/destination/edit", "/destination/try", "/credentials/copy"):
        assert send(boris, "/", f"/resources/board_mail{path}", confirmed="1").status_code == 403
    assert boris.get("/resources/finance_table/destination").status_code == 404
    assert shop.client("nils").get(NEW).status_code == 404
    assert boris.get("/workspaces/lake_house/destinations/new").status_code == 404
    assert shop.client("tara").get("/resources/orders/destination").status_code == 404


@pytest.mark.rare
def test_axe_finds_nothing_wrong(open_as: Open, violations: Violations, shop: Shop) -> None:
    record_run_state(shop, queue_run(shop, "morning_sales", member="bella"), "succeeded", step="send", rows=12)
    page = open_as("bella", NEW)
    pages = (NEW, *(f"{NEW}?to={way}" for way in WAYS), "/resources/board_mail/destination")
    for path in pages:
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert violations(page) == [], path


def test_one_is_made_without_scripts(open_as: Open) -> None:
    page = open_as("bella", "/workspaces/sales/destination", scripts=False)
    page.get_by_role("link", name="New destination").first.click()
    page.get_by_role("link", name="Mail").click()
    page.get_by_label("Name", exact=True).fill("Friday mail")
    page.get_by_label("Receivers").fill("board@shop.example")
    page.get_by_role("button", name="Create destination").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Friday mail")
    expect(page.get_by_text("board@shop.example")).to_be_visible()


def test_a_live_one_has_a_secret_that_is_shown_once_rotated_and_revoked(shop: Shop) -> None:
    bella, boris = shop.client("bella"), shop.client("boris")
    send(bella, NEW, NEW, to="live", name="Live one", do="save")
    uid = made(shop, "Live one").uid
    here, secret = f"/resources/{uid}/destination", f"/resources/{uid}/destination/secret"
    assert "No secret yet" in bella.get(here).text

    def answer_page(answer: httpx.Response) -> str:
        assert answer.headers["location"] == "/shown-once"
        bella.cookies.update(answer.cookies)
        (found,) = re.findall(r'value="(lhp_[^"]+)"', bella.get("/shown-once").text)
        return str(found)

    first = answer_page(send(bella, here, secret))
    assert "lhp_" not in bella.get("/shown-once").text
    assert first not in bella.get(here).text
    with shop.platform.write(as_member("bella")) as ctx:
        resource_edit.apply_edit(ctx, "morning_sales", ResourceEdit(edges={"destination": [uid]}))
    page = bella.get(here).text
    assert f"/api/v1/live/{uid}/morning_sales" in page
    assert "curl -H" in page
    assert "Rotate the secret of Live one?" in send(bella, here, secret).text
    second = answer_page(send(bella, here, secret, confirmed="1"))
    assert second != first
    pull = f"/api/v1/live/{uid}"
    assert bella.get(pull, headers={"Authorization": f"Bearer {first}"}).status_code == 401
    assert bella.get(pull, headers={"Authorization": f"Bearer {second}"}).status_code == 200
    assert "until a new secret is created" in send(bella, here, f"{secret}/revoke").text
    assert send(bella, here, f"{secret}/revoke", confirmed="1").status_code == 303
    assert bella.get(pull, headers={"Authorization": f"Bearer {second}"}).status_code == 401
    assert send(boris, "/", secret).status_code == 404
    assert send(shop.client("tara"), "/", "/resources/board_mail/destination/secret").status_code == 403


def test_files_that_reports_have_left_are_downloaded_by_who_may_use_it(shop: Shop) -> None:
    with shop.platform.write(as_member("tara")) as ctx:
        resource_edit.apply_edit(ctx, "store_sheets", ResourceEdit(settings={"to": "files", "kind": "csv"}))
        volume = Volume(shop.platform.settings, readable_tables.identifier_of(ctx, "store_sheets"))
    here = "/resources/store_sheets/destination"
    assert "No files yet." in shop.client("bella").get(here).text
    with volume.open_partial() as rough:
        rough.write(b"day,total\n")
        volume.publish(rough, "weekly targets.csv", replace=True)
    page = shop.client("bella").get(here).text
    (href,) = re.findall(r'href="(/resources/store_sheets/destination/file[^"]+)"', page)
    got = shop.client("bella").get(href)
    assert got.content == b"day,total\n"
    assert got.headers["content-disposition"].startswith("attachment")
    assert shop.client("nils").get(href).status_code == 404
    assert shop.client("bella").get("/resources/archive_files/destination/file?path=x").status_code == 409


def test_of_many_reports_the_first_are_named_and_the_rest_counted(shop: Shop) -> None:
    with shop.platform.write(as_member("tara")) as ctx:
        for n in range(60):
            ends = {"data_mart": "daily_sales", "destination": "store_sheets"}
            resources.create(ctx, "marts.report", f"Letter {n:02}", edges=ends)
    text = shop.client("tara").get("/resources/store_sheets/destination").text
    # Two went there before.
    assert "And 12 more." in text
    assert text.count("Letter ") == 50
    for n in range(60):
        assert (f"Letter {n:02}" in text) == (n < 50)
