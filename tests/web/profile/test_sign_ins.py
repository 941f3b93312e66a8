"""Where one is signed in."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.directory import sign_ins
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.web.profile.profile_page import describe_user_agent
from tests.demo_company import TENANT
from tests.web.conftest import Open
from tests.web.demo import Shop
from tests.web.forms import send

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile/15E Safari/604.1"


def signed_in(shop: Shop, agent: str) -> str:
    visit = ClientInfo("192.0.2.7", agent, "")
    with shop.platform.write(Caller(TENANT, "tara")) as ctx:
        return sign_ins.create(ctx, shop.platform.settings, "tara", "password", visit).secret


def is_in(shop: Shop, secret: str) -> bool:
    with shop.client() as client:
        client.cookies.set(SESSION_COOKIE, secret)
        return client.get("/").status_code == 200


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_signs_out_a_browser_they_do_not_know(shop: Shop, open_as: Open, scripts: bool) -> None:
    known, unknown, third = signed_in(shop, FIREFOX), signed_in(shop, SAFARI), signed_in(shop, "a script")
    page = open_as("tara", "/profile", scripts=scripts)
    page.get_by_role("navigation", name="Profile").get_by_role("link", name="Sign-ins").click()
    row = page.get_by_role("row", name="Safari on iPhone")
    expect(row).to_contain_text("192.0.2.7")
    row.get_by_role("button", name="Actions for Safari on iPhone").click()
    row.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("Safari on iPhone was signed out.")).to_be_visible()
    assert (is_in(shop, known), is_in(shop, unknown), is_in(shop, third)) == (True, False, True)
    page.get_by_role("button", name="Sign out everywhere else").click()
    if not scripts:
        expect(page.get_by_role("heading", name="Sign out everywhere else?", level=1)).to_be_visible()
    page.get_by_role("button", name="Sign out", exact=True).last.click()
    expect(page.get_by_text("2 sign-ins ended. Only this one is left.")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(2)
    assert not is_in(shop, known)


def test_ending_the_present_one_is_the_way_out(shop: Shop) -> None:
    with shop.client("tara") as client:
        id_ = client.cookies[SESSION_COOKIE].split("_")[1]
        answer = send(client, "/profile", f"/profile/sign-ins/{id_}/end")
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
        assert client.get("/").headers["location"].startswith("/sign-in")


def test_nobody_ends_another_s(shop: Shop) -> None:
    secret = signed_in(shop, FIREFOX)
    with shop.client("nils") as client:
        assert send(client, "/profile", f"/profile/sign-ins/{secret.split('_')[1]}/end").status_code == 404
        assert "192.0.2.7" not in client.get("/profile/sign-ins").text
    assert is_in(shop, secret)


def test_the_list_is_searched_and_sorted_by_its_address(shop: Shop) -> None:
    signed_in(shop, FIREFOX)
    signed_in(shop, SAFARI)
    with shop.client("tara") as client:
        found = client.get("/profile/sign-ins?q=safari").text
        assert "Safari on iPhone" in found
        assert "Firefox" not in found
        up = client.get("/profile/sign-ins?sort=where").text
        down = client.get("/profile/sign-ins?sort=-where").text
        assert up.index("Firefox on Linux") < up.index("Safari on iPhone")
        assert down.index("Safari on iPhone") < down.index("Firefox on Linux")


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (SAFARI, "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/140.0 Safari/537 Edg/140.0", "Edge on Windows"),
        ("curl/8.5", "curl"),
        ("", "Something unknown"),
        ("x" * 200, "x" * 40),
    ],
)
def test_a_browser_is_told_in_words(agent: str, words: str) -> None:
    assert describe_user_agent(agent) == words
