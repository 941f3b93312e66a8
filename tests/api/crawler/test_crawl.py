"""The crawler finds what it is there to find: what is leaky here on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field

from lakehold.access.facts.view import FactView
from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import IdText, ResponseModel
from lakehold.api.http.paging import encode_cursor
from lakehold.api.http.routing import make_router
from lakehold.directory.platform import Platform
from lakehold.kit.errors import NotFoundError
from lakehold.kit.settings import Settings
from tests.api.client import serve_api
from tests.api.crawler.crawl import Crawl, person
from tests.api.crawler.words import Words, create_renamed_tenant
from tests.api.sqlite_database import database_url

__all__ = ["database_url"]

leaky = make_router("/leaky", "Leaky")


class Leak(ResponseModel):
    names: list[str] = Field(default_factory=list)
    total: int = 0


def _tables(view: FactView) -> list[int]:
    return list(view.by_kind.get("lakehouse.table") or ())


@leaky.get("/names")
def leak_names(ctx: ReadContext) -> Leak:
    """Names of everything."""
    return Leak(names=ctx.session.read_view(lambda view: [view.names.get(table) or "" for table in _tables(view)]))


@leaky.get("/total")
def leak_total(ctx: ReadContext) -> Leak:
    """How many there are of everything."""
    return Leak(total=ctx.session.read_view(lambda view: 10 * len(_tables(view))))


@leaky.get("/exists/{uid}")
def leak_existence(ctx: ReadContext, uid: IdText) -> Leak:
    """Another answer for what is hidden than for what is not there."""
    if ctx.view.ids.get(uid) is None:
        raise NotFoundError(f"There is no {uid}.")
    ctx.need_visible(uid)
    return Leak()


@leaky.get("/cursor")
def leak_in_a_cursor(ctx: ReadContext) -> Leak:
    """A name in what looks like nothing."""
    names = ctx.session.read_view(lambda view: [view.names.get(table) or "" for table in _tables(view)])
    return Leak(names=[encode_cursor("tables", (name,)) for name in names])


@pytest.mark.parametrize(
    ("path", "expected_leak"),
    [("/names", "told"), ("/cursor", "told"), ("/total", "counted total"), ("/exists/{uid}", "differs from 404")],
)
def test_the_crawler_finds_a_side_door(database_url: str, tmp_path: Path, path: str, expected_leak: str) -> None:
    platform = Platform(Settings(data=tmp_path / "data", database=database_url))
    words = Words(seed=7)
    here = create_renamed_tenant(platform, words)
    one = make_router("/leaky", "Leaky")
    one.routes[:] = [route for route in leaky.routes if getattr(route, "path", "") == f"/leaky{path}"]
    with serve_api(platform, here.uid, [one]) as api:
        crawl = Crawl(api, (here,), words)
        crawl.run([person(api, here, "nils")], 5)
    platform.close()
    assert any(expected_leak in leak for leak in crawl.leaks), crawl.leaks
    assert not any("-> 500" in leak for leak in crawl.leaks)
