"""The types of data tasks: settings and planning of each. Nothing here knows Spark.

- `data_mart`: dimensions, facts, and views for consumers
"""
