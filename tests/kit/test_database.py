from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from lakehold.kit.database import Database, Transaction
from lakehold.kit.errors import BusyError, InvalidInputError

INSERT = sa.text("INSERT INTO access_model (tenant_id, name, source, since, until) VALUES (1, :name, '', 0, 1)")
COUNT = sa.text("SELECT count(*) FROM access_model")


def count(database: Database) -> int:
    with database.read() as transaction:
        return int(transaction.connection.execute(COUNT).scalar_one())


def test_a_transaction_is_committed_at_its_end(database: Database) -> None:
    with database.write() as transaction:
        transaction.connection.execute(INSERT, {"name": "one"})
    assert count(database) == 1


def test_what_fails_leaves_nothing_behind(database: Database) -> None:
    def fail(transaction: Transaction) -> None:
        transaction.connection.execute(INSERT, {"name": "one"})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), database.write() as transaction:
        fail(transaction)
    assert count(database) == 0


def test_a_reader_sees_one_state_from_beginning_to_end(database: Database) -> None:
    with database.read() as reader:
        before = reader.connection.execute(COUNT).scalar_one()
        with database.write() as transaction:
            transaction.connection.execute(INSERT, {"name": "one"})
        assert reader.connection.execute(COUNT).scalar_one() == before
    assert count(database) == before + 1


def test_the_last_thing_before_the_commit_happens_before_it(database: Database) -> None:
    with database.write() as transaction:
        transaction.before_commit.append(lambda: transaction.connection.execute(INSERT, {"name": "last"}))
    assert count(database) == 1


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://host/name"])
def test_a_url_that_cannot_be_is_refused_by_name(url: str) -> None:
    with pytest.raises(InvalidInputError):
        Database(url)


def test_migrating_twice_changes_nothing(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a folder with 100% signs' / '..' / 'x.sqlite'}".replace("%", "%25"))
    (tmp_path / "a folder with 100% signs").mkdir()
    database.migrate()
    database.migrate()
    assert count(database) == 0
    database.close()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Database]:
    """A database of SQLite with a table of its own that refuses what it is given, in the words of a conflict."""
    database = Database(f"sqlite:///{tmp_path / 'lakehold.sqlite'}")
    database.migrate()
    with database.write() as transaction:
        transaction.connection.execute(sa.text("CREATE TABLE refusing (word TEXT)"))
        refuse = "CREATE TRIGGER refuse BEFORE INSERT ON refusing BEGIN SELECT RAISE(ABORT, '{}'); END"
        transaction.connection.execute(sa.text(refuse.format("database is locked: UNIQUE constraint failed")))
    yield database
    database.close()


def impatient(database: Database) -> sa.Connection:
    """A connection that does not wait for its turn."""
    return sa.create_engine(database.url, connect_args={"timeout": 0}, poolclass=sa.NullPool).connect()


def test_the_same_key_twice_is_a_conflict(database: Database) -> None:
    with pytest.raises(BusyError), database.write() as transaction:
        transaction.connection.execute(sa.text("INSERT INTO alembic_version SELECT version_num FROM alembic_version"))


def test_a_database_that_somebody_else_writes_is_busy(file: Database) -> None:
    with pytest.raises(BusyError), file.write(), impatient(file) as other:
        other.execute(INSERT, {"name": "one"})


def test_a_snapshot_that_is_too_old_to_write_is_a_conflict(file: Database) -> None:
    with impatient(file) as other:
        other.exec_driver_sql("BEGIN")
        other.execute(COUNT)
        with file.write() as transaction:
            transaction.connection.execute(INSERT, {"name": "one"})
        with pytest.raises(BusyError), file.write() as transaction:
            other.execute(INSERT, {"name": "two"})


def test_an_error_with_the_words_of_a_conflict_is_none(file: Database) -> None:
    with pytest.raises(sa.exc.IntegrityError, match="database is locked"), file.write() as transaction:
        transaction.connection.execute(sa.text("INSERT INTO refusing VALUES ('a')"))
