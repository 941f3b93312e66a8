"""Every error as one shape: problem+json (RFC 9457), with a code for programs, and words and a hint for people.

Nothing of the inside is told, and what was sent is not repeated: it may hold a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus

import sqlalchemy as sa
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from lakehold.api.frame.errors import OverloadedError
from lakehold.directory.errors import DeniedError, ThrottledError, UnauthorizedError
from lakehold.kit.errors import BusyError, LakeholdError

MEDIA_TYPE = "application/problem+json"
_MOST_FIELDS = 20
_STANDARD = "/access/v1/"

Shape = Callable[["Problem", str], Response]
SHAPES: dict[str, Shape] = {}
"""How other standards want their errors, by the beginning of their paths."""

_WORDS = {
    400: ("bad_request", "The request cannot be read.", "Send a body of valid JSON in UTF-8."),
    404: ("not_found", "There is nothing at this address.", "See /api/v1/openapi.json for all there is."),
    405: ("method_not_allowed", "This address does not know that method.", "The header Allow names those it knows."),
    413: ("too_large", "The body is too large.", "Send less at once."),
}


class FieldProblem(BaseModel):
    """What is wrong with one field."""

    field: str = Field(examples=["limit"], description="Where: a path into the body, or the name of a parameter.")
    source: str = Field(examples=["query"], description="body, query, path, header or cookie.")
    message: str = Field(examples=["Input should be less than or equal to 200"], description="What would be right.")


class Giver(BaseModel):
    """Somebody who could give what is missing."""

    id: str = Field(examples=["adam"])
    name: str = Field(examples=["Adam, Admin"])


class Problem(BaseModel):
    """An error: what is wrong, where, and what to do next."""

    model_config = ConfigDict(frozen=True)

    type: str = Field(examples=["urn:lakehold:problem:not_found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    code: str = Field(examples=["not_found"], description="The same for every error of this sort.")
    detail: str = Field(examples=["There is no resource 'orders'."])
    hint: str = Field(default="", examples=["Look the id up in a list."], description="What to do next.")
    retryable: bool = Field(default=False, description="Whether the very same request may succeed later.")
    request_id: str = Field(default="", examples=["5f0c3f1de1a44d54"])
    errors: list[FieldProblem] | None = Field(default=None, description="The fields that are wrong, if it is fields.")
    missing: str | None = Field(
        default=None, examples=["Editor on table orders"], description="The right that was missing, if that is why."
    )
    givers: list[Giver] | None = Field(default=None, description="Who could give the missing right.")


def problem(code: str, status: int, detail: str, hint: str = "", **more: object) -> Problem:
    """A problem by its code."""
    title = code.replace("_", " ").capitalize()
    values = {"type": f"urn:lakehold:problem:{code}", "title": title, "status": status, "code": code}
    return Problem.model_validate({**values, "detail": detail, "hint": hint, **more})


def problem_of(error: LakeholdError) -> Problem:
    """The problem that a refusal is."""
    more: dict[str, object] = {"retryable": error.retryable}
    if isinstance(error, DeniedError):
        more["missing"] = error.missing or None
        more["givers"] = [
            {"id": giver, "name": name} for giver, name in zip(error.givers, error.names, strict=False)
        ] or None
    return problem(error.code, error.status, error.message, error.hint, **more)


def headers_of(error: LakeholdError) -> dict[str, str]:
    """What goes with it before the body."""
    match error:
        case ThrottledError():
            return {"Retry-After": str(error.wait)}
        case BusyError() | OverloadedError():
            return {"Retry-After": "1"}
        case UnauthorizedError():
            return {"WWW-Authenticate": 'Bearer realm="lakehold"'}
        case _:
            return {}


def answer(told: Problem, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """The problem as a response."""
    named = told.model_copy(update={"request_id": request_id})
    content = named.model_dump_json(exclude_none=True)
    return Response(content, status_code=told.status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def unexpected(request_id: str) -> Response:
    """The answer to what should never happen."""
    told = problem(
        "unexpected", 500, "Something went wrong on our side; nothing was changed.", "Tell your admin the request id."
    )
    return answer(told, request_id)


def install(app: FastAPI) -> None:
    """Let every error become a problem."""
    app.add_exception_handler(LakeholdError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(sa.exc.TimeoutError, _overloaded)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, LakeholdError)  # noqa: S101 - it is installed for these alone
    return _shaped(request, _as_standard(request, problem_of(error)), headers_of(error))


async def _overloaded(request: Request, _error: Exception) -> Response:
    return await _refused(
        request, OverloadedError("The server has more to do than it can at the moment.", "Try again in a second.")
    )


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    found = error.errors()
    if found and found[0].get("type") == "json_invalid":
        where = found[0]["loc"][-1]
        told = problem("bad_request", 400, f"The body is not valid JSON, at character {where}.", "Correct it.")
        return _shaped(request, told)
    return _shaped(request, _as_standard(request, invalid(found)))


def _as_standard(request: Request, told: Problem) -> Problem:
    """AuthZEN knows one status for a request that cannot be used."""
    if told.status != HTTPStatus.UNPROCESSABLE_ENTITY or not request.scope["path"].startswith(_STANDARD):
        return told
    return told.model_copy(update={"status": int(HTTPStatus.BAD_REQUEST)})


def invalid(found: Sequence[Mapping[str, object]]) -> Problem:
    """What is wrong with the fields of a request."""
    fields = [_field(each) for each in found[:_MOST_FIELDS]]
    first = fields[0]
    return problem(
        "invalid_input",
        422,
        f"{first.field} cannot be used: {first.message}" + ("" if first.message.endswith(".") else "."),
        "Correct it." if len(found) == 1 else f"Correct it and {len(found) - 1} more.",
        errors=[each.model_dump() for each in fields],
    )


def _field(found: Mapping[str, object]) -> FieldProblem:
    place = found.get("loc") or ("body",)
    assert isinstance(place, Sequence)  # noqa: S101 - pydantic always gives one
    source, *rest = (str(part)[:80] for part in place)
    message = str(found.get("msg", "")).removeprefix("Value error, ")
    return FieldProblem(field=".".join(rest) or source, source=source, message=message)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    status = error.status_code
    code, detail, hint = _WORDS.get(status) or (f"http_{status}", HTTPStatus(status).phrase + ".", "")
    return _shaped(request, problem(code, status, detail, hint), error.headers)


def _shaped(request: Request, told: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The problem as the standard wants it that the path belongs to; as ours, if it belongs to none."""
    path: str = request.scope["path"]
    shape = next((shape for beginning, shape in SHAPES.items() if path.startswith(beginning)), None)
    if shape is None:
        return answer(told, request_id_of(request), headers)
    response = shape(told, path)
    response.headers.update(headers or {})
    return response


def request_id_of(request: Request) -> str:
    """The id that the door has given it."""
    found: str = request.scope.get("lakehold.request_id", "")
    return found
