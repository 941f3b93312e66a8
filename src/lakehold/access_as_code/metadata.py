"""The metadata of a tenant's members and resources: addresses, descriptions and settings."""

from collections.abc import Mapping

from lakehold.access.facts.view import FactView
from lakehold.access_as_code.tenant_state import EntryMetadata
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory import accounts, members
from lakehold.directory.request_context import RequestContext


def load_metadata(ctx: RequestContext, declared: Mapping[str, EntryMetadata] | None = None) -> dict[str, EntryMetadata]:
    """Load the metadata of members and resources by id. E-mail addresses come from the directory, descriptions and
    settings from the catalog. Settings that only the platform sets are left out, unless the files declare them.
    """

    def numbers(view: FactView) -> tuple[dict[int, str], dict[int, str]]:
        people = {number: view.uid(number) for number in view.members}
        rest = {
            number: view.uid(number)
            for kind in view.policy.kinds
            for number in view.by_kind.get(kind) or ()
            if number not in people
        }
        return people, rest

    people, rest = ctx.session.read_view(numbers)
    found = {
        people[number]: EntryMetadata(email=account.email or "", service=account.service)
        for number, account in accounts.get_many(ctx, people).items()
    }
    for number, detail in resource_metadata.load_many(ctx, rest).items():
        uid = rest[number]
        named = declared[uid].settings if declared and uid in declared else {}
        kept = resource_metadata.without_managed(ctx.view.kind(number), detail.settings)
        settings = {name: value for name, value in detail.settings.items() if name in kept or name in named}
        found[uid] = EntryMetadata(description=detail.description, settings=settings)
    return {uid: entry for uid, entry in found.items() if entry != EntryMetadata()}


def save_metadata(ctx: RequestContext, entries: Mapping[str, EntryMetadata]) -> None:
    """Save metadata, with the right that each change needs."""
    people = ctx.session.read_view(lambda view: {view.uid(number) for number in view.members})
    for uid, entry in entries.items():
        if uid not in people:
            resource_edit.apply_edit(ctx, uid, ResourceEdit(description=entry.description, settings=entry.settings))
        elif entry.service:
            if accounts.get(ctx, uid) is None:
                accounts.add(ctx, uid, service=True)
                ctx.note("make service account", uid)
        elif entry.email:
            members.set_email(ctx, uid, entry.email)
