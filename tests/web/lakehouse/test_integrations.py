"""An integration is made on a page, gives a token once, and lets in whom it should for as long as it should; a notebook
is kept with what it reads and writes, and nothing runs it.
"""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from lakehold.access import Grant
from lakehold.catalog import grants, resources
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.recorded_runs import LAKE, as_member
from tests.web.lakehouse.sample_rows import fill_orders

NEW = f"/workspaces/{LAKE}/pipelines/new/integration"
NOTEBOOK = f"/workspaces/{LAKE}/pipelines/new/notebook"


@pytest.fixture
def bi(shop: Shop) -> str:
    """An integration of Erik's that lets others read orders."""
    fill_orders(shop.platform)
    with shop.platform.write(as_member("erik")) as ctx:
        edges = {"lakehouse": LAKE, "reads": ["orders"]}
        return resources.create(ctx, "lakehouse.integration", "BI", uid="bi", edges=edges)


def opened(shop: Shop, member: str = "erik", days: str = "30") -> str:
    """The secret of a new token, as the page shows it."""
    client = shop.client(member)
    client.follow_redirects = True
    answer = send(client, "/resources/bi/pipeline", "/resources/bi/integration/token", days=days)
    assert answer.status_code == 200, answer.text
    return answer.text.partition('value="lh_')[2].partition('"')[0]


def read(shop: Shop, secret: str, table: str = "orders") -> int:
    """What a tool with the token is answered."""
    headers = {"authorization": f"Bearer lh_{secret}"}
    return httpx.get(f"{shop.address}/api/v1/tables/{table}/rows", headers=headers).status_code


@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_lets_a_tool_in_and_out(shop: Shop, open_as: Open, violations: Violations, scripts: bool) -> None:
    fill_orders(shop.platform)
    page = open_as("erik", NEW, scripts=scripts)
    page.get_by_label("Name", exact=True).fill("Dashboards")
    page.get_by_label("Clean.orders").check()
    page.get_by_role("button", name="Create ").click()
    expect(page.get_by_role("heading", name="Dashboards")).to_be_visible()
    expect(page.get_by_text("/api/v1/tables/orders/rows")).to_be_visible()
    if scripts:
        assert violations(page) == []
    page.get_by_label("Expiration").select_option("1 year")
    page.get_by_role("button", name="Create token").click()
    secret = page.locator("#secret").input_value()
    assert read(shop, secret.removeprefix("lh_")) == 200
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("table")).to_contain_text("Erik")
    assert secret not in page.content()
    page.get_by_role("button", name="Revoke").click()
    (page.get_by_role("dialog") if scripts else page).get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("The token was revoked.")).to_be_visible()
    assert read(shop, secret.removeprefix("lh_")) == 401


def test_it_reads_its_tables_as_they_are_now_and_while_it_is_active(shop: Shop, bi: str) -> None:
    secret, client = opened(shop), shop.client("erik")
    assert [read(shop, secret, table) for table in ("orders", "stores")] == [200, 404]
    form = {"name": "BI", "output": "nowhere"}
    edit = f"/resources/{bi}/pipeline/edit"
    assert send(client, edit, edit, reads="stores", **form).status_code == 303
    assert [read(shop, secret, table) for table in ("orders", "stores")] == [404, 409]
    send(client, f"/resources/{bi}/pipeline/edit", f"/resources/{bi}/pipeline/edit", reads="orders", **form)
    for word, answer in (("deactivate", 401), ("activate", 200), ("deactivate", 401)):
        send(client, f"/resources/{bi}/pipeline", f"/resources/{bi}/integration/{word}")
        assert read(shop, secret) == answer
    assert "Deactivated" in client.get(f"/resources/{bi}/pipeline").text
    send(client, f"/resources/{bi}/pipeline", f"/resources/{bi}/integration/activate")
    with shop.platform.write(as_member("olga")) as ctx:
        resources.delete(ctx, bi)
    assert read(shop, secret) == 401


@pytest.mark.usefixtures("bi")
def test_it_reads_as_whoever_made_the_token_and_no_longer_than_they_may(shop: Shop) -> None:
    secret = opened(shop)
    assert read(shop, secret) == 200
    with shop.platform.write(as_member("olga")) as ctx:
        held = [each for each in grants.list_direct(ctx, "clean") if each.subject.uid == "engineers"]
        assert held
        grants.revoke(ctx, Grant("engineers", held[0].role, "clean"))
    assert read(shop, secret) == 404


def test_who_may_not_edit_it_opens_nothing(shop: Shop, bi: str) -> None:
    client = shop.client("ana")
    page = client.get(f"/resources/{bi}/pipeline").text
    assert "BI" in page
    assert "Create token" not in page
    assert send(client, f"/resources/{bi}/pipeline", f"/resources/{bi}/integration/token", days="30").status_code == 403
    assert send(client, f"/resources/{bi}/pipeline", f"/resources/{bi}/integration/deactivate").status_code == 403
    opened(shop)
    with shop.platform.read(as_member("olga")) as ctx:
        uid = ctx.session.transaction.connection.exec_driver_sql("select id from token where through_id is not null")
        token = str(uid.scalar_one())
    sent = send(client, f"/resources/{bi}/pipeline", f"/resources/{bi}/integration/revoke", token=token, confirmed="1")
    assert sent.status_code == 404
    wrong = send(shop.client("erik"), f"/resources/{bi}/pipeline", f"/resources/{bi}/integration/token", days="7000")
    assert wrong.status_code == 422
    assert send(shop.client("erik"), NEW, NEW, name="Nothing").status_code == 422


def test_a_notebook_is_kept_and_not_run(shop: Shop, open_as: Open) -> None:
    page = open_as("erik", NOTEBOOK)
    page.get_by_label("Name", exact=True).fill("Churn")
    page.get_by_label("Clean.orders").check()
    page.get_by_role("radio", name="New table").check()
    page.get_by_label("Layer", exact=True).select_option("Clean")
    page.get_by_label("Table name").fill("churn")
    page.get_by_role("button", name="Create ").click()
    expect(page.get_by_role("heading", name="Churn")).to_be_visible()
    expect(page.get_by_text(", new table")).to_be_visible()
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_text("A notebook cannot be run here yet.")).to_be_visible()
    with shop.platform.read(as_member("olga")) as ctx:
        (made,) = resources.find(ctx, among=["lakehouse.notebook"], within=LAKE, search="Churn").items
        edges = resources.get(ctx, made.uid).edges
    assert {name: [end.uid for end in ends] for name, ends in edges.items()} == {
        "reads": ["orders"],
        "writes": ["clean"],
        "into": ["clean"],
    }
    page.goto(f"/workspaces/{LAKE}/runs")
    assert send(shop.client("erik"), NOTEBOOK, f"/resources/{made.uid}/pipeline/run").status_code in {303, 422}
    with shop.platform.database.read() as transaction:
        assert transaction.connection.exec_driver_sql("select count(*) from run").scalar_one() == 0
