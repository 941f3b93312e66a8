"""Refusals as pages that a person can read: what happened, what is missing, and what to do next."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from lakehold.api.http import json_logging, problems
from lakehold.api.http.problems import Problem
from lakehold.directory.errors import DeniedError, UnauthorizedError
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages
from lakehold.web.navigation import Around

SIGN_IN = "/sign-in"
_MACHINES = ("/api/", "/access/", "/static/", "/metrics", "/healthz", "/readyz")


@dataclass(frozen=True, slots=True)
class Words:
    """How a sort of refusal is told."""

    title: str
    text: str
    icon: str


_WORDS = {
    401: Words("Sign in first", "This page is for people who are signed in.", "key-round"),
    403: Words("You can't do this yet", "You may know of it, but this needs a right that you don't have.", "lock"),
    404: Words(
        "Nothing to see at this address",
        "It may have been moved or removed, or it is something that you don't have access to.",
        "compass",
    ),
    409: Words("This can't be done as things are", "Something else would have to change first.", "git-branch"),
    422: Words("Something in the form can't be right", "Nothing was changed.", "pencil"),
    429: Words("Too many attempts", "Wait a little, then try again.", "clock"),
    500: Words("Something broke on our side", "Nothing was changed. It has been written down.", "zap"),
    503: Words("Too busy for a moment", "Nothing was changed. Try again in a second.", "clock"),
}


def shown(request: Request, error: Exception) -> Response:
    """The page of a refusal. What nobody foresaw is written down, and not told."""
    if isinstance(error, UnauthorizedError) and request.method == "GET":
        return pages.go(request, f"{SIGN_IN}?{urlencode({'next': pages.address_of(request)})}")
    problem = _problem(request, error)
    try:
        response = _page(request, problem, pages.web_of(request).around(request), _asking(error))
    except Exception:  # noqa: BLE001 - what is around the page may be what is broken
        json_logging.error_log.exception("page", extra={"told": {"request": problems.get_request_id(request)}})
        response = _page(request, problem, Around(), "")
    if isinstance(error, LakeholdError):
        response.headers.update(problems.error_headers(error))
    if request.headers.get("hx-request"):
        response.headers["HX-Trigger"] = json.dumps({"toast": {"text": problem.detail, "tone": "bad"}})
    return response


def install(app: FastAPI) -> None:
    """Addresses that lead nowhere: a page for people, problem+json for programs."""
    inner = cast("Callable[[Request, Exception], Awaitable[Response]]", app.exception_handlers[HTTPException])

    async def told(request: Request, error: Exception) -> Response:
        return shown(request, error) if for_people(request) else await inner(request, error)

    app.add_exception_handler(HTTPException, told)


def for_people(request: Request) -> bool:
    """Whether a person looks at the answer."""
    return not request.url.path.startswith(_MACHINES) and "text/html" in request.headers.get("accept", "")


def _problem(request: Request, error: Exception) -> Problem:
    match error:
        case LakeholdError():
            return problems.problem_from_error(error)
        case RequestValidationError():
            return problems.validation_problem(error.errors())
        case HTTPException():
            words = _WORDS.get(error.status_code, _WORDS[404])
            return problems.make_problem(f"http_{error.status_code}", error.status_code, words.text)
        case _:
            told = {"request": problems.get_request_id(request)}
            json_logging.error_log.error("unexpected", exc_info=error, extra={"told": told})
            return problems.make_problem("unexpected", 500, _WORDS[500].text)


def _page(request: Request, problem: Problem, around: Around, asking: str) -> Response:
    words = _WORDS.get(problem.status) or _WORDS[500 if problem.status >= 500 else 409]  # noqa: PLR2004 - ours or theirs
    values: dict[str, object] = {
        "problem": problem,
        "words": words,
        "asking": asking,
        "request_id": problems.get_request_id(request),
    }
    return pages.page(request, "error.html", values, around=around, status=problem.status)


def _asking(error: Exception) -> str:
    """Where to ask for the right that is missing."""
    if not isinstance(error, DeniedError) or not error.resource:
        return ""
    return f"/requests/new?{urlencode({'resource': error.resource, 'action': error.action})}"
