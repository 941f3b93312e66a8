"""Links by mail: to sign in, and to set a new password."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.directory import links
from lakehold.directory.caller import Caller
from tests.demo_company import TENANT
from tests.web.conftest import Open, Violations
from tests.web.demo import SECRET, Shop, give_password
from tests.web.forms import send
from tests.web.sign_in.conftest import MailSite


@pytest.mark.browser
def test_a_forgotten_password_is_set_anew_with_a_mail(
    mail_site: MailSite, open_page: Open, violations: Violations
) -> None:
    email = give_password(mail_site, "ana", "the one she forgot")
    page = open_page(mail_site, "/sign-in", refused=True)
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("E-mail").fill(email)
    page.get_by_role("button", name="Mail me a link").click()
    expect(page.get_by_role("heading", name="Check your mail")).to_be_visible()
    page.goto(mail_site.next_link())
    expect(page.get_by_text("For Ana, Analyst at Corner & Main.")).to_be_visible()
    page.get_by_label("New password").fill("ana@corner.example")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_text("The password is your name or e-mail address.")).to_be_visible()
    assert violations(page) == []
    page.get_by_label("New password").fill(SECRET)
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_text("Your password is set. Sign in with it.")).to_be_visible()
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password", exact=True).fill(SECRET)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Welcome back, Ana.")).to_be_visible()


@pytest.mark.browser
@pytest.mark.parametrize("forgot", [False, True])
def test_a_form_whose_session_has_expired_is_there_again_after_a_link_by_mail(
    mail_site: MailSite, open_page: Open, forgot: bool
) -> None:
    email = give_password(mail_site, "mona", "the one she forgot")
    page = open_page(mail_site, "/profile", member="mona")
    page.get_by_label("Name").fill("Mona Lisa")
    page.context.clear_cookies(name=SESSION_COOKIE)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your session has expired.")).to_be_visible()
    if forgot:
        page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("E-mail").fill(email)
    page.get_by_role("button", name="Mail me a link").click()
    page.goto(mail_site.next_link())
    if forgot:
        page.get_by_label("New password").fill(SECRET)
        page.get_by_role("button", name="Set password").click()
        page.get_by_label("E-mail").fill(email)
        page.get_by_label("Password", exact=True).fill(SECRET)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("Mona Lisa")


@pytest.mark.browser
def test_a_link_by_mail_signs_in_without_scripts(mail_site: MailSite, open_page: Open) -> None:
    page = open_page(mail_site, "/sign-in", scripts=False, refused=True)
    page.get_by_role("button", name="Mail me a link instead").click()
    expect(page.get_by_text("Enter your e-mail address first.")).to_be_visible()
    page.get_by_label("E-mail").fill("ana@corner.example")
    page.get_by_role("button", name="Mail me a link instead").click()
    expect(page.get_by_text("a mail is on its way")).to_be_visible()
    link = mail_site.next_link()
    page.goto(link)
    page.goto(link)
    expect(page.get_by_role("heading", name="Sign in as Ana, Analyst", level=1)).to_be_visible()
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Welcome back, Ana.")).to_be_visible()
    page.goto(link)
    expect(page.get_by_role("heading", name="This link has expired", level=1)).to_be_visible()


@pytest.mark.browser
@pytest.mark.rare
def test_axe_finds_nothing(shop: Shop, open_as: Open, violations: Violations) -> None:
    for purpose in ("sign_in", "password"):
        assert violations(open_as("tara", made(shop, "ana", purpose))) == []
        assert violations(open_as("", made(shop, "ana", purpose))) == []


def made(shop: Shop, member: str, purpose: str) -> str:
    with shop.platform.write(Caller(TENANT, "olga")) as ctx:
        link = links.create(ctx, shop.platform.settings, member, purpose).link
    return link.removeprefix(shop.platform.settings.base_url)


@pytest.mark.parametrize(("path", "field"), [("/forgot", {}), ("/sign-in", {"how": "link"})])
def test_an_unknown_address_gets_the_same_answer_and_no_mail(
    mail_site: MailSite, path: str, field: dict[str, str]
) -> None:
    with mail_site.client() as client:
        answers = [send(client, path, path, email=who, **field) for who in ("nobody@example.org", "ana@corner.example")]
    assert [(answer.status_code, answer.headers["location"]) for answer in answers] == [(303, "/sign-in/sent")] * 2
    (mail,) = mail_site.waiting()
    assert mail.receiver == "ana@corner.example"


def test_who_asks_too_often_is_told_to_wait(mail_site: MailSite) -> None:
    with mail_site.client() as client:
        for _ in range(4):
            answer = send(client, "/forgot", "/forgot", email="ana@corner.example")
    assert answer.status_code == 429
    assert "Too many attempts" in answer.text
    assert 'value="ana@corner.example"' in answer.text


def test_where_no_mails_are_sent_an_admin_is_to_be_asked(shop: Shop) -> None:
    with shop.client() as client:
        assert "Mail me a link" not in client.get("/sign-in").text
        page = client.get("/forgot").text
        assert "Ask an admin for a link" in page
        assert "<input" not in page.partition("<main")[2].partition("</main>")[0]


def test_a_link_says_whose_sign_in_ends(shop: Shop) -> None:
    link = made(shop, "ana", "sign_in")
    with shop.client("tara") as client:
        assert "You are signed in here as Tara, Technical User. You will be signed out." in client.get(link).text
        answer = send(client, link, link)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert "Welcome back, Ana." in client.get("/").text
        again = send(client, "/profile", link)
        assert again.status_code == 401
        assert "This link has expired" in again.text


def test_each_link_leads_to_what_it_is_for(shop: Shop) -> None:
    to_sign_in, to_set = made(shop, "ana", "sign_in"), made(shop, "ana", "password")
    with shop.client() as client:
        swapped = to_sign_in.replace("/link/", "/password/")
        assert client.get(swapped).headers["location"] == to_sign_in
        assert client.get(to_set.replace("/password/", "/link/")).headers["location"] == to_set
        assert send(client, "/sign-in", swapped, password=SECRET).status_code == 401
        assert send(client, "/sign-in", to_set.replace("/password/", "/link/")).status_code == 401


def test_a_new_password_signs_out_everywhere(shop: Shop) -> None:
    cookie = shop.cookie_of("ana")
    with shop.client() as client:
        assert (
            send(client, made(shop, "ana", "password"), made(shop, "ana", "password"), password=SECRET).status_code
            == 303
        )
        client.cookies.set(SESSION_COOKIE, cookie)
        assert client.get("/").headers["location"].startswith("/sign-in")


def test_who_has_no_password_yet_gets_a_link_for_one(mail_site: MailSite) -> None:
    with mail_site.client("nils") as client:
        assert "To set one, request a link to nils@corner.example." in client.get("/profile").text
        assert send(client, "/profile", "/profile/password/link").status_code == 303
    with mail_site.client() as client:
        link = mail_site.next_link()
        assert send(client, link, link, password=SECRET).status_code == 303
        answer = send(client, "/sign-in", "/sign-in", email="nils@corner.example", password=SECRET)
        assert answer.status_code == 303
