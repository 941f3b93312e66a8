"""Pages of lineage, shared by all workspaces.

- `resource_graph`: the nodes of a graph of resources, and their layout
- `lineage_page`: what a resource is made from, and what reads it
"""
