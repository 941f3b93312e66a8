"""`/ui/patterns`: every macro in every state, on made-up data. What looks wrong here looks wrong everywhere.

- `routes`: the pages; `samples`: what they show
"""

from lakehold.web.patterns.routes import routes

__all__ = ["routes"]
