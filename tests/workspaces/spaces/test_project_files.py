"""A data project as a YAML file, over REST: tasks of all types go to another data space, with connections by name."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from lakehold import workspaces
from lakehold.access import Draft, Grant
from lakehold.access_as_code import export_tenant, parse_files, tenant_writer
from lakehold.access_as_code.metadata import load_metadata
from lakehold.catalog import resource_metadata, resources
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.settings import Settings
from lakehold.workspaces.spaces.datasets import PREPARED, DesignState, design_state, fingerprint
from lakehold.workspaces.spaces.project_files import references
from lakehold.workspaces.spaces.task_planner import project_tasks
from tests.api.client import Api, Json, json_body, problem, serve_api

TENANT = "acme"
ERIK, OLGA = Caller(TENANT, "erik"), Caller(TENANT, "olga")
ADDRESS = {"connector": "database", "address": "jdbc:postgresql://db.acme.test/shop", "user": "reader"}
STORAGE = """project: p
tasks:
  a: {settings: {type: storage, datasets: [{name: x, keys: [%s], source: {task: %s, dataset: d}}]}}
"""
_numbers = count()


@pytest.fixture(scope="module")
def api(template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Erik edits and manages the spaces `here` and `there`, and consumes data of `Depot`; Vito views `here`."""
    folder = tmp_path_factory.mktemp("projects")
    shutil.copy(template_file, folder / "lakehold.sqlite")
    platform = Platform(Settings(data=folder / "data", database=f"sqlite:///{folder / 'lakehold.sqlite'}"))
    platform.access.create_tenant(TENANT, "Acme", workspaces.models())
    with platform.access.write(TENANT) as session:
        store = session.store
        for member in ("olga", "erik", "vito"):
            store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
        for space in ("here", "there", "depot"):
            store.create("spaces.space", space.title(), uid=space, edges={"tenant": TENANT}, creator="olga")
        for role, space in (("can_edit", "here"), ("can_manage", "here"), ("can_edit", "there"),
                            ("can_manage", "there"), ("can_edit", "depot")):  # fmt: skip
            store.add(Grant("erik", role, space))
        store.add(Grant("vito", "can_view", "here"))
    with platform.write(ERIK) as ctx:
        for name, space in (("shop", "here"), ("shop", "there"), ("target", "there"), ("out", "here")):
            resources.create(
                *(ctx, "spaces.connection", name), uid=f"{name}_{space}", edges={"space": space}, settings=ADDRESS
            )
        resources.create(ctx, "spaces.project", "stores", uid="stores", edges={"space": "depot"})
        resources.create(ctx, "spaces.task", "stock", uid="stock", edges={"project": "stores"})
    with serve_api(platform, TENANT) as found:
        yield found
    platform.close()


def tasks() -> dict[str, Mapping[str, object]]:
    """One of each type; the names of those of the project stand for their ids."""

    def of(task: str, dataset: str) -> dict[str, str]:
        return {"task": task, "dataset": dataset}

    return {
        "land": {
            "type": "landing",
            "connection": "shop_here",
            "datasets": [{"name": "orders", "stream": "public.orders", "mode": "compare", "keys": ["id"]}],
            "notify": ["erik"],
        },
        "keep": {
            "type": "storage",
            "datasets": [{"name": "orders", "source": of("land", "orders"), "keys": ["id"], "history": True}],
        },
        "count": {
            "type": "transform",
            "reads": ["keep", "stock"],
            "datasets": [
                {"name": "n", "sql": "SELECT count(*) AS n\nFROM keep.orders\nWHERE paid = 'yes: \"all\"'"},
                {"name": "chain", "start": "keep.orders", "steps": [{"step": "select", "columns": ["id"]}]},
            ],
        },
        "star": {
            "type": "data_mart",
            "dimensions": [{"name": "buyer", "source": of("keep", "orders"), "business_key": ["id"]}],
            "facts": [
                {"name": "sale", "source": of("land", "orders"), "keys": ["id"],
                 "links": [{"dimension": "buyer", "columns": ["buyer"]}]}
            ],
        },
        "send": {
            "type": "replication",
            "connection": "out_here",
            "tables": [{"source": of("count", "n"), "table": "counted", "mode": "store"}],
        },
    }  # fmt: skip


@pytest.fixture
def project(api: Api) -> str:
    """A project with all types of tasks."""
    uid = f"ingest_{next(_numbers)}"
    with api.platform.write(ERIK) as ctx:
        resources.create(ctx, "spaces.project", uid, uid=uid, edges={"space": "here"}, description="All that we sell.")
        for name in tasks():
            resources.create(ctx, "spaces.task", name, uid=f"{uid}_{name}", edges={"project": uid})
    for name, settings in tasks().items():
        here = _renamed(settings, {each: f"{uid}_{each}" for each in tasks()})
        json_body(api.call("PATCH", f"/api/v1/resources/{uid}_{name}", "erik", json={"settings": here},
                           headers={"If-Match": "*"}))  # fmt: skip
    return uid


def _renamed(value: object, names: Mapping[str, str]) -> object:
    match value:
        case dict():
            return {
                key: names.get(part, part) if key == "task" else _renamed(part, names) if key != "reads"
                else [names.get(each, each) for each in part]
                for key, part in value.items()
            }  # fmt: skip
        case list():
            return [_renamed(part, names) for part in value]
    return value


def export(api: Api, project: str, by: str = "erik") -> str:
    text: str = json_body(api.get(f"/api/v1/projects/{project}/file", by))["file"]
    return text


def body(text: str, space: str = "there", **more: object) -> Json:
    return {"space": space, "file": text, **more}


def changes(answer: Json) -> list[str]:
    return [f"{each['action']} {each['kind']} {each['name']}" for each in answer["changes"]]


def test_a_project_goes_to_another_space_and_back(api: Api, project: str) -> None:
    text = export(api, project)
    assert "acme.test" not in text
    assert "notify" not in text
    chosen: Json = {"connections": {"out": "target_there"}}
    planned = json_body(api.post("/api/v1/projects/plan", "erik", body(text, **chosen)))
    assert (planned["project"], changes(planned)[0]) == ("", f"create project {project}")
    done = json_body(api.post("/api/v1/projects/apply", "erik", body(text, **chosen)))
    assert changes(done) == changes(planned)
    there = done["project"]
    assert export(api, there) == text.replace("connection: out", "connection: target")
    with api.platform.read(ERIK) as ctx:
        made = {resources.get(ctx, uid).name: uid for uid in project_tasks(ctx, there)}
        land = resource_metadata.load(ctx, made["land"]).settings
    assert (len(made), land["connection"]) == (5, "shop_there")
    edges = json_body(api.get(f"/api/v1/resources/{made['count']}", "erik"))["edges"]
    assert [each["id"] for each in edges["reads"]] == [made["keep"], "stock"]
    again = json_body(api.post("/api/v1/projects/plan", "erik", body(text, **chosen)))
    assert changes(again) == []


def test_a_file_changes_what_is_there(api: Api, project: str) -> None:
    text = export(api, project)
    changed = text.replace("counted", "counts").replace("All that we sell.", "All that was sold.")
    changed = changed.replace("  star:\n", "  stars:\n")
    planned = json_body(api.post("/api/v1/projects/apply", "erik", body(changed, "here")))
    assert changes(planned) == [
        *(f"change project {project}", "change task send", "create task stars", "delete task star")
    ]
    assert export(api, project) == changed
    found = json_body(api.get(f"/api/v1/resources/{project}_land", "erik"))["settings"]
    assert found["notify"] == ["erik"]


def test_what_a_file_does_not_have_is_kept_if_asked(api: Api, project: str) -> None:
    text = f"project: {project}\n"
    described = [f"change project {project}"]
    kept = json_body(api.post("/api/v1/projects/plan", "erik", body(text, "here", keep=True)))
    assert changes(kept) == described
    done = json_body(api.post("/api/v1/projects/apply", "erik", body(text, "here")))
    assert sorted(changes(done)) == sorted([*described, *(f"delete task {name}" for name in tasks())])
    assert export(api, project) == f"project: {project}\ntasks: {{}}\n"


def test_who_may_not_edit_imports_nothing(api: Api, project: str) -> None:
    problem(api.get(f"/api/v1/projects/{project}/file", "vito"), 409, "conflict")
    text = f"project: {project}\ntasks:\n  more: {{settings: {{}}}}\n"
    for path in ("plan", "apply"):
        problem(api.post(f"/api/v1/projects/{path}", "vito", body(text, "here")), 403, "forbidden")
        problem(api.post(f"/api/v1/projects/{path}", "vito", body(text, "there")), 404, "not_found")


def test_nobody_tries_what_the_settings_of_a_task_are(api: Api, project: str) -> None:
    same = body(export(api, project), "here")
    assert json_body(api.post("/api/v1/projects/plan", "erik", same))["changes"] == []
    # Carl sees that there are tasks, and may not open them.
    with api.platform.access.write(TENANT) as session:
        session.store.create("tenant.member", "Carl", uid="carl", edges={"tenant": TENANT})
        session.store.add(Grant("carl", "can_consume_data", "here"))
    problem(api.post("/api/v1/projects/plan", "carl", same), 403, "forbidden")


def test_an_admin_does_not_learn_what_is_in_a_personal_space(api: Api) -> None:
    with api.platform.access.write(TENANT) as session:
        store = session.store
        store.create("tenant.member", "Ada", uid="ada", edges={"tenant": TENANT})
        store.add(Grant("ada", "admin", TENANT))
        attributes, edges = {"personal": True}, {"tenant": TENANT}
        store.create("spaces.space", "Own", uid="own", edges=edges, attributes=attributes, creator="vito")
        store.create("spaces.project", "diary", uid="diary", edges={"space": "own"}, creator="vito")
    for name in ("diary", "nothing"):
        answer = api.post("/api/v1/projects/plan", "ada", body(f"project: {name}\n", "own"))
        assert "diary" not in problem(answer, 403, "forbidden")["detail"]


def test_each_name_of_a_file_is_looked_up_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    sought, find = list[str](), references.find

    def record(ctx: RequestContext, kind: str, path: str, space: str) -> str | None:
        sought.append(path)
        return find(ctx, kind, path, space)

    monkeypatch.setattr(references, "find", record)
    task = "settings: {type: landing, connection: shop, datasets: [{name: d, stream: s}]}"
    text = "project: often\ntasks:\n" + "".join(f"  t{n}:\n    {task}\n" for n in range(5))
    assert len(json_body(api.post("/api/v1/projects/apply", "erik", body(text)))["changes"]) == 6
    assert sought == ["shop"]


@pytest.mark.parametrize(
    ("text", "field", "said"),
    [
        ("project: [", "", "project.yaml:2: not YAML"),
        ("tasks: {}\n", "", "`project:` is missing"),
        ("project: p\ntasks:\n  a: {setings: {}}\n", "", "project.yaml:3: 'setings' is not known in a task"),
        ("project: p\ntasks:\n  a: {settings: {type: landing, connection: nowhere}}\n", "tasks.a.settings",
         "There is no data connection 'nowhere'"),
        (STORAGE % ("id", "stock"), "tasks.a.settings", "There is no data task 'stock'"),
        (STORAGE % ("", "a"), "tasks.a.settings.datasets.0.keys", "x has no key."),
        ("project: p\ntasks:\n  a: {settings: {type: magic}}\n", "tasks.a.settings.type", "magic"),
        ("project: p\ntasks:\n  a:\n  A: {settings: {}}\n", "", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_named(api: Api, text: str, field: str, said: str) -> None:
    for path in ("plan", "apply"):
        answer = api.post(f"/api/v1/projects/{path}", "erik", body(text))
        assert answer.status_code == 422, answer.text
        assert said in answer.json()["detail"]
        assert answer.json().get("field", "") == field or not field


def test_a_name_that_is_chosen_must_be_in_sight(api: Api, project: str) -> None:
    text = "project: p\ntasks:\n  a: {settings: {type: landing, connection: nowhere}}\n"
    for uid in ("nothing", "stock", project):
        answer = api.post("/api/v1/projects/plan", "erik", body(text, connections={"nowhere": uid}))
        assert (answer.status_code, f"'{uid}'" in answer.json()["detail"]) == (422, True)


def test_a_tenant_comes_back_with_its_projects(api: Api, project: str) -> None:
    """Access as code: tasks of all types, connections, datasets; not what was prepared, as there are no tables."""
    platform = api.platform
    with platform.write(ERIK) as ctx:
        stored = resource_metadata.load(ctx, f"{project}_land").settings
        prepared = {"fingerprint": fingerprint(stored), "at": 1}
        resource_metadata.save_managed(ctx, f"{project}_land", {PREPARED: prepared})
        ctx.create_unchecked(Draft("spaces.dataset", {"task": f"{project}_land"}), "orders")
    with platform.access.write(TENANT) as session:
        session.store.add(Grant("olga", "owner", TENANT))
    with platform.read(OLGA) as ctx:
        files = export_tenant(ctx.session, load_metadata(ctx))
    other, again = f"other_{project}", Caller(f"other_{project}", "olga")
    platform.access.create_tenant(other, "Acme", workspaces.models())
    with platform.access.write(other) as session:
        session.store.create("tenant.member", "Olga", uid="olga", edges={"tenant": other})
        session.store.add(Grant("olga", "owner", other))
    with platform.write(again) as ctx:
        desired = parse_files(files)
        tenant_writer.apply_as_caller(ctx, tenant_writer.plan_as_caller(ctx, desired), desired)
    with platform.read(again) as ctx:
        assert export_tenant(ctx.session, load_metadata(ctx)) == files
        assert design_state(resource_metadata.load(ctx, f"{project}_land").settings) == DesignState.READY_TO_PREPARE
    with platform.write(OLGA) as ctx:
        desired = parse_files({name: text.replace("public.orders", "public.sales") for name, text in files.items()})
        tenant_writer.apply_as_caller(ctx, tenant_writer.plan_as_caller(ctx, desired), desired)
        land = resource_metadata.load(ctx, f"{project}_land").settings
    assert ("public.sales" in str(land["datasets"]), PREPARED in land) == (True, True)
