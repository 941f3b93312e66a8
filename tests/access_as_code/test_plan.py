"""A plan: what it says, in which order, what it does to whom, and when it is refused."""

from __future__ import annotations

import json

import pytest

from lakehold import workspaces
from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Add, Adopt, Attribute, Edge, Grant, Remove
from lakehold.access_as_code import ChangePlan, EntryMetadata, apply_plan, file_format, make_plan, parse_files, plan
from lakehold.access_as_code.plan_text import render_plan
from lakehold.access_as_code.steps import Create, Delete, MakeChange, Rename
from lakehold.demo import company
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError, InvalidInputError
from tests.access_as_code.direct_writer import DirectWriter, apply_files, export_as_owner, plan_files
from tests.clock import StoppedClock

CORNER = company.TENANT
LAKE, PEOPLE, SALES = "workspaces/store-lake.yaml", "people.yaml", "workspaces/sales-marts.yaml"

STUDIES = """\
model: studies
extends: [tenant]
kinds:
  lab:
    in: tenant
    creator: head
    roles:
      head: {given_with: manage}
    membership:
      clearance: {values: [basic, full]}
    actions: [see, manage]
    allow:
      - {who: head, may: all}
  study:
    in: lab
    roles:
      members: {given_with: share}
    attributes:
      kind: {values: [field, desk]}
    actions: [see, share]
    allow:
      - {who: members, when: kind = field, may: see}
      - {who: lab.head, may: all}
"""
LAB = """\
workspaces:
  lab:
    kind: studies.lab
    head: carla
    membership:
      bella: {clearance: full}
    holds:
      study:
        habits: {.members: bella, .kind: desk}
"""


def edit(files: dict[str, str], name: str, old: str, new: str) -> None:
    assert files[name].count(old) == 1, old
    files[name] = files[name].replace(old, new)


def test_nothing_to_do(access: AccessEngine, files: dict[str, str]) -> None:
    found = plan_files(access, CORNER, files)
    assert found.is_empty
    assert render_plan(found) == "No changes: the tenant matches the files.\n"


def test_what_a_plan_says(access: AccessEngine, files: dict[str, str]) -> None:
    edit(files, LAKE, "          viewer: ana\n", "          viewer: [ana, {who: nils, until: 2030-01-01}]\n")
    edit(files, LAKE, "              stock: {}\n", "              returns_table: {name: Returns, editor: erik}\n")
    edit(files, LAKE, "name: Clean", "name: Cleaned")
    edit(files, PEOPLE, "members: [ana, bella, boris]", "members: [ana, boris, victor]")
    edit(files, PEOPLE, 'nils: {name: "Nils, New here"}', 'nils: {name: "Nils, New here", email: nils@corner.example}')
    edit(
        files, SALES, "        daily_sales:\n          name: Daily sales", "        daily_sales:\n          name: Sales"
    )
    found = plan_files(access, CORNER, files)
    expected = [
        Create("lakehouse.table", "returns_table", "Returns", {"layer": ("clean",)}),
        MakeChange(Add(Grant("erik", "editor", "returns_table"))),
        MakeChange(Add(Grant("nils", "viewer", "clean")), until=file_format.parse_moment("2030-01-01")),
        MakeChange(Add(Edge("member_of", "victor", "analysts"))),
        MakeChange(Remove(Edge("member_of", "bella", "analysts"))),
        Rename("clean", "Cleaned", "Clean"),
        Rename("daily_sales", "Sales", "Daily sales"),
        Delete("lakehouse.table", "stock", "stock"),
    ]
    assert sorted(map(repr, found.steps)) == sorted(map(repr, expected))
    assert found.metadata == {"nils": EntryMetadata(email="nils@corner.example")}
    assert found.effects is not None
    effect_counts = {(g.gained, g.kind, g.action): (g.members, g.resources) for g in found.effects.groups}
    assert effect_counts[True, "lakehouse.table", "see"] == (9, 16)  # the new one, Victor's and Nils's
    assert ("bella", "read", "sales_by_day", False) in set(found.effects.rows())
    assert ("erik", "edit", "returns_table", True) in set(found.effects.rows())
    assert ("erik", "edit", "stock", False) in set(found.effects.rows())
    plan_text = render_plan(found, rows=True)
    assert '~ lakehouse.layer clean "Cleaned"\n' in plan_text
    assert "    + viewer nils, until 2030-01-01\n" in plan_text
    assert '    ~ name "Clean" → "Cleaned"\n' in plan_text
    assert "- lakehouse.table stock\n" in plan_text
    assert (
        "1 thing to create, 2 names to change, 1 thing to delete, 3 facts to add, 1 fact to take away, 1 text to set."
        in plan_text
    )
    assert "gain  erik  edit  returns_table\n" in plan_text


def test_effects_are_those_of_what_if(access: AccessEngine, files: dict[str, str]) -> None:
    edit(files, PEOPLE, "members: [ana, bella, boris]", "members: [ana, boris, victor]")
    found = plan_files(access, CORNER, files)
    with access.read(CORNER) as session:
        asked = session.what_if([step.change for step in found.steps if isinstance(step, MakeChange)])
        assert found.effects is not None
        assert found.effects.groups == asked.groups
        assert set(found.effects.rows()) == set(asked.rows())


@pytest.mark.flow
def test_applied(access: AccessEngine, files: dict[str, str]) -> None:
    edit(files, LAKE, "          viewer: ana\n", "          viewer: {who: ana, from: 2030-01-01}\n")
    edit(files, SALES, "business_user: [bella, boris]", "business_user: [bella, boris, nils]")
    apply_files(access, CORNER, files)
    assert export_as_owner(access, CORNER) == files
    with access.read(CORNER) as session:
        assert not session.check("ana", "read", "orders")
        assert session.as_of(file_format.parse_moment("2030-01-02")).check("ana", "read", "orders")


def test_facts_that_have_begun_or_ended_since(access: AccessEngine, files: dict[str, str], clock: StoppedClock) -> None:
    with access.write(CORNER) as session:
        session.store.add(Grant("nils", "viewer", "raw"), until=session.at + DAY)
        session.store.add(Grant("nils", "viewer", "clean"), since=session.at + DAY)
        session.store.add(Grant("nils", "viewer", "shaped"), since=session.at + DAY, until=session.at + 3 * DAY)
    kept = export_as_owner(access, CORNER)
    made = plan_files(access, CORNER, files)
    assert len(made.steps) == 3
    clock.advance(2 * 86_400)
    # The files are older than the world: what has begun holds, what is over is nothing.
    assert plan_files(access, CORNER, kept).is_empty
    # A plan that was made before a span began is made as if it had been made now.
    with access.write(CORNER) as session:
        apply_plan(DirectWriter(session), made)
    later = plan_files(access, CORNER, kept)
    clock.advance(2 * 86_400)
    with access.write(CORNER) as session:
        apply_plan(DirectWriter(session), plan.load_plan(plan.dump_plan(planned_at(later, session.seq))))
    with access.read(CORNER) as session:
        assert session.check("nils", "read", "orders")
        assert not session.check("nils", "read", "sales_by_day")


def planned_at(made: ChangePlan, seq: int) -> ChangePlan:
    return ChangePlan(made.tenant, seq, made.digest, made.steps)


def test_refused_when_the_world_has_moved(access: AccessEngine, files: dict[str, str]) -> None:
    edit(files, LAKE, "name: Clean", "name: Cleaned")
    made = plan_files(access, CORNER, files)
    with access.write(CORNER) as session:
        session.store.add(Grant("nils", "viewer", "raw"))
    with pytest.raises(ConflictError, match="has changed since the plan was made"), access.write(CORNER) as session:
        apply_plan(DirectWriter(session), made)


def test_refused_when_the_files_have_changed(access: AccessEngine, files: dict[str, str]) -> None:
    edit(files, LAKE, "name: Clean", "name: Cleaned")
    made = plan_files(access, CORNER, files)
    edit(files, LAKE, "name: Cleaned", "name: Cleanest")
    with pytest.raises(ConflictError, match="The files have changed"), access.write(CORNER) as session:
        apply_plan(DirectWriter(session), made, parse_files(files))


def test_refused_for_another_tenant(access: AccessEngine, files: dict[str, str]) -> None:
    made = plan_files(access, CORNER, files)
    access.create_tenant("other", "Other", workspaces.models())
    with pytest.raises(ConflictError, match="for the tenant 'corner'"), access.write("other") as session:
        apply_plan(DirectWriter(session), made)


def test_refused_when_it_did_not_become_so(access: AccessEngine, files: dict[str, str]) -> None:
    class Idle(DirectWriter):
        def rename(self, uid: str, name: str) -> None:
            """Do nothing."""

    edit(files, LAKE, "name: Clean", "name: Cleaned")
    declared = parse_files(files)
    made = plan_files(access, CORNER, declared)
    with pytest.raises(ConflictError, match="1 steps were taken without effect"), access.write(CORNER) as session:
        apply_plan(Idle(session), made, declared)


def test_files_without_a_tenant_are_not_all_there_is(access: AccessEngine) -> None:
    with pytest.raises(InvalidInputError, match="no section `tenant:`"):
        plan_files(access, CORNER, {"tests.yaml": "tests: []"})


def test_the_last_owner(access: AccessEngine, files: dict[str, str]) -> None:
    edit(files, "tenant.yaml", "owner: olga", "owner: adam")
    apply_files(access, CORNER, files)  # given to one before it is taken from the other
    edit(files, "tenant.yaml", "  owner: adam\n", "")
    with pytest.raises(ConflictError, match="is the last Owner"):
        plan_files(access, CORNER, files)


def test_ids_keep_their_kind_and_are_never_used_twice(access: AccessEngine, files: dict[str, str]) -> None:
    other = dict(files)
    edit(other, LAKE, "              stock: {}\n", "")
    edit(
        other,
        LAKE,
        "            volume:\n              clean_files",
        "            volume:\n              stock: {}\n              clean_files",
    )
    with pytest.raises(InvalidInputError, match=r"store-lake.yaml:\d+: 'stock' is a lakehouse.table in the tenant"):
        plan_files(access, CORNER, other)
    with access.write(CORNER) as session:
        session.store.delete("stock")
    with pytest.raises(InvalidInputError, match="'stock' belonged to a deleted entry"):
        plan_files(access, CORNER, files)


def test_circles_are_turned(access: AccessEngine) -> None:
    with access.write(CORNER) as session:
        session.store.add(Edge("joins", "margins", "loyalty"))
        session.store.add(Edge("joins", "loyalty", "returns"))
    here = export_as_owner(access, CORNER)
    edit(here, SALES, "          joins: loyalty\n", "")
    edit(here, SALES, "          joins: returns\n", "          joins: margins\n")
    edit(
        here,
        SALES,
        "        returns:\n          name: Returns\n",
        "        returns:\n          name: Returns\n          joins: loyalty\n",
    )
    apply_files(access, CORNER, here)
    with access.read(CORNER) as session:
        view = session.current_view()
        assert [view.uid(end) for end in view.edges_out["joins"].get(view.resource("returns")) or ()] == ["loyalty"]


def test_a_fifth_model(access: AccessEngine, files: dict[str, str]) -> None:
    files |= {"models/studies.yaml": STUDIES, "workspaces/lab.yaml": LAB}
    made = apply_files(access, CORNER, files)
    assert made.steps[0] == MakeChange(Adopt(STUDIES))
    assert "~ model studies\n" in render_plan(made)
    there = export_as_owner(access, CORNER)
    assert there["models/studies.yaml"] == STUDIES
    assert there["workspaces/lab.yaml"].partition("\n")[2] == LAB
    with access.read(CORNER) as session:
        assert session.check("carla", "share", "habits")
        assert not session.check("bella", "see", "habits")
    changed = {**there, "models/studies.yaml": STUDIES.replace("kind = field", "kind = desk")}
    effects = plan_files(access, CORNER, changed).effects
    assert effects is not None
    assert list(effects.rows()) == [("bella", "see", "habits", True)]


def test_a_model_that_drops_a_kind(access: AccessEngine, files: dict[str, str]) -> None:
    """What is of the kind goes first, the model then, and what only the new one knows last."""
    files |= {"models/studies.yaml": STUDIES, "workspaces/lab.yaml": LAB}
    apply_files(access, CORNER, files)
    here = export_as_owner(access, CORNER)
    start = STUDIES.index("  study:")
    here["models/studies.yaml"] = STUDIES[:start] + STUDIES[start:].replace("study:", "paper:")
    edit(here, "workspaces/lab.yaml", "      study:\n        habits:", "      paper:\n        letters:")
    apply_files(access, CORNER, here)
    assert export_as_owner(access, CORNER)["workspaces/lab.yaml"] == here["workspaces/lab.yaml"]


def test_a_model_stays(access: AccessEngine, files: dict[str, str]) -> None:
    with access.write(CORNER) as session:
        session.store.apply(Adopt(STUDIES))
    made = plan_files(access, CORNER, files)
    assert made.steps == ()
    assert made.notes == ("The model studies is not in the files and stays: models are replaced, never removed.",)


def test_plans_can_be_kept(access: AccessEngine, files: dict[str, str]) -> None:
    edit(files, LAKE, "          viewer: ana\n", "          viewer: {who: ana, from: 2030-01-01T12:30:00Z}\n")
    files |= {"models/studies.yaml": STUDIES, "workspaces/lab.yaml": LAB}
    made = plan_files(access, CORNER, files)
    kept = plan.load_plan(plan.dump_plan(made))
    assert (kept.tenant, kept.seq, kept.digest, kept.steps) == (made.tenant, made.seq, made.digest, made.steps)
    with access.write(CORNER) as session:
        apply_plan(DirectWriter(session), kept, parse_files(files))
    assert "1 of the facts begin later" in render_plan(made)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"format": 2}', '{"format": 1, "tenant": "x", "seq": "y"}', "\ud800"]
)
def test_what_is_no_plan(text: str) -> None:
    with pytest.raises(InvalidInputError):
        plan.load_plan(text)


@pytest.mark.parametrize("step", [{}, {"step": "fly"}, {"step": "add", "fact": "x"}, {"step": "create", "kind": 1}, 3])
def test_what_is_no_step(step: object) -> None:
    data = json.loads(plan.dump_plan(ChangePlan("corner", 1, "", ())))
    data["steps"] = [step]
    with pytest.raises(InvalidInputError):
        plan.load_plan(json.dumps(data))


def test_attributes_go_back_to_their_default(access: AccessEngine, files: dict[str, str]) -> None:
    edit(files, "workspaces/olga-s-own.yaml", ", personal: true", "")
    made = plan_files(access, CORNER, files)
    assert made.steps == (MakeChange(Remove(Attribute("olgas", "personal", "true"))),)


def test_what_is_told_beside_the_facts(access: AccessEngine, files: dict[str, str]) -> None:
    edit(files, PEOPLE, 'olga: {name: "Olga, Owner"}', 'olga: {name: "Olga, Owner", email: o@corner.example}')
    edit(files, PEOPLE, 'otto: {name: "Otto, Operator"}', 'otto: {name: "Otto, Operator", service: true}')
    edit(
        files,
        LAKE,
        "              orders: {}\n",
        "              orders: {description: All of them, settings: {keep: 3}}\n",
    )
    expected = {
        "olga": EntryMetadata(email="o@corner.example"),
        "otto": EntryMetadata(service=True),
        "orders": EntryMetadata(description="All of them", settings={"keep": 3}),
    }
    with access.read(CORNER) as session:
        declared = parse_files(files)
        assert make_plan(session, declared).metadata == expected
        assert make_plan(session, declared, expected).is_empty
        # An address that files leave out stays; what else they leave out goes.
        there = expected | {"adam": EntryMetadata(email="a@corner.example"), "stock": EntryMetadata(description="old")}
        assert make_plan(session, declared, there).metadata == {"stock": EntryMetadata()}
        made = make_plan(session, declared, {"orders": EntryMetadata(settings={"keep": True})})
        assert "    ~ settings {keep: 3}\n" in render_plan(made)
        assert plan.load_plan(plan.dump_plan(made)).metadata == expected
        with pytest.raises(InvalidInputError, match="'otto' is a person in the tenant"):
            make_plan(session, declared, {"otto": EntryMetadata(email="otto@corner.example")})
