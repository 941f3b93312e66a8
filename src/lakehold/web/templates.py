"""The Jinja environment of all pages, and `ui`, the namespace of all macros.

Templates need no imports. Macros reach the context of the current page through `here()`, so that every form gets its
CSRF token.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from jinja2.runtime import Macro

from lakehold.access.model.policy import Policy
from lakehold.kit.clock import FOREVER, Moment, to_moment
from lakehold.web import labels, urls
from lakehold.web.assets import Assets
from lakehold.web.components import ACCESS_ORIGINS, PageAction
from lakehold.web.cookies import Flash
from lakehold.web.labels import icon_of
from lakehold.web.list_view import ListColumn
from lakehold.web.navigation import Breadcrumb, Navigation, NavLink
from lakehold.web.runs import labels as run_labels
from lakehold.web.schedules import schedule_form

TEMPLATES_DIR = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class PageContext:
    """The context of the page that is being rendered."""

    path: str
    address: str
    """The path with its query."""
    navigation: Navigation
    current: str
    theme: str
    csrf: str
    now: Moment
    flash: Flash | None = None
    policy: Policy | None = None
    """The models in force, for the words that they have for things."""

    def title_of(self, kind: str) -> str:
        """Return the title of a kind in its model: Data mart."""
        known = self.policy.kinds.get(kind) if self.policy else None
        return known.schema.title if known else kind.rpartition(".")[2]

    def role_of(self, kind: str, role: str) -> str:
        """Return the title of a role on a kind in its model: Technical User."""
        known = self.policy.kinds.get(kind) if self.policy else None
        return known.schema.roles[role].title if known and role in known.schema.roles else role


_page_context: ContextVar[PageContext] = ContextVar("lakehold.web.here")


def _breadcrumb_trail(*crumbs: tuple[str, str] | str) -> list[Breadcrumb]:
    """Return the breadcrumbs of a page: the tenant, which leads to the home page, and then these."""
    pairs = ((crumb, "") if isinstance(crumb, str) else crumb for crumb in crumbs)
    return [Breadcrumb(_page_context.get().navigation.tenant, "/"), *(Breadcrumb(*pair) for pair in pairs)]


class TemplateRenderer:
    """Renders templates of the shell's folder and of further folders."""

    def __init__(self, assets: Assets, folders: Mapping[str, Path] | None = None) -> None:
        rooms = {name: FileSystemLoader(folder) for name, folder in (folders or {}).items()}
        self._environment = Environment(
            loader=ChoiceLoader([FileSystemLoader(TEMPLATES_DIR), PrefixLoader(rooms)]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(
            asset=assets.href,
            here=_page_context.get,
            counted=labels.format_count,
            initials=labels.initials,
            tone_of=labels.color_index,
            ago=lambda at: labels.format_relative_time(at, _page_context.get().now),
            exact=labels.format_utc_time,
            is_forever=lambda at: at >= FOREVER,
            machine=labels.iso_time,
            moment=to_moment,
            cron_text=schedule_form.describe_cron,
            plural=labels.pluralize,
            spoken=labels.humanize,
            spoken_options=labels.humanized_options,
            address=urls,
            icon_of=icon_of,
            size_text=run_labels.format_size,
            duration_text=run_labels.format_duration,
            run_tones=run_labels.TONES,
            run_icons=run_labels.ICONS,
            title_of=lambda kind: _page_context.get().title_of(kind),
            role_of=lambda kind, role: _page_context.get().role_of(kind, role),
            column=ListColumn,
            page_action=PageAction,
            nav_link=NavLink,
            trail=_breadcrumb_trail,
            THROUGH=ACCESS_ORIGINS,
            ui=SimpleNamespace(),
        )
        self._register_macros(self._environment.globals["ui"])

    def render(self, name: str, page_context: PageContext, values: Mapping[str, object]) -> str:
        """Render a template as text."""
        token = _page_context.set(page_context)
        try:
            return self._environment.get_template(name).render(values)
        finally:
            _page_context.reset(token)

    def _register_macros(self, ui: object) -> None:
        for file in sorted((TEMPLATES_DIR / "macros").glob("*.html")):
            for name, macro in vars(self._environment.get_template(f"macros/{file.name}").module).items():
                if isinstance(macro, Macro) and not name.startswith("_"):
                    assert not hasattr(ui, name), f"{file.name}: there are two macros {name}"  # noqa: S101 - ours
                    setattr(ui, name, macro)
