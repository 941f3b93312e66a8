"""People: found, added, let in, given roles, and removed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from lakehold.directory import members, sign_ins
from lakehold.directory.caller import Caller
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send

pytestmark = pytest.mark.browser

OLGA = Caller("corner", "olga")
PAGES = (
    "/people",
    "/people?role=owner&kind=person",
    "/people?q=zzz",
    "/people/new",
    "/people/new-service-account",
    "/people/ana",
    "/people/ana/edit",
    "/people/ana/roles",
    "/people/ana/groups",
    "/people/ana/counts",
    "/people/ana/reach",
    "/people/tara/remove",
)


@pytest.mark.rare
def test_every_page_can_be_read_by_everybody(open_as: Open, violations: Violations) -> None:
    page = open_as("olga", "/people")
    for path in PAGES:
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        if path == "/people/ana":
            expect(page.get_by_role("link", name="16 tables")).to_be_visible()
        assert violations(page) == [], path


def test_people_are_found_by_name_role_and_group(open_as: Open) -> None:
    page = open_as("nils", "/people")
    page.get_by_role("searchbox", name="Search people").fill("technical")
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_label("Group", exact=True).select_option("Engineers")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("link", name="Tara, Technical User")).to_be_visible()
    assert page.url.endswith("?q=technical&role=&group=engineers&kind=")


def test_the_list_is_as_its_address_says(shop: Shop) -> None:
    olga = shop.client("olga")
    down = olga.get("/people?sort=-name").text.partition("<tbody")[2]
    assert down.index("Victor") < down.index("Adam")
    admins = olga.get("/people?role=admin").text.partition("<tbody")[2]
    assert "Adam" in admins
    assert "Victor" not in admins


def test_addresses_are_for_who_keeps_members(shop: Shop) -> None:
    assert "ana@corner.example" in shop.client("olga").get("/people").text
    assert "ana@corner.example" not in shop.client("tara").get("/people").text
    assert "ana@corner.example" not in shop.client("tara").get("/people/ana").text


def test_who_may_not_is_told_why_and_where_to_ask(open_as: Open) -> None:
    page = open_as("tara", "/people/ana")
    page.get_by_role("main").get_by_role("button", name="Edit").click()
    expect(page.get_by_text("You need permission to manage members in Corner & Main.").first).to_be_visible()
    expect(page.get_by_role("link", name="Request access").first).to_be_visible()
    expect(page.get_by_text("Sessions")).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/people/new", {"name": "Eve"}),
        ("/people/new-service-account", {"name": "Robot"}),
        ("/people/ana/edit", {"name": "Eve"}),
        ("/people/ana/roles", {"role": "admin", "confirmed": "1"}),
        ("/people/ana/links", {"purpose": "sign_in"}),
        ("/people/ana/sign-out", {"confirmed": "1"}),
        ("/people/ana/remove", {"what": "leave", "confirmed": "1"}),
    ],
)
def test_a_form_that_is_sent_without_the_right_is_refused(shop: Shop, path: str, fields: dict[str, str]) -> None:
    assert send(shop.client("tara"), "/profile", path, **fields).status_code == 403
    with shop.platform.read(OLGA) as ctx:
        assert members.get(ctx, "ana").name == "Ana, Analyst"


def test_an_admin_adds_somebody_and_hands_over_a_link(open_as: Open, shop: Shop) -> None:
    page = open_as("adam", "/people")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("link", name="Add member").click()
    page.get_by_label("Name").fill("Nora, Night shift")
    page.get_by_label("E-mail").fill("nora@corner.example")
    page.get_by_role("dialog").get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("heading", name="Nora, Night shift", level=1)).to_be_visible()
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Create sign-in link").click()
    link = page.get_by_label("Link", exact=True).input_value()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name=re.compile("Copied|Ctrl"))).to_be_visible()
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text(link)).to_have_count(0)
    assert shop.client().get(re.sub(r"^http://[^/]+", "", link)).status_code == 200


def test_a_form_says_what_is_wrong_and_loses_nothing(open_as: Open) -> None:
    page = open_as("adam", "/people/new", scripts=False, refused=True)
    page.get_by_label("Name").fill("Anna, Another")
    page.get_by_label("E-mail").fill("ana@corner.example")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("There is already an account").first).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("Anna, Another")
    page.get_by_label("E-mail").fill("anna@corner.example")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="Anna, Another")).to_be_visible()


def test_somebody_is_renamed_and_a_taken_address_changes_neither(shop: Shop) -> None:
    admin = shop.client("adam")
    there = "/people/ana/edit"
    assert send(admin, there, there, name="Ana B.", email="tara@corner.example").status_code == 422
    assert "Ana, Analyst" in admin.get("/people/ana").text
    assert send(admin, there, there, name="Ana B.", email="anab@corner.example").status_code == 303
    text = admin.get("/people/ana").text
    assert "Ana B." in text
    assert "anab@corner.example" in text


def test_an_admin_sees_what_a_role_does_before_it_is_saved(open_as: Open) -> None:
    page = open_as("adam", "/people/nils")
    page.get_by_role("link", name="Change roles").click()
    page.get_by_role("checkbox", name="Viewer").check()
    expect(page.get_by_role("checkbox", name="Owner")).to_be_disabled()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", name="Change the roles of Nils, New here?")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"1 member will gain .* on 2 Products projects"))
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("checkbox", name="Viewer")).to_be_checked()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The roles of Nils, New here were saved.")).to_be_visible()
    expect(page.get_by_role("main").get_by_text("Viewer", exact=True)).to_be_visible()


def test_the_last_owner_stays(shop: Shop) -> None:
    answer = send(shop.client("olga"), "/people/olga/roles", "/people/olga/roles", role="admin", confirmed="1")
    assert answer.status_code == 422
    assert "Not saved" in answer.text


def remove_tara(page: Page) -> None:
    page.get_by_role("radio", name="Transfer ownership").check()
    page.get_by_label("New owner").select_option("Tim, Technical User in EMEA")
    page.get_by_role("button", name="Remove", exact=True).click()


@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_leaves_and_what_they_own_is_handed_over(open_as: Open, scripts: bool) -> None:
    page = open_as("adam", "/people/tara/remove", scripts=scripts)
    expect(page.get_by_role("link", name="Margins")).to_be_visible()
    remove_tara(page)
    asked = page.get_by_role("dialog", name="Remove Tara") if scripts else page.get_by_role("main")
    asked.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("Tara, Technical User was removed. 13 ownerships transferred.")).to_be_visible()
    page.goto("/people/tim/remove")
    expect(page.get_by_role("link", name="Margins")).to_be_visible()


def test_a_receiver_has_to_be_chosen(shop: Shop) -> None:
    there = "/people/tara/remove"
    answer = send(shop.client("adam"), there, there, what="hand_over", receiver="", confirmed="1")
    assert (answer.status_code, "Select a new owner." in answer.text) == (422, True)


def test_a_service_account_gets_a_token_and_loses_it(open_as: Open) -> None:
    page = open_as("adam", "/people")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("link", name="New service account").click()
    page.get_by_label("Name").fill("Nightly loader")
    page.get_by_role("button", name="Create service account").click()
    expect(page.get_by_role("heading", name="Nightly loader", level=1)).to_be_visible()
    page.get_by_role("link", name="New token").click()
    page.get_by_label("Name").fill("scheduler")
    page.get_by_role("button", name="Create token").click()
    assert page.get_by_label("Token", exact=True).input_value().startswith("lh_")
    page.get_by_role("link", name="Done").click()
    page.get_by_role("button", name="Revoke scheduler").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_text("No tokens yet")).to_be_visible()


def test_a_person_gets_no_token_from_others(shop: Shop) -> None:
    answer = send(shop.client("adam"), "/people", "/people/ana/tokens/new", name="mine", days="90")
    assert (answer.status_code, "lh_" in answer.text) == (422, False)


def test_an_admin_signs_somebody_out(open_as: Open, shop: Shop) -> None:
    shop.cookie_of("ana")
    page = open_as("adam", "/people/ana")
    page.get_by_role("button", name="Sign out everywhere").click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("Ana, Analyst was signed out everywhere.")).to_be_visible()
    with shop.platform.read(OLGA) as ctx:
        assert sign_ins.list_of_member(ctx, "ana") == []


def test_an_admin_sees_with_somebodys_eyes(open_as: Open) -> None:
    page = open_as("adam", "/people/ana")
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="View as").click()
    expect(page.get_by_role("region", name="View as")).to_contain_text("Ana, Analyst")


def test_service_accounts_are_a_filter(shop: Shop) -> None:
    with shop.platform.write(OLGA) as ctx:
        members.create_service_account(ctx, "Robot of the till")
    text = shop.client("tara").get("/people?kind=service").text
    assert "Robot of the till" in text
    assert "Ana, Analyst" not in text[text.index("<tbody") :]
