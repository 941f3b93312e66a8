"""The assembled application services, and the transactions in which callers act."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from lakehold.access import AccessEngine
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.last_used import LastUsedTracker
from lakehold.directory.request_context import RequestContext, audit_entry
from lakehold.kit.clock import Clock, now
from lakehold.kit.database import Database
from lakehold.kit.keys import KeyRing, load_keys
from lakehold.kit.settings import Settings
from lakehold.ledger.audit import DENIED, AuditLog


class Platform:
    """Settings, keys, database and access engine, shared by all requests of a process."""

    def __init__(self, settings: Settings, clock: Clock = now) -> None:
        self.settings = settings
        self.clock = clock
        # What is kept there is nobody else's on this machine.
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.database = Database(settings.database_url)
        self.access = AccessEngine(self.database, clock)
        self.last_used = LastUsedTracker()

    @cached_property
    def keys(self) -> KeyRing:
        """The encryption and signing keys."""
        return load_keys(self.settings.key.get_secret_value(), self.settings.data / "key")

    @contextmanager
    def read(self, caller: Caller) -> Iterator[RequestContext]:
        """Open a read-only transaction for a caller."""
        with self._auditing_denials(caller), self.database.read() as transaction:
            yield RequestContext(self.access.session(transaction, caller.tenant), caller, self.keys)

    @contextmanager
    def write(self, caller: Caller) -> Iterator[RequestContext]:
        """Open a transaction for a caller that is committed at the end. One at a time in each tenant, so that the audit
        log is one chain.
        """
        with self._auditing_denials(caller), self.database.write(caller.tenant) as transaction:
            yield RequestContext(self.access.session(transaction, caller.tenant), caller, self.keys)

    def close(self) -> None:
        """Close all database connections."""
        self.database.close()

    @contextmanager
    def _auditing_denials(self, caller: Caller) -> Iterator[None]:
        try:
            yield
        except (DeniedError, HiddenError) as error:
            self.audit_denial(caller, error)
            raise

    def audit_denial(self, caller: Caller, error: DeniedError | HiddenError) -> None:
        """Audit a denied attempt, in a transaction of its own because that of the attempt is rolled back."""
        with self.database.write(caller.tenant) as transaction:
            session = self.access.session(transaction, caller.tenant)
            entry = audit_entry(caller, session.current_view(), session.at, error.action, error.resource)
            AuditLog(transaction, session.tenant, caller.tenant, self.keys).append(
                [replace(entry, outcome=DENIED, reason=error.message)]
            )
