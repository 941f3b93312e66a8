"""Data marts that a connector of their own feeds, on their pages: made, tried out and changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from lakehold.catalog import credentials
from tests.lake.sources.fake_api import ApiRequest, ApiResponse, FakeApi, serve_fake_api
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.probe_worker import demo_with_probe_worker
from tests.web.lakehouse.recorded_runs import as_member
from tests.web.marts import sample_data
from tests.web.marts.sample_data import find_resource, settings_of
from tests.web.visitors import visitors

NEW = "/workspaces/sales/marts/fed"
KIND = "marts.data_mart"
SECRET = "t0ken-of-the-shop"


@pytest.fixture
def shop(shop_folder: Path, tmp_path: Path) -> Iterator[Shop]:
    """With a worker that looks at APIs."""
    with demo_with_probe_worker(shop_folder, tmp_path / "data") as opened:
        sample_data.use_lake_storage(opened)
        yield opened


@pytest.fixture
def open_as(browser: Browser, shop: Shop) -> Iterator[Open]:
    with visitors(browser, shop.address, shop.cookie_of) as opened:
        yield opened


@pytest.fixture
def there() -> Iterator[FakeApi]:
    """An API that lets in who knows the secret."""

    def orders(asked: ApiRequest) -> ApiResponse:
        knows = asked.headers.get("Authorization") == f"Bearer {SECRET}"
        return ApiResponse([{"id": 1, "city": "Bonn"}, {"id": 2, "city": "Ulm"}]) if knows else ApiResponse({}, 401)

    with serve_fake_api() as made:
        made.routes["/v1/orders"] = orders
        yield made


def api(base: str, **more: str) -> dict[str, str]:
    """The form of an API with one endpoint."""
    fields = {"connector": "api", "name": "Web orders", "storage": "lake", "address": base, "auth": "bearer"}
    return {**fields, "endpoint_name": "orders", "endpoint_path": "orders", "mode": "full", **more}


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_a_mart_is_fed_by_an_api(
    shop: Shop, open_as: Open, there: FakeApi, violations: Violations, scripts: bool
) -> None:
    page = open_as("tara", "/workspaces/sales/marts/new", scripts=scripts, refused=True)
    page.get_by_role("link", name="Connector").click()
    page.get_by_role("link", name="API").click()
    page.get_by_role("textbox", name="Name", exact=True).first.fill("Web orders")
    page.get_by_label("Storage").select_option("Lake")
    page.get_by_label("Base URL").fill(there.base)
    page.get_by_label("Authentication").select_option("Bearer token")
    page.get_by_label("Token, password or API key").fill("wr0ng")
    page.locator("#field-endpoint_name-0").fill("orders")
    page.get_by_role("textbox", name="Path", exact=True).fill("orders")
    page.get_by_role("radio", name="Upsert by key").check()
    page.get_by_label("Primary key").fill("number")
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_role("alert")).to_contain_text("denied access")
    page.get_by_label("Token, password or API key").fill(SECRET)
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no stored field 'number'.")
    page.get_by_label("Primary key").fill("id")
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_role("status").filter(has_text="Connection successful: 2 fields.")).to_be_visible()
    expect(page.get_by_role("cell", name="Bonn")).to_be_visible()
    if scripts:
        assert violations(page) == []
    page.get_by_role("button", name="Create data mart").click()
    expect(page.get_by_text("Web orders was created. Refresh it to load rows.")).to_be_visible()
    made = find_resource(shop, KIND, "Web orders")
    assert [end.uid for end in made.edges["storage"]] == ["lake"]
    settings = settings_of(shop, made.uid)
    assert {name: settings[name] for name in ("by", "connector", "stream", "mode", "keys")} == {
        "by": "connector",
        "connector": "api",
        "stream": "orders",
        "mode": "merge",
        "keys": ["id"],
    }
    with shop.platform.read(as_member("tara")) as ctx:
        assert credentials.load_for_use(ctx, made.uid) == {"token": SECRET}


def test_a_connection_is_changed_and_its_secret_stays_and_is_in_no_page(shop: Shop, there: FakeApi) -> None:
    tara = shop.client("tara")
    assert send(tara, NEW, NEW, **api(there.base, secret=SECRET), do="next").status_code == 303
    made = find_resource(shop, KIND, "Web orders")
    here = f"/resources/{made.uid}/mart/feed"
    assert f'href="{here}"' in tara.get(f"/resources/{made.uid}/mart/edit").text
    changed = api(there.base, name="Orders of the web", version=str(made.version), storage="")
    assert send(tara, here, here, **changed, do="next").status_code == 303
    with shop.platform.read(as_member("tara")) as ctx:
        assert credentials.load_for_use(ctx, made.uid) == {"token": SECRET}
    assert [end.uid for end in find_resource(shop, KIND, "Orders of the web").edges["storage"]] == ["lake"]
    for part in ("mart", "mart/edit", "mart/feed"):
        assert SECRET not in tara.get(f"/resources/{made.uid}/{part}").text
    # Who has not seen the last change does not undo it.
    assert send(tara, here, here, **changed, do="next").status_code == 422


@pytest.mark.parametrize(
    ("more", "field", "said"),
    [
        ({"name": ""}, "name", "Enter a name."),
        ({"storage": ""}, "storage", "Select a storage"),
        ({"address": "nothing"}, "address", "starts with http"),
        ({"secret": ""}, "secret", "Enter the token."),
        ({"endpoint_path": ""}, "endpoint_path-0", "Enter a path"),
        ({"mode": "incremental"}, "cursor", "Enter the cursor field."),
        ({"stream": "gone"}, "stream", "There is no 'gone' there."),
        ({"endpoint_path": "gone"}, "endpoint_path-0", "has nothing at"),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_nothing_is_lost(
    shop: Shop, there: FakeApi, more: dict[str, str], field: str, said: str
) -> None:
    sent = api(there.base, **{"secret": SECRET, "description": "kept words", **more})
    answer = send(shop.client("tara"), f"{NEW}?connector=api", NEW, **sent, do="next")
    assert answer.status_code == 422
    about = re.findall(rf'id="(?:field-)?{field}-(?:about|error)"[^>]*>(.*?)</p>', answer.text, re.DOTALL)
    assert about, answer.text
    assert said in about[0].replace("&#39;", "'")
    assert "kept words" in answer.text
    assert SECRET not in answer.text


def test_who_may_not_make_or_edit_it_has_no_form(shop: Shop, there: FakeApi) -> None:
    assert shop.client("bella").get(NEW).status_code == 403
    assert shop.client("nils").get(NEW).status_code == 404
    before = len(there.requests)
    answer = send(shop.client("bella"), "/", NEW, **api(there.base, secret=SECRET), do="test")
    assert (answer.status_code, len(there.requests)) == (403, before)
    assert shop.client("bella").get("/resources/daily_sales/mart/feed").status_code == 403
