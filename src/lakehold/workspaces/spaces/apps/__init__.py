"""Apps: dashboards on the datasets of data tasks. Those whom one is shared with see its data, and nothing behind it.

- `settings`: the charts and filters of an app
- `chart_query`: the query of a chart, and the conditions of filters
- `app_data`: reads an app's data for somebody who may view it, with its owner's right to consume
"""
