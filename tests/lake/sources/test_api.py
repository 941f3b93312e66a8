"""An API by HTTP, without Spark: paging, patience, credentials, refusals."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import monotonic

import pytest

from lakehold.connectors.address_guard import parse_retry_after
from lakehold.connectors.api.connector import (
    ApiAuthSettings,
    ApiEndpoint,
    ApiLimits,
    ApiSettings,
    CursorPaging,
    LinkHeaderPaging,
    PageNumberPaging,
    Paging,
)
from lakehold.connectors.api.source import RestSource
from lakehold.connectors.sources.field_types import StreamField
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.lake.errors import DataError, SourceError
from tests.lake.sources.fake_api import ApiRequest, ApiResponse, FakeApi, serve_fake_api

SECRET = "hunter2 & more"
QUICK = ApiLimits(backoff=0.001, retries=2, patience=2)


def rest(
    api: FakeApi,
    paging: Paging | None = None,
    *,
    records: str = "",
    auth: ApiAuthSettings | None = None,
    limits: ApiLimits = QUICK,
) -> RestSource:
    endpoint = ApiEndpoint("orders", "/orders", records, paging, {"state": "all"})
    auth = auth or ApiAuthSettings()
    return RestSource(ApiSettings(api.base, (endpoint,), auth, SECRET, limits=limits, private=True))


def ids(source: RestSource) -> list[object]:
    return [row[0] for row in source.sample("orders", 1_000).rows]


def numbered(asked: ApiRequest) -> ApiResponse:
    page = int(asked.params["page"])
    return ApiResponse([{"id": page * 10 + n} for n in range(3 - page)])


def by_cursor(asked: ApiRequest) -> ApiResponse:
    start = int(asked.params.get("cursor", "0"))
    more = {"next": start + 2} if start < 4 else {"next": None}
    return ApiResponse({"data": {"items": [{"id": start}, {"id": start + 1}]}, "meta": more})


def by_link(asked: ApiRequest) -> ApiResponse:
    page = int(asked.params.get("p", "1"))
    link = {"Link": f'</v1/orders?p={page + 1}>; rel="next", </v1/orders?p=1>; rel="first"'} if page < 3 else {}
    return ApiResponse([{"id": page}], headers=link)


def test_three_ways_of_paging(api: FakeApi) -> None:
    api.routes["/v1/orders"] = numbered
    assert ids(rest(api, PageNumberPaging(size_parameter="size", size=2))) == [10, 11, 20]
    assert [each.params for each in api.requests] == [
        {"state": "all", "page": str(page), "size": "2"} for page in (1, 2, 3)
    ]
    api.routes["/v1/orders"] = by_cursor
    assert ids(rest(api, CursorPaging("meta.next"), records="data.items")) == [0, 1, 2, 3, 4, 5]
    assert api.requests[-1].params == {"state": "all", "cursor": "4"}
    api.routes["/v1/orders"] = by_link
    assert ids(rest(api, LinkHeaderPaging())) == [1, 2, 3]


@pytest.mark.parametrize(
    ("auth", "header", "param"),
    [
        (ApiAuthSettings("bearer"), ("Authorization", f"Bearer {SECRET}"), None),
        (ApiAuthSettings("basic", "ann"), ("Authorization", "Basic YW5uOmh1bnRlcjIgJiBtb3Jl"), None),
        (ApiAuthSettings("key", name="X-Key"), ("X-Key", SECRET), None),
        (ApiAuthSettings("key", name="key", in_question=True), None, ("key", SECRET)),
    ],
)
def test_credentials_go_to_the_api_alone(
    api: FakeApi,
    auth: ApiAuthSettings,
    header: tuple[str, str] | None,
    param: tuple[str, str] | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with serve_fake_api() as other:
        other.routes["/else"] = lambda _: ApiResponse([{"id": 7}])
        there = f"http://127.0.0.1:{other.port}/else?key=hunter2"
        api.routes["/v1/moved"] = lambda _: ApiResponse(status=302, headers={"Location": there})
        api.routes["/v1/orders"] = lambda _: ApiResponse(status=307, headers={"Location": "/v1/moved"})
        source = rest(api, auth=auth)
        assert ids(source) == [7]
        for each in api.requests:
            assert header is None or each.headers[header[0]] == header[1]
            assert param is None or each.params[param[0]] == param[1]
        assert "hunter2" not in str(other.requests[0].headers)
        assert param is None or param[0] not in other.requests[0].params
        assert "Authorization" not in other.requests[0].headers
    assert "hunter2" not in caplog.text.replace("%20", " ")
    assert "hunter2" not in repr(source)


def test_what_may_pass_is_tried_again(api: FakeApi) -> None:
    answers = [
        ApiResponse(status=503, headers={"Retry-After": "0.01"}),
        ApiResponse(status=429),
        ApiResponse([{"id": 1}]),
        ApiResponse(status=500),
        ApiResponse(raw=b"[", headers={"Content-Length": "99"}),
        ApiResponse([{"id": 2}]),
    ]
    api.routes["/v1/orders"] = lambda _: answers[len(api.requests) - 1]
    assert ids(rest(api, limits=ApiLimits(backoff=0.001, retries=2, patience=0.2))) == [1]
    assert ids(rest(api, limits=ApiLimits(backoff=0.001, retries=2, patience=0.2))) == [2]
    api.routes["/v1/orders"] = lambda _: ApiResponse(status=502)
    with pytest.raises(UnavailableError, match=r"answers 502\. It was tried 3 times"):
        rest(api).check()
    api.routes["/v1/orders"] = lambda _: ApiResponse(status=429, headers={"Retry-After": "9999"})
    with pytest.raises(UnavailableError, match="retry after 9,999 seconds"):
        rest(api).check()


def test_the_pace_is_kept(api: FakeApi) -> None:
    api.routes["/v1/orders"] = by_link
    begun = monotonic()
    assert ids(rest(api, LinkHeaderPaging(), limits=ApiLimits(per_second=4))) == [1, 2, 3]
    assert monotonic() - begun >= 0.5


def test_how_long_an_api_asks_us_to_wait() -> None:
    assert parse_retry_after("1.5") == 1.5
    assert parse_retry_after(None) is None
    assert parse_retry_after("soon") is None
    later = parse_retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True))
    assert later is not None
    assert 50 < later <= 60


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        (ApiResponse(status=401), SourceError, "denied access: it answers 401 at /orders"),
        (ApiResponse(status=403), SourceError, "answers 403"),
        (ApiResponse(status=404), NotFoundError, "nothing at /orders"),
        (ApiResponse(status=400), SourceError, "refuses: it answers 400"),
        (ApiResponse(raw=b"<html>", headers={"Content-Type": "text/html"}), SourceError, "not JSON but text/html"),
        (ApiResponse({"items": []}), SourceError, "no 'data.rows'.*Where 'data' should be is: items"),
        (ApiResponse({"data": {"rows": "x"}}), SourceError, "not a list of records"),
        (ApiResponse({"data": {"rows": ["x" * 2_000]}}), DataError, "larger than 1,000 bytes"),
        (ApiResponse(status=302, headers={"Location": "file:///etc/passwd"}), SourceError, "invalid address"),
        (ApiResponse(status=302, headers={"Location": "/v1/orders"}), SourceError, "again and again"),
    ],
)
def test_a_refusal_names_the_path_and_no_secret(
    api: FakeApi, said: ApiResponse, kind: type[LakeholdError], words: str
) -> None:
    api.routes["/v1/orders"] = lambda _: said
    key = ApiAuthSettings("key", name="key", in_question=True)
    with pytest.raises(kind, match=words) as error:
        rest(api, records="data.rows", auth=key, limits=ApiLimits(most_bytes=1_000)).check()
    assert "hunter2" not in str(error.value)


def test_an_api_that_never_ends_is_left(api: FakeApi) -> None:
    api.routes["/v1/orders"] = lambda _: ApiResponse([{"id": 1}])
    with pytest.raises(SourceError, match=r"same page again.*'page'"):
        ids(rest(api, PageNumberPaging()))
    api.routes["/v1/orders"] = lambda _: ApiResponse({"rows": [{"id": 1}], "next": "x"})
    with pytest.raises(SourceError, match="already read"):
        ids(rest(api, CursorPaging("next"), records="rows"))
    api.routes["/v1/orders"] = lambda asked: ApiResponse([{"id": int(asked.params["page"])}])
    with pytest.raises(DataError, match="more than 3 pages"):
        ids(rest(api, PageNumberPaging(), limits=ApiLimits(most_pages=3)))
    with pytest.raises(DataError, match="5 records"):
        ids(rest(api, PageNumberPaging(), limits=ApiLimits(most_records=5)))


def test_addresses_that_are_none_or_not_ours_are_refused(api: FakeApi) -> None:
    endpoint = ApiEndpoint("orders", "/orders")
    for base in ("ftp://127.0.0.1/x", "127.0.0.1", "http://", "http://" + "ann:x@127.0.0.1/", "http://127.0.0.1/?a=1"):
        with pytest.raises(InvalidInputError, match="address of the API"):
            RestSource(ApiSettings(base, (endpoint,))).check()
    with pytest.raises(InvalidInputError, match="this address are not allowed"):
        RestSource(ApiSettings(api.base, (endpoint,))).check()
    nobody = RestSource(ApiSettings("http://127.0.0.1:1", (endpoint,), limits=QUICK, private=True))
    with pytest.raises(UnavailableError, match="nothing answers there"):
        nobody.check()
    assert api.requests == []


def test_a_sample_shows_fields_and_types(api: FakeApi) -> None:
    api.routes["/v1/orders"] = lambda _: ApiResponse([{"id": 1, "who": {"name": "Ann"}}, {"id": 2.5, "yes": True}])
    sample = rest(api).sample("orders", 9)
    assert sample.fields == (StreamField("id", "double"), StreamField("who", "string"), StreamField("yes", "boolean"))
    assert sample.rows == ((1, '{"name": "Ann"}', None), (2.5, None, True))
