"""Routers and routes: runs an endpoint in its transaction, builds the response there, and sends it after the commit.

An endpoint is a plain function. It takes a `RequestContext`, returns a `ResponseModel` (or None, or a `Response` of
its own), and raises `LakeholdError`s. Its name is the operation id, unique in the whole API; the first line of its
docstring is the summary. An endpoint that waits for its caller, as for a slow upload, is an async function that
opens its transactions itself. How an endpoint is written::

    routes = make_router("/api/v1/groups", "Groups")  # then add it to `lakehold.api.routers`

    class NewGroup(RequestModel):  # unknown fields are refused, lengths limited
        name: NameText

    class GroupJson(TaggedResponse):  # a response with an ETag; `ResponseModel` for one without
        id: IdText
        name: NameText

    @routes.patch("/{group}", responses=problem_responses(412, 428))
    def rename_group(ctx: WriteContext, group: IdText, body: NewGroup, seen: IfMatch) -> GroupJson:
        "Rename a group."
        ctx.need("edit", group)               # the right first: 404 or 403 …
        seen.need(group_json(ctx, group))     # … then the state: 428 without If-Match, 412 if it has changed
        ctx.rename(group, body.name)
        return group_json(ctx, group)

- Endpoints run in a thread, inside the caller's transaction, which is committed before the response is sent; on
  `BusyError` the whole endpoint runs again, so it must not change its arguments.
- `ReadContext`, `WriteContext`: the context of the caller. `CreateContext`: with Idempotency-Key, for every POST
  that creates something. `CurrentPlatform`: for endpoints without sign-in, which open transactions of their own and
  wrap them in `retry_when_busy`.
- Every error becomes problem+json in `problems`. Never raise `HTTPException`.
- Lists take `paged: PageParams`. From the engine: pass `paged.limit` and `paged.after` on. From a table:
  `paged.start_key(name, int)`, fetch `paged.limit + 1` rows, then `paged.build_page(name, rows, key, show)`.
- What the caller may not see answers 404. Responses name and count only what the caller may see: the crawler of the
  tests calls every operation of the document and checks this.
- Secrets come in headers, bodies or a path parameter, never in a query; the log has the route's template only.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, get_type_hints

from fastapi import APIRouter, Response
from fastapi.params import Depends
from fastapi.routing import APIRoute

from lakehold.api.http.dependencies import CONTEXT_DEPENDENCIES, PendingRequest
from lakehold.api.http.idempotency import replay_or_run
from lakehold.api.http.models import ResponseModel, TaggedResponse
from lakehold.api.http.problems import MEDIA_TYPE, make_problem
from lakehold.directory.request_context import RequestContext

Endpoint = Callable[..., Any]

_JSON = "application/json"
REQUIRES_SIGN_IN: dict[str, object] = {"security": [{"token": []}, {"session": []}]}
"""The OpenAPI security of an endpoint that authenticates its caller itself."""
_PUBLIC_STATUSES = (422, 429, 500)
_SIGNED_IN_STATUSES = (401, 403, 404, 409, 422, 429, 500)
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


class TransactionRoute(APIRoute):
    """Runs its endpoint in a transaction, and documents what all endpoints have in common."""

    def __init__(self, path: str, endpoint: Endpoint, **given: Any) -> None:  # noqa: ANN401 - as the class below it
        ctx = _context_parameter(endpoint)
        status = given.get("status_code") or HTTPStatus.OK
        summary, _, rest = inspect.cleandoc(endpoint.__doc__ or "").partition("\n")
        given["summary"] = given.get("summary") or summary.strip().rstrip(".")
        given["description"] = given.get("description") or rest.strip() or summary.strip()
        given["operation_id"] = given.get("operation_id") or endpoint.__name__
        given["responses"] = {
            **problem_responses(*(_SIGNED_IN_STATUSES if ctx else _PUBLIC_STATUSES)),
            **(given.get("responses") or {}),
        }
        given["openapi_extra"] = {
            **(REQUIRES_SIGN_IN if ctx else {"security": []}),
            **(given.get("openapi_extra") or {}),
        }
        super().__init__(path, _wrap_endpoint(endpoint, int(status), ctx), **given)


def make_router(prefix: str, tag: str) -> APIRouter:
    """Create a router. The prefix is the whole path: `/api/v1/groups`."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=TransactionRoute, redirect_slashes=False)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Document error statuses of an endpoint: `responses=problem_responses(412, 428)`."""
    found: dict[int | str, dict[str, Any]] = {}
    for status in statuses:
        code, detail = _EXAMPLES.get(status) or ("http", HTTPStatus(status).phrase)
        example = make_problem(code, status, detail, request_id="5f0c3f1de1a44d54").model_dump(exclude_none=True)
        content = {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}
        found[status] = {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: content}}
    return found


WORKER_CALL: dict[str, Any] = {
    "openapi_extra": REQUIRES_SIGN_IN,
    "responses": problem_responses(400, 401, 403, 404, 409, 503),
}
"""The OpenAPI options of an endpoint that calls a worker between transactions of its own."""


def _context_parameter(endpoint: Endpoint) -> str:
    """Return the name of the endpoint's context parameter; empty if it has none."""
    for name, hint in get_type_hints(endpoint, include_extras=True).items():
        for part in getattr(hint, "__metadata__", ()):
            if isinstance(part, Depends) and part.dependency in CONTEXT_DEPENDENCIES:
                return name
    return ""


def _wrap_endpoint(endpoint: Endpoint, status: int, ctx: str) -> Endpoint:
    if inspect.iscoroutinefunction(endpoint):
        assert not ctx  # noqa: S101 - a transaction belongs to a thread

        @wraps(endpoint)
        async def waited_for(**values: Any) -> Response:  # noqa: ANN401 - whatever the endpoint takes
            return to_response(await endpoint(**values), status)

        return waited_for

    @wraps(endpoint)
    def in_thread(**values: Any) -> Response:  # noqa: ANN401 - as above
        if not ctx:
            return to_response(endpoint(**values), status)
        pending: PendingRequest = values[ctx]

        def do(context: RequestContext) -> Response:
            return replay_or_run(
                pending, context, lambda: to_response(endpoint(**{**values, ctx: context}), status, pending)
            )

        return pending.run(do)

    return in_thread


def to_response(result: object, status: int, pending: PendingRequest | None = None) -> Response:
    """Convert the result of an endpoint to a response, inside of the transaction: an error here rolls it back."""
    if isinstance(result, Response):
        return result
    if result is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    assert isinstance(result, ResponseModel)  # noqa: S101 - mypy sees that endpoints return answers
    headers = result.headers()
    if pending is not None and pending.request.method == "GET" and isinstance(result, TaggedResponse):
        seen = pending.request.headers.get("if-none-match", "")
        if result.etag in {tag.strip() for tag in seen.split(",")}:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=dict(headers))
    content = result.__pydantic_serializer__.to_json(result, by_alias=True, exclude_none=result.omits_null)
    return Response(content, status_code=status, headers=dict(headers), media_type=_JSON)
