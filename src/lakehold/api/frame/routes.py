"""The router and the route: an endpoint in its transaction, its answer made there, and sent after the commit.

An endpoint is a plain function. It asks for a `Work`, returns an `Answer` (or None, or a `Response` of its own), and
raises `LakeholdError`s. Its name is the operation's id, the first line of its docstring the summary. One that waits for
its caller, as for a file that comes slowly, is an async function, and lets itself into its transactions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any, get_type_hints

from fastapi import APIRouter, Response
from fastapi.params import Depends
from fastapi.routing import APIRoute

from lakehold.api.frame.etags import Tagged
from lakehold.api.frame.idempotency import once
from lakehold.api.frame.models import Answer
from lakehold.api.frame.problems import MEDIA_TYPE, problem
from lakehold.api.frame.works import WORKS, Asked
from lakehold.directory.request_context import RequestContext

Endpoint = Callable[..., Any]

_JSON = "application/json"
_SIGNED_IN: list[dict[str, list[str]]] = [{"token": []}, {"session": []}]
SIGNED: dict[str, object] = {"security": _SIGNED_IN}
"""For an endpoint that lets its caller in by itself: what the document says of who may call it."""
_OPEN = (422, 429, 500)
_SIGNED = (401, 403, 404, 409, 422, 429, 500)
_EXAMPLES = {
    400: ("bad_request", "The body is not valid JSON, at character 12."),
    401: ("unauthorized", "Nobody is signed in."),
    403: ("forbidden", "You may not edit table orders."),
    404: ("not_found", "There is no resource 'orders'."),
    409: ("conflict", "The id 'orders' is taken."),
    412: ("changed_meanwhile", "It was changed meanwhile; nothing was written."),
    422: ("invalid_input", "limit cannot be used: Input should be less than or equal to 200."),
    428: ("precondition_required", "This change needs the header If-Match."),
    429: ("too_many_attempts", "Too many attempts."),
    500: ("unexpected", "Something went wrong on our side; nothing was changed."),
}


class Route(APIRoute):
    """Runs its endpoint in a transaction, and tells the document what every endpoint has in common."""

    def __init__(self, path: str, endpoint: Endpoint, **given: Any) -> None:  # noqa: ANN401 - as the class below it
        ctx = _work_of(endpoint)
        status = given.get("status_code") or HTTPStatus.OK
        summary, _, rest = inspect.cleandoc(endpoint.__doc__ or "").partition("\n")
        given["summary"] = given.get("summary") or summary.strip().rstrip(".")
        given["description"] = given.get("description") or rest.strip() or summary.strip()
        given["operation_id"] = given.get("operation_id") or endpoint.__name__
        given["responses"] = {**_problems(_SIGNED if ctx else _OPEN), **(given.get("responses") or {})}
        extra = {"security": _SIGNED_IN if ctx else []}
        given["openapi_extra"] = {**extra, **(given.get("openapi_extra") or {})}
        super().__init__(path, _answering(endpoint, int(status), ctx), **given)


def router(prefix: str, tag: str) -> APIRouter:
    """A router of this house. The prefix is the whole way: `/api/v1/groups`."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=Route, redirect_slashes=False)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """More statuses that an endpoint may answer with: `responses=problems(412, 428)`."""
    return _problems(statuses)


def _problems(statuses: tuple[int, ...]) -> dict[int | str, dict[str, Any]]:
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: _told(status)}}
        for status in statuses
    }


def _told(status: int) -> dict[str, Any]:
    code, detail = _EXAMPLES.get(status) or ("http", HTTPStatus(status).phrase)
    example = problem(code, status, detail, request_id="5f0c3f1de1a44d54").model_dump(exclude_none=True)
    return {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}


def _work_of(endpoint: Endpoint) -> str:
    """The name of the parameter in which the endpoint gets its work; empty if it asks for none."""
    for name, hint in get_type_hints(endpoint, include_extras=True).items():
        for part in getattr(hint, "__metadata__", ()):
            if isinstance(part, Depends) and part.dependency in WORKS:
                return name
    return ""


def _answering(endpoint: Endpoint, status: int, ctx: str) -> Endpoint:
    if inspect.iscoroutinefunction(endpoint):
        assert not ctx  # noqa: S101 - a transaction belongs to a thread

        @wraps(endpoint)
        async def waited_for(**values: Any) -> Response:  # noqa: ANN401 - whatever the endpoint takes
            return answered(await endpoint(**values), status)

        return waited_for
    if not ctx:

        @wraps(endpoint)
        def open_to_all(**values: Any) -> Response:  # noqa: ANN401 - whatever the endpoint takes
            return answered(endpoint(**values), status)

        return open_to_all

    @wraps(endpoint)
    def in_transaction(**values: Any) -> Response:  # noqa: ANN401 - as above
        asked: Asked = values[ctx]

        def do(entered: RequestContext) -> Response:
            return once(asked, entered, lambda: answered(endpoint(**{**values, ctx: entered}), status, asked))

        return asked.run(do)

    return in_transaction


def answered(result: object, status: int, asked: Asked | None = None) -> Response:
    """The response that an endpoint's result is. Made inside the transaction: what cannot be told is not done."""
    if isinstance(result, Response):
        return result
    if result is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    assert isinstance(result, Answer)  # noqa: S101 - mypy sees that endpoints return answers
    headers = result.headers()
    if asked is not None and isinstance(result, Tagged) and _unchanged(asked, headers):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=dict(headers))
    content = result.__pydantic_serializer__.to_json(result, by_alias=True, exclude_none=result.omits_null)
    return Response(content, status_code=status, headers=dict(headers), media_type=_JSON)


def _unchanged(asked: Asked, headers: Mapping[str, str]) -> bool:
    seen = asked.request.headers.get("if-none-match") if asked.request.method == "GET" else None
    return seen is not None and headers.get("etag") in {tag.strip() for tag in seen.split(",")}
