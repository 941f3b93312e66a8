"""Upgrades a platform to the installed release: its tables, and the access models of every tenant that came with an
earlier release.

A tenant's model is shipped if some release shipped its text under its name, and follows the release. Any other is
custom and is never replaced. If the new models do not go together with the custom ones, or facts would lose their
meaning, the tenant keeps all the models that it has, and the log and the REST API say why.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.access.facts.changes import with_models

# past the access filter: the tenants' own rows, which the platform upgrades
from lakehold.access.facts.tables import model, resource
from lakehold.access.facts.view import FactView
from lakehold.access.model.errors import ModelError
from lakehold.access.model.policy import compile_policy
from lakehold.access.model.schema import AccessModel
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.clock import FOREVER
from lakehold.kit.database import Transaction
from lakehold.kit.errors import LakeholdError
from lakehold.kit.ids import quote

_log = logging.getLogger("lakehold.models")

ModelSources = Mapping[str, str]
"""The texts of models by name."""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The status of a tenant's model in relation to the release."""

    shipped: bool
    """Whether a release shipped its text; otherwise it is custom."""
    outdated: bool = False
    """Whether this release ships a newer one."""
    problem: str = ""
    """Why the newer models were not adopted: said of each outdated model, and of the custom ones that do not fit."""


def migrate(platform: Platform, models: Iterable[AccessModel]) -> None:
    """Migrate the tables, then upgrade the models. Every process that opens a platform calls this first."""
    platform.database.migrate()
    upgrade_models(platform, models)


def upgrade_models(platform: Platform, models: Iterable[AccessModel]) -> None:
    """Let every tenant adopt the models of this release. Of several processes that start at once, one does it."""
    release = tuple(models)
    with platform.database.read() as transaction:
        behind = _tenants_behind(transaction, release)
    for tenant, sources in behind.items():
        try:
            _upgrade_tenant(platform, tenant, release, sources)
        except LakeholdError as error:
            problem = _describe_problem(error, _custom_models(release, sources))
            _log.warning("tenant %s keeps the models of an earlier release. %s", tenant, problem)


def model_status(view: FactView, models: Iterable[AccessModel]) -> dict[str, ModelStatus]:
    """Return the status of each model of a tenant."""
    release, sources = tuple(models), view.sources
    custom, new = _custom_models(release, sources), _newer_sources(release, sources)
    problem, at_fault = "", set[str]()
    if new:
        try:
            with_models(view, new.values())
        except LakeholdError as error:
            problem, at_fault = _describe_problem(error, custom), _models_at_fault(error, custom)
    return {
        name: ModelStatus(name not in custom, name in new, problem if name in new or name in at_fault else "")
        for name in sources
    }


def _tenants_behind(transaction: Transaction, release: tuple[AccessModel, ...]) -> dict[str, dict[str, str]]:
    """Return the models of each tenant that lacks some of this release. The database compares: most are not read."""
    in_force = sa.and_(model.c.tenant_id == resource.c.id, model.c.until == FOREVER)
    same = sa.or_(*(sa.and_(model.c.name == each.name, model.c.source == each.source) for each in release))
    behind = (
        sa.select(resource.c.id)
        .outerjoin(model, sa.and_(in_force, same))
        .where(resource.c.tenant_id == resource.c.id)
        .group_by(resource.c.id)
        .having(sa.func.count(model.c.id) < len(release))
    )
    query = sa.select(resource.c.uid, model.c.name, model.c.source).join(model, in_force)
    found: dict[str, dict[str, str]] = {}
    for uid, name, source in transaction.connection.execute(query.where(resource.c.id.in_(behind))):
        found.setdefault(uid, {})[name] = source
    return found


def _upgrade_tenant(platform: Platform, tenant: str, release: tuple[AccessModel, ...], sources: ModelSources) -> None:
    new = _newer_sources(release, sources)
    if not new:
        return
    # What does not go together is refused before the facts are loaded and others have to wait.
    compile_policy(tuple(sorted({**sources, **new}.items())))
    with platform.write(Caller(tenant, "")) as ctx:
        # Another process may have been first.
        new = _newer_sources(release, ctx.view.sources)
        ctx.session.store.adopt(new.values())
        for source in new.values():
            ctx.note("adopt model", tenant, after={"model": source}, reason="upgrade")


def _newer_sources(release: tuple[AccessModel, ...], sources: ModelSources) -> dict[str, str]:
    """Return the models of this release that the tenant does not have, or has as an earlier release shipped them."""
    custom = _custom_models(release, sources)
    return {
        each.name: each.source for each in release if each.name not in custom and sources.get(each.name) != each.source
    }


def _custom_models(release: tuple[AccessModel, ...], sources: ModelSources) -> set[str]:
    """Return the names of the models whose text no release shipped under that name."""
    shipped = {each.name for each in release if each.name in sources and each.is_release(sources[each.name])}
    return set(sources) - shipped


def _models_at_fault(error: LakeholdError, custom: set[str]) -> set[str]:
    """Return the custom model that the error is in; all of them if it is in one of the release."""
    if not isinstance(error, ModelError):
        return set()
    return {error.place.file.partition("/")[0]} & custom or custom


def _describe_problem(error: LakeholdError, custom: set[str]) -> str:
    names = ", ".join(map(quote, sorted(_models_at_fault(error, custom))))
    if not names:
        return f"The models of this release could not be adopted: {error} The next start tries again."
    return (
        f"The models of this release do not fit the custom model {names}: {error} "
        "Adopt a version of the custom model that fits both releases; the next start tries again."
    )
