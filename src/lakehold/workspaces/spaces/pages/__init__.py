"""The pages of data spaces.

- `connection_pages`: the form, the overview and the test of a data connection
- `home`: the home of data integration, with the data spaces and one's own personal space
- `monitor_page`: all tasks of all data spaces, and their run and stop in bulk
- `project_file_page`: a data project as a YAML file
- `role_matrix`: the rows and cells of the matrix of members and roles, and the changes that its form makes
- `roles_page`: the matrix as a page
"""

from lakehold.workspaces.spaces.pages import connection_pages, home, monitor_page, project_file_page, roles_page

ROUTERS = [
    connection_pages.new,
    connection_pages.routes,
    home.routes,
    monitor_page.routes,
    project_file_page.routes,
    roles_page.routes,
]
