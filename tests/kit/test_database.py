from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from lakehold.kit.database import Database, Transaction
from lakehold.kit.errors import InvalidInputError

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
