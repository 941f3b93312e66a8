"""Spaces: data spaces with projects, tasks, connections, gateways and apps.

The rights are in model.yaml: seven roles as a union, security roles, tasks that run as their project's owner.

- `workspace`: the descriptor
- `settings`: the kinds and their settings
- `tasks`: the types of data tasks, with their settings
- `datasets`: the tables that tasks make, what was prepared of them, and what prepare would change
- `personal`: the personal space of a member, made on first use
- `monitor`: all tasks of all spaces that the caller may see, with their last runs
- `change_captures`: the replication slots of landing tasks, and up to where their datasets are
- `slot_check`: describes problems of replication slots
- `connections`: who may test a data connection, and list what it has
- `owner_context`: which roles the owner of a project lacks for its tasks
- `registrations`: whose rows a registered dataset shows, and whether they are open
- `task_runs`: the run that last concerned a task, its own or one of its project
- `project_graph`: the tasks of a project with their states, as a graph
- `task_planner`: the steps of tasks, and the order of a project
- `pipelines`: what is run: tasks, datasets and projects
- `steps`: the steps of their runs
- `validation`: what keeps a task from being prepared or run, and what prepare would do
- `gateways`: gateways, which read data connections near the data
- `executors`: how steps are executed; only a worker imports them
- `lineage`: what tasks read, and what reads them
- `apps`: dashboards on datasets
- `project_files`: a project as one YAML file: export, plan, apply
- `pages`: the pages
- `api`: the REST endpoints
"""
