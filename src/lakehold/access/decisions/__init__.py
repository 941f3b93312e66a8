"""Decisions of a policy over the facts of one view.

- `check`: one person and one resource: yes or no, in microseconds
- `evaluator`: every decision over one view: check, actions, explain, and what a change would need
- `member_sets`: one resource: the set of all members for whom a relation holds, as bits of one number
- `principal`: who is asking: a member, or an API token narrowed to actions or resources
- `explanation`: why, as a tree of paths
- `ways`: what would have to be added to make a denial an allow, and who could add it; the nearest ways first
- `dependents`: which relations of which resources can change when a fact does
- `what_if`: who gains and loses what by a change
"""
