"""The access models of a tenant: which are built in, and which texts may be adopted.

A model can give every right, so that the rules of the built-in ones must not be open to those who manage models.
"""

from functools import cache

from lakehold.access.facts.changes import with_models
from lakehold.access.facts.view import FactView
from lakehold.access.model.errors import ModelError
from lakehold.access.model.loader import load_model, parse_model
from lakehold.access.model.policy import Policy, compile_policy
from lakehold.access.model.schema import AccessModel
from lakehold.directory import model as tenant_model
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.workspaces import registry


@cache
def builtin_models() -> tuple[AccessModel, ...]:
    """Return the model of the tenant and those of every way of working."""
    return (tenant_model(), *(load_model(workspace.model) for workspace in registry.all_workspaces()))


def need_adoptable(view: FactView, source: str) -> None:
    """Refuse another text for a built-in model, and a custom model that changes a kind of another one.

    A tenant with a text of its own under a built-in name may go back to the one that is shipped.
    """
    builtin = {each.name: each for each in builtin_models()}
    model = parse_model(source)
    if model.name in builtin:
        if source != builtin[model.name].source:
            raise ConflictError(
                f"The model {quote(model.name)} is built in and cannot be replaced.",
                "Give a model of your own another name; it may extend this one.",
            )
        return
    dependents = _dependents(view.policy, model.name)
    for base in model.extends:
        if base in dependents:
            raise ModelError(base.place, f"it extends {base!r}, which extends it.", "Extend in one direction only.")
    others = tuple(sorted((name, text) for name, text in view.sources.items() if name not in dependents))
    _refuse_foreign_changes(model, compile_policy(others), with_models(view, [source]).policy)


def _dependents(policy: Policy, name: str) -> set[str]:
    """Return the model itself and all that extend it, directly or by way of others."""
    found = {name}
    while new := {each.name for each in policy.models.values() if found & set(each.extends)} - found:
        found |= new
    return found


def _refuse_foreign_changes(model: AccessModel, before: Policy, after: Policy) -> None:
    """Compare what was compiled, not what was written: so that no way to change a kind is overlooked."""
    for kind in before.kinds:
        was, will = before.kinds[kind], after.kinds[kind]
        same = all(after.relations[key] == value for key, value in before.relations.items() if key[0] == kind)
        if was != will or not same:
            names = sorted(name for name, step in will.steps.items() if was.steps.get(name) != step)
            raise ModelError(
                model.place,
                f"it changes the kind {kind} of another model" + (f" by the edge {names[0]!r}." if names else "."),
                "A custom model adds kinds of its own. Take the `back:` off its edges that point at kinds of others.",
            )
