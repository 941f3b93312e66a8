"""Every answer carries the policy, and no page needs an exception from it."""

from __future__ import annotations

import re

import httpx
import pytest

from lakehold.web.security_headers import HEADERS


@pytest.mark.parametrize(
    "path", ["/ui/patterns", "/ui/patterns/errors/500", "/nowhere", "/static/nothing", "/healthz", "/api/v1/nothing"]
)
def test_every_answer_carries_the_policy(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    for name, value in HEADERS.items():
        assert answer.headers.get_list(name) == [value]


def test_scripts_come_from_us_alone() -> None:
    policy = dict(part.split(" ", 1) for part in HEADERS["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in HEADERS["content-security-policy"]


@pytest.mark.parametrize("path", ["/ui/patterns?view_as=1", "/ui/patterns/form", "/nowhere", "/search?q=a"])
def test_there_is_nothing_inline(client: httpx.Client, path: str) -> None:
    text = client.get(path).text
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", text)


def test_what_was_typed_is_never_markup(client: httpx.Client) -> None:
    text = client.get("/search", params={"q": "<img src=x onerror=alert(1)>"}).text
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
