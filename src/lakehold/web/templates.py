"""The environment in which pages are made, and `ui`: every macro by its name.

A page needs no import. What belongs to the one page that is being made (its forms' token, where it is) reaches macros
through `here`, so that no form can be written without its token.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from jinja2.runtime import Macro

from lakehold.access.model.policy import Policy
from lakehold.kit.clock import FOREVER, Moment
from lakehold.web import addresses, words
from lakehold.web.assets import Assets
from lakehold.web.flashes import Flash
from lakehold.web.icons import icon_of
from lakehold.web.matrix import THROUGH
from lakehold.web.navigation import Around

FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Here:
    """The page that is being made."""

    path: str
    address: str
    """The path with its query."""
    around: Around
    current: str
    theme: str
    csrf: str
    now: Moment
    flash: Flash | None = None
    policy: Policy | None = None
    """The models in force, for the words that they have for things."""

    def title_of(self, kind: str) -> str:
        """What a kind is called by its model: Data mart."""
        known = self.policy.kinds.get(kind) if self.policy else None
        return known.schema.title if known else kind.rpartition(".")[2]

    def role_of(self, kind: str, role: str) -> str:
        """What a role on a kind is called by its model: Technical User."""
        known = self.policy.kinds.get(kind) if self.policy else None
        return known.schema.roles[role].title if known and role in known.schema.roles else role


_here: ContextVar[Here] = ContextVar("lakehold.web.here")


class Templates:
    """All templates: those of the shell, and those that rooms keep beside their own code."""

    def __init__(self, assets: Assets, folders: Mapping[str, Path] | None = None) -> None:
        rooms = {name: FileSystemLoader(folder) for name, folder in (folders or {}).items()}
        self._environment = Environment(
            loader=ChoiceLoader([FileSystemLoader(FOLDER), PrefixLoader(rooms)]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(
            asset=assets.href,
            here=_here.get,
            counted=words.counted,
            initials=words.initials,
            tone_of=words.tone_of,
            ago=lambda at: words.ago(at, _here.get().now),
            exact=words.exact,
            is_forever=lambda at: at >= FOREVER,
            machine=words.machine,
            plural=words.plural,
            spoken=words.spoken,
            address=addresses,
            icon_of=icon_of,
            title_of=lambda kind: _here.get().title_of(kind),
            role_of=lambda kind, role: _here.get().role_of(kind, role),
            THROUGH=THROUGH,
            ui=SimpleNamespace(),
        )
        self._name_macros(self._environment.globals["ui"])

    def render(self, name: str, here: Here, values: Mapping[str, object]) -> str:
        """A page as text."""
        token = _here.set(here)
        try:
            return self._environment.get_template(name).render(values)
        finally:
            _here.reset(token)

    def _name_macros(self, ui: object) -> None:
        for file in sorted((FOLDER / "macros").glob("*.html")):
            for name, macro in vars(self._environment.get_template(f"macros/{file.name}").module).items():
                if isinstance(macro, Macro) and not name.startswith("_"):
                    assert not hasattr(ui, name), f"{file.name}: there are two macros {name}"  # noqa: S101 - ours
                    setattr(ui, name, macro)
