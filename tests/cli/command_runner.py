"""Runs commands in the two modes of the CLI: over HTTP against a real server, and on the local database."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import Any
from unittest.mock import patch

import typer.main
import typer.testing
from fastapi import FastAPI
from uvicorn import Server

from lakehold.api.http.app import assemble_app, server_config
from lakehold.api.http.authentication import Authenticator
from lakehold.cli import app as command
from lakehold.cli import local_transport
from lakehold.directory import tokens
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from tests.access.company import TENANT
from tests.api.app_pool import assign_platform, lend_app


@dataclass(frozen=True)
class CommandResult:
    """The output of a command, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever it is
        return json.loads(self.out)


class CommandRunner:
    """Runs commands as a member, with the same arguments in both modes."""

    def __init__(self, platform: Platform, address: str) -> None:
        self.platform = platform
        self.address = address
        """Empty on the way to the database."""
        self._tokens: dict[str, str] = {}

    def __call__(self, *words: str, by: str = "ada", typed: str = "") -> CommandResult:
        more = [] if self.address else ["--local", "--as", by]
        with _built_once():
            done = typer.testing.CliRunner().invoke(command, [*words, *more], env=self.environment(by), input=typed)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return CommandResult(done.exit_code, done.stdout, done.stderr)

    def json(self, *words: str, by: str = "ada") -> Any:  # noqa: ANN401 - whatever it is
        said = self(*words, "--json", by=by)
        assert said.code == 0, said
        return said.json

    def environment(self, by: str) -> Mapping[str, str]:
        settings = self.platform.settings
        known = {"LAKEHOLD_DATA": str(settings.data), "LAKEHOLD_DATABASE": settings.database_url, "COLUMNS": "200"}
        return {**known, "LAKEHOLD_URL": self.address, "LAKEHOLD_TOKEN": self.token(by)} if self.address else known

    def token(self, by: str) -> str:
        if by not in self._tokens:
            with self.platform.write(Caller(TENANT, by)) as ctx:
                self._tokens[by] = tokens.create(ctx, "test").secret
        return self._tokens[by]


_build_command = cache(typer.main.get_command)
_local_app = cache(assemble_app)


@contextmanager
def _built_once() -> Iterator[None]:
    """Build the command and the application of local commands once, which a process does for one command otherwise."""

    def reuse_app(platform: Platform, authenticator: Authenticator) -> FastAPI:
        return assign_platform(_local_app(), platform, authenticator)

    with (
        patch.object(typer.testing, "_get_command", _build_command),
        patch.object(local_transport, "create_app", reuse_app),
    ):
        yield


@contextmanager
def serve_platform(platform: Platform) -> Iterator[str]:
    """The address of a real server on a port of its own."""
    with lend_app(platform) as app, running(app, platform.settings) as address:
        yield address


@contextmanager
def running(app: FastAPI, settings: Settings) -> Iterator[str]:
    """The address of an application while it runs."""
    # Said to be TCP, so that asyncio sends a body at once: else it waits 40 ms for the receiver to confirm its head.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = Server(server_config(app, settings))
        thread = Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
