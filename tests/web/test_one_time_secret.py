"""Secrets that are shown once: whoever loads the page anew makes no second one."""

from __future__ import annotations

import json

import httpx
import pytest
from playwright.sync_api import expect

from lakehold.directory import invites, tokens
from lakehold.directory.caller import Caller
from lakehold.web import one_time_secret
from tests.demo_company import TENANT
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send

MAKING = [
    ("/profile/tokens/new", "/profile/tokens", {"name": "Look", "days": "30"}, "lh_"),
    ("/people/nightly/tokens/new", "/people/nightly/tokens/new", {"name": "Second", "days": "30"}, "lh_"),
    ("/people/ana", "/people/ana/links", {"purpose": "sign_in"}, "/link/"),
    ("/people/ana", "/people/ana/links", {"purpose": "password"}, "/password/"),
    ("/invites/new", "/invites/new", {"email": "new@corner.example"}, "/invite/"),
]


@pytest.mark.parametrize(("page", "to", "fields", "secret"), MAKING)
def test_what_is_made_is_shown_by_the_page_after_it_and_by_no_other(
    shop: Shop, page: str, to: str, fields: dict[str, str], secret: str
) -> None:
    with shop.client("adam") as client:
        answer = send(client, page, to, **fields)
        assert (answer.status_code, answer.headers["location"], answer.text) == (303, one_time_secret.SECRET_URL, "")
        assert secret not in str(answer.headers)
        secret_page = client.get(one_time_secret.SECRET_URL)
        assert secret in secret_page.text
        assert secret_page.headers["cache-control"] == "no-store"
        again = client.get(one_time_secret.SECRET_URL)
    assert again.status_code == 200
    assert "No longer available" in again.text
    assert secret not in again.text


@pytest.mark.browser
def test_loading_the_page_of_a_new_token_anew_makes_no_other_token(
    shop: Shop, open_as: Open, violations: Violations
) -> None:
    page = open_as("tara", "/profile/tokens/new")
    page.get_by_label("Name", exact=True).fill("Notebook")
    page.get_by_role("button", name="Create token").click()
    secret = page.get_by_label("Token", exact=True).input_value()
    assert secret not in page.url
    assert secret not in json.dumps([dict(cookie) for cookie in page.context.cookies()])
    page.reload()
    expect(page.get_by_role("heading", name="No longer available")).to_be_visible()
    assert secret not in page.content()
    assert violations(page) == []
    with shop.platform.read(Caller(TENANT, "tara")) as ctx:
        assert [token.name for token in tokens.list_of_member(ctx, "tara")] == ["Notebook"]


@pytest.mark.browser
def test_loading_the_page_of_a_new_invite_anew_makes_no_other_link(shop: Shop, open_as: Open) -> None:
    page = open_as("olga", "/invites/new", scripts=False)
    page.get_by_label("E-mail").fill("new@corner.example")
    page.get_by_role("button", name="Invite", exact=True).click()
    link = page.get_by_label("Link", exact=True).input_value()
    page.reload()
    expect(page.get_by_role("heading", name="No longer available")).to_be_visible()
    with shop.platform.read(Caller(TENANT, "olga")) as ctx:
        assert len([one for one in invites.page(ctx, limit=100) if one.email == "new@corner.example"]) == 1
    assert httpx.get(link.replace(shop.platform.settings.base_url, shop.address)).status_code == 200


def test_a_secret_is_opened_for_who_made_it_and_for_a_moment(shop: Shop) -> None:
    fields = {"name": "Look", "days": "30"}
    with shop.client("tara") as tara, shop.client("nils") as nils:
        send(tara, "/profile/tokens/new", "/profile/tokens", **fields)
        kept = tara.cookies[one_time_secret.COOKIE]
        for wrong in (kept, kept[:-4], "x", ""):
            nils.cookies.set(one_time_secret.COOKIE, wrong)
            assert "lh_" not in nils.get(one_time_secret.SECRET_URL).text
        assert "lh_" in tara.get(one_time_secret.SECRET_URL).text
