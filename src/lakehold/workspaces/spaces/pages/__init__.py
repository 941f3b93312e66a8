"""The pages of data spaces.

- `connection_pages`: the form, the overview and the test of a data connection
- `dataset_page`: the columns and the first rows of a dataset
- `designer_pages`: the designer of data tasks
- `form_tree`: forms whose fields are named by the paths of settings
- `project_page`: the graph and the list of a project's tasks
- `task_form`: the form of each type of task
- `task_options`: what the designer offers to choose from
- `task_page`: a data task, its validation, and the plan of prepare
"""

from lakehold.workspaces.spaces.pages import connection_pages, dataset_page, designer_pages, project_page, task_page

ROUTERS = [
    *(connection_pages.new, connection_pages.routes),
    *(project_page.routes, designer_pages.routes, task_page.routes, dataset_page.routes),
]
