"""A personal space with rows in it: nobody else reads them, also not by owning the space."""

from __future__ import annotations

import psycopg
import pytest

from lakehold.access import Add, Grant
from lakehold.catalog import ownership, resources
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import LakeholdError
from lakehold.runs.runnable import RunOptions
from lakehold.workspaces.spaces import connections, monitor, personal
from tests import postgres
from tests.workspaces.spaces.space import ADA, CARL, PREPARE, RUNS, VERA, InlineSpace
from tests.workspaces.spaces.test_tasks import fill, landing, reference

TEXT = "SELECT name FROM lake.`Personal space of Vera`.diary.diary.diary WHERE id = 1"


def hand_over(space: InlineSpace, uid: str, old: Caller, new: Caller) -> None:
    """As an admin does it."""
    with space.platform.write(ADA) as ctx:
        ownership.transfer_role(ctx, uid, "owner", new.member, from_=old.member)


def own(space: InlineSpace, who: Caller, postgresql: str) -> tuple[str, str, str]:
    """A member's own space, with a project and a connection."""
    with space.platform.write(who) as ctx:
        uid, _ = personal.ensure(ctx)
        project = resources.create(ctx, "spaces.project", "diary", edges={"space": uid})
        settings = {"connector": "database", "address": postgresql, "user": postgres.USER}
        connection = resources.create(ctx, "spaces.connection", "own shop", edges={"space": uid}, settings=settings)
    return uid, project, connection


def test_nobody_reads_a_personal_space_by_owning_it(
    space: InlineSpace, source: psycopg.Connection, server: postgres.Server, database: str
) -> None:
    fill(source, "diary")
    address = f"jdbc:postgresql://127.0.0.1:{server.port}/{database}"
    uid, project, connection = own(space, VERA, address)
    task = space.task("diary", landing(connection, "diary"), by=VERA, project=project)
    space.prepare(task, by=VERA)
    space.run(task, by=VERA)
    assert space.ask(VERA, TEXT) == [("n1",)]

    # The tenant's Owner sees that the space exists, and neither gives roles in it nor sees what is there.
    with space.platform.read(ADA) as ctx:
        assert ctx.session.check("ada", "see", uid)
        assert not ctx.session.can_see("ada", task)
        assert task not in {each.task.uid for each in monitor.load(ctx)}
    with pytest.raises(DeniedError), space.platform.write(ADA) as ctx:
        ctx.make(Add(Grant("ada", "can_view_data", uid)))

    hand_over(space, uid, VERA, CARL)
    for who in (ADA, VERA, CARL):
        with pytest.raises(LakeholdError) as found:
            space.ask(who, TEXT)
        assert "n1" not in str(found.value)
    for options in (RunOptions(), RunOptions(parameters=PREPARE)):
        with pytest.raises(DeniedError), space.platform.write(CARL) as ctx:
            RUNS.start(ctx, task, options)
    # Not by what is his own either: the saved password is hers.
    with space.platform.write(CARL) as ctx:
        fresh = resources.create(ctx, "spaces.project", "carls", edges={"space": uid})
        for settings in (
            landing(connection, "diary"),
            {"type": "transform", "reads": [task], "datasets": [{"name": "copy", "sql": "SELECT * FROM diary.diary"}]},
            {"type": "storage", "datasets": [{"name": "s", "source": reference(task, "diary"), "keys": ["id"]}]},
        ):
            mine = resources.create(
                ctx, "spaces.task", str(settings["type"]), edges={"project": fresh}, settings=settings
            )
            with pytest.raises(DeniedError, match="of a former owner of the personal space"):
                RUNS.start(ctx, mine, RunOptions(parameters=PREPARE))
        with pytest.raises(DeniedError, match="of a former owner"):
            connections.need_streams(ctx, connection, fresh)

    # What he loads himself is his, and closed to her when she has the space again.
    with space.platform.write(CARL) as ctx:
        settings = {"connector": "database", "address": address, "user": postgres.USER}
        his = resources.create(ctx, "spaces.connection", "his shop", edges={"space": uid}, settings=settings)
    carls = space.task("notes", landing(his, "diary"), by=CARL, project=fresh)
    space.prepare(carls, by=CARL)
    space.run(carls, by=CARL)
    copied = TEXT.replace("diary.diary.diary", "carls.notes.diary")
    assert space.ask(CARL, copied) == [("n1",)]
    hand_over(space, uid, CARL, VERA)
    assert space.ask(VERA, TEXT) == [("n1",)]
    for who in (VERA, CARL, ADA):
        with pytest.raises(LakeholdError):
            space.ask(who, copied)
