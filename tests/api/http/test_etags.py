"""Two who change the same thing at once do not undo each other."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.api.http.models import IfMatch, NameText, RequestModel, TaggedResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from tests.access.company import TENANT
from tests.api.client import Api, json_body, problem, serve_api
from tests.platform import ADA

routes = make_router("/test/layers", "Test")


class Rename(RequestModel):
    name: NameText


class Layer(TaggedResponse):
    id: str
    name: str


def show(ctx: RequestContext, uid: str) -> Layer:
    ctx.need("see", uid)
    return Layer(id=uid, name=ctx.view.names.get(ctx.view.resource(uid)) or "")


@routes.get("/{layer}")
def get_layer(ctx: ReadContext, layer: str) -> Layer:
    """A layer."""
    return show(ctx, layer)


@routes.patch("/{layer}", responses=problem_responses(412, 428))
def rename_layer(ctx: WriteContext, layer: str, body: Rename, seen: IfMatch) -> Layer:
    """Rename a layer."""
    ctx.need("edit", layer)
    seen.need(show(ctx, layer))
    ctx.rename(layer, body.name)
    return show(ctx, layer)


@pytest.fixture
def api(platform: Platform) -> Iterator[Api]:
    with serve_api(platform, TENANT, [routes]) as found:
        yield found


def rename(api: Api, name: str, tag: str | None) -> int:
    headers = {} if tag is None else {"If-Match": tag}
    return api.call("PATCH", "/test/layers/bronze", "ada", json={"name": name}, headers=headers).status_code


def test_a_change_says_which_state_it_starts_from(api: Api) -> None:
    answer = api.call("PATCH", "/test/layers/bronze", "ada", json={"name": "Silver"})
    assert "If-Match" in problem(answer, 428, "precondition_required")["detail"]
    tag = api.get("/test/layers/bronze", "ada").headers["etag"]
    changed = api.call("PATCH", "/test/layers/bronze", "ada", json={"name": "Silver"}, headers={"If-Match": tag})
    assert json_body(changed)["name"] == "Silver"
    assert changed.headers["etag"] == api.get("/test/layers/bronze", "ada").headers["etag"] != tag


def test_a_state_that_is_no_more_is_refused(api: Api) -> None:
    tag = api.get("/test/layers/bronze", "ada").headers["etag"]
    assert rename(api, "Silver", tag) == 200
    answer = api.call("PATCH", "/test/layers/bronze", "ada", json={"name": "Gold"}, headers={"If-Match": tag})
    problem(answer, 412, "changed_meanwhile")
    assert json_body(api.get("/test/layers/bronze", "ada"))["name"] == "Silver"


def test_any_state_and_one_of_several(api: Api) -> None:
    assert rename(api, "Silver", "*") == 200
    tag = api.get("/test/layers/bronze", "ada").headers["etag"]
    assert rename(api, "Gold", f'"other", {tag}') == 200


def test_who_may_not_change_it_is_told_so_first(api: Api) -> None:
    problem(api.call("PATCH", "/test/layers/bronze", "bob", json={"name": "x"}), 404, "not_found")


def test_what_has_not_changed_is_not_sent_again(api: Api) -> None:
    tag = api.get("/test/layers/bronze", "ada").headers["etag"]
    again = api.get("/test/layers/bronze", "ada", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    rename(api, "Silver", "*")
    assert json_body(api.get("/test/layers/bronze", "ada", headers={"If-None-Match": tag}))["name"] == "Silver"


def test_of_two_at_once_one_wins_and_the_other_is_told(api: Api) -> None:
    for turn in range(5):
        tag = api.get("/test/layers/bronze", "ada").headers["etag"]
        ready = Barrier(2)

        def change(name: str, tag: str = tag, ready: Barrier = ready) -> tuple[int, str]:
            ready.wait()
            return rename(api, name, tag), name

        with ThreadPoolExecutor(2) as pool:
            done = dict(pool.map(change, (f"left {turn}", f"right {turn}")))
        assert sorted(done) == [200, 412]
        assert json_body(api.get("/test/layers/bronze", "ada"))["name"] == done[200]
    with api.platform.read(ADA) as ctx:
        assert not ctx.audit.verify().fault
