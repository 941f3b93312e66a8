"""All routers of the package, in the order in which they match."""

from __future__ import annotations

from lakehold.web.access import (
    access_page,
    effect_preview,
    explanation,
    grant_forms,
    ownership_transfer,
    request_form,
    request_pages,
    sharing_settings,
)

ROUTERS = [
    request_pages.routes,
    request_form.routes,
    request_pages.decision_routes,
    grant_forms.routes,
    grant_forms.undo_routes,
    ownership_transfer.routes,
    sharing_settings.routes,
    effect_preview.routes,
    access_page.routes,
    explanation.routes,
]
