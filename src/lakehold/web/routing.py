"""The router class for pages, which checks form tokens and renders errors as pages."""

import json
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Annotated, Any, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from lakehold.api.http import json_logging, problems
from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import PendingRequest
from lakehold.api.http.problems import CsrfError, Problem
from lakehold.api.http.routing import Endpoint, TransactionRoute
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, UnauthorizedError
from lakehold.kit.errors import LakeholdError
from lakehold.web import csrf, form_drafts, pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.navigation import Navigation
from lakehold.web.pages import UnconfirmedError

SIGN_IN = "/sign-in"
_MACHINE_PREFIXES = ("/api/", "/access/", "/static/", "/metrics", "/healthz", "/readyz")


@dataclass(frozen=True, slots=True)
class ErrorText:
    """The texts and icon of an error page."""

    title: str
    text: str
    icon: str


_ERROR_TEXTS = {
    401: ErrorText("Sign in first", "You need to sign in to open this page.", "key-round"),
    403: ErrorText("Access denied", "You don't have the required permission.", "lock"),
    404: ErrorText("Page not found", "It may have been moved or removed, or you don't have access to it.", "compass"),
    405: ErrorText("Page not found", "Nothing opens at this address.", "compass"),
    409: ErrorText("This is not possible right now", "Something else has to change first.", "git-branch"),
    422: ErrorText("Invalid input", "Nothing was changed.", "pencil"),
    429: ErrorText("Too many attempts", "Wait a moment, then try again.", "clock"),
    500: ErrorText("Something went wrong", "Nothing was changed. The error was logged.", "zap"),
    503: ErrorText("Temporarily unavailable", "Nothing was changed. Try again in a second.", "clock"),
}


def sign_in_url(page: str) -> str:
    """Return the URL of the sign-in page that leads to a page afterwards."""
    return f"{SIGN_IN}?{urlencode({'next': page})}"


def error_page(request: Request, error: Exception) -> Response:
    """Render the page of an error. Unexpected errors are logged, and their details are not displayed."""
    if isinstance(error, UnauthorizedError) and request.method == "GET":
        return pages.redirect(request, sign_in_url(pages.current_url(request)))
    problem = _problem_of(request, error)
    try:
        navigation = pages.web_app_of(request).load_navigation(request)
        access_url = (
            urls.request(error.resource, error.action) if isinstance(error, DeniedError) and error.resource else ""
        )
        response = _render_problem(request, problem, navigation, access_url)
    except Exception:  # noqa: BLE001 - what is around the page may be what is broken
        json_logging.error_log.exception("page", extra={"fields": {"request": problems.get_request_id(request)}})
        response = _render_problem(request, problem, Navigation(), "")
    if isinstance(error, LakeholdError):
        response.headers.update(problems.error_headers(error))
    if request.headers.get("hx-request"):
        response.headers["HX-Trigger"] = json.dumps({"toast": {"text": problem.detail, "tone": "bad"}})
    return response


def install_error_handler(app: FastAPI) -> None:
    """Render 404 and similar errors as a page for browsers and as problem+json for API clients."""
    inner = cast("Callable[[Request, Exception], Awaitable[Response]]", app.exception_handlers[HTTPException])

    async def handle(request: Request, error: Exception) -> Response:
        return error_page(request, error) if wants_html(request) else await inner(request, error)

    app.add_exception_handler(HTTPException, handle)


def wants_html(request: Request) -> bool:
    """Whether the request is for a page and accepts HTML."""
    return not request.url.path.startswith(_MACHINE_PREFIXES) and "text/html" in request.headers.get("accept", "")


def _problem_of(request: Request, error: Exception) -> Problem:
    match error:
        case LakeholdError():
            return problems.problem_from_error(error)
        case RequestValidationError():
            return problems.validation_problem(error.errors())
        case HTTPException():
            words = _ERROR_TEXTS.get(error.status_code, _ERROR_TEXTS[404])
            return problems.make_problem(f"http_{error.status_code}", error.status_code, words.text)
        case _:
            log_fields = {"request": problems.get_request_id(request)}
            json_logging.error_log.error("unexpected", exc_info=error, extra={"fields": log_fields})
            return problems.make_problem("unexpected", 500, _ERROR_TEXTS[500].text)


def _render_problem(request: Request, problem: Problem, navigation: Navigation, request_url: str) -> Response:
    text = _ERROR_TEXTS.get(problem.status) or _ERROR_TEXTS[500 if problem.status >= 500 else 409]  # noqa: PLR2004 - ours or theirs
    values: dict[str, object] = {
        "problem": problem,
        "words": text,
        "asking": request_url,
        "request_id": problems.get_request_id(request),
    }
    return pages.render(request, "error.html", values, navigation=navigation, status=problem.status)


def _keep_previewed(request: Request, form: FormData) -> None:
    """Keep a form whose effects are previewed, so that the way back leads to it as it was filled in."""
    if token := csrf.sent_token(request):
        form_drafts.keep(request, token, form, pages.current_url(request), expired=False)


def _find_caller(request: Request) -> Caller | None:
    """Return the member who is signed in, whatever token the form was sent with."""
    try:
        credentials = replace(read_credentials(request), safe=True)
        return PendingRequest(request, credentials, writes=False).run(lambda ctx: ctx.caller)
    except UnauthorizedError:
        return None


def _expired_page(request: Request, form: FormData, error: LakeholdError) -> Response:
    """Lead to sign-in and back to the page of a form, which is kept; an error page if it was no form of this member.

    A member who has signed in meanwhile, perhaps in another window, is led to the page at once.
    """
    token, caller = csrf.sent_token(request), _find_caller(request)
    is_same = caller is not None and token is not None and token.is_of(caller)
    if token is None or not (is_same or caller is None or not token.member):
        return error_page(request, error)
    if not token.member:
        return pages.redirect(request, token.page) if caller else error_page(request, error)
    if caller is not None and isinstance(error, UnauthorizedError):
        return error_page(request, error)
    kept = form_drafts.keep(request, token, form, pages.current_url(request), expired=True)
    flash = None if kept else Flash("The form was too large to be kept. Nothing was changed.", tone="bad")
    if caller is not None:
        return pages.redirect(request, token.page, flash)
    flash = flash or Flash("Your session has expired. Sign in, and the form is filled in again.", tone="warn")
    return pages.redirect(request, sign_in_url(token.page), flash)


_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class PageRoute(TransactionRoute):
    """A route whose endpoint returns pages. It asks for `ReadContext` or `WriteContext` as those of the API do."""

    def __init__(self, path: str, endpoint: Endpoint, **given: Any) -> None:  # noqa: ANN401 - as FastAPI has it
        super().__init__(path, endpoint, **{**given, "include_in_schema": False})

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the endpoint with the CSRF check and the error pages."""
        inner = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            changes = request.method not in _SAFE_METHODS
            try:
                if form_drafts.COOKIE in request.cookies:
                    await run_in_threadpool(form_drafts.load, request)
                if changes:
                    await csrf.verify_token(request)
                response = await inner(request)
            except ClientDisconnect:
                raise  # who would read a page?
            except UnconfirmedError as unconfirmed:
                form = await request.form()
                await run_in_threadpool(_keep_previewed, request, form)
                response = unconfirmed.question
            except (UnauthorizedError, CsrfError) as error:
                form = await request.form() if changes else FormData()
                response = await run_in_threadpool(_expired_page, request, form, error)
            except Exception as error:  # noqa: BLE001 - the one handler of pages
                response = error_page(request, error)
            else:
                token = csrf.sent_token(request)
                if token and response.status_code < HTTPStatus.BAD_REQUEST:
                    await run_in_threadpool(form_drafts.end, request, token)
            form_drafts.finish(request, response, pages.current_url(request))
            return response

        return guarded


def router(prefix: str = "") -> APIRouter:
    """Create a router for pages."""
    return APIRouter(prefix=prefix, route_class=PageRoute, redirect_slashes=False, include_in_schema=False)


FORM_METHODS = ["GET", "POST"]
"""For an endpoint that shows a form and takes it: `@routes.api_route("/new", methods=FORM_METHODS)`."""


draft_routes = router("/forms")


@draft_routes.post("/discard")
def discard_draft(request: Request) -> Response:
    """Lead back to the page of a draft, which ends as after every form that the page sends."""
    token = csrf.sent_token(request)
    return pages.redirect(request, token.page if token else "/")


async def _read_form(request: Request) -> FormData:
    return await request.form()


SubmittedForm = Annotated[FormData, Depends(_read_form)]
"""The submitted form; empty for GET."""
