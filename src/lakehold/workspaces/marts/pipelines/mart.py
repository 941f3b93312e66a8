"""A data mart: its rows come from its storage, as often as it is refreshed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lakehold.access.decisions.explanation import describe_resource
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.kinds import RequiredRight
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import Alike, Ended, Notice, RunOptions, Step
from lakehold.workspaces.ends import ends, starts
from lakehold.workspaces.marts import nouns, storages
from lakehold.workspaces.marts.checks import checks_of
from lakehold.workspaces.marts.definitions import WORD, Definition, In
from lakehold.workspaces.marts.notifications import telling
from lakehold.workspaces.marts.steps import Keep, Look, Refresh
from lakehold.workspaces.spans import whole
from lakehold.workspaces.told import SettingsReader

DO, CHECK = "do", "check"
"""What a run may be asked to do instead of all: its checks alone."""


class MartPipeline(Alike):
    """Whoever edits a data mart refreshes it; whoever sees it sees its runs."""

    kind = nouns.DATA_MART
    trigger, schedule, stop, see = "edit", "manage_triggers", "edit", "see"
    trigger_kind = "marts.data_mart_trigger"
    choices: Mapping[str, Sequence[str]] = MappingProxyType({DO: (CHECK,)})

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Its own rows."""
        del ctx
        return [uid]

    def steps(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[Step]:
        """Its rows, drawn from the storage that the person may use; then its checks, or these alone.

        Rows that a check stops are not copied into the storage.
        """
        whole(wanted, WORD)
        ctx.need(self.trigger, uid)
        told = told_of(ctx, uid)
        definition = Definition.of(told)
        looks = [Look(name="check", reads=(uid,), mart=uid)] if checks_of(told) else []
        if wanted.parameters.get(DO) == CHECK:
            return looks or _no_checks(ctx, uid)
        storage = storage_of(ctx, uid)
        ctx.need("use", storage)
        refresh = Refresh(
            name="refresh", reads=(storage,), writes=(uid,), mart=uid, storage=storage, reload=wanted.reload
        )
        if not definition.kept_as:
            return [refresh, *looks]
        _refuse_place(ctx, uid, storage, definition.kept_as)
        return [refresh, *looks, Keep(name="keep", reads=(uid, storage), mart=uid, storage=storage)]

    def notices(self, ctx: RequestContext, uid: str, ended: Ended) -> Sequence[Notice]:
        """Whom its project tells."""
        return telling.notices(ctx, uid, uid, ended)

    def deleting(self, ctx: RequestContext, uid: str) -> RequiredRight:
        """As a Project Admin."""
        return admins_right(ctx, uid)


def _refuse_place(ctx: RequestContext, uid: str, storage: str, name: str) -> None:
    """A name in a storage is that of one data mart."""
    if storages.where(storages.told_of(ctx, storage)) is In.LAKE:
        raise ConflictError(
            "A data mart of a lakehouse is kept in the lake as it is.", "Leave the name of the copy, kept_as, empty."
        )
    others = (each for each in starts(ctx, storage, "storage") if each != uid)
    if any(str(told_of(ctx, each).all.get("kept_as", "")).casefold() == name.casefold() for each in others):
        raise ConflictError(f"Another data mart of this storage is kept as {quote(name)}.", "Choose another name.")


def _no_checks(ctx: RequestContext, uid: str) -> list[Step]:
    raise ConflictError(f"The {describe_resource(ctx.view, uid)} has no checks.", "Write some first.")


def admins_right(ctx: RequestContext, uid: str) -> RequiredRight:
    """What only the Project Admins of its project have."""
    project = kinds.workspace_of(ctx.view, uid)
    assert project is not None  # noqa: S101 - no mart and no report lies elsewhere
    return RequiredRight("manage_settings", project)


def told_of(ctx: RequestContext, uid: str) -> SettingsReader:
    """The settings of a data mart."""
    return SettingsReader(resource_metadata.load(ctx, uid).settings, WORD)


def need_published(ctx: RequestContext, uid: str) -> None:
    """A draft is not reported on, whatever else is missing from it."""
    told = told_of(ctx, uid)
    if not told.flag("published", default=False):
        raise ConflictError(f"The {describe_resource(ctx.view, uid)} is a draft.", "Publish it first.")
    Definition.of(told)


def storage_of(ctx: RequestContext, uid: str) -> str:
    """Where it draws from."""
    found = ends(ctx, uid, "storage")
    if not found:
        raise ConflictError(f"The {describe_resource(ctx.view, uid)} has no storage.", "Choose one.")
    return found[0]
