"""The metadata of a tenant's members and resources: addresses, descriptions, settings, authors, schedules."""

from dataclasses import replace

from lakehold import workspaces
from lakehold.access_as_code.file_format import DEFINITION
from lakehold.access_as_code.tenant_state import EntryMetadata
from lakehold.catalog import credentials, resource_edit, resource_metadata
from lakehold.catalog.resource_metadata import DefinitionAuthors
from lakehold.directory import accounts
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.runs.scheduler.service import Trigger, Triggers
from lakehold.runs.service import Runs
from lakehold.workspaces import registry


def load_metadata(ctx: RequestContext) -> dict[str, EntryMetadata]:
    """Load the metadata of members and resources by id, for those who may export the tenant."""
    uids = ctx.session.read_view(
        lambda view: {each: view.uid(each) for kind in view.policy.kinds for each in view.by_kind.get(kind) or ()}
    )
    people = ctx.session.read_view(lambda view: list(view.members))
    found = {
        uids[number]: EntryMetadata(email=account.email, service=account.service)
        for number, account in accounts.get_many(ctx, people).items()
    }
    for number, detail in resource_metadata.load_many(ctx, uids.keys() - set(people)).items():
        settings = without_local(ctx.view.kind(number), detail.settings)
        found[uids[number]] = EntryMetadata(description=detail.description, settings=settings)
    authors = resource_metadata.load_all_authors(ctx)
    for number, uid in uids.items():
        entry = found.get(uid, EntryMetadata())
        if resource_edit.has_definition(ctx.view, uid, entry.settings):
            found[uid] = replace(entry, authors=_author_fields(authors.get(number, {})))
    for kind in registry.kind_descriptors().values():
        for name, stored in kind.file_settings.items():
            for uid, value in stored.load(ctx).items():
                entry = found.get(uid, EntryMetadata())
                found[uid] = replace(entry, settings={**entry.settings, name: value})
    for uid, names in credentials.load_all_names(ctx).items():
        found[uid] = replace(found.get(uid, EntryMetadata()), credentials=tuple(names))
    for trigger in Triggers(Runs(workspaces.runnables())).load_all(ctx):
        uid = trigger_entry(ctx, trigger)
        entry = found.get(uid, EntryMetadata())
        found[uid] = replace(entry, schedules={**entry.schedules, trigger.id: _schedule_fields(ctx, trigger)})
    return {uid: entry for uid, entry in found.items() if entry != EntryMetadata()}


def without_local(kind: str, settings: resource_metadata.Settings) -> dict[str, object]:
    """Return the settings of a resource without those that are true of this tenant alone."""
    schema = registry.find_settings_schema(kind)
    return {name: value for name, value in settings.items() if schema is None or name not in schema.local}


def _author_fields(authors: DefinitionAuthors) -> dict[str, object]:
    """Return the authors as files have them: of the whole definition, and of the parts that have another one."""
    fields = {part or DEFINITION: _author_value(author.caller) for part, author in authors.items()}
    whole = fields.get(DEFINITION)
    return {DEFINITION: whole} | {part: value for part, value in fields.items() if value != whole}


def _author_value(author: Caller) -> object:
    if author.narrowed is None:
        return author.member or None
    scope = {"actions": author.narrowed.actions, "resources": author.narrowed.resources}
    return {"member": author.member} | {name: sorted(part) for name, part in scope.items() if part is not None}


def trigger_entry(ctx: RequestContext, trigger: Trigger) -> str:
    """Return the entry that has a trigger's schedule: the trigger itself where its model has a kind for triggers."""
    return trigger.id if ctx.view.ids.get(trigger.id) is not None else trigger.resource


def _schedule_fields(ctx: RequestContext, trigger: Trigger) -> dict[str, object]:
    when = trigger.when
    starter = trigger.saved_by if ctx.view.ids.get(trigger.saved_by) is not None else ""
    fields = {
        "cron": when.cron,
        "zone": when.zone if when.cron and when.zone != "UTC" else "",
        "after": sorted(when.after),
        "every": when.every,
        "parameters": dict(trigger.parameters),
        "starter": starter,
    }
    # Without its starter it runs no more.
    stops = {} if trigger.active and starter else {"enabled": False}
    return {name: value for name, value in fields.items() if value} | stops
