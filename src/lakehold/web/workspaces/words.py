"""What each model is for, in a line, for who chooses one."""

from __future__ import annotations

from lakehold.access.model.schema import AccessModel
from lakehold.web.words import plural

_LINES = {
    "marts": "Data marts on your storages, and reports from them that arrive on time. "
    "Project Admins, Technical Users and Business Users.",
    "lakehouse": "Layers of tables and files, and the pipelines that fill them. "
    "Viewer, Editor and Manager on a layer or a single table.",
    "spaces": "Data projects whose tasks move data between connections, and apps on top. Roles add up as needed.",
    "products": "Mastered entities such as customers or items, curated by people, with a page about each.",
}

ATTRIBUTES = {
    "personal": "Only its owner is in it, and nobody can be added.",
    "discoverable": "Others find its name and description, and can ask for it.",
    "technical_users_control_all_reports": "Technical Users run, edit and delete every report of the project.",
    "project_admins_assign_roles": "Admins of the project give roles in it, not only those of the tenant.",
}
"""What an attribute does when it is on."""


def line_of(model: AccessModel) -> str:
    """What it is for. A custom model says what it has."""
    known = _LINES.get(model.name)
    if known:
        return known
    titles = [plural(kind.title) for kind in model.kinds.values() if kind.name != model.root]
    return f"A model of your own, with {', '.join(titles).lower()}." if titles else "A model of your own."


def title_of(model: AccessModel) -> str:
    """`Marts project`, `Data space`: what one is called, told apart where two models have the same word."""
    title = model.kinds[model.root].title
    return (
        title
        if title.casefold().rstrip("s") in model.title.casefold() or " " in title
        else f"{model.title} {title.lower()}"
    )
