"""The pages of data spaces.

- `connection_pages`: the form, the overview and the test of a data connection
- `app_pages`: an app with its charts and filters
- `app_form`: the values of the form of an app
- `app_form_pages`: the form of an app, with a preview
- `chart_layout`: where the bars, lines and labels of a chart are
- `treemap`: rectangles of tree maps
"""

from lakehold.workspaces.spaces.pages import app_form_pages, app_pages, connection_pages

ROUTERS = [connection_pages.new, connection_pages.routes, app_form_pages.new, app_form_pages.routes, app_pages.routes]
