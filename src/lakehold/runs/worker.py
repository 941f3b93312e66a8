"""The worker: finds what is to be done, tells that it is alive, and takes over from those that are not."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import sys
import time
from collections.abc import Iterable
from threading import Event

import sqlalchemy as sa

from lakehold.directory.platform import Platform
from lakehold.kit.clock import Moment
from lakehold.kit.errors import LakeholdError
from lakehold.ledger import outbox
from lakehold.runs import beats, book, engine, tending, turns
from lakehold.runs import run_table as states
from lakehold.runs.engine import Engine
from lakehold.runs.heart import Heart, now
from lakehold.runs.run_table import run_table
from lakehold.runs.running import Running, tag
from lakehold.runs.ticks import Due, Tick
from lakehold.runs.warm import Warm
from lakehold.runs.workflows import Workflows

_log = logging.getLogger("lakehold.runs")
_PAUSE = 0.5
_PATIENCE = 20
_MOST_RUNS = 50


class Worker:
    """One process that does the background work of an installation; there may be several."""

    def __init__(
        self, platform: Platform, running: Running, warm: Warm, address: str = "", ticks: Iterable[Tick] = ()
    ) -> None:
        self.id = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._platform = platform
        self._engine = Engine(platform, self.id)
        self._ticks = [
            *tending.ticks(),
            *ticks,
            Tick("forget runs", 3600, lambda _: self._engine.forget()),
        ]
        self._warm = warm
        self._running = running
        self._workflows = Workflows(platform, self._ticks, running)
        self._due = Due(self._ticks)
        self._heart = Heart(platform, self.id, address)
        self._watch = beats.Watch(platform.settings.worker_silence)
        self._handed: set[tuple[int, int]] = set()
        self._next_look = 0.0

    def run(self, stop: Event) -> None:
        """Work until it is told to stop; what runs then is given some time to end."""
        self._heart.start()
        self._engine.launch()
        _log.info("worker %s is ready", self.id)
        while not stop.wait(_PAUSE):
            self._round()
        self._end()

    def leave(self, why: str) -> None:
        """End this process at once, for another to begin anew; what it was doing may be taken over at once."""
        _log.critical("%s; worker %s ends", why, self.id)
        try:
            with self._platform.database.write() as transaction:
                self._running.give_back(transaction)
                beats.end(transaction, self.id)
        finally:
            now(os.EX_SOFTWARE)

    def _round(self) -> None:
        try:
            if time.monotonic() >= self._next_look:
                self._next_look = time.monotonic() + self._heart.pause
                self._adopt()
            self._find()
        except (LakeholdError, sa.exc.SQLAlchemyError) as error:
            # The database is busy or away; the next round finds what this one did not.
            _log.warning("worker %s: %s", self.id, type(error).__name__)

    def _adopt(self) -> None:
        # In this order: who has begun something by now is known by then, or gone.
        begun = self._engine.begun_by()
        with self._platform.database.read() as transaction:
            counts = beats.counted(transaction)
        dead = self._watch.dead(counts) - {self.id}
        if dead:
            with self._platform.database.write() as transaction:
                for worker in dead:
                    beats.end(transaction, worker)
        left = begun - (counts.keys() - dead)
        if left:
            _log.warning("worker %s goes on with what %s began", self.id, ", ".join(sorted(left)))
            self._engine.adopt(left)

    def _find(self) -> None:
        at = self._platform.clock()
        with self._platform.database.read() as transaction:
            jobs = book.waiting(transaction)
            sent = (
                (outbox.MAIL, outbox.WEBHOOK) if self._platform.settings.smtp.get_secret_value() else (outbox.WEBHOOK,)
            )
            mails = outbox.due_messages(transaction, at, kinds=sent)
        for uid in jobs:
            self._engine.run(engine.JOBS, uid, self._workflows.job, uid)
            with self._platform.database.write() as transaction:
                book.move(transaction, uid, {"state": book.QUEUED}, unless=book.ENDED | {book.RUNNING})
        self._running.firing.fire(self._platform, at)
        self._runs(at)
        handed = {(mail.id, mail.tries) for mail in mails}
        for number, tries in sorted(handed - self._handed):
            self._engine.run(engine.MAILS, f"mail-{number}-{tries}", self._workflows.mail, number, tries)
        self._handed = handed
        for tick, slot in self._due.at(at):
            self._engine.run(engine.TICKS, f"tick-{tick.name}-{slot}", self._workflows.tick, tick.name)

    def _runs(self, at: Moment) -> None:
        c, database = run_table.c, self._platform.database
        with database.read() as transaction:
            open_ = sa.select(c.n, c.state).where(c.state.in_({states.QUEUED, states.WAITING, states.STOPPING}))
            found = transaction.connection.execute(open_).all()
        for row in found:
            if row.state == states.STOPPING:
                self._warm.cancel(tag(row.n))
        if all(row.state == states.STOPPING for row in found):
            return
        with database.write(turns.TURN) as transaction:
            begun = turns.claim(transaction, at, most=_MOST_RUNS, at_once=self._platform.settings.runs_at_once)
        for number, tries in begun:
            self._engine.run(engine.RUNS, f"run-{number}-{tries}", self._workflows.run, number, tries)

    def _end(self) -> None:
        _log.info("worker %s stops", self.id)
        self._engine.stop(_PATIENCE if self._workflows.running else 0)
        # Before Spark ends, and with it all that is at work.
        with self._platform.database.write() as transaction:
            self._running.give_back(transaction)
        if "lakehold.lake.spark.spark_session" in sys.modules:
            sys.modules["lakehold.lake.spark.spark_session"].stop()
        self._heart.stop()
        if self._workflows.running:
            # What did not end in time is begun again elsewhere; waiting for its thread would be waiting for it.
            now(0)
