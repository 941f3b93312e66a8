"""The design system at `/ui/patterns`: every template macro in every state, on sample data.

- `pages`: the pages and the few endpoints that they lead to
- `samples`: the sample data
"""

from lakehold.web.patterns.pages import routes

__all__ = ["routes"]
