"""What is told of things beside their facts: addresses by the directory, descriptions and settings by the catalog."""

from __future__ import annotations

from collections.abc import Mapping

from lakehold.access.facts.view import FactView
from lakehold.access_as_code import EntryMetadata
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory import accounts, members
from lakehold.directory.request_context import RequestContext


def read(ctx: RequestContext) -> dict[str, EntryMetadata]:
    """All of it, by id."""

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
        found[rest[number]] = EntryMetadata(description=detail.description, settings=detail.settings)
    return {uid: told for uid, told in found.items() if told != EntryMetadata()}


def write(ctx: RequestContext, wanted: Mapping[str, EntryMetadata]) -> None:
    """Let this be told, with the right that each of it needs."""
    people = ctx.session.read_view(lambda view: {view.uid(number) for number in view.members})
    for uid, told in wanted.items():
        if uid not in people:
            resource_edit.apply_edit(ctx, uid, ResourceEdit(description=told.description, settings=told.settings))
        elif told.service:
            if accounts.get(ctx, uid) is None:
                accounts.add(ctx, uid, service=True)
                ctx.note("make service account", uid)
        elif told.email:
            members.set_email(ctx, uid, told.email)
