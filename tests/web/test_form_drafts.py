"""A form is there again after its session had expired when it was sent, and behind a preview of effects."""

from __future__ import annotations

import re
from collections.abc import Mapping

import httpx
import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.catalog import resources
from lakehold.directory import sign_ins
from lakehold.directory.caller import Caller
from lakehold.kit.clock import DAY
from lakehold.web import form_drafts
from lakehold.web.form_drafts import form_draft_table
from tests.demo_company import TENANT
from tests.web.conftest import Open, Violations
from tests.web.crawler.forms import Form, forms_in
from tests.web.demo import SECRET, Shop, give_password
from tests.web.forms import token

EDIT = "/resources/clean/edit"
GIVE = "/resources/clean/access/give"
NEW_REPORT = "/workspaces/sales/reports/new?mart=daily_sales"
NOTICE = "Not saved yet"


def form_of(client: httpx.Client, page: str, action: str) -> Form:
    """A form of a page, as it is shown."""
    return next(each for each in forms_in(client.get(page).text, page) if each.action == action)


def send_expired(client: httpx.Client, page: str, to: str, **fields: str | list[str]) -> httpx.Response:
    """Send a form of a page after the session has ended."""
    sent = {"csrf_token": token(client, page), **fields}
    del client.cookies[SESSION_COOKIE]
    return client.post(to, data=sent)


def sign_in(shop: Shop, client: httpx.Client, member: str, answer: httpx.Response) -> httpx.Response:
    """Sign in where the answer leads to, and follow."""
    where, email = answer.headers["location"], give_password(shop, member)
    assert where.startswith("/sign-in?")
    form = form_of(client, where, "/sign-in")
    filled = dict(form.fields) | {"email": email, "password": SECRET}
    return client.post("/sign-in", data=filled)


def stored(shop: Shop) -> list[str]:
    with shop.platform.database.read() as transaction:
        return list(transaction.connection.scalars(sa.select(form_draft_table.c.body)))


def test_the_form_is_there_again_after_signing_in(shop: Shop) -> None:
    client = shop.client("mona")
    answer = send_expired(client, EDIT, EDIT, name="Cleaned", description='All "clean" <rows>', version="1")
    assert answer.status_code == 303
    back = sign_in(shop, client, "mona", answer)
    assert back.headers["location"] == EDIT
    for _ in range(2):  # a reload shows it again
        page = client.get(EDIT)
        assert NOTICE in page.text
        fields = dict(form_of(client, EDIT, EDIT).fields)
        assert (fields["name"], fields["description"]) == ("Cleaned", 'All "clean" <rows>')
    assert "Cleaned" not in client.get("/resources/clean").text, "nothing was executed"


def test_it_is_sent_again_and_then_forgotten(shop: Shop) -> None:
    client = shop.client("mona")
    fields = dict(form_of(client, EDIT, EDIT).fields) | {"description": "New words"}
    del client.cookies[SESSION_COOKIE]
    sign_in(shop, client, "mona", client.post(EDIT, data=fields))
    again = form_of(client, EDIT, EDIT)
    assert client.post(EDIT, data=dict(again.fields)).status_code == 303
    assert form_drafts.COOKIE not in client.cookies
    assert stored(shop) == []
    assert NOTICE not in client.get(EDIT).text
    assert dict(form_of(client, EDIT, EDIT).fields)["description"] == "New words"


def test_a_session_that_was_ended_elsewhere_is_no_other(shop: Shop) -> None:
    client = shop.client("mona")
    fields = {"csrf_token": token(client, EDIT), "name": "Cleaned"}
    with shop.platform.write(Caller(TENANT, "mona")) as ctx:
        sign_ins.end_all(ctx, "mona")
    back = sign_in(shop, client, "mona", client.post(EDIT, data=fields))
    assert 'value="Cleaned"' in client.get(back.headers["location"]).text


def test_signed_in_again_in_another_window_the_form_is_there_at_once(shop: Shop) -> None:
    client = shop.client("mona")
    fields = {"csrf_token": token(client, EDIT), "name": "Cleaned"}
    client.cookies[SESSION_COOKIE] = shop.cookie_of("mona")
    answer = client.post(EDIT, data=fields)
    assert (answer.status_code, answer.headers["location"]) == (303, EDIT)
    assert 'value="Cleaned"' in client.get(EDIT).text


@pytest.mark.parametrize("is_in", [False, True])
def test_nobody_else_sees_it(shop: Shop, is_in: bool) -> None:
    """Neither who signs in instead, nor who was signed in when it was sent."""
    client = shop.client("mona")
    if is_in:
        fields = {"csrf_token": token(client, EDIT), "name": "Cleaned"}
        client.cookies[SESSION_COOKIE] = shop.cookie_of("olga")
        assert client.post(EDIT, data=fields).status_code == 403
    else:
        sign_in(shop, client, "olga", send_expired(client, EDIT, EDIT, name="Cleaned"))
    page = client.get(EDIT)
    assert page.status_code == 200
    assert "Cleaned" not in page.text
    assert NOTICE not in page.text


def test_who_it_belongs_to_sees_it_though_somebody_else_signed_in_first(shop: Shop) -> None:
    client = shop.client("mona")
    sign_in(shop, client, "olga", send_expired(client, EDIT, EDIT, name="Cleaned"))
    client.get("/")
    del client.cookies[SESSION_COOKIE]
    client.cookies[SESSION_COOKIE] = shop.cookie_of("mona")
    assert 'value="Cleaned"' in client.get(EDIT).text


def test_it_is_stored_encrypted_without_passwords_of_accounts(shop: Shop) -> None:
    client = shop.client("mona")
    send_expired(client, "/profile", "/profile/password", old="my old password", new="my new password", more="plain")
    (body,) = stored(shop)
    assert "plain" not in body
    decrypted = shop.platform.keys.decrypt(body)
    assert "plain" in decrypted
    assert "my old" not in decrypted
    assert "my new" not in decrypted


def test_the_secret_of_a_connection_is_carried_and_not_shown(shop: Shop) -> None:
    here = "/workspaces/sales/destinations/new?to=webhook"
    client = shop.client("bella")
    form = next(each for each in forms_in(client.get(here).text, here) if ("name", "") in each.fields)
    fields = dict(form.fields) | {"name": "Hook", "secret": "nobody reads this", "address": "https://127.0.0.1/rows"}
    del client.cookies[SESSION_COOKIE]
    back = sign_in(shop, client, "bella", client.post(form.action, data={**fields, "do": "save"}))
    page = client.get(back.headers["location"])
    assert 'value="Hook"' in page.text
    assert "nobody reads this" not in page.text
    again = next(each for each in forms_in(page.text, here) if ("name", "Hook") in each.fields)
    assert client.post(again.action, data={**dict(again.fields), "do": "save"}).status_code == 303
    with shop.platform.read(Caller(TENANT, "olga")) as ctx:
        assert resources.find(ctx, within="sales", search="Hook").items


def test_a_form_with_added_rows_has_them_again(shop: Shop) -> None:
    client = shop.client("tara")
    rows = {"where_column": ["day", "store"], "where_is": [">=", "="], "where_value": ["2026-01-01", "Ulm"]}
    sent: Mapping[str, str | list[str]] = {"mart": "daily_sales", "name": "Weekly", "limit": "10", **rows, "do": "save"}
    back = sign_in(shop, client, "tara", send_expired(client, NEW_REPORT, "/workspaces/sales/reports/new", **sent))
    page = client.get(back.headers["location"]).text
    assert 'value="Weekly"' in page
    assert 'value="2026-01-01"' in page
    assert 'value="Ulm"' in page


def test_joins_of_a_data_mart_are_there_again(shop: Shop) -> None:
    here = "/resources/daily_sales/mart/edit"
    client = shop.client("tara")
    form = next(each for each in forms_in(client.get(here).text, here) if each.action == here)
    joins = [("join_mart", "returns"), ("join_name", "returned"), ("join_on", "id = order_id")] * 2
    fields = [each for each in form.fields if not each[0].startswith("join_")] + joins
    del client.cookies[SESSION_COOKIE]
    names = {name: [value for other, value in fields if other == name] for name, _ in fields}
    back = sign_in(shop, client, "tara", client.post(here, data=names))
    assert client.get(back.headers["location"]).text.count('value="id = order_id"') == 2


def test_scripts_are_led_to_sign_in_and_back_to_the_page_around(shop: Shop) -> None:
    client = shop.client("olga")
    there = "/workspaces/sales/notifications"
    sent = {"X-CSRF-Token": token(client, there), "HX-Request": "true"}
    del client.cookies[SESSION_COOKIE]
    answer = client.post(f"{there}/receivers", data={"member": "tara"}, headers=sent)
    assert answer.status_code == 204
    assert answer.headers["hx-redirect"] == "/sign-in?next=%2Fworkspaces%2Fsales%2Fnotifications"


def test_a_form_that_a_script_has_loaded_into_a_page_leads_back_to_that_page(shop: Shop) -> None:
    client = shop.client("olga")
    loaded = client.get("/profile", headers={"HX-Request": "true", "HX-Current-URL": f"{shop.address}/people?q=ta"})
    sent = dict(forms_in(loaded.text, "/profile")[0].fields)
    del client.cookies[SESSION_COOKIE]
    answer = client.post("/profile", data=sent)
    assert answer.headers["location"] == "/sign-in?next=%2Fpeople%3Fq%3Dta"


def test_it_leads_to_no_other_site(shop: Shop) -> None:
    client = shop.client("olga")
    elsewhere = {"HX-Request": "true", "HX-Current-URL": f"{shop.address}//evil.example/x"}
    sent = dict(forms_in(client.get("/profile", headers=elsewhere).text, "/profile")[0].fields)
    del client.cookies[SESSION_COOKIE]
    assert client.post("/profile", data=sent).headers["location"] == "/sign-in?next=%2F"


def test_files_are_to_be_selected_again(shop: Shop) -> None:
    here = "/resources/raw_files/files"
    client = shop.client("olga")
    fields = {"csrf_token": token(client, here)}
    del client.cookies[SESSION_COOKIE]
    answer = client.post(here, data=fields, files={"files": ("rows.csv", b"day\n")})
    back = sign_in(shop, client, "olga", answer)
    assert "Select your files again" in client.get(back.headers["location"]).text


def test_many_megabytes_are_not_read_of_somebody_who_is_not_signed_in(shop: Shop) -> None:
    here = "/resources/raw_files/files"
    client = shop.client("olga")
    fields = {"csrf_token": token(client, here)}
    del client.cookies[SESSION_COOKIE]
    answer = client.post(here, data=fields, files={"files": ("rows.csv", b"x" * 3_000_000)})
    assert answer.headers["location"] == "/sign-in?next=%2Fresources%2Fraw_files%2Ffiles"
    assert "select your files again" in client.get(answer.headers["location"]).text


def test_one_that_is_too_long_is_not_kept_and_says_so(shop: Shop) -> None:
    client = shop.client("mona")
    answer = send_expired(client, EDIT, EDIT, name="x", description="y" * form_drafts.MAX_LENGTH)
    assert answer.status_code == 303
    assert "too large to be kept" in client.get(answer.headers["location"]).text
    assert stored(shop) == []


def test_it_is_kept_for_an_hour_and_only_some_of_a_member(shop: Shop) -> None:
    client = shop.client("mona")
    for number in range(form_drafts.MAX_DRAFTS + 2):
        client.cookies.clear()
        client.cookies[SESSION_COOKIE] = shop.cookie_of("mona")
        send_expired(client, EDIT, EDIT, name=f"Name {number}")
    assert len(stored(shop)) == form_drafts.MAX_DRAFTS
    client.cookies[SESSION_COOKIE] = shop.cookie_of("mona")
    assert 'value="Name 9"' in client.get(EDIT).text
    with shop.platform.database.write() as transaction:
        earlier = {"until": form_draft_table.c.until - DAY}
        transaction.connection.execute(form_draft_table.update().values(**earlier))
    assert NOTICE not in client.get(EDIT).text


def test_it_ends_when_another_page_is_opened_or_it_is_discarded(shop: Shop) -> None:
    for leave in ("/people", ""):
        client = shop.client("mona")
        sign_in(shop, client, "mona", send_expired(client, EDIT, EDIT, name="Cleaned"))
        page = client.get(EDIT).text
        if leave:
            client.get(leave)
        else:
            form = next(each for each in forms_in(page, EDIT) if each.action == "/forms/discard")
            assert client.post(form.action, data=dict(form.fields)).headers["location"] == EDIT
        assert NOTICE not in client.get(EDIT).text


def test_it_does_not_end_when_a_script_loads_something(shop: Shop) -> None:
    client = shop.client("mona")
    sign_in(shop, client, "mona", send_expired(client, EDIT, EDIT, name="Cleaned"))
    client.get(EDIT)
    client.get("/people", headers={"HX-Request": "true"})
    client.get("/people", headers={"Sec-Fetch-Dest": "empty"})
    assert NOTICE in client.get(EDIT).text


def test_a_forged_token_keeps_nothing(shop: Shop) -> None:
    client = shop.client("mona")
    del client.cookies[SESSION_COOKIE]
    for forged in ("", "x", shop.platform.keys.encrypt("[]"), shop.platform.keys.encrypt('["form", "a"]')):
        assert client.post(EDIT, data={"csrf_token": forged, "name": "Cleaned"}).status_code == 403
    assert stored(shop) == []


def test_a_form_from_another_site_keeps_nothing(shop: Shop) -> None:
    """Even with a token that the attacker has of this installation: the draft would be the attacker's own."""
    client = shop.client("nils")
    sent = {"csrf_token": token(client, "/profile"), "name": "Mallory"}
    victim = shop.client("mona")
    assert victim.post(EDIT, data=sent, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert victim.post(EDIT, data=sent).status_code == 403
    assert NOTICE not in victim.get(EDIT).text


def test_back_from_a_preview_leads_to_the_form_as_it_was(shop: Shop) -> None:
    client = shop.client("mona")
    page = f"{GIVE}?q=nils"
    fields = {"subject": "nils", "role": "editor", "until": "date", "until_date": "2099-02-03"}
    answer = client.post(GIVE, data={"csrf_token": token(client, page), **fields})
    assert answer.status_code == 200
    assert f'href="{page}"' in answer.text
    assert NOTICE in client.get(page).text
    again = next(each for each in forms_in(client.get(page).text, page) if each.action == GIVE)
    assert fields.items() <= dict(again.fields).items()
    # Once it is saved, the form is as new.
    preview = client.post(GIVE, data=dict(again.fields))
    confirm = next(each for each in forms_in(preview.text, GIVE) if ("confirmed", "1") in each.fields)
    assert client.post(GIVE, data=dict(confirm.fields)).status_code == 303
    assert NOTICE not in client.get(page).text


def fill_grant_form(page: Page) -> None:
    page.get_by_label("Member or group").select_option("carla")
    page.get_by_label("Role").select_option(label="Editor")
    page.get_by_label("Expiration").select_option(label="Until a date")
    page.get_by_label("Expires").fill("2099-02-03")


def expect_grant_form(page: Page) -> None:
    expect(page.get_by_text(NOTICE)).to_be_visible()
    expect(page.get_by_label("Member or group")).to_have_value("carla")
    expect(page.get_by_label("Role").locator(":checked")).to_have_text("Editor")
    expect(page.get_by_label("Expires")).to_have_value("2099-02-03")


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_in_a_browser_back_leads_to_the_filled_form(open_as: Open, scripts: bool) -> None:
    page = open_as("mona", f"{GIVE}?q=carla", scripts=scripts)
    fill_grant_form(page)
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_role("heading", name="Grant Editor to Carla, Curator?")).to_be_visible()
    page.go_back()
    expect_grant_form(page)
    page.get_by_role("button", name="Preview changes").click()
    page.get_by_role("link", name="Back").click()
    expect_grant_form(page)


@pytest.mark.browser
def test_back_leads_to_the_form_of_a_dialog(open_as: Open) -> None:
    page = open_as("mona", "/resources/clean/access")
    page.get_by_role("button", name="Actions for Ana, Analyst, Viewer").click()
    page.get_by_role("link", name="Change").filter(visible=True).click()
    form = page.get_by_role("dialog", name="Change Viewer of Ana, Analyst")
    form.get_by_label("Role").select_option(label="Editor")
    form.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_role("heading", name="Change role of Ana, Analyst to Editor?")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Role").locator(":checked")).to_have_text("Editor")


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_in_a_browser_an_expired_form_is_there_after_sign_in(
    open_as: Open, shop: Shop, scripts: bool, violations: Violations
) -> None:
    email = give_password(shop, "mona")
    page = open_as("mona", f"{GIVE}?q=carla", scripts=scripts)
    fill_grant_form(page)
    page.context.clear_cookies(name=SESSION_COOKIE)
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_text("Your session has expired.")).to_be_visible()
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password", exact=True).fill(SECRET)
    page.get_by_role("button", name="Sign in").click()
    expect_grant_form(page)
    if scripts:
        assert violations(page) == []
    page.get_by_role("button", name="Preview changes").click()
    page.get_by_role("button", name="Grant Editor").click()
    expect(page.get_by_role("listitem").filter(has_text="Carla, Curator")).to_contain_text("until 2099-02-03")


@pytest.mark.browser
def test_toggles_that_were_switched_off_are_off_behind_a_preview(open_as: Open) -> None:
    page = open_as("olga", "/resources/daily_sales/access")
    toggle = page.get_by_role("switch", checked=True).first
    name = toggle.get_attribute("id")
    toggle.uncheck()
    page.get_by_role("button", name=re.compile("Preview|Save")).first.click()
    expect(page.get_by_role("heading", name="Effect on access")).to_be_visible()
    page.go_back()
    expect(page.locator(f"#{name}")).not_to_be_checked()
    page.goto("/")
    page.goto("/resources/daily_sales/access")
    expect(page.locator(f"#{name}")).to_be_checked()
