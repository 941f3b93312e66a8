"""Pages of lineage, shared by all workspaces.

- `resource_graph`: links between pipelines and tables, and the layout of a graph
- `lineage_page`: what a table or a data mart is made from, and what reads it
"""
