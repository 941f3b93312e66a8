"""The pages of data spaces.

- `connection_pages`: the form, the overview and the test of a data connection
- `project_file_page`: a data project as a YAML file
"""

from lakehold.workspaces.spaces.pages import connection_pages, project_file_page

ROUTERS = [connection_pages.new, connection_pages.routes, project_file_page.routes]
