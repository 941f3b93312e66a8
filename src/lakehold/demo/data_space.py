"""The data space of the web shop: a project that lands customers and support tickets, and makes a star schema of them.

Stella creates the space with its connection and gives the roles. Petra owns the project, in whose context tasks run;
Erik designs these, and Otto prepares and runs them. Ana makes an app of their datasets, which Nils sees.
"""

from pathlib import Path

from lakehold import workspaces
from lakehold.access import Add, Grant
from lakehold.catalog import resources
from lakehold.demo import company, web_shop
from lakehold.directory.platform import Platform
from lakehold.runs.runnable import RunOptions
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs

SPACE, CONNECTION, PROJECT, APP = "shop_space", "shop_connection", "shop_support_project", "shop_support_app"
_CONTENT = company.read_yaml("data_space.yaml")


def create_data_space(platform: Platform, folder: Path) -> None:
    """Create the space with its tasks and have them prepared; they run once the web shop has. `folder` is where the
    installation will be.
    """
    with platform.write(company.caller("stella")) as ctx:
        resources.create(ctx, "spaces.space", "Shop data", uid=SPACE, edges={"tenant": company.TENANT})
        for subject, role in _CONTENT["roles"]:
            ctx.make(Add(Grant(subject, role, SPACE)))
        settings = {"connector": "database", "address": web_shop.customers_address(folder)}
        edges = {"space": SPACE}
        resources.create(ctx, "spaces.connection", "Shop database", uid=CONNECTION, edges=edges, settings=settings)
    with platform.write(company.caller("petra")) as ctx:
        resources.create(ctx, "spaces.project", "Support", uid=PROJECT, edges={"space": SPACE})
    with platform.write(company.caller("erik")) as ctx:
        for uid, task in _CONTENT["tasks"].items():
            about = {"settings": task["settings"], "description": task["description"]}
            resources.create(ctx, "spaces.task", uid, uid=uid, edges={"project": PROJECT}, **about)
    runs = Runs(workspaces.runnables())
    with platform.write(company.caller("otto")) as ctx:
        runs.start(ctx, PROJECT, RunOptions(parameters={"do": "prepare"}))
        Triggers(runs).save(ctx, PROJECT, TriggerSchedule(after=("make_sales_by_day",)))
    with platform.write(company.caller("ana")) as ctx:
        resources.create(ctx, "spaces.app", "Support", uid=APP, edges={"space": SPACE}, **_CONTENT["app"])
        ctx.make(Add(Grant("nils", "viewer", APP)))
