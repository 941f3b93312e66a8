"""The crawler finds what it is there to find: what is leaky here on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from lakehold.access.facts.view import FactView
from lakehold.api.http.app import create_app
from lakehold.api.http.dependencies import ReadContext
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.web import app_factory, pages
from lakehold.web.routing import router
from tests.api.client import Api
from tests.api.crawler.words import Words, create_renamed_tenant
from tests.api.sqlite_database import database_url
from tests.web.crawler.pages import PageCrawl, http_client, signed_in_person
from tests.web.crawler.templates import AddressTemplates
from tests.web.site import running

__all__ = ["database_url"]

leaky = router("/leaky")


def _tables(view: FactView) -> list[int]:
    return list(view.by_kind.get("lakehouse.table") or ())


@leaky.get("/start")
def start() -> Response:
    return HTMLResponse('<a href="hidden-deep?sort=name">Further</a>')


@leaky.get("/hidden-deep")
def names(ctx: ReadContext, sort: str = "") -> Response:
    """Names of everything, where only a link leads."""
    found = ctx.session.read_view(lambda view: [view.names.get(table) or "" for table in _tables(view)])
    return HTMLResponse(" ".join(found) if sort else "")


@leaky.get("/broken")
def broken() -> Response:
    raise ZeroDivisionError


@leaky.get("/exists/{uid:path}")
def exists(ctx: ReadContext, uid: str) -> Response:
    """Another answer for what is hidden than for what is not there."""
    if ctx.view.ids.get(uid) is None:
        return HTMLResponse(f"There is no {uid}.", status_code=404)
    ctx.need_visible(uid)
    return HTMLResponse("")


@leaky.get("/fine/{uid:path}")
def fine(request: Request, ctx: ReadContext, uid: str) -> Response:
    ctx.need_visible(uid)
    return pages.render(request, "search.html", {"q": "", "found": []})


@pytest.mark.parametrize(
    ("path", "expected_leak"),
    [("start", "told"), ("broken", "-> 500"), ("exists", "differs from what is not there"), ("fine", "")],
)
def test_the_crawler_finds_a_side_door(database_url: str, tmp_path: Path, path: str, expected_leak: str) -> None:
    platform = Platform(Settings(data=tmp_path / "data", database=database_url))
    words = Words(seed=7)
    here = create_renamed_tenant(platform, words)
    one = router("/leaky")
    also = {"start": "/leaky/hidden-deep"}.get(path, "")
    one.routes[:] = [
        route for route in leaky.routes if (at := getattr(route, "path", "")).startswith(f"/leaky/{path}") or at == also
    ]
    app = create_app(platform, [one])
    app_factory.install_web(app)
    crawl = PageCrawl(Api(platform, app, None, here.uid), (here,), words, templates=AddressTemplates([one]))  # type: ignore[arg-type]
    person = signed_in_person(crawl.api, here, "nils")
    with running(app) as address, http_client(person, address) as client:
        crawl.probe(person, client, crawl.walk(person, client))
    platform.close()
    assert any(expected_leak in leak for leak in crawl.leaks) if expected_leak else crawl.leaks == [], crawl.leaks
