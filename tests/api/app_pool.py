"""Applications that one test uses after another.

An application builds its operations when the first requests look for theirs: a second of processor time for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from lakehold.api.http.app import create_app
from lakehold.api.http.authentication import Authenticator, find_caller
from lakehold.directory.platform import Platform

_idle: list[FastAPI] = []


@contextmanager
def lend_app(platform: Platform) -> Iterator[FastAPI]:
    """Yield an application of this platform. Its metrics go on from test to test."""
    app = _idle.pop() if _idle else create_app(platform)
    yield assign_platform(app, platform)
    _idle.append(app)


def assign_platform(app: FastAPI, platform: Platform, authenticator: Authenticator = find_caller) -> FastAPI:
    """Make it the application of this platform; whoever used it before has closed the catalog that it had opened."""
    app.state._state.pop("lake", None)
    app.state.platform, app.state.find_caller = platform, authenticator
    return app
