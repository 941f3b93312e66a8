"""The tenant's models over HTTP: read by all, tried and adopted by those who manage them."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from lakehold import workspaces
from lakehold.access import Add, Adopt, Grant, TokenPrincipal
from lakehold.access.model.errors import ModelError
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import Policy
from lakehold.access.model.schema import hash_source
from lakehold.kit.errors import ConflictError, ForbiddenError
from tests.access.company import TENANT
from tests.access.model.test_custom import LIBRARY
from tests.api.client import Api, json_body, problem
from tests.platform import ADA

MODELS = "/api/v1/access/models"
STRICTER = LIBRARY.replace("{who: shelf.reader or borrower, may: read}", "{who: borrower, may: read}")


@pytest.fixture
def library(api: Api) -> Api:
    json_body(api.post(MODELS, "ada", {"source": LIBRARY}), 201)
    with api.platform.write(ADA) as ctx:
        ctx.create("library.shelf", "Poems", uid="poems", edges={"tenant": TENANT})
        ctx.create("library.book", "Odes", uid="odes", edges={"shelf": "poems"})
        ctx.make_unchecked(Add(Grant("bob", "reader", "poems")))
    return api


def test_everybody_reads_the_rules(api: Api) -> None:
    found = json_body(api.get(MODELS, "bob"))
    assert [model["name"] for model in found["items"]] == ["lakehouse", "marts", "products", "spaces", "tenant"]
    assert "lakehouse.table" in found["items"][0]["kinds"]
    source = json_body(api.get(f"{MODELS}/lakehouse", "bob"))["source"]
    assert source.startswith("#")
    assert "model: lakehouse" in source


def test_custom_models_are_told_from_those_of_the_release(library: Api) -> None:
    found = {model["name"]: model for model in json_body(library.get(MODELS, "bob"))["items"]}
    assert [name for name, model in found.items() if not model["shipped"]] == ["library"]
    assert not any(model["outdated"] or model["problem"] for model in found.values())
    assert json_body(library.get(f"{MODELS}/marts", "bob"))["shipped"] is True


def test_those_who_manage_models_see_why_the_release_was_not_adopted(
    library: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    current = workspaces.models()
    old = current[0].source.replace("      - export\n", "      - export\n      - lend_books\n")
    released = tuple(replace(model, released=model.released | {hash_source(old)}) for model in current)
    monkeypatch.setattr(workspaces, "models", lambda: released)
    with library.platform.write(ADA) as ctx:
        ctx.session.store.apply(Adopt(old))
        ctx.make(Adopt(LIBRARY.replace("tenant.create_workspace", "tenant.lend_books")))
    for name, outdated in (("tenant", True), ("library", False)):
        found = json_body(library.get(f"{MODELS}/{name}", "ada"))
        assert (found["shipped"], found["outdated"]) == (outdated, outdated)
        assert "lend_books" in found["problem"]
        others = json_body(library.get(f"{MODELS}/{name}", "bob"))
        assert (others["outdated"], others["problem"]) == (outdated, None)
    tags = {library.get(f"{MODELS}/tenant", member).headers["etag"] for member in ("ada", "bob")}
    assert len(tags) == 1


def test_a_new_model_is_tried_adopted_and_asked(library: Api) -> None:
    assert json_body(library.get(f"{MODELS}/library", "bob"))["kinds"] == ["library.shelf", "library.book"]
    body = {"action": "read", "resource": "odes"}
    assert json_body(library.post("/api/v1/access/check", "bob", body)) == {"allowed": True}


def test_a_model_that_is_there_is_not_made_again(library: Api) -> None:
    problem(library.post(MODELS, "ada", {"source": LIBRARY}), 409, "conflict")


def test_a_new_version_is_tried_first(library: Api) -> None:
    tried = json_body(library.post(f"{MODELS}/try", "ada", {"source": STRICTER}))
    assert (tried["name"], tried["new"], tried["changes"]) == ("library", False, True)
    lost = {(group["kind"], group["action"], group["gained"]): group["members"] for group in tried["effects"]}
    assert lost["library.book", "read", False] >= 1
    body = {"action": "read", "resource": "odes"}
    assert json_body(library.post("/api/v1/access/check", "bob", body)) == {"allowed": True}


def test_a_new_version_takes_the_place_of_the_one_that_was_seen(library: Api) -> None:
    seen = library.get(f"{MODELS}/library", "ada").headers["etag"]

    confirm = json_body(library.post(f"{MODELS}/try", "ada", {"source": STRICTER}))["confirm"]

    def put(headers: dict[str, str], confirm: str = confirm) -> httpx.Response:
        body = {"source": STRICTER, "confirm": confirm}
        return library.call("PUT", f"{MODELS}/library", "ada", json=body, headers=headers)

    problem(put({}), 428, "precondition_required")
    for wrong in ("", "0" * 32):
        problem(put({"If-Match": seen}, wrong), 409, "effects_not_confirmed")
    json_body(put({"If-Match": seen}))
    problem(put({"If-Match": seen}), 412, "changed_meanwhile")
    body = {"action": "read", "resource": "odes"}
    assert json_body(library.post("/api/v1/access/check", "bob", body)) == {"allowed": False}
    versions = json_body(library.get(f"{MODELS}/library/versions", "bob", params={"limit": 1}))
    assert (versions["items"][0]["source"], versions["items"][0]["until"]) == (STRICTER, None)
    older = json_body(library.get(f"{MODELS}/library/versions", "bob", params={"limit": 1, "after": versions["next"]}))
    assert (older["items"][0]["source"], older["next"]) == (LIBRARY, None)
    assert older["items"][0]["until"] is not None


def test_who_does_not_manage_models(library: Api) -> None:
    tag = {"If-Match": "*"}
    problem(library.post(MODELS, "bob", {"source": LIBRARY}), 403, "forbidden")
    problem(library.post(f"{MODELS}/try", "bob", {"source": LIBRARY}), 403, "forbidden")
    answer = library.call("PUT", f"{MODELS}/library", "bob", json={"source": STRICTER}, headers=tag)
    problem(answer, 403, "forbidden")


def test_a_model_with_a_mistake_is_told_where(api: Api) -> None:
    found = problem(
        api.post(MODELS, "ada", {"source": LIBRARY.replace("keeper, may", "kepper, may")}), 422, "model_invalid"
    )
    assert "kepper" in found["detail"]
    assert "keeper" in found["hint"]


def test_a_text_of_another_model(library: Api) -> None:
    answer = library.call("PUT", f"{MODELS}/marts", "ada", json={"source": LIBRARY}, headers={"If-Match": "*"})
    problem(answer, 422, "invalid_input")


def test_a_model_that_is_not_there(api: Api) -> None:
    problem(api.get(f"{MODELS}/zoo", "ada"), 404, "not_found")
    problem(api.get(f"{MODELS}/zoo/versions", "ada"), 404, "not_found")
    answer = api.call("PUT", f"{MODELS}/zoo", "ada", json={"source": LIBRARY}, headers={"If-Match": "*"})
    problem(answer, 404, "not_found")


SHIPPED = {model.name: model.source for model in workspaces.models()}
REPLACEMENTS = [
    SHIPPED["tenant"].replace("{who: owner, may: [manage_billing,", "{who: admin, may: [manage_billing,"),
    *(source + "# changed\n" for source in SHIPPED.values()),
]


@pytest.mark.parametrize("source", REPLACEMENTS)
def test_built_in_models_cannot_be_replaced(api: Api, source: str) -> None:
    name = parse_model(source).name
    answer = api.call("PUT", f"{MODELS}/{name}", "ada", json={"source": source}, headers={"If-Match": "*"})
    assert "built in" in problem(answer, 409, "conflict")["detail"]
    problem(api.post(f"{MODELS}/try", "ada", {"source": source}), 409, "conflict")
    with api.platform.write(ADA) as ctx, pytest.raises(ConflictError, match="built in"):
        ctx.make(Adopt(source))
    with api.platform.read(ADA) as ctx:
        assert dict(ctx.view.sources) == SHIPPED


def test_a_tenant_goes_back_to_the_shipped_text(api: Api) -> None:
    with api.platform.write(ADA) as ctx:
        ctx.session.store.apply(Adopt(SHIPPED["products"] + "# ours\n"))
        ctx.make(Adopt(SHIPPED["products"]))
        assert ctx.view.sources["products"] == SHIPPED["products"]


BACK_STEPS = [
    # As a table it would be one of those whose viewers see the layer.
    ("lakehouse", "note: {in: {layer: {back: tables}}, roles: {viewer: {given_with: see}}"),
    ("tenant", "note: {in: {tenant: {back: notes}}, roles: {viewer: {given_with: see}}"),
    ("marts", "note: {in: {project: {back: reports}}, roles: {owner: {given_with: see}}"),
]


@pytest.mark.parametrize(("base", "kind"), BACK_STEPS)
def test_a_custom_model_leaves_built_in_kinds_as_they_are(api: Api, base: str, kind: str) -> None:
    rules = "actions: [see], allow: [{who: viewer, may: see}]}"
    text = f"model: sly\nextends: [{base}]\nkinds:\n  {kind}, {rules}\n".replace(
        "who: viewer", "who: owner" if "owner" in kind else "who: viewer"
    )
    found = problem(api.post(MODELS, "ada", {"source": text}), 422, "model_invalid")
    assert "of another model" in found["detail"]


ZOO = """model: zoo
extends: [tenant]
kinds:
  cage: {in: tenant, roles: {keeper: {given_with: see}}, actions: [see], allow: [{who: keeper, may: see}]}
"""
SLY = """model: sly
extends: [zoo]
kinds:
  note: {in: {cage: {back: notes}}, roles: {owner: {given_with: see}}, actions: [see], allow: [{who: owner, may: see}]}
"""


def test_a_custom_model_leaves_the_kinds_of_other_custom_models_as_they_are(api: Api) -> None:
    json_body(api.post(MODELS, "ada", {"source": ZOO}), 201)
    found = problem(api.post(MODELS, "ada", {"source": SLY}), 422, "model_invalid")
    assert "changes the kind zoo.cage of another model by the edge 'notes'" in found["detail"]
    honest = {"source": SLY.replace("{cage: {back: notes}}", "cage")}
    assert json_body(api.post(f"{MODELS}/try", "ada", honest))["effects"] == []
    json_body(api.post(MODELS, "ada", honest), 201)
    with api.platform.write(ADA) as ctx:
        ctx.make(Adopt(ZOO + "# changed\n"))  # those who extend a model see it change
        with pytest.raises(ModelError, match="which extends it"):
            ctx.make(Adopt(ZOO.replace("[tenant]", "[tenant, sly]")))


def test_a_model_that_changed_a_kind_of_another_one_can_be_mended(api: Api) -> None:
    with api.platform.write(ADA) as ctx:
        for source in (ZOO, SLY):
            ctx.session.store.apply(Adopt(source))
        ctx.make(Adopt(ZOO + "# changed\n"))
        ctx.make(Adopt(SLY.replace("{cage: {back: notes}}", "cage")))
        assert "notes" not in ctx.view.policy.kinds["zoo.cage"].steps


def test_a_custom_role_says_nothing_about_tokens_on_built_in_kinds() -> None:
    plain, text = Policy(workspaces.models()), "model: sly\nextends: [lakehouse, tenant]\nkinds:\n  note:\n"
    text += (
        "    {in: layer, roles: {reader: {given_with: layer.edit}}, actions: [see], allow: [{who: reader, may: see}]}"
    )
    assert Policy([*workspaces.models(), parse_model(text)]).granting_actions == plain.granting_actions


@pytest.mark.parametrize(
    "narrowed", [{"actions": frozenset({"manage_models", "see"})}, {"resources": frozenset({TENANT})}]
)
def test_a_narrowed_token_manages_no_models(api: Api, narrowed: dict[str, frozenset[str]]) -> None:
    token = replace(ADA, narrowed=TokenPrincipal("ada", **narrowed))
    with api.platform.read(token) as ctx:
        assert not ctx.session.check(ctx.principal, "manage_models", TENANT)
        assert "manage_models" not in ctx.session.actions(ctx.principal, TENANT)
    with pytest.raises(ForbiddenError), api.platform.write(token) as ctx:
        ctx.make(Adopt(LIBRARY))


def test_an_admin_adopts_no_model(library: Api) -> None:
    with library.platform.write(ADA) as ctx:
        ctx.make_unchecked(Add(Grant("bob", "admin", TENANT)))
    problem(
        library.post(MODELS, "bob", {"source": LIBRARY.replace("model: library", "model: other")}), 403, "forbidden"
    )
