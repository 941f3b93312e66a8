"""The router for pages: like that of the API, with the form's token checked and every refusal shown as a page."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.datastructures import FormData
from starlette.requests import ClientDisconnect

from lakehold.api.http.routing import Endpoint, TransactionRoute
from lakehold.web import csrf, errors

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class PageRoute(TransactionRoute):
    """An endpoint that answers with pages. It asks for `Reading` or `Writing` as one of the API does."""

    def __init__(self, path: str, endpoint: Endpoint, **given: Any) -> None:  # noqa: ANN401 - as FastAPI has it
        super().__init__(path, endpoint, **{**given, "include_in_schema": False})

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Around the endpoint."""
        inner = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                if request.method not in _SAFE:
                    await csrf.refuse_forged(request)
                return await inner(request)
            except ClientDisconnect:
                raise  # who would read a page?
            except Exception as error:  # noqa: BLE001 - the one handler of pages
                return errors.shown(request, error)

        return guarded


def router(prefix: str = "") -> APIRouter:
    """A router for pages."""
    return APIRouter(prefix=prefix, route_class=PageRoute, redirect_slashes=False, include_in_schema=False)


async def _sent(request: Request) -> FormData:
    return await request.form()


Sent = Annotated[FormData, Depends(_sent)]
"""What a form sent."""
