"""Descriptions of the models and of their attributes, for the choice of a model."""

from __future__ import annotations

from lakehold.access.model.schema import AccessModel
from lakehold.web.labels import pluralize

_DESCRIPTIONS = {
    "marts": "Data marts on your storages, and reports from them that arrive on time. "
    "Project Admins, Technical Users and Business Users.",
    "lakehouse": "Layers of tables and files, and the pipelines that fill them. "
    "Viewer, Editor and Manager on a layer or a single table.",
    "spaces": "Data projects whose tasks move data between connections, and apps on top. Roles add up as needed.",
    "products": "Mastered entities such as customers or items, curated by people, with a page about each.",
}

ATTRIBUTE_HINTS = {
    "personal": "Only its owner is in it, and nobody can be added.",
    "discoverable": "Others find its name and description, and can ask for it.",
    "technical_users_control_all_reports": "Technical Users run, edit and delete every report of the project.",
    "project_admins_assign_roles": "Admins of the project give roles in it, not only those of the tenant.",
}
"""What an attribute does when it is on."""


def describe_model(model: AccessModel) -> str:
    """Describe what a model is for. A custom model is described by its kinds."""
    known = _DESCRIPTIONS.get(model.name)
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
