"""A data mart: its rows come from its storage, as often as it is refreshed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lakehold.access.decide.words import named
from lakehold.catalog import details, kinds
from lakehold.catalog.kinds import Right
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import shown
from lakehold.runs.runnable import Alike, Ended, Notice, Step, Wanted
from lakehold.workspaces.ends import ends, starts
from lakehold.workspaces.marts import nouns, storages
from lakehold.workspaces.marts.checks import checks_of
from lakehold.workspaces.marts.definitions import WORD, Definition, In
from lakehold.workspaces.marts.notifications import telling
from lakehold.workspaces.marts.steps import Keep, Look, Refresh
from lakehold.workspaces.spans import whole
from lakehold.workspaces.told import Told

DO, CHECK = "do", "check"
"""What a run may be asked to do instead of all: its checks alone."""


class MartPipeline(Alike):
    """Whoever edits a data mart refreshes it; whoever sees it sees its runs."""

    kind = nouns.DATA_MART
    trigger, schedule, stop, see = "edit", "manage_triggers", "edit", "see"
    trigger_kind = "marts.data_mart_trigger"
    choices: Mapping[str, Sequence[str]] = MappingProxyType({DO: (CHECK,)})

    def outputs(self, work: Work, uid: str) -> Sequence[str]:
        """Its own rows."""
        del work
        return [uid]

    def steps(self, work: Work, uid: str, wanted: Wanted) -> Sequence[Step]:
        """Its rows, drawn from the storage that the person may use; then its checks, or these alone.

        Rows that a check stops are not copied into the storage.
        """
        whole(wanted, WORD)
        work.need(self.trigger, uid)
        told = told_of(work, uid)
        definition = Definition.of(told)
        looks = [Look(name="check", reads=(uid,), mart=uid)] if checks_of(told) else []
        if wanted.parameters.get(DO) == CHECK:
            return looks or _no_checks(work, uid)
        storage = storage_of(work, uid)
        work.need("use", storage)
        refresh = Refresh(
            name="refresh", reads=(storage,), writes=(uid,), mart=uid, storage=storage, reload=wanted.reload
        )
        if not definition.kept_as:
            return [refresh, *looks]
        _refuse_place(work, uid, storage, definition.kept_as)
        return [refresh, *looks, Keep(name="keep", reads=(uid, storage), mart=uid, storage=storage)]

    def notices(self, work: Work, uid: str, ended: Ended) -> Sequence[Notice]:
        """Whom its project tells."""
        return telling.notices(work, uid, uid, ended)

    def deleting(self, work: Work, uid: str) -> Right:
        """As a Project Admin."""
        return admins_right(work, uid)


def _refuse_place(work: Work, uid: str, storage: str, name: str) -> None:
    """A name in a storage is that of one data mart."""
    if storages.where(storages.told_of(work, storage)) is In.LAKE:
        raise ConflictError(
            "A data mart of a lakehouse is kept in the lake as it is.", "Leave the name of the copy, kept_as, empty."
        )
    others = (each for each in starts(work, storage, "storage") if each != uid)
    if any(str(told_of(work, each).all.get("kept_as", "")).casefold() == name.casefold() for each in others):
        raise ConflictError(f"Another data mart of this storage is kept as {shown(name)}.", "Choose another name.")


def _no_checks(work: Work, uid: str) -> list[Step]:
    raise ConflictError(f"The {named(work.view, uid)} has no checks.", "Write some first.")


def admins_right(work: Work, uid: str) -> Right:
    """What only the Project Admins of its project have."""
    project = kinds.workspace_of(work.view, uid)
    assert project is not None  # noqa: S101 - no mart and no report lies elsewhere
    return Right("manage_settings", project)


def told_of(work: Work, uid: str) -> Told:
    """The settings of a data mart."""
    return Told(details.read(work, uid).settings, WORD)


def need_published(work: Work, uid: str) -> None:
    """A draft is not reported on, whatever else is missing from it."""
    told = told_of(work, uid)
    if not told.flag("published", default=False):
        raise ConflictError(f"The {named(work.view, uid)} is a draft.", "Publish it first.")
    Definition.of(told)


def storage_of(work: Work, uid: str) -> str:
    """Where it draws from."""
    found = ends(work, uid, "storage")
    if not found:
        raise ConflictError(f"The {named(work.view, uid)} has no storage.", "Choose one.")
    return found[0]
