"""An installation by its database: the same application as the server's, inside this process.

Whoever can read the data folder and its key can do anything there is. Here they act as an Owner, or as the member that
they name, and everything is written down as theirs, from the address `local`.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Iterator, Mapping

import httpx

from lakehold.api.frame.app import create_app
from lakehold.cli.door import Json, answered, given
from lakehold.cli.remote import read
from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.database import Transaction
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings

ADDRESS = "local"
# Nothing here waits for a network; what takes long is long.
_PATIENCE = httpx.Timeout(None)


class Local:
    """Requests without a network."""

    def __init__(self, settings: Settings, tenant: str = "", member: str = "") -> None:
        self.platform = Platform(settings)
        try:
            self.platform.database.migrate()
            self.caller = _caller(self.platform, tenant, member)
        except BaseException:
            self.platform.close()
            raise
        secret = secrets.token_urlsafe()
        app = self._app = create_app(self.platform, callers=_Known(secret, self.caller))
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(
            base_url="http://localhost",
            headers={"authorization": f"Bearer {secret}"},
            transport=httpx.ASGITransport(app, client=(ADDRESS, 0)),
            timeout=_PATIENCE,
        )

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """The answer; an error if it is a refusal."""
        told = self._runner.run(
            self._client.request(method, path, params=given(query), json=body, headers=dict(headers or {}))
        )
        return answered(told.status_code, read(told.content))

    def fetch(
        self, path: str, query: Mapping[str, object] | None = None, *, body: Json = None, accept: str = "*/*"
    ) -> Iterator[bytes]:
        """The whole answer."""
        method = "GET" if body is None else "POST"
        asked = self._client.request(method, path, params=given(query), json=body, headers={"accept": accept})
        told = self._runner.run(asked)
        if told.is_error:
            answered(told.status_code, read(told.content))
        yield told.content

    def work_off(self, job: str) -> None:
        """Do the job here, unless a worker has found it already."""
        from lakehold.runs.jobs import (
            runner,  # noqa: PLC0415 - for the one verb that starts jobs
            table,  # noqa: PLC0415 - for the one verb that starts jobs
        )

        with self.platform.database.write() as transaction:
            ours = table.claim_job(transaction, job)
        if not ours:
            return
        try:
            outcome = runner.begin_job(self.platform, job) or runner.execute_job(self.platform, job)
        except LakeholdError as error:
            outcome = {"error": str(error)}
        runner.finish_job(self.platform, job, outcome)

    def close(self) -> None:
        """Close the database, and that of the tables if anybody asked for some."""
        self._runner.run(self._client.aclose())
        self._runner.close()
        if lake := getattr(self._app.state, "lake", None):
            lake.close()
        self.platform.close()


class _Known:
    """Knows whoever runs this process, and nobody else."""

    def __init__(self, secret: str, caller: Caller) -> None:
        self._secret = secret
        self._caller = caller

    def of_token(self, platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
        """By the secret of this process."""
        del platform, transaction
        return self._caller if hmac.compare_digest(secret, self._secret) else None

    def of_session(self, platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
        """Nobody signs in here."""
        del platform, transaction, secret
        return None


def _caller(platform: Platform, tenant: str, member: str) -> Caller:
    where = tenant or tenants.only_tenant(platform)
    if not where:
        names = ", ".join(found.uid for found in tenants.list_all(platform))
        if names:
            raise InvalidInputError("There are several tenants here.", f"Choose one with --tenant: {names}.")
        raise NotFoundError("There is no tenant here yet.", "Set one up: `lakehold up` prints the link.")
    with platform.access.read(where) as session:
        if member:
            if not session.read_view(lambda view: view.ids.get(member) in view.members):
                raise NotFoundError(f"There is no member {quote(member)} in {where}.", "Look the id up in a list.")
            return Caller(where, member, address=ADDRESS)
        owners = session.read_view(lambda view: [g for g in view.grants_on(view.resource(where)) if g.role == "owner"])
    return Caller(where, min(owner.subject for owner in owners), address=ADDRESS)
