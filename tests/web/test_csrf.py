"""A change comes from our own pages, or not at all."""

from __future__ import annotations

import httpx
import pytest

from lakehold.api.http.authentication import SESSION_COOKIE
from tests.web.forms import FORM, token


def test_a_form_of_our_own_page_is_taken(client: httpx.Client) -> None:
    assert client.post(FORM, data={"csrf_token": token(client)}).status_code == 303


def test_a_script_of_our_own_page_sends_the_token_as_a_header(client: httpx.Client) -> None:
    assert client.post(FORM, headers={"X-CSRF-Token": token(client)}).status_code == 303


@pytest.mark.parametrize("sent", ["", "x", "AAAA", "é", "0" * 64, "=" * 88])
def test_a_form_without_the_token_is_refused_on_a_page(client: httpx.Client, sent: str) -> None:
    token(client)
    answer = client.post(FORM, data={"csrf_token": sent} if sent else {})
    assert answer.status_code == 403
    assert "Reload the page and try again." in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_a_token_of_another_visit_is_refused(client: httpx.Client, address: str) -> None:
    token(client)
    with httpx.Client(base_url=address) as other:
        theirs = token(other)
    assert client.post(FORM, data={"csrf_token": theirs}).status_code == 403


def test_a_token_is_nothing_without_its_cookie(client: httpx.Client, address: str) -> None:
    found = token(client)
    assert httpx.post(f"{address}{FORM}", data={"csrf_token": found}).status_code == 403


def test_a_token_from_before_the_sign_in_is_refused_after_it(client: httpx.Client) -> None:
    before = token(client)
    client.cookies.set(SESSION_COOKIE, "a-sign-in")
    assert client.post(FORM, data={"csrf_token": before}).status_code == 403
    assert client.post(FORM, data={"csrf_token": token(client)}).status_code == 303


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 303), ("none", 303)]
)
def test_the_browser_says_where_a_form_comes_from(client: httpx.Client, site: str, status: int) -> None:
    answer = client.post(FORM, data={"csrf_token": token(client)}, headers={"Sec-Fetch-Site": site})
    assert answer.status_code == status


def test_the_token_looks_different_on_every_page(client: httpx.Client) -> None:
    first, second = token(client), token(client)
    assert first != second
    for each in (first, second):
        assert client.post(FORM, data={"csrf_token": each}).status_code == 303


def test_a_visit_is_begun_once(client: httpx.Client) -> None:
    assert "lakehold_visit" in client.get("/ui/patterns/form").headers["set-cookie"]
    assert "set-cookie" not in client.get("/ui/patterns/form").headers
