"""The pages of data spaces.

- `connection_pages`: the form, the overview and the test of a data connection
- `dataset_page`: the columns and the first rows of a dataset
- `project_page`: the graph and the list of a project's tasks
- `task_page`: a data task, its validation, and the plan of prepare
"""

from lakehold.workspaces.spaces.pages import connection_pages, dataset_page, project_page, task_page

ROUTERS = [connection_pages.new, connection_pages.routes, project_page.routes, task_page.routes, dataset_page.routes]
