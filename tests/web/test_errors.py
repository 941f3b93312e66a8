"""Refusals are pages for people, and problem+json for programs."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.kit.errors import NotFoundError
from lakehold.web import pages
from lakehold.web.navigation import Navigation
from lakehold.web.routing import router
from tests.web import site


def test_a_denial_names_what_is_missing_and_who_gives_it(client: httpx.Client) -> None:
    answer = client.get("/ui/patterns/errors/403")
    assert answer.status_code == 403
    assert "Editor on table orders, or on its layer Clean" in answer.text
    assert "Mona, Manager" in answer.text
    assert "/requests/new?resource=orders&amp;action=edit" in answer.text


def test_an_address_that_leads_nowhere_is_a_page_for_people(client: httpx.Client) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert "<h1>Page not found</h1>" in answer.text


def test_and_a_problem_for_programs(client: httpx.Client) -> None:
    for path, accept in (("/nowhere", "application/json"), ("/api/v1/nothing", "text/html")):
        answer = client.get(path, headers={"Accept": accept})
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"


def test_what_nobody_foresaw_tells_its_number_and_nothing_else(client: httpx.Client) -> None:
    answer = client.get("/ui/patterns/errors/500", headers={"X-Request-Id": "number-17"})
    assert answer.status_code == 500
    assert "number-17" in answer.text
    assert "as it was asked to" not in answer.text
    assert "RuntimeError" not in answer.text


def test_a_number_that_is_none_is_a_page_too(client: httpx.Client) -> None:
    answer = client.get("/ui/patterns/errors/abc")
    assert answer.status_code == 422
    assert "<h1>Invalid input</h1>" in answer.text


def test_htmx_is_told_what_to_say(client: httpx.Client) -> None:
    answer = client.get("/ui/patterns/errors/404", headers={"HX-Request": "true"})
    assert json.loads(answer.headers["HX-Trigger"]) == {
        "toast": {"text": "There is no resource 'order'.", "tone": "bad"}
    }


def test_words_that_no_header_can_hold_are_said_all_the_same(tmp_path: Path) -> None:
    routes = router("/missing")

    @routes.get("/{name}")
    def missing(name: str) -> Response:
        raise NotFoundError(f"There is no {name}.")

    with site.application(tmp_path, [routes]) as app, site.running(app) as address:
        answer = httpx.get(f"{address}/missing/Größe €", headers={"HX-Request": "true"})
    assert json.loads(answer.headers["HX-Trigger"])["toast"]["text"] == "There is no Größe €."


def test_who_is_not_signed_in_is_sent_to_the_sign_in(tmp_path: Path) -> None:
    routes = router("/private")

    @routes.get("")
    def private(request: Request, ctx: ReadContext) -> Response:
        return pages.render(request, "search.html", {"q": ctx.caller.member, "found": []})

    with site.application(tmp_path, [routes]) as app, site.running(app) as address:
        answer = httpx.get(f"{address}/private?x=1")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=%2Fprivate%3Fx%3D1"


def test_a_page_is_shown_even_if_all_around_it_is_broken(tmp_path: Path) -> None:
    def broken(_request: Request) -> Navigation:
        raise OSError("the database is gone")

    with site.application(tmp_path, around=broken) as app, site.running(app) as address:
        answer = httpx.get(f"{address}/nowhere", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert "Page not found" in answer.text
    assert "database" not in answer.text


def test_an_address_that_only_takes_forms_is_no_page(client: httpx.Client) -> None:
    answer = client.get("/forms/discard")
    assert answer.status_code == 405
    assert "<h1>Page not found</h1>" in answer.text
