"""The pages of data spaces.

- `connection_pages`: the form, the overview and the test of a data connection
- `gateway_pages`: the page of a gateway, with its registration code and its keys
"""

from lakehold.workspaces.spaces.pages import connection_pages, gateway_pages

ROUTERS = [connection_pages.new, connection_pages.routes, gateway_pages.routes]
