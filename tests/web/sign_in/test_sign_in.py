"""Signing in and out."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect

from lakehold import workspaces
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.catalog import impersonation
from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.directory.tenants import TenantSetup
from lakehold.web.csrf import VISIT_COOKIE
from tests.demo_company import TENANT
from tests.web.conftest import Open, Violations
from tests.web.demo import SECRET, Shop, give_password
from tests.web.forms import send, token
from tests.web.sign_in.conftest import MailSite


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_signs_in_where_they_wanted_to_go_and_out_again(shop: Shop, open_as: Open, scripts: bool) -> None:
    email = give_password(shop, "tara")
    page = open_as("", "/profile/tokens?q=x", scripts=scripts)
    expect(page.get_by_role("heading", name="Sign in", level=1)).to_be_visible()
    page.get_by_label("E-mail").fill(email.upper())
    page.get_by_label("Password", exact=True).fill(SECRET)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="API tokens", level=1)).to_be_visible()
    assert page.url.endswith("/profile/tokens?q=x")
    page.get_by_role("button", name="Tara, Technical User").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You were signed out.")).to_be_visible()
    page.goto("/profile")
    expect(page.get_by_role("heading", name="Sign in", level=1)).to_be_visible()


@pytest.mark.browser
def test_axe_finds_nothing(mail_site: MailSite, open_page: Open, violations: Violations) -> None:
    page = open_page(mail_site, "/sign-in?next=/people", refused=True)
    assert violations(page) == []
    page.get_by_label("E-mail").fill("nobody@example.org")
    page.get_by_label("Password", exact=True).fill("something")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert violations(page) == []
    for path in ("/forgot", "/sign-in/sent", "/link/lhl_nothing"):
        page.goto(path)
        assert violations(page) == []


def plain(answer: httpx.Response, email: str) -> str:
    """The page without what is different every time."""
    text = re.sub(r'(csrf[-_]token" (value|content)=")[^"]+', r"\1", answer.text)
    return text.replace(email, "…")


def test_an_unknown_account_gets_the_answer_of_a_wrong_password(shop: Shop) -> None:
    email = give_password(shop, "tara")
    answers = []
    for each in (email, "nobody@corner.example", "no address"):
        with shop.client() as client:
            answer = send(client, "/sign-in", "/sign-in", email=each, password="wrong")
        assert answer.status_code == 401
        assert SESSION_COOKIE not in answer.cookies
        answers.append(plain(answer, each))
    assert answers[0] == answers[1] == answers[2]
    assert "The e-mail address or the password is wrong." in answers[0]
    assert "wrong</" not in answers[0]


def test_who_has_tried_too_often_is_told_to_wait(shop: Shop) -> None:
    email = give_password(shop, "tara")
    with shop.client() as client:
        for _ in range(6):
            answer = send(client, "/sign-in", "/sign-in", email=email, password="wrong", next="/people")
        assert answer.status_code == 429
        assert answer.headers["retry-after"]
        assert "Too many attempts" in answer.text
        assert re.search(r"Try again in \d+ seconds", answer.text)
        assert f'value="{email}"' in answer.text
        assert 'value="/people"' in answer.text


def test_the_cookie_is_new_and_the_visit_is_over(shop: Shop) -> None:
    email = give_password(shop, "tara")
    with shop.client() as client:
        visit = token(client, "/sign-in")
        first = client.post("/sign-in", data={"csrf_token": visit, "email": email, "password": SECRET})
        assert first.status_code == 303
        (cookie,) = [each for each in first.headers.get_list("set-cookie") if each.startswith(SESSION_COOKIE)]
        assert "HttpOnly" in cookie
        assert "samesite=lax" in cookie.lower()
        assert "secure" not in cookie.lower()
        assert VISIT_COOKIE not in client.cookies
        old = client.cookies[SESSION_COOKIE]
        # What was shown before the sign-in is good for nothing after it.
        answer = client.post("/sign-out", data={"csrf_token": visit})
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
        assert client.get("/profile").status_code == 200
    with httpx.Client(base_url=shop.address, cookies={SESSION_COOKIE: old}, headers={"Accept": "text/html"}) as client:
        assert client.get("/profile").status_code == 200


def test_a_new_sign_in_ends_the_one_before(shop: Shop) -> None:
    email = give_password(shop, "tara")
    with shop.client("nils") as client:
        nils = client.cookies[SESSION_COOKIE]
        answer = send(client, "/profile", "/sign-in", email=email, password=SECRET)
        assert answer.headers["location"] == "/"
        client.cookies.clear()
        client.cookies.set(SESSION_COOKIE, nils)
        assert client.get("/").status_code == 303


def test_one_is_sent_on_to_our_own_addresses_only(shop: Shop) -> None:
    email = give_password(shop, "tara")
    for elsewhere in (
        "//example.org",
        "/\\example.org",
        "https:example.org",
        "ftp://example.org",
        "javascript:alert(1)",
        "people",
        "/\t/example.org",
    ):
        with shop.client() as client:
            answer = send(client, "/sign-in", "/sign-in", email=email, password=SECRET, next=elsewhere)
            assert answer.headers["location"] == "/"
            assert client.get("/sign-in", params={"next": elsewhere}).headers["location"] == "/"


def test_who_is_in_is_sent_on(shop: Shop) -> None:
    with shop.client("tara") as client:
        answer = client.get("/sign-in?next=/people")
        assert (answer.status_code, answer.headers["location"]) == (303, "/people")


def test_the_organisation_is_asked_for_where_there_are_several(shop: Shop) -> None:
    email = give_password(shop, "tara")
    with shop.client() as client:
        assert "Organisation" not in client.get("/sign-in").text
    tenants.create_tenant(shop.platform, workspaces.models(), TenantSetup("Zebra", "Zoe", "zoe@example.org", SECRET))
    with shop.client() as client:
        page = client.get("/sign-in").text
        assert "Organisation" in page
        assert "Zebra" not in page
        assert send(client, "/sign-in", "/sign-in", email=email, password=SECRET).status_code == 401
        assert send(client, "/sign-in", "/sign-in", email=email, password=SECRET, tenant="zebra").status_code == 401
        assert (
            send(client, "/sign-in", "/sign-in", email=email, password=SECRET, tenant=f" {TENANT} ").status_code == 303
        )


def test_one_signs_out_while_viewing_as_somebody_else(shop: Shop) -> None:
    with shop.client("olga") as client:
        secret = client.cookies[SESSION_COOKIE]
        with shop.platform.write(Caller(TENANT, "olga", sign_in_id=secret.split("_")[1])) as ctx:
            impersonation.start(ctx, "nils")
        assert "Nils, New here" in client.get("/").text
        answer = send(client, "/", "/sign-out")
        assert answer.status_code == 303
        assert any(f'{SESSION_COOKIE}=""' in cookie for cookie in answer.headers.get_list("set-cookie"))
        assert client.get("/").headers["location"].startswith("/sign-in")


def test_signing_out_twice_is_as_good_as_once(shop: Shop) -> None:
    with shop.client() as client:
        answer = send(client, "/sign-in", "/sign-out")
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")


def test_no_other_site_sends_our_forms(shop: Shop) -> None:
    with shop.client("tara") as client:
        for path in ("/sign-in", "/sign-out", "/forgot", "/link/x", "/password/x", "/invite/x"):
            assert client.post(path, data={"email": "x@example.org"}).status_code == 403
