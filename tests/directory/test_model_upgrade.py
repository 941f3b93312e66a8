"""Shipped models follow the installed release; custom models stay, and are checked against the new ones."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest
import sqlalchemy as sa

from lakehold import workspaces
from lakehold.access import Adopt
from lakehold.access.facts import tables
from lakehold.access.model.loader import load_model, parse_model
from lakehold.access.model.schema import AccessModel, hash_source
from lakehold.directory import model_upgrade, tenants
from lakehold.directory.caller import Caller
from lakehold.directory.model_upgrade import ModelStatus, upgrade_models
from lakehold.directory.platform import Platform
from lakehold.directory.tenants import TenantSetup
from lakehold.ledger.audit import AuditFilter
from tests.access.model.test_custom import LIBRARY
from tests.clock import StoppedClock
from tests.directory.acme import SECRET, AcmePlatform

CURRENT = {model.name: model.source for model in workspaces.models()}
OLD_PRODUCTS = CURRENT["products"].replace("[edit_metadata, add_source,", "[edit_metadata,")
OLD_TENANT = CURRENT["tenant"].replace("      - export\n", "      - export\n      - lend_books\n")
OLD_LIBRARY = LIBRARY.replace("create: tenant.create_workspace", "create: tenant.lend_books")

Found = Callable[..., AcmePlatform]


def release_after(*old: str) -> tuple[AccessModel, ...]:
    """The models of this release, as if an earlier one had shipped these texts."""
    hashes = frozenset(map(hash_source, old))
    return tuple(replace(model, released=model.released | hashes) for model in workspaces.models())


@pytest.fixture
def found(empty_platform: Platform, clock: StoppedClock) -> Found:
    """Creates the tenant Acme with these texts in place of the present ones."""

    def create(*old: str) -> AcmePlatform:
        models = {model.name: model for model in (*workspaces.models(), *map(parse_model, old))}
        setup = TenantSetup("Acme", "Olga", "olga@example.org", SECRET)
        made = tenants.create_tenant(empty_platform, models.values(), setup, first=True)
        clock.advance(1)
        return AcmePlatform(empty_platform, clock, Caller(made.tenant, made.owner))

    return create


def sources_of(platform: Platform, tenant: str = "acme") -> dict[str, str]:
    with platform.read(Caller(tenant, "")) as ctx:
        return dict(ctx.view.sources)


def statuses(acme: AcmePlatform, release: Sequence[AccessModel]) -> dict[str, ModelStatus]:
    with acme.platform.read(acme.olga) as ctx:
        return model_upgrade.model_status(ctx.view, release)


def versions(platform: Platform, name: str) -> int:
    query = sa.select(sa.func.count()).where(tables.model.c.name == name)
    with platform.database.read() as transaction:
        return int(transaction.connection.execute(query).scalar_one())


def adoptions(acme: AcmePlatform) -> list[tuple[str, str, object]]:
    return [
        (entry.member, entry.reason, parse_model(str(entry.after["model"])).name)
        for entry in acme.log(entry_filter=AuditFilter(action="adopt model"))
    ]


@contextmanager
def another_process(acme: AcmePlatform) -> Iterator[Platform]:
    opened = Platform(acme.platform.settings, acme.clock)
    try:
        yield opened
    finally:
        opened.close()


@pytest.mark.parametrize("model", workspaces.models(), ids=lambda model: model.name)
def test_every_shipped_text_is_listed(model: AccessModel) -> None:
    digest = hash_source(model.source)
    assert digest in model.released, f"Add to model.versions beside the model {model.name}: {digest}"


def test_the_list_lies_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text(LIBRARY, encoding="utf-8")
    assert load_model(tmp_path / "model.yaml").released == frozenset()
    (tmp_path / "model.versions").write_text("# comment\n\nabc  2026-11-15\ndef\n", encoding="utf-8")
    assert load_model(tmp_path / "model.yaml").released == {"abc", "def"}


def test_a_shipped_model_follows_the_release(found: Found) -> None:
    acme = found(OLD_PRODUCTS)
    project = acme.create_resource("products.project", "goods", tenant=acme.tenant)
    acme.person("Eve", ("editor", project))

    def allowed(platform: Platform) -> bool:
        with platform.read(Caller("acme", "eve")) as ctx:
            return ctx.session.check("eve", "add_source", "goods")

    with another_process(acme) as other:
        assert not allowed(acme.platform)
        assert not allowed(other)
        before = acme.clock()
        acme.clock.advance(60)
        model_upgrade.migrate(acme.platform, release_after(OLD_PRODUCTS))
        assert sources_of(acme.platform) == CURRENT
        assert allowed(acme.platform)
        assert allowed(other)
    with acme.platform.read(acme.olga) as ctx:
        assert not ctx.session.as_of(before).check("eve", "add_source", "goods")


def test_an_upgrade_is_audited_as_the_platforms_own(found: Found) -> None:
    acme = found(OLD_PRODUCTS)
    upgrade_models(acme.platform, release_after(OLD_PRODUCTS))
    assert adoptions(acme) == [("", "upgrade", "products")]


def test_an_upgrade_is_made_once(found: Found) -> None:
    acme = found(OLD_PRODUCTS)
    for _ in range(3):
        upgrade_models(acme.platform, release_after(OLD_PRODUCTS))
    assert (versions(acme.platform, "products"), versions(acme.platform, "marts")) == (2, 1)
    assert len(adoptions(acme)) == 1


def test_a_tenant_that_is_up_to_date_is_not_even_loaded(acme: AcmePlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Platform, "write")
    monkeypatch.delattr(Platform, "read")
    upgrade_models(acme.platform, workspaces.models())


def test_of_two_processes_that_start_at_once_one_upgrades(found: Found) -> None:
    acme = found(OLD_PRODUCTS, OLD_TENANT)
    acme.second_tenant()
    release, start = release_after(OLD_PRODUCTS, OLD_TENANT), Barrier(4)

    def run(_: int) -> None:
        with another_process(acme) as platform:
            start.wait()
            upgrade_models(platform, release)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run, range(4)))
    assert sources_of(acme.platform) == CURRENT
    assert sorted(adoptions(acme)) == [("", "upgrade", "products"), ("", "upgrade", "tenant")]


def test_models_that_only_go_together_are_adopted_together(found: Found) -> None:
    old = [source.replace("create_workspace", "found_workspace") for source in CURRENT.values()]
    acme = found(*old)
    upgrade_models(acme.platform, release_after(*old))
    assert sources_of(acme.platform) == CURRENT
    with another_process(acme) as other:
        assert sources_of(other) == CURRENT


def test_every_tenant_is_upgraded(found: Found) -> None:
    acme = found(OLD_PRODUCTS)
    acme.second_tenant()
    with acme.platform.write(Caller("bolt", "")) as ctx:
        ctx.session.store.apply(Adopt(OLD_PRODUCTS))
    upgrade_models(acme.platform, release_after(OLD_PRODUCTS))
    assert sources_of(acme.platform, "acme") == sources_of(acme.platform, "bolt") == CURRENT


def test_a_new_way_of_working_is_adopted(acme: AcmePlatform) -> None:
    fifth = parse_model(LIBRARY)
    upgrade_models(acme.platform, (*workspaces.models(), fifth))
    assert sources_of(acme.platform) == {**CURRENT, "library": LIBRARY}
    assert adoptions(acme) == [("", "upgrade", "library")]
    # Without the package it stays: there may be resources of its kinds.
    upgrade_models(acme.platform, workspaces.models())
    assert "library" in sources_of(acme.platform)


def test_a_custom_text_under_a_shipped_name_stays(found: Found) -> None:
    acme = found(OLD_PRODUCTS, OLD_TENANT)
    release = release_after(OLD_TENANT)
    upgrade_models(acme.platform, release)
    assert sources_of(acme.platform) == {**CURRENT, "products": OLD_PRODUCTS}
    status = statuses(acme, release)
    assert (status["products"], status["tenant"]) == (ModelStatus(shipped=False), ModelStatus(shipped=True))


def test_a_custom_model_that_fits_is_not_in_the_way(found: Found) -> None:
    acme = found(OLD_PRODUCTS, LIBRARY)
    upgrade_models(acme.platform, release_after(OLD_PRODUCTS))
    assert sources_of(acme.platform) == {**CURRENT, "library": LIBRARY}


def test_a_custom_model_that_does_not_fit_keeps_the_tenant_as_it_is(
    found: Found, caplog: pytest.LogCaptureFixture
) -> None:
    acme = found(OLD_PRODUCTS, OLD_TENANT, OLD_LIBRARY)
    acme.second_tenant()
    before, release = sources_of(acme.platform), release_after(OLD_PRODUCTS, OLD_TENANT)
    with caplog.at_level(logging.WARNING, "lakehold.models"):
        upgrade_models(acme.platform, release)
    assert sources_of(acme.platform) == before
    assert adoptions(acme) == []
    assert sources_of(acme.platform, "bolt") == CURRENT
    (line,) = (record.getMessage() for record in caplog.records)
    for part in ("tenant acme", "'library'", "library/model.yaml:", "lend_books", "next start"):
        assert part in line
    status = statuses(acme, release)
    for name in ("products", "tenant"):
        assert status[name].shipped
        assert status[name].outdated
    assert status["library"].problem == status["tenant"].problem == status["products"].problem
    assert "lend_books" in status["library"].problem
    assert (status["library"].shipped, status["library"].outdated) == (False, False)
    assert status["marts"] == ModelStatus(shipped=True)

    with acme.platform.write(acme.olga) as ctx:
        ctx.make(Adopt(LIBRARY))
    assert statuses(acme, release)["tenant"] == ModelStatus(shipped=True, outdated=True)
    upgrade_models(acme.platform, release)
    assert sources_of(acme.platform) == {**CURRENT, "library": LIBRARY}


def test_a_custom_model_under_a_shipped_name_may_lack_what_others_need(found: Found) -> None:
    old = [source.replace("create_workspace", "found_workspace") for source in CURRENT.values()]
    acme = found(*old)
    release = tuple(
        replace(model, released=frozenset()) if model.name == "tenant" else model for model in release_after(*old)
    )
    upgrade_models(acme.platform, release)
    assert sources_of(acme.platform)["marts"] != CURRENT["marts"]
    status = statuses(acme, release)
    assert "custom model 'tenant'" in status["tenant"].problem
    assert status["marts"].outdated


def test_a_kind_that_is_dropped_while_there_are_resources_of_it(found: Found, caplog: pytest.LogCaptureFixture) -> None:
    note = "\n  note:\n    in: project\n    create: project.add_source\n    actions: [see]\n"
    old = CURRENT["products"] + note + "    allow:\n      - {who: project.viewer, may: see}\n"
    acme = found(old)
    project = acme.create_resource("products.project", "goods", tenant=acme.tenant)
    acme.create_resource("products.note", "memo", project=project)
    release = release_after(old)
    upgrade_models(acme.platform, release)
    assert sources_of(acme.platform)["products"] == old
    assert "products.note" in statuses(acme, release)["products"].problem
    assert "products.note" in caplog.text
    with acme.platform.write(Caller(acme.tenant, "")) as ctx:
        ctx.session.store.delete("memo")
    upgrade_models(acme.platform, release)
    assert sources_of(acme.platform) == CURRENT
