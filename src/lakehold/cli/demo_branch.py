"""Runs the branch of the demo company for `lakehold demo`: its PostgreSQL, and the gateway that reads it."""

import os
import secrets
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from lakehold.cli.supervisor import ChildProcess
from lakehold.demo import branch, branch_database
from lakehold.demo.branch_database import find_programs
from lakehold.directory.platform import Platform
from lakehold.kit import parent_watch
from lakehold.kit.errors import LakeholdError, UnavailableError
from lakehold.kit.settings import Settings
from lakehold.workspaces.spaces.gateways.local_gateway import register_here

_HINT = "Install its server, or `pip install 'lakehold[demo]'`, and start the demo again."
_PATIENCE = 60


def free_port() -> int:
    """Return a port of this machine that is free now."""
    with socket.create_server((branch_database.HOST, 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def run_branch(settings: Settings, say: Callable[[str], object]) -> Iterator[list[ChildProcess]]:
    """Run the database while the block runs, and yield the process of its gateway, which has yet to be started.

    Where that is not possible, say why and yield none.
    """
    with ExitStack() as stack:
        gateways: list[ChildProcess] = []
        try:
            if find_programs() is None:
                raise UnavailableError("There is no PostgreSQL on this machine.", _HINT)
            gateways.append(stack.enter_context(_open_branch(settings)))
        except LakeholdError as error:
            say(f"The branch in Ulm, whose database is read through a gateway, is left out. {error}")
            _close_branch(settings)
        yield gateways


@contextmanager
def _open_branch(settings: Settings) -> Iterator[ChildProcess]:
    port, password = free_port(), secrets.token_urlsafe(16)
    folder = settings.data / "branch-gateway"
    with _database(port, password, settings.data / "branch.log"):
        with closing(Platform(settings)) as platform:
            branch.create_branch(platform)
            register_here(platform, branch.OWNER, branch.GATEWAY, folder)
            branch.open_branch(platform, port, password)
        yield ChildProcess("gateway", ("run", "--folder", str(folder)))
    _close_branch(settings)


def _close_branch(settings: Settings) -> None:
    with closing(Platform(settings)) as platform, suppress(LakeholdError):
        branch.close_branch(platform)


@contextmanager
def _database(port: int, password: str, log: Path) -> Iterator[None]:
    """Run the process of the database; it ends with this one, also if this one is killed."""
    end, ours = os.pipe()
    with os.fdopen(ours, "wb"):
        with os.fdopen(end, "rb"), log.open("wb") as errors:
            environment = {parent_watch.ENVIRONMENT_VARIABLE: str(end), branch_database.PASSWORD_VARIABLE: password}
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and words
                branch_database.command(port),
                env={**os.environ, **environment},
                pass_fds=(end,),
                # Ctrl-C reaches it when all else has ended.
                start_new_session=True,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        with process:
            try:
                _wait_until_ready(process, log)
                yield
            finally:
                process.terminate()
                process.wait(_PATIENCE)


def _wait_until_ready(process: subprocess.Popen[str], log: Path) -> None:
    assert process.stdout is not None  # noqa: S101 - a pipe, above
    for line in process.stdout:
        if branch_database.READY in line:
            return
    raise UnavailableError("Its PostgreSQL did not start.", f"Read {log}.")
