"""API tokens: made, shown once, used, revoked."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect

from lakehold.directory import tokens
from lakehold.directory.caller import Caller
from tests.demo_company import TENANT
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send


def asked(shop: Shop, secret: str, path: str) -> httpx.Response:
    return httpx.get(f"{shop.address}{path}", headers={"Authorization": f"Bearer {secret}"}, timeout=30)


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_makes_a_token_uses_it_and_revokes_it(
    shop: Shop, open_as: Open, violations: Violations, scripts: bool
) -> None:
    page = open_as("tara", "/profile/tokens", scripts=scripts)
    expect(page.get_by_role("heading", name="No tokens yet")).to_be_visible()
    page.get_by_role("link", name="New token").first.click()
    page.get_by_label("Name", exact=True).fill("Notebook")
    page.get_by_label("Expiration").select_option("30 days")
    page.get_by_text("Limit resources").click()
    page.get_by_label("Sales marts").check()
    page.get_by_role("button", name="Create token").click()
    secret = page.get_by_label("Token").input_value()
    if scripts:
        assert violations(page) == []
    assert asked(shop, secret, "/api/v1/resources/daily_sales").status_code == 200
    assert asked(shop, secret, "/api/v1/resources/tills").status_code == 404
    page.get_by_role("link", name="Done").click()
    row = page.get_by_role("row", name="Notebook")
    expect(row).to_contain_text("Everything on Sales marts")
    expect(row).to_contain_text("in 29 days")
    assert secret not in page.content()
    row.get_by_role("button", name="Actions for Notebook").click()
    row.get_by_role("button", name="Revoke").click()
    page.get_by_role("button", name="Revoke").last.click()
    expect(page.get_by_text("Notebook was revoked.")).to_be_visible()
    assert asked(shop, secret, "/api/v1/me").status_code == 401


@pytest.mark.browser
def test_the_secret_is_copied(open_as: Open) -> None:
    page = open_as("tara", "/profile/tokens/new")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_label("Name", exact=True).fill("Notebook")
    page.get_by_role("button", name="Create token").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.get_by_label("Token").input_value()


def test_a_token_is_narrowed_by_actions(shop: Shop) -> None:
    with shop.client("tara") as client:
        answer = send(client, "/profile/tokens/new", "/profile/tokens", name="Look", days="never", actions="see")
        assert answer.status_code == 303
        page = client.get("/profile/tokens").text
        assert "1 action" in page
        assert "no end" in page
    with shop.platform.read(Caller(TENANT, "tara")) as ctx:
        (token,) = tokens.list_of_member(ctx, "tara")
    assert token.actions == ("see",)
    assert token.resources is None


def test_what_one_may_not_see_is_refused_like_what_there_is_not(shop: Shop) -> None:
    answers = []
    with shop.client("nils") as client:
        for uid in ("salaries", "nothing-like-this"):
            fields = {"name": "A b", "days": "30", "ids": f"\n{uid}\n"}
            answer = send(client, "/profile/tokens/new", "/profile/tokens", **fields)
            assert answer.status_code == 422
            assert 'value="A b"' in answer.text
            answers.append(re.sub(r'(csrf[-_]token" (value|content)=")[^"]+', r"\1", answer.text).replace(uid, "…"))
        assert answers[0] == answers[1]
        assert "There is no resource &#39;…&#39;." in answers[0]
        assert "Sales marts" not in answers[0]
    with shop.platform.read(Caller(TENANT, "nils")) as ctx:
        assert tokens.list_of_member(ctx, "nils") == []


def test_what_is_wrong_is_said_at_its_field(shop: Shop) -> None:
    with shop.client("tara") as client:
        for field, wrong in (("name", " "), ("days", "12"), ("days", "x")):
            fields = {"name": "Mine", "days": "30", field: wrong}
            answer = send(client, "/profile/tokens/new", "/profile/tokens", **fields)
            assert answer.status_code == 422
            assert f'id="field-{field}-error"' in answer.text


def test_who_keeps_members_keeps_the_tokens_of_service_accounts(shop: Shop) -> None:
    with shop.client("adam") as client:
        assert 'value="nightly"' in client.get("/profile/tokens/new").text
        page = client.get("/profile/tokens").text
        assert "Import of the tills" in page
        assert "Import of the tills" not in client.get("/profile/tokens?whose=mine").text
        assert "Import of the tills" in client.get("/profile/tokens?whose=service").text
        made = send(client, "/profile/tokens/new", "/profile/tokens", name="Second", days="365", member="nightly")
        assert made.status_code == 303
    with shop.platform.read(Caller(TENANT, "adam")) as ctx:
        assert {token.name for token in tokens.list_of_member(ctx, "nightly")} == {"Import of the tills", "Second"}
    with shop.client("tara") as client:
        assert "Import of the tills" not in client.get("/profile/tokens").text
        assert "nightly" not in client.get("/profile/tokens/new").text.lower().replace('nightly import"', "")
        refused = send(client, "/profile/tokens/new", "/profile/tokens", name="Third", days="365", member="nightly")
        assert refused.status_code == 403


def test_nobody_revokes_another_s(shop: Shop) -> None:
    with shop.platform.write(Caller(TENANT, "tara")) as ctx:
        made = tokens.create(ctx, "Mine alone")
    with shop.client("nils") as client:
        answer = send(client, "/profile", f"/profile/tokens/{made.token.id}/revoke", confirmed="1")
        assert answer.status_code == 404
        assert "Mine alone" not in answer.text
    assert asked(shop, made.secret, "/api/v1/me").status_code == 200


def test_a_form_can_be_opened_for_one_thing(shop: Shop) -> None:
    with shop.client("tara") as client:
        page = client.get("/profile/tokens/new?resource=daily_sales").text
        assert ">daily_sales</textarea>" in page
