"""The branch in Ulm: a data project in the space of the web shop, whose rows come from a PostgreSQL behind a gateway.

Stella owns the gateway and the connection through it, Petra the project. Otto runs it every minute. Ana makes an app of
its datasets, which Nils sees. The database is that of `branch_database`, another one at each start of the demo.
"""

from lakehold import workspaces
from lakehold.access import Add, Grant
from lakehold.catalog import credentials, resource_edit, resource_metadata, resources
from lakehold.demo import branch_database, company, data_space
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.runs.runnable import RunOptions
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs

GATEWAY, CONNECTION, PROJECT, APP = "branch_gateway", "branch_connection", "branch_project", "branch_app"
OWNER = company.caller("stella")
"""Who registers the gateway."""
_CONTENT = company.read_yaml("branch.yaml")
_EVERY_MINUTE = "* * * * *"


def create_branch(platform: Platform) -> None:
    """Create the gateway, the connection through it, and the project with its schedule; nothing if they exist."""
    with platform.write(OWNER) as ctx:
        if ctx.view.ids.get(PROJECT) is not None:
            return
        here = {"space": data_space.SPACE}
        about = _CONTENT["descriptions"]
        resources.create(ctx, "spaces.gateway", "Ulm", uid=GATEWAY, edges=here, description=about["gateway"])
        edges, settings = {**here, "gateway": GATEWAY}, _settings("jdbc:postgresql://127.0.0.1/postgres")
        resources.create(
            *(ctx, "spaces.connection", "Branch in Ulm"),
            uid=CONNECTION,
            edges=edges,
            settings=settings,
            description=about["connection"],
        )
    with platform.write(company.caller("petra")) as ctx:
        described = _CONTENT["descriptions"]["project"]
        resources.create(ctx, "spaces.project", "Branch in Ulm", uid=PROJECT, edges=here, description=described)
    with platform.write(company.caller("erik")) as ctx:
        for uid, task in _CONTENT["tasks"].items():
            about = {"settings": task["settings"], "description": task["description"]}
            resources.create(ctx, "spaces.task", uid, uid=uid, edges={"project": PROJECT}, **about)
    with platform.write(company.caller("ana")) as ctx:
        resources.create(ctx, "spaces.app", "Branch in Ulm", uid=APP, edges=here, **_CONTENT["app"])
        ctx.make(Add(Grant("nils", "viewer", APP)))


def open_branch(platform: Platform, port: int, password: str) -> None:
    """Let the connection lead to the database of this start, prepare the tasks, and run them every minute."""
    with platform.write(OWNER) as ctx:
        address = f"jdbc:postgresql://127.0.0.1:{port}/{branch_database.DATABASE}"
        edit = resource_edit.ResourceEdit(
            settings={**resource_metadata.load(ctx, CONNECTION).settings, **_settings(address)}
        )
        resource_edit.apply_edit(ctx, CONNECTION, edit)
        credentials.save(ctx, CONNECTION, {"password": password})
    with platform.write(company.caller("otto")) as ctx:
        Runs(workspaces.runnables()).start(ctx, PROJECT, RunOptions(parameters={"do": "prepare"}))
        _set_schedule(ctx, active=True)


def close_branch(platform: Platform) -> None:
    """Pause the schedule, if there is one: there is no database that its runs could read."""
    with platform.write(company.caller("otto")) as ctx:
        if ctx.view.ids.get(PROJECT) is not None:
            _set_schedule(ctx, active=False)


def _settings(address: str) -> dict[str, object]:
    return {"connector": "database", "address": address, "user": branch_database.USER}


def _set_schedule(ctx: RequestContext, *, active: bool) -> None:
    triggers = Triggers(Runs(workspaces.runnables()))
    known = triggers.for_resource(ctx, PROJECT)
    if active and not known:
        triggers.save(ctx, PROJECT, TriggerSchedule(_EVERY_MINUTE))
    for each in known:
        triggers.set_active(ctx, each.id, active=active)
