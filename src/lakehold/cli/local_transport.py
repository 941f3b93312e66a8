"""Runs the server's application inside this process, over the embedded database.

Who can read the data folder and its key can do anything. Here they act as an Owner, or as the member that they name,
and the audit log records it as theirs, from the address `local`.
"""

import asyncio
import hmac
import secrets

import httpx
from fastapi import FastAPI

from lakehold import workspaces
from lakehold.api.http.app import create_app
from lakehold.api.http.authentication import RequestCredentials
from lakehold.cli.http_transport import Transport
from lakehold.directory import model_upgrade, tenants
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.database import Transaction
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings

ADDRESS = "local"


class LocalTransport(Transport):
    """Sends requests to the application inside this process."""

    def __init__(self, settings: Settings, tenant: str = "", member: str = "") -> None:
        self.platform = Platform(settings)
        try:
            model_upgrade.migrate(self.platform, workspaces.models())
            self.caller = _resolve_caller(self.platform, tenant, member)
        except BaseException:
            self.platform.close()
            raise
        secret = secrets.token_urlsafe()

        def find_caller(_: Platform, __: Transaction, credentials: RequestCredentials) -> Caller | None:
            """Find the user of this process, and nobody else."""
            return self.caller if hmac.compare_digest(credentials.token, secret) else None

        app = self._app = create_app(self.platform, authenticator=find_caller)
        headers = {"authorization": f"Bearer {secret}"}
        super().__init__(httpx.Client(base_url="http://localhost", headers=headers, transport=_AppTransport(app)))

    def run_job(self, job: str) -> None:
        """Run the job here, unless a worker has claimed it already."""
        from lakehold.runs.jobs import runner, table  # noqa: PLC0415 - for the one verb that starts jobs

        with self.platform.database.write() as transaction:
            claimed = table.claim_job(transaction, job)
        if not claimed:
            return
        try:
            outcome = runner.begin_job(self.platform, job) or runner.execute_job(self.platform, job)
        except LakeholdError as error:
            outcome = {"error": str(error)}
        runner.finish_job(self.platform, job, outcome)

    def close(self) -> None:
        """Close the database, and the catalog database if it was opened."""
        super().close()
        if lake := getattr(self._app.state, "lake", None):
            lake.close()
        self.platform.close()


class _AppTransport(httpx.BaseTransport):
    """Passes the requests of a client to an application. Nothing here waits for a network: what takes long is long."""

    def __init__(self, app: FastAPI) -> None:
        self._app = httpx.ASGITransport(app, client=(ADDRESS, 0))
        self._runner = asyncio.Runner()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the whole response."""
        return self._runner.run(self._respond(request))

    async def _respond(self, request: httpx.Request) -> httpx.Response:
        response = await self._app.handle_async_request(request)
        return httpx.Response(response.status_code, headers=response.headers, content=await response.aread())

    def close(self) -> None:
        """Close the event loop."""
        self._runner.close()


def _resolve_caller(platform: Platform, tenant: str, member: str) -> Caller:
    where = tenant or tenants.only_tenant(platform)
    if not where:
        names = ", ".join(found.uid for found in tenants.list_all(platform))
        if names:
            raise InvalidInputError("There are several tenants here.", f"Choose one with --tenant: {names}.")
        raise NotFoundError("There is no tenant here yet.", "Set one up: `lakehold up` prints the link.")
    with platform.access.read(where) as session:
        if member:
            if not session.read_view(lambda view: view.ids.get(member) in view.members):
                raise NotFoundError(f"There is no member {quote(member)} in {where}.", "Check the ID.")
            return Caller(where, member, address=ADDRESS)
        return Caller(where, min(session.who("manage_owners", where)), address=ADDRESS)
