"""The pages of data spaces.

- `connection_pages`: the form, the overview and the test of a data connection
- `app_pages`: an app with its charts and filters
- `app_form`: the values of the form of an app
- `app_form_pages`: the form of an app, with a preview
- `chart_layout`: where the bars, lines and labels of a chart are
- `dataset_page`: the columns and the first rows of a dataset
- `designer_pages`: the designer of data tasks
- `gateway_pages`: the page of a gateway, with its registration code and its keys
- `home`: the home of data integration, with the data spaces and one's own personal space
- `monitor_page`: all tasks of all data spaces, and their run and stop in bulk
- `project_file_page`: a data project as a YAML file
- `project_page`: the graph and the list of a project's tasks
- `role_matrix`: the rows and cells of the matrix of members and roles, and the changes that its form makes
- `roles_page`: the matrix as a page
- `task_form`: the form of each type of task
- `task_options`: what the designer offers to choose from
- `task_page`: a data task, its validation, and the plan of prepare
- `treemap`: rectangles of tree maps
"""

from lakehold.workspaces.spaces.pages import (
    app_form_pages,
    app_pages,
    connection_pages,
    dataset_page,
    designer_pages,
    gateway_pages,
    home,
    monitor_page,
    project_file_page,
    project_page,
    roles_page,
    task_page,
)

ROUTERS = [
    *(app_form_pages.new, app_form_pages.routes, app_pages.routes),
    connection_pages.new,
    connection_pages.routes,
    *(project_page.routes, designer_pages.routes, task_page.routes, dataset_page.routes),
    gateway_pages.routes,
    home.routes,
    monitor_page.routes,
    project_file_page.routes,
    roles_page.routes,
]
