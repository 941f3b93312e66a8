"""A law: whatever the catalog answers, it names nothing that the caller may not see, whoever was granted what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehold.access import AccessSession, Attribute, Grant, TokenPrincipal
from lakehold.catalog import approvals, discovery, grants, requests, resources, usage, workspaces
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from tests.demo_company import TENANT, DemoPlatform, as_member

PEOPLE = sorted(company.PEOPLE)
WORDS = {"actions", "action", "role"}
SUBJECTS = [*PEOPLE, *company.GROUPS, f"{TENANT}/all"]


def ids_in(answer: object) -> Iterator[str]:
    """Every text in an answer; keys are words of a model."""
    if isinstance(answer, str):
        yield answer
    elif is_dataclass(answer):
        named = (field.name for field in fields(answer) if field.name not in WORDS)
        yield from (text for name in named for text in ids_in(getattr(answer, name)))
    elif isinstance(answer, dict):
        yield from (text for part in answer.values() for text in ids_in(part))
    elif isinstance(answer, list | tuple):
        yield from (text for part in answer for text in ids_in(part))


def grantable(session: AccessSession) -> list[tuple[str, str]]:
    """Every role on every resource of the catalog."""
    view = session.current_view()
    return sorted(
        (view.uid(number), role)
        for kind, policy in view.policy.kinds.items()
        if not kind.startswith("tenant.")
        for number in view.by_kind.get(kind) or ()
        for role in policy.schema.roles
    )


def everything(ctx: RequestContext, uids: list[str]) -> Iterator[object]:
    """All that the catalog tells a caller, of everything that there is."""
    yield workspaces.page(ctx, limit=200)
    yield resources.find(ctx, limit=200)
    yield requests.list_own(ctx)
    yield approvals.list_answerable(ctx)
    yield usage.list_for_member(ctx, ctx.caller.member)
    yield grants.list_held_by(ctx, ctx.caller.member)
    for uid in uids:
        for ask in (resources.get, grants.list_direct, usage.list_for_resource, workspaces.members):
            try:
                yield ask(ctx, uid)
            except LakeholdError as error:
                # Who asks by id knows the id; no other may be quoted in the words.
                yield re.findall(r"'([^']*)'", str(error).replace(repr(uid), ""))


@pytest.fixture
def world(corner: DemoPlatform) -> DemoPlatform:
    """With some requests and some use in it."""
    notes = usage.UsageRecorder()
    for who, action, uid in (("ana", "edit", "orders"), ("bella", "read", "salaries"), ("otto", "run", "copy_erp")):
        with corner.write(as_member(who)) as ctx:
            requests.create(ctx, action, uid, reason="Please.")
            notes.record(ctx, action, uid)
    notes.flush(corner.database)
    return corner


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_nothing_that_may_not_be_seen_is_named(world: DemoPlatform, data: st.DataObject) -> None:
    with world.access.write(TENANT) as session:
        roles = grantable(session)
        for _ in range(data.draw(st.integers(0, 6))):
            uid, role = data.draw(st.sampled_from(roles))
            try:
                session.store.add(Grant(data.draw(st.sampled_from(SUBJECTS)), role, uid))
            except LakeholdError:
                continue  # a role of a person, for a group
        hidden = data.draw(st.sampled_from(["salaries", "lake", "customer", "landing"]))
        session.store.add(Attribute(hidden, "discoverable", data.draw(st.sampled_from(["true", "false"]))))
    member = data.draw(st.sampled_from(PEOPLE))
    place = data.draw(st.sampled_from([None, "clean", "sales", "landing"]))
    narrowed = TokenPrincipal(member, resources=frozenset({place})) if place else None
    caller = Caller(TENANT, member, narrowed=narrowed, token_id="t" if place else "")
    with world.read(caller) as ctx:
        view = ctx.view
        uids = [view.uid(number) for kind in view.policy.kinds for number in view.by_kind.get(kind) or ()]
        unseen = {uid for uid in uids if not ctx.session.can_see(caller.principal, uid)}
        unseen -= {item.uid for item in discovery.find(ctx, limit=200).items}
        own = {named_ids.request.resource for named_ids in requests.list_own(ctx)} | {member}
        some = data.draw(st.lists(st.sampled_from(uids), min_size=20, max_size=20, unique=True))
        named_ids = {text for answer in everything(ctx, some) for text in ids_in(answer)}
        leaked = (unseen - own) & named_ids
        assert not leaked


def test_the_law_would_notice(world: DemoPlatform) -> None:
    with world.read(as_member("olga")) as ctx:
        assert "salaries" in set(ids_in(resources.find(ctx, "salaries")))
        assert {"ana", "orders"} <= set(ids_in(approvals.list_answerable(ctx)))


def test_who_gives_a_part_of_a_request_need_not_learn_what_it_is_for(world: DemoPlatform) -> None:
    """Otto wants to run copy_erp, for which Erik needs a role in a space that Nils owns."""
    with world.access.write(TENANT) as session:
        session.store.add(Grant("nils", "owner", "sources"))
    with world.read(as_member("nils")) as ctx:
        (asked,) = approvals.list_answerable(ctx)
        assert asked.facts == (Grant("erik", "can_consume_data", "sources"),)
        assert "copy_erp" not in set(ids_in([asked, requests.get(ctx, asked.request.uid)]))
    with world.write(as_member("nils")) as ctx:
        assert approvals.approve(ctx, asked.request.uid).request.resource == ""
    with world.read(as_member("otto")) as ctx:
        (own,) = requests.list_own(ctx)
        assert (own.request.resource, own.request.state) == ("copy_erp", "approved")
