"""The web app: server-rendered pages over the same services as the REST API.

- `app_factory`: adds the web app to the FastAPI application
- `routers`: the list of all page routers
- `routing`: the router class for pages, with CSRF checks and error pages
- `pages`: renders a template as a response, and redirects
- `templates`: the Jinja environment and its globals
- `navigation`: data classes of the navigation
- `navigation_context`: the navigation of the signed-in member
- `kind_pages`: which pages, tabs and forms each kind has
- `urls`: the URLs of pages
- `chart_scale`: round steps of a chart's axis, and the texts of values
- `components`: data classes that template macros draw
- `list_view`: search, filters, sorting and paging of lists
- `labels`: numbers, times, names and icons as text
- `form_values`: numbers, names and dates in forms, and errors that a form is shown again for
- `form_tree`: forms whose fields are named by the paths of settings
- `form_drafts`: keeps forms that were sent but not executed, for the way back to them
- `form_filler`: fills a form of a rendered page with the values of a draft
- `confirmation`: confirmation pages and the preview of access changes
- `security_headers`, `csrf`, `cookies`: security headers, form tokens, cookies and flash messages
- `one_time_secret`: the page that shows a new secret once
- `palette`: the search of the command palette
- `assets`: the static files, built by `frontend`
- `patterns`: `/ui/patterns`, the macros on sample data
- `home_page`: the home page
- `access`, `resources`, `workspaces`: who may do what, resources, workspaces
- `people`, `profile`, `reviews`, `sign_in`: the other shared pages
- `audit_pages`, `group_pages`, `invite_pages`, `model_pages`: the audit log, groups, invites, and access models
- `network_policy_page`: which hosts and mail domains connections may reach
- `impersonation_pages`: viewing the platform as another member
- `connections`, `runs`, `schedules`: pages that several workspaces share
- `table_pages`, `lineage_page`: the same of tables, with grids of rows, and of lineage, with graphs
- `file_pages`, `sql_completion`: the files of a resource, and completion in the SQL editor

`docs/reference/web.md` explains how to write a page.
"""
