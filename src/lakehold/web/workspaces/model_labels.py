"""Descriptions of the models and of their attributes, for the choice of a model."""

from __future__ import annotations

from lakehold.access.model.schema import AccessModel
from lakehold.web.labels import pluralize
from lakehold.workspaces.registry import all_workspaces


def attribute_hint(name: str) -> str:
    """Return what an attribute does when it is on; empty if nobody says."""
    return next((hint for each in all_workspaces() if (hint := each.attribute_hints.get(name, ""))), "")


def describe_model(model: AccessModel) -> str:
    """Describe what a model is for. A custom model is described by its kinds."""
    known = next((each.description for each in all_workspaces() if each.name == model.name), "")
    if known:
        return known
    titles = [pluralize(kind.title) for kind in model.kinds.values() if kind.name != model.root]
    return f"A model of your own, with {', '.join(titles).lower()}." if titles else "A model of your own."


def model_title(model: AccessModel) -> str:
    """Return the title of a model's workspaces, unique where two models share a word: `Marts project`."""
    title = model.kinds[model.root].title
    return (
        title
        if title.casefold().rstrip("s") in model.title.casefold() or " " in title
        else f"{model.title} {title.lower()}"
    )
