"""What is said after an action is said once, and only by us."""

from __future__ import annotations

import base64
import json

import httpx

from lakehold.web.cookies import FLASH_COOKIE
from tests.web.forms import FORM, token

HERE = "/ui/patterns/form"


def test_it_is_said_once(client: httpx.Client) -> None:
    client.post(FORM, data={"csrf_token": token(client), "text": "Größe <b>42</b>"})
    assert "Größe &lt;b&gt;42&lt;/b&gt;" in client.get(HERE).text
    assert "Größe" not in client.get(HERE).text


def test_words_that_we_did_not_write_are_not_said(client: httpx.Client) -> None:
    text = base64.urlsafe_b64encode(json.dumps({"text": "Call this number"}).encode()).decode()
    for forged in (text, f"{text}.", f"{text}.{'0' * 64}", ".", "x.y"):
        client.cookies.set(FLASH_COOKIE, forged)
        assert "Call this number" not in client.get(HERE).text


def test_an_action_by_htmx_sends_it_on(client: httpx.Client) -> None:
    answer = client.post(FORM, data={"csrf_token": token(client)}, headers={"HX-Request": "true"})
    assert answer.status_code == 204
    assert answer.headers["HX-Redirect"] == "/ui/patterns"
