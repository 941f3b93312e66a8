"""One installation: its settings, its key, its database, and the way in for everybody who does something there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from lakehold.access import AccessEngine
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext, entry_of
from lakehold.directory.uses import Uses
from lakehold.kit import keys
from lakehold.kit.clock import Clock, now
from lakehold.kit.database import Database
from lakehold.kit.settings import Settings
from lakehold.ledger.audit import DENIED, AuditLog


class Platform:
    """Shared by all requests of a process."""

    def __init__(self, settings: Settings, clock: Clock = now) -> None:
        self.settings = settings
        self.clock = clock
        # What is kept there is nobody else's on this machine.
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.database = Database(settings.database_url)
        self.access = AccessEngine(self.database, clock)
        self.uses = Uses()

    @cached_property
    def keys(self) -> keys.Keys:
        """The keys of this installation."""
        return keys.load_keys(self.settings.key.get_secret_value(), self.settings.data / "key")

    @contextmanager
    def read(self, caller: Caller) -> Iterator[RequestContext]:
        """A caller's questions, in a transaction that changes nothing."""
        with self._written_down(caller), self.database.read() as transaction:
            yield RequestContext(self.access.session(transaction, caller.tenant), caller, self.keys)

    @contextmanager
    def write(self, caller: Caller) -> Iterator[RequestContext]:
        """A caller's questions and changes, in a transaction that is committed at the end. One at a time in each
        tenant, so that the audit log is one chain.
        """
        with self._written_down(caller), self.database.write(caller.tenant) as transaction:
            yield RequestContext(self.access.session(transaction, caller.tenant), caller, self.keys)

    def close(self) -> None:
        """Give all connections back."""
        self.database.close()

    @contextmanager
    def _written_down(self, caller: Caller) -> Iterator[None]:
        try:
            yield
        except (DeniedError, HiddenError) as error:
            self.write_down(caller, error)
            raise

    def write_down(self, caller: Caller, error: DeniedError | HiddenError) -> None:
        """A denied attempt is written in a transaction of its own: the one it was made in leaves nothing behind."""
        with self.database.write(caller.tenant) as transaction:
            session = self.access.session(transaction, caller.tenant)
            entry = entry_of(caller, session.current_view(), session.at, error.action, error.resource)
            AuditLog(transaction, session.tenant, caller.tenant, self.keys).append(
                [replace(entry, outcome=DENIED, reason=error.message)]
            )
