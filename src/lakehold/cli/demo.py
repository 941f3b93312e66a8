"""`lakehold demo`: the demo company as a running installation, with links that sign in as some of its people.

It lies in a folder of its own, and nothing of the environment leads it elsewhere: neither to another database nor to a
mail server. The folder is made beside its place and moved there when it is whole, so that there is never half of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakehold.demo import activity, company, web_shop, web_shop_data, web_shop_marts
from lakehold.directory import links
from lakehold.directory.caller import Caller
from lakehold.directory.links import SIGN_IN
from lakehold.directory.platform import Platform
from lakehold.kit import settings
from lakehold.kit.errors import ConflictError
from lakehold.kit.settings import Settings

PEOPLE = {
    "olga": "everything: people, groups, the audit log, view as",
    "tara": "data marts and reports, which she keeps",
    "ana": "tables of the lakehouse, and more that she has asked for",
    "otto": "tasks of two data spaces, which he runs",
    "nils": "one app, and what he could ask for",
}
"""Five who see very different things, and what."""

_LINK_MINUTES = 1440


def settings_in(folder: Path) -> Settings:
    """Those of the environment, but for everything that would lead out of the folder."""
    there = {"data": folder, "database": "", "key": "", "smtp": "", "warehouse": "", "volumes": ""}
    # Its own database and API are on this machine; nothing else here is one that its people could read.
    shop = web_shop.customers_address(folder)
    return settings.load_settings(**there, private_addresses=True, databases=shop, link_minutes=_LINK_MINUTES)


def is_there(folder: Path) -> bool:
    """Whether the company lies in this folder. One with something else in it is not touched."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    refusal = ConflictError(f"{folder} has something else in it.", "Choose another one with --folder.")
    if not (folder / "lakehold.sqlite").is_file():
        raise refusal
    platform = Platform(settings_in(folder))
    try:
        platform.database.migrate()
        if not company.is_loaded(platform.access):
            raise refusal
    finally:
        platform.close()
    return True


def make(folder: Path) -> None:
    """Make it, whole or not at all."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    platform = Platform(settings_in(part))
    try:
        platform.database.migrate()
        activity.load_with_activity(platform)
        activity.start_access_review(platform)
        web_shop.create_web_shop(platform, folder)
        web_shop_marts.create_web_shop_marts(platform)
    finally:
        platform.close()
    part.replace(folder)


@contextmanager
def api(folder: Path) -> Iterator[None]:
    """Answer what the company's web shop asks for, as long as the block lasts."""
    with web_shop_data.serve_events() as address:
        platform = Platform(settings_in(folder))
        try:
            web_shop.set_events_address(platform, address)
        finally:
            platform.close()
        yield


def links_at(folder: Path, address: str) -> list[tuple[str, str, str]]:
    """Whom a new link signs in, what they are there for, and the link. Those of an earlier start end."""
    read = settings_in(folder).model_copy(update={"address": address})
    platform = Platform(read)
    try:
        with platform.write(Caller(company.TENANT, "olga", address="local")) as ctx:
            return [
                (company.PEOPLE[member], words, links.create(ctx, read, member, SIGN_IN).link)
                for member, words in PEOPLE.items()
            ]
    finally:
        platform.close()
