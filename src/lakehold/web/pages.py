"""Renders templates as responses, and redirects after actions."""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import current_context, get_platform
from lakehold.kit.errors import LakeholdError
from lakehold.web import cookies, csrf, form_drafts
from lakehold.web.cookies import Flash
from lakehold.web.form_drafts import FormDraft
from lakehold.web.form_filler import FormFiller
from lakehold.web.form_values import error_field
from lakehold.web.navigation import Navigation
from lakehold.web.templates import PageContext, TemplateRenderer

THEME_COOKIE = "lakehold_theme"
THEMES = ("system", "light", "dark")
_MIN_GZIP_BYTES = 1_000
_SAFE_IN_PATHS = "/:@!$&'()*+,;=~"
_SAFE_IN_URLS = "/?#&=%:+,;@!$'()*[]~"


@dataclass(frozen=True, slots=True)
class WebApp:
    """The state that all pages of an application share."""

    templates: TemplateRenderer
    load_navigation: Callable[[Request], Navigation]
    """Loads the navigation of a page whose endpoint gives none: error pages above all."""


class UnconfirmedError(Exception):
    """An action has to be confirmed first. It ends the endpoint, which changes nothing, with the page that asks."""

    def __init__(self, question: Response) -> None:
        super().__init__("The action is not confirmed.")
        self.question = question


def web_app_of(request: Request) -> WebApp:
    """Return the web app of the request's application."""
    web: WebApp = request.app.state.web
    return web


def render(
    request: Request,
    template: str,
    values: dict[str, object] | None = None,
    *,
    navigation: Navigation | None = None,
    status: int = 200,
) -> Response:
    """Render a template as a response."""
    web = web_app_of(request)
    page_context = _page_context(request, web.load_navigation(request) if navigation is None else navigation)
    html = web.templates.render(template, page_context, values or {})
    if draft := form_drafts.find(request, page_context.address):
        html = _fill(web, page_context, html, draft)
    body = html.encode()
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding, Cookie, HX-Request"}
    if len(body) > _MIN_GZIP_BYTES and "gzip" in request.headers.get("accept-encoding", ""):
        body = gzip.compress(body, 4, mtime=0)
        headers["Content-Encoding"] = "gzip"
    response = HTMLResponse(body, status, headers)
    csrf.set_visit_cookie(request, response)
    cookies.delete_flash(request, response)
    return response


def _fill(web: WebApp, page_context: PageContext, html: str, draft: FormDraft) -> str:
    """Fill a draft into its form on a page, with a notice above it."""
    filler = FormFiller(html, draft.action, draft.fields)
    notice = web.templates.render("forms/restored.html", page_context, {"draft": draft, "filled": filler})
    return filler.to_html(notice)


def restored_form(request: Request) -> FormData | None:
    """Return the draft of the page that is opened, for forms that have as many fields as they have values.

    All other forms are filled in when they are rendered.
    """
    draft = form_drafts.find(request, current_url(request))
    return FormData([*draft.fields]) if draft else None


def render_form(
    request: Request,
    template: str,
    values: dict[str, object],
    errors: Mapping[str, str] | None = None,
    error: LakeholdError | None = None,
) -> Response:
    """Render the template of a form; with errors by field, or that of the whole form, after it was submitted."""
    if error is not None and (place := error_field(error, {})):
        errors, error = {**(errors or {}), place: str(error)}, None
    values = {"error": error, **values, "errors": errors or {}}
    return render(request, template, values, status=422 if errors or error else 200)


def redirect(request: Request, to: str, flash: Flash | str | None = None) -> Response:
    """Redirect the browser after an action, with an optional flash message."""
    to = quote(to, safe=_SAFE_IN_URLS)
    if request.headers.get("hx-request"):
        response = Response(status_code=204, headers={"HX-Redirect": to})
    else:
        response = Response(status_code=303, headers={"Location": to})
    if flash is not None:
        cookies.set_flash(request, response, Flash(flash) if isinstance(flash, str) else flash)
    return response


def current_url(request: Request) -> str:
    """Return the path of the request with its query."""
    query = request.url.query
    return quote(request.url.path, safe=_SAFE_IN_PATHS) + (f"?{query}" if query else "")


def _form_page(request: Request) -> str:
    """Return the address of the page that the forms of a response are on: not that of a part that htmx loads."""
    if sent := csrf.sent_token(request):
        return sent.page
    window = urlsplit(request.headers.get("hx-current-url", ""))
    if not window.path or unquote(window.path) == request.url.path:
        return current_url(request)
    return safe_redirect_url(window.path + (f"?{window.query}" if window.query else ""))


def safe_redirect_url(address: str) -> str:
    """Return the URL if it is a path of this site; the home page otherwise."""
    parts = urlsplit(address)
    ours = not parts.scheme and not parts.netloc and address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if ours and address.isprintable() else "/"


def _page_context(request: Request, navigation: Navigation) -> PageContext:
    theme, ctx = request.cookies.get(THEME_COOKIE, ""), current_context(request)
    return PageContext(
        path=request.url.path,
        address=current_url(request),
        navigation=navigation,
        current=navigation.current(request.url.path),
        theme=theme if theme in THEMES else "system",
        csrf=csrf.form_token(request, _form_page(request)),
        now=get_platform(request).clock(),
        flash=cookies.read_flash(request),
        policy=ctx.view.policy if ctx else None,
    )
