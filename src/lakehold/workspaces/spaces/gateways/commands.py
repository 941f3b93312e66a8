"""Gateways of data spaces, which run near the data: register one and run it.

The verbs of `lakehold gateway`. They import what they need when they are called.
"""

from pathlib import Path
from typing import Annotated

import typer

_REFUSED = 4
"""The exit code of a gateway that the platform refuses, as of all that is forbidden."""
_STOP_SECONDS = 5
_Folder = Annotated[Path, typer.Option(help="Folder of the gateway, with its keys.")]


def register(
    server: Annotated[str, typer.Option(help="URL of the Lakehold server.")],
    code: Annotated[str, typer.Option(help="Registration code, from the page of the gateway.")],
    folder: _Folder = Path("lakehold-gateway"),
) -> None:
    """Register this machine as a gateway of a data space: make its keys, and use up a registration code.

    The private keys stay in the folder. The code is shown once on the page of the gateway, and is valid for an hour.
    """
    from lakehold.workspaces.spaces.gateways.agent import registration  # noqa: PLC0415 - loaded by this verb only
    from lakehold.workspaces.spaces.gateways.agent.identity_folder import IdentityFolder  # noqa: PLC0415

    found = registration.register(server, code, IdentityFolder(folder))
    typer.echo(f"Registered as {found.name}. Keys: {found.keys.public.fingerprint}, in {folder}.")
    typer.echo(f"Start it: lakehold gateway run --folder {folder}")


def run(folder: _Folder = Path("lakehold-gateway")) -> None:
    """Run the gateway until Ctrl-C. It dials the platform, and listens on no port.

    It ends by itself when it was revoked, or when another process runs with its keys.
    """
    import logging  # noqa: PLC0415
    import os  # noqa: PLC0415
    import signal  # noqa: PLC0415
    from threading import Event  # noqa: PLC0415

    from lakehold.kit import parent_watch  # noqa: PLC0415
    from lakehold.workspaces.spaces.gateways.agent.identity_folder import IdentityFolder  # noqa: PLC0415
    from lakehold.workspaces.spaces.gateways.agent.platform_client import GatewayRefusedError  # noqa: PLC0415
    from lakehold.workspaces.spaces.gateways.agent.process import GatewayProcess  # noqa: PLC0415

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    parent_watch.watch_parent()
    process = GatewayProcess(IdentityFolder(folder))
    try:
        process.run(stop)
    except GatewayRefusedError as error:
        typer.echo(f"forbidden: {error}", err=True)
        code = _REFUSED
    else:
        code = 0
    process.join(_STOP_SECONDS)
    # What a thread still waits for, such as a row of a database, holds nobody up; and nothing is left to be written.
    os._exit(code)


COMMANDS = {"gateway": (register, run)}
"""The verbs of the command by its noun."""
