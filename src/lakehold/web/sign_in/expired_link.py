"""The page of a link that is invalid or expired, with the next step to take."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http import problems
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages
from lakehold.web.navigation import Navigation


def expired_link_page(
    request: Request, title: str, text: str, *, label: str = "Sign in", href: str = "/sign-in", status: int = 404
) -> Response:
    """Return a page that says that a link leads nowhere, with a button to continue."""
    values: dict[str, object] = {"name": title, "text": text, "label": label, "href": href}
    return pages.render(request, "entrance/shut.html", values, navigation=Navigation(), status=status)


def refusal_page(
    request: Request, title: str, error: LakeholdError, *, label: str = "Sign in", href: str = "/sign-in"
) -> Response:
    """Return the page of an invalid link for an error, with its status and headers."""
    response = expired_link_page(
        request, title, f"{error.message} {error.hint}".strip(), label=label, href=href, status=error.status
    )
    response.headers.update(problems.error_headers(error))
    return response
