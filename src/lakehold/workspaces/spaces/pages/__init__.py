"""The pages of data spaces.

- `connection_pages`: the form, the overview and the test of a data connection
"""

from lakehold.workspaces.spaces.pages import connection_pages

ROUTERS = [connection_pages.new, connection_pages.routes]
