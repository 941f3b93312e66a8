"""Cookies are out of reach of scripts, and over TLS only where there is."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from lakehold.api.http.app import server_config
from lakehold.kit.settings import Settings
from tests.web import site
from tests.web.forms import FORM, token


def cookies(answer: httpx.Response) -> list[str]:
    return answer.headers.get_list("set-cookie")


def all_cookies(client: httpx.Client) -> list[str]:
    """Those of a visit, of a theme and of a message."""
    found = cookies(client.get("/ui/patterns/form"))
    found += cookies(client.post("/ui/theme", data={"csrf_token": token(client), "theme": "dark"}))
    found += cookies(client.post(FORM, data={"csrf_token": token(client)}))
    assert len(found) == 3
    return found


def test_scripts_and_other_sites_do_not_get_them(client: httpx.Client) -> None:
    for cookie in all_cookies(client):
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Path=/" in cookie
        assert "Secure" not in cookie


def test_behind_tls_they_are_sent_over_tls_only(tmp_path: Path) -> None:
    with site.application(tmp_path, address="https://localhost") as app, site.running(app) as address:
        answer = httpx.get(f"{address}/ui/patterns/form")
    assert all("Secure" in cookie for cookie in cookies(answer))
    assert cookies(answer)
    assert "strict-transport-security" in answer.headers


@pytest.mark.parametrize(("trusted", "proto"), [("127.0.0.1", "https"), ("127.0.0.1", "http"), ("", "https")])
def test_a_proxy_says_so_if_it_is_trusted(tmp_path: Path, trusted: str, proto: str) -> None:
    with site.application(tmp_path) as app:
        config = server_config(app, Settings(trusted_proxies=trusted))
        with site.running(app, config) as address:
            answer = httpx.get(f"{address}/ui/patterns/form", headers={"X-Forwarded-Proto": proto})
    is_secure = (trusted, proto) == ("127.0.0.1", "https")
    assert ["Secure" in cookie for cookie in cookies(answer)] == [is_secure] * len(cookies(answer))
    assert answer.headers.get("strict-transport-security") == ("max-age=31536000" if is_secure else None)


def test_the_theme_goes_back_to_the_page_and_is_kept(client: httpx.Client) -> None:
    sent = {"csrf_token": token(client), "theme": "dark", "back": "/ui/patterns?q=a"}
    answer = client.post("/ui/theme", data=sent)
    assert answer.headers["location"] == "/ui/patterns?q=a"
    assert '<html lang="en" data-theme="dark">' in client.get("/ui/patterns").text


def test_a_theme_that_there_is_not_is_the_systems(client: httpx.Client) -> None:
    client.post("/ui/theme", data={"csrf_token": token(client), "theme": "'><script>"})
    assert '<html lang="en" data-theme="system">' in client.get("/ui/patterns").text


def test_an_address_may_have_any_letters(client: httpx.Client) -> None:
    answer = client.post("/ui/theme", data={"csrf_token": token(client), "back": "/größe/€?q=%20a"})
    assert answer.headers["location"] == "/gr%C3%B6%C3%9Fe/%E2%82%AC?q=%20a"


def test_nobody_is_sent_to_another_site(client: httpx.Client) -> None:
    for back in (
        "//evil.example",
        "https://localhost/x",
        "/\\evil.example",
        "javascript:alert(1)",
        "evil",
        "/a\r\nb: c",
    ):
        answer = client.post("/ui/theme", data={"csrf_token": token(client), "back": back})
        assert answer.headers["location"] == "/"
