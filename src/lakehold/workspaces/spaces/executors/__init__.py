"""Executors of the steps of data tasks. Only a worker imports this.

- `star_schema`: loads the dimensions, facts and views of a data mart task
"""
