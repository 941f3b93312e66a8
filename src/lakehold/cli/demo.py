"""Runs the demo company for `lakehold demo`, and creates links that sign in as some of its people.

It lives in a folder of its own, and no environment variable leads it elsewhere: neither to another database nor to a
mail server. The folder is created under a temporary name and renamed when it is complete.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lakehold import workspaces
from lakehold.cli import demo_branch, supervisor
from lakehold.demo import activity, company, data_space, web_shop, web_shop_data
from lakehold.directory import links, model_upgrade
from lakehold.directory.caller import Caller
from lakehold.directory.links import SIGN_IN
from lakehold.directory.platform import Platform
from lakehold.kit import settings
from lakehold.kit.errors import ConflictError
from lakehold.kit.settings import Settings

PEOPLE = {
    "olga": "everything: people, groups, the audit log, view as",
    "tara": "data marts and reports that she maintains",
    "ana": "tables of the lakehouse, and access that she has requested",
    "otto": "tasks of two data spaces that he runs",
    "nils": "one app, and resources that he can request",
}
"""Five members with very different access, and what they see."""

_LINK_MINUTES = 1440


def demo_settings(folder: Path, *, gateway_port: int = 0) -> Settings:
    """Return the settings of the environment, except all that would lead out of the folder."""
    there = {"data": folder, "database": "", "key": "", "smtp": "", "warehouse": "", "volumes": ""}
    # Its own database and API are on this machine; nothing else here is one that its people could read.
    shop = web_shop.customers_address(folder)
    gateways = {"gateway_port": gateway_port, "gateway_address": f"127.0.0.1:{gateway_port}" if gateway_port else ""}
    return settings.load_settings(
        **there, **gateways, private_addresses=True, databases=shop, link_minutes=_LINK_MINUTES
    )


def exists(folder: Path) -> bool:
    """Return whether the company exists in this folder; raise if the folder contains something else."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    refusal = ConflictError(f"{folder} is not an empty folder or a demo folder.", "Choose another one with --folder.")
    if not (folder / "lakehold.sqlite").is_file():
        raise refusal
    with closing(Platform(demo_settings(folder))) as platform:
        model_upgrade.migrate(platform, workspaces.models())
        if not company.is_loaded(platform.access):
            raise refusal
    return True


def create(folder: Path) -> None:
    """Create the company, completely or not at all."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    with closing(Platform(demo_settings(part))) as platform:
        model_upgrade.migrate(platform, workspaces.models())
        activity.load_with_activity(platform)
        activity.start_access_review(platform)
        web_shop.create_web_shop(platform, folder)
        web_shop.create_web_shop_marts(platform)
        data_space.create_data_space(platform, folder)
    part.replace(folder)


def run(folder: Path, ready: Callable[[str], object], say: Callable[[str], object]) -> None:
    """Run the company with its web shop and, where that is possible, its branch until Ctrl-C."""
    found = demo_settings(folder, gateway_port=demo_branch.free_port())
    with serve_api(folder), demo_branch.run_branch(found, say) as gateways:
        supervisor.run_supervisor(found, ready, log=folder / supervisor.LOG_FILE, more=gateways)


@contextmanager
def serve_api(folder: Path) -> Iterator[None]:
    """Serve the API of the company's web shop while the block runs."""
    with web_shop_data.serve_events() as address:
        with closing(Platform(demo_settings(folder))) as platform:
            web_shop.set_events_address(platform, address)
        yield


def sign_in_links(folder: Path, address: str) -> list[tuple[str, str, str]]:
    """Return the name, purpose and new sign-in link of each person. Earlier links end."""
    read = demo_settings(folder).model_copy(update={"address": address})
    olga = Caller(company.TENANT, "olga", address="local")
    with closing(Platform(read)) as platform, platform.write(olga) as ctx:
        return [
            (company.PEOPLE[member], words, links.create(ctx, read, member, SIGN_IN).link)
            for member, words in PEOPLE.items()
        ]
