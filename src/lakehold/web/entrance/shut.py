"""A link that leads nowhere any more: said on a page of its own, with what to do next."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http import problems
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages
from lakehold.web.navigation import Navigation


def shut(
    request: Request, title: str, text: str, *, label: str = "Sign in", href: str = "/sign-in", status: int = 404
) -> Response:
    """Nothing is behind this door."""
    values: dict[str, object] = {"name": title, "text": text, "label": label, "href": href}
    return pages.render(request, "entrance/shut.html", values, navigation=Navigation(), status=status)


def refused(
    request: Request, title: str, error: LakeholdError, *, label: str = "Sign in", href: str = "/sign-in"
) -> Response:
    """The same for a refusal."""
    response = shut(
        request, title, f"{error.message} {error.hint}".strip(), label=label, href=href, status=error.status
    )
    response.headers.update(problems.error_headers(error))
    return response
