"""HTTP-specific errors, and the conversion of every error to problem+json (RFC 9457).

A problem has a code for programs, and a detail and a hint for people. Internals are not revealed, and what was sent
is not repeated, because it may hold a secret.
"""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from lakehold.directory.errors import DeniedError, ThrottledError, UnauthorizedError
from lakehold.kit.errors import BusyError, LakeholdError


class PreconditionRequiredError(LakeholdError):
    """A change needs the header If-Match."""

    code = "precondition_required"
    status = 428


class KeyReusedError(LakeholdError):
    """An Idempotency-Key was used for another request."""

    code = "idempotency_key_reused"
    status = 422


class OverloadedError(LakeholdError):
    """The server has too many requests at once; the same request may be retried shortly."""

    code = "overloaded"
    status = 503
    retryable = True


class CsrfError(LakeholdError):
    """A change by cookie has no valid CSRF token."""

    code = "csrf"
    status = 403


MEDIA_TYPE = "application/problem+json"
PROBLEM_TYPE = "urn:lakehold:problem:"
_MAX_FIELDS = 20
_AUTHZEN_PREFIX = "/access/v1/"

ErrorFormat = Callable[["Problem", str], Response]
ERROR_FORMATS: dict[str, ErrorFormat] = {}
"""The error formats of other standards, by the prefix of their paths."""

_TEXT_BY_STATUS = {
    400: ("bad_request", "The request cannot be read.", "Send a body of valid JSON in UTF-8."),
    404: ("not_found", "There is nothing at this address.", "See /api/v1/openapi.json for all endpoints."),
    405: ("method_not_allowed", "This method is not allowed here.", "The header Allow lists the allowed methods."),
    413: ("too_large", "The body is too large.", "Send less at once."),
}


class FieldProblem(BaseModel):
    """An error in one field."""

    field: str = Field(examples=["limit"], description="Where: a path into the body, or the name of a parameter.")
    source: str = Field(examples=["query"], description="body, query, path, header or cookie.")
    message: str = Field(examples=["Input should be less than or equal to 200"], description="How to correct it.")


class Giver(BaseModel):
    """A member who can grant the missing right."""

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
    field: str | None = Field(default=None, examples=["endpoints.0.path"], description="The invalid setting, if any.")
    hint: str = Field(default="", examples=["Check the ID."], description="What to do next.")
    retryable: bool = Field(default=False, description="Whether the very same request may succeed later.")
    request_id: str = Field(default="", examples=["5f0c3f1de1a44d54"])
    errors: list[FieldProblem] | None = Field(default=None, description="The invalid fields, if any.")
    missing: str | None = Field(
        default=None, examples=["Editor on table orders"], description="The missing right, if any."
    )
    givers: list[Giver] | None = Field(default=None, description="Members who can grant the missing right.")


def make_problem(code: str, status: int, detail: str, hint: str = "", /, **more: object) -> Problem:
    """Make a problem by its code. A narrower code than that of its type is given beside it."""
    title = code.replace("_", " ").capitalize()
    values = {"type": f"{PROBLEM_TYPE}{code}", "title": title, "status": status, "code": code}
    return Problem.model_validate({**values, "detail": detail, "hint": hint, **more})


def problem_from_error(error: LakeholdError) -> Problem:
    """Convert an error to a problem."""
    more: dict[str, object] = {"retryable": error.retryable, "code": error.code, "field": error.field or None}
    if isinstance(error, DeniedError):
        more["missing"] = error.missing or None
        more["givers"] = [
            {"id": giver, "name": name} for giver, name in zip(error.givers, error.names, strict=False)
        ] or None
    return make_problem(type(error).code, error.status, error.message, error.hint, **more)


def error_headers(error: LakeholdError) -> dict[str, str]:
    """Return the response headers of an error."""
    match error:
        case ThrottledError():
            return {"Retry-After": str(error.wait)}
        case BusyError() | OverloadedError():
            return {"Retry-After": "1"}
        case UnauthorizedError():
            return {"WWW-Authenticate": 'Bearer realm="lakehold"'}
        case _:
            return {}


def problem_response(details: Problem, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem as a response."""
    named = details.model_copy(update={"request_id": request_id})
    content = named.model_dump_json(exclude_none=True)
    return Response(content, status_code=details.status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def unexpected_response(request_id: str) -> Response:
    """Return the response to an unexpected error."""
    details = make_problem(
        "unexpected", 500, "Something went wrong on our side; nothing was changed.", "Tell your admin the request id."
    )
    return problem_response(details, request_id)


def install_handlers(app: FastAPI) -> None:
    """Register the exception handler."""
    for kind in (LakeholdError, RequestValidationError, HTTPException, sa.exc.TimeoutError):
        app.add_exception_handler(kind, _handle_error)


async def _handle_error(request: Request, error: Exception) -> Response:
    """Return the response to an error, in the format of the standard that the path belongs to, or in ours."""
    path: str = request.scope["path"]
    details, headers = _describe_error(error)
    if details.status == HTTPStatus.UNPROCESSABLE_ENTITY and path.startswith(_AUTHZEN_PREFIX):
        # That standard demands it.
        details = details.model_copy(update={"status": int(HTTPStatus.BAD_REQUEST)})
    for beginning, shape in ERROR_FORMATS.items():
        if path.startswith(beginning):
            response = shape(details, path)
            response.headers.update(headers)
            return response
    return problem_response(details, get_request_id(request), headers)


def _describe_error(error: Exception) -> tuple[Problem, Mapping[str, str]]:
    """Return the problem of an error, and the response headers."""
    match error:
        case sa.exc.TimeoutError():
            text = "The server is overloaded."
            return _describe_error(OverloadedError(text, "Try again in a second."))
        case LakeholdError():
            return problem_from_error(error), error_headers(error)
        case RequestValidationError() if error.errors()[:1] and error.errors()[0]["type"] == "json_invalid":
            text = f"The body is not valid JSON, at character {error.errors()[0]['loc'][-1]}."
            return make_problem("bad_request", 400, text, "Correct it."), {}
        case RequestValidationError():
            return validation_problem(error.errors()), {}
        case HTTPException(status_code=status):
            code, detail, hint = _TEXT_BY_STATUS.get(status) or (f"http_{status}", HTTPStatus(status).phrase + ".", "")
            return make_problem(code, status, detail, hint), error.headers or {}
    raise error


def validation_problem(found: Sequence[Mapping[str, Any]]) -> Problem:
    """Return the problem of invalid request fields."""
    fields = [_field_problem(each) for each in found[:_MAX_FIELDS]]
    first = fields[0]
    return make_problem(
        "invalid_input",
        422,
        f"{first.field} cannot be used: {first.message}" + ("" if first.message.endswith(".") else "."),
        "Correct it." if len(found) == 1 else f"Correct it and {len(found) - 1} more.",
        errors=[each.model_dump() for each in fields],
    )


def _field_problem(found: Mapping[str, Any]) -> FieldProblem:
    source, *rest = (str(part)[:80] for part in found.get("loc") or ("body",))
    message = str(found.get("msg", "")).removeprefix("Value error, ")
    return FieldProblem(field=".".join(rest) or source, source=source, message=message)


def get_request_id(request: Request) -> str:
    """Return the request id that the middleware has set."""
    found: str = request.scope.get("lakehold.request_id", "")
    return found
