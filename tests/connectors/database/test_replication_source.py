"""Connections to a database whose changes are captured."""

from __future__ import annotations

from time import monotonic

import pytest

from lakehold.connectors.database.change_capture.replication_source import open_replication_source
from lakehold.connectors.database.jdbc import JdbcDatabase
from lakehold.kit.errors import UnavailableError
from tests import postgres


def test_a_database_that_does_not_answer_is_left(server: postgres.Server) -> None:
    database = JdbcDatabase(f"jdbc:postgresql://127.0.0.1:{server.port}/postgres", postgres.USER)
    begun = monotonic()
    with pytest.raises(UnavailableError), open_replication_source(database, seconds=0.3) as source:
        source._value("SELECT pg_sleep(60)")
    assert monotonic() - begun < 30
    with open_replication_source(database) as source:
        assert source.identity.count("/") == 1
