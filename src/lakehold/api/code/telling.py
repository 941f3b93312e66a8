"""What is told of things beside their facts: addresses by the directory, descriptions and settings by the catalog."""

from __future__ import annotations

from collections.abc import Mapping

from lakehold.access.facts.view import View
from lakehold.catalog import details, editing
from lakehold.catalog.editing import Edit
from lakehold.code import Told
from lakehold.directory import accounts, members
from lakehold.directory.work import Work


def read(work: Work) -> dict[str, Told]:
    """All of it, by id."""

    def numbers(view: View) -> tuple[dict[int, str], dict[int, str]]:
        people = {number: view.uid(number) for number in view.members}
        rest = {
            number: view.uid(number)
            for kind in view.policy.kinds
            for number in view.of_kind.get(kind) or ()
            if number not in people
        }
        return people, rest

    people, rest = work.session.asking(numbers)
    found = {
        people[number]: Told(email=account.email or "", service=account.service)
        for number, account in accounts.among(work, people).items()
    }
    for number, detail in details.read_many(work, rest).items():
        found[rest[number]] = Told(description=detail.description, settings=detail.settings)
    return {uid: told for uid, told in found.items() if told != Told()}


def write(work: Work, wanted: Mapping[str, Told]) -> None:
    """Let this be told, with the right that each of it needs."""
    people = work.session.asking(lambda view: {view.uid(number) for number in view.members})
    for uid, told in wanted.items():
        if uid not in people:
            editing.edit(work, uid, Edit(description=told.description, settings=told.settings))
        elif told.service:
            if accounts.of(work, uid) is None:
                accounts.add(work, uid, service=True)
                work.note("make service account", uid)
        elif told.email:
            members.set_email(work, uid, told.email)
