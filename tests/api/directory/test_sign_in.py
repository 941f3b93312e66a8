"""Signing in over HTTP: the first run, passwords, links, invites, cookies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.directory import invites, links, members, tenants
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from tests.api.client import Api, Json, serve_api

SECRET = "correct horse battery"
OLGA = {"tenant": "Acme", "name": "Olga", "email": "olga@example.org", "password": SECRET}


@pytest.fixture
def new(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """An installation to which nobody has come yet."""
    platform = Platform(Settings(data=tmp_path / "data", database=database_url))
    with serve_api(platform, "acme") as api:
        yield api
    platform.close()


class Browser:
    """Keeps the cookie, and sends what our own pages would send."""

    def __init__(self, api: Api, answer: httpx.Response) -> None:
        assert answer.status_code in {200, 201}, answer.text
        self._api = api
        # Each browser sends its own cookie, and the client between them none.
        api._client.cookies.clear()
        self.csrf = answer.json()["csrf"]
        self.header = answer.headers["set-cookie"]
        self.secret = self.header.partition(f"{SESSION_COOKIE}=")[2].partition(";")[0]

    def call(self, method: str, path: str, json: object = None, csrf: str | None = None) -> httpx.Response:
        headers = {"Cookie": f"{SESSION_COOKIE}={self.secret}", "X-CSRF-Token": self.csrf if csrf is None else csrf}
        return self._api.call(method, path, json=json, headers=headers)


def begun(api: Api) -> Browser:
    return Browser(api, api.post("/api/v1/first-run", json={**OLGA, "secret": tenants.setup_secret(api.platform)}))


def signed_in(api: Api, email: str = "olga@example.org", password: str = SECRET) -> httpx.Response:
    return api.post("/api/v1/sign-in", json={"email": email, "password": password})


def owner_of(browser: Browser) -> Caller:
    return Caller("acme", browser.call("GET", "/api/v1/me").json()["member"]["id"])


def secret_of(link: Json) -> str:
    return str(link).rpartition("/")[2]


@pytest.mark.flow
def test_the_first_run(new: Api) -> None:
    assert new.get("/api/v1/first-run").json() == {"open": True}
    browser = begun(new)
    assert new.get("/api/v1/first-run").json() == {"open": False}
    me = browser.call("GET", "/api/v1/me").json()
    assert (me["tenant"], me["member"]["email"], me["everybody"]) == ("acme", "olga@example.org", "acme/all")
    assert "manage_owners" in me["may"]
    body = {**OLGA, "secret": tenants.setup_secret(new.platform)}
    assert new.post("/api/v1/first-run", json=body).status_code == 409


@pytest.mark.parametrize("secret", ["", "lhf_", "lhf_0", "é", "first run"])
def test_who_was_not_told_the_secret_sets_nothing_up(new: Api, secret: str) -> None:
    assert new.post("/api/v1/first-run", json={**OLGA, "secret": secret}).status_code == 401
    assert new.get("/api/v1/first-run").json() == {"open": True}


def test_the_cookie_is_for_the_browser_alone(new: Api) -> None:
    browser = begun(new)
    assert "HttpOnly" in browser.header
    assert "SameSite=lax" in browser.header
    assert "Path=/" in browser.header
    answer = signed_in(new)
    assert browser.secret not in answer.text
    assert Browser(new, answer).secret not in answer.text


def test_a_change_by_cookie_needs_what_only_our_pages_know(new: Api) -> None:
    browser, other = begun(new), Browser(new, signed_in(new))
    for wrong in ("", "x", other.csrf):
        assert browser.call("POST", "/api/v1/groups", {"name": "Team"}, csrf=wrong).status_code == 403
        assert browser.call("PUT", "/api/v1/me/password", {"old": SECRET, "new": SECRET}, csrf=wrong).status_code == 403
    assert browser.call("POST", "/api/v1/groups", {"name": "Team"}).status_code == 201


def test_wrong_and_unknown_get_the_same_answer(new: Api) -> None:
    begun(new)
    wrong, unknown = signed_in(new, password="not it at all"), signed_in(new, "nobody@example.org")
    assert wrong.status_code == unknown.status_code == 401
    assert {**wrong.json(), "request_id": ""} == {**unknown.json(), "request_id": ""}


def test_after_some_attempts_one_has_to_wait(new: Api) -> None:
    begun(new)
    for _ in range(5):
        assert signed_in(new, password="not it at all").status_code == 401
    answer = signed_in(new)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert answer.json()["retryable"]


def test_sign_ins_are_listed_and_ended(new: Api) -> None:
    here = begun(new)
    there = Browser(new, signed_in(new))
    listed = here.call("GET", "/api/v1/me/sign-ins").json()["items"]
    assert [one["current"] for one in listed].count(True) == 1
    assert here.call("DELETE", "/api/v1/me/sign-ins").json() == {"ended": 1}
    assert there.call("GET", "/api/v1/me").status_code == 401
    gone = here.call("DELETE", "/api/v1/sign-in")
    assert (gone.status_code, "Max-Age=0" in gone.headers["set-cookie"]) == (204, True)
    assert here.call("GET", "/api/v1/me").status_code == 401


def test_a_password_is_changed(new: Api) -> None:
    browser, other = begun(new), Browser(new, signed_in(new))
    body = {"old": SECRET, "new": "quite another one"}
    assert browser.call("PUT", "/api/v1/me/password", {**body, "old": "wrong"}).status_code == 401
    assert new.call("PUT", "/api/v1/me/password", json=body).status_code == 401
    assert browser.call("PUT", "/api/v1/me/password", body).status_code == 204
    assert browser.call("GET", "/api/v1/me").status_code == 200
    assert other.call("GET", "/api/v1/me").status_code == 401
    assert signed_in(new).status_code == 401
    assert signed_in(new, password="quite another one").status_code == 200


def test_links_by_an_admin(new: Api) -> None:
    browser = begun(new)
    browser.call("POST", "/api/v1/members", {"name": "Bob", "id": "bob", "email": "bob@example.org"})
    made = browser.call("POST", "/api/v1/members/bob/links", {"purpose": "password"}).json()
    secret = secret_of(made["link"])
    assert new.get(f"/api/v1/sign-in/link/{secret}").json()["member_name"] == "Bob"
    body = {"secret": secret, "password": "another good one"}
    assert new.post("/api/v1/sign-in/password", json=body).status_code == 204
    assert new.post("/api/v1/sign-in/password", json=body).status_code == 401
    assert new.get(f"/api/v1/sign-in/link/{secret}").status_code == 401
    assert signed_in(new, "bob@example.org", "another good one").status_code == 200
    made = browser.call("POST", "/api/v1/members/bob/links", {"purpose": "sign_in"}).json()
    bob = Browser(new, new.post("/api/v1/sign-in/link", json={"secret": secret_of(made["link"])}))
    assert bob.call("GET", "/api/v1/me").json()["member"]["id"] == "bob"
    assert new.post("/api/v1/sign-in/link", json={"secret": secret_of(made["link"])}).status_code == 401


def test_asking_for_a_link_is_answered_alike(new: Api) -> None:
    begun(new)
    answers = [
        new.post("/api/v1/sign-in/ask", json={"email": email}) for email in ("olga@example.org", "nobody@example.org")
    ]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json() == answers[1].json()


@pytest.mark.flow
def test_an_invite_is_made_looked_at_and_accepted(new: Api) -> None:
    browser = begun(new)
    body = {"email": "new@example.org", "roles": [{"role": "viewer", "resource": "acme"}]}
    made = browser.call("POST", "/api/v1/invites", body).json()
    assert made["invite"]["roles"] == body["roles"]
    again = browser.call("POST", f"/api/v1/invites/{made['invite']['id']}/again", {}).json()
    assert new.get(f"/api/v1/invites/by-link/{secret_of(made['link'])}").status_code == 401
    secret = secret_of(again["link"])
    looked = new.get(f"/api/v1/invites/by-link/{secret}").json()
    assert (looked["tenant_name"], looked["email"], looked["has_account"]) == ("Acme", "new@example.org", False)
    newcomer = {"secret": secret, "name": "Newman", "password": SECRET}
    newman = Browser(new, new.post("/api/v1/invites/by-link", json=newcomer))
    assert newman.call("GET", "/api/v1/me").json()["member"]["roles"] == ["viewer"]
    assert new.post("/api/v1/invites/by-link", json=newcomer).status_code == 401
    assert browser.call("GET", "/api/v1/invites").json()["items"] == []
    refused = newman.call("POST", "/api/v1/invites", {"email": "friend@example.org"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


def test_invites_are_listed_revoked_and_accepted_by_a_member(new: Api) -> None:
    browser = begun(new)
    owner = owner_of(browser)
    with new.platform.write(owner) as ctx:
        members.add(ctx, "Bob", email="bob@example.org", uid="bob")
        bob = secret_of(links.create(ctx, new.platform.settings, "bob", "sign_in").link)
        kept = invites.create(ctx, new.platform.settings, "bob@example.org")
        revoked = invites.create(ctx, new.platform.settings, "two@example.org")
    listed = browser.call("GET", "/api/v1/invites?limit=1").json()
    assert len(listed["items"]) == 1
    rest = browser.call("GET", f"/api/v1/invites?limit=1&after={listed['next']}").json()
    ids = {listed["items"][0]["id"], rest["items"][0]["id"]}
    assert (ids, rest["next"]) == ({kept.invite.id, revoked.invite.id}, None)
    assert browser.call("DELETE", f"/api/v1/invites/{revoked.invite.id}").status_code == 204
    assert browser.call("GET", f"/api/v1/invites/{revoked.invite.id}").status_code == 404
    theirs = Browser(new, new.post("/api/v1/sign-in/link", json={"secret": bob}))
    body = {"secret": secret_of(kept.link)}
    assert browser.call("POST", "/api/v1/invites/accept", body).status_code == 409
    assert theirs.call("POST", "/api/v1/invites/accept", body).status_code == 200
    assert theirs.call("POST", "/api/v1/invites/accept", body).status_code == 401


@pytest.mark.parametrize("wrong", ["x", "lhl_", "%00", "%F0%9F%98%80", "lhs_" + "a" * 60])
def test_secrets_that_are_none(new: Api, wrong: str) -> None:
    assert new.get(f"/api/v1/sign-in/link/{wrong}").status_code == 401
    assert new.get(f"/api/v1/invites/by-link/{wrong}").status_code == 401
