"""What a policy says about the facts of one view.

- `check`: one person and one resource: yes or no, in microseconds
- `members`: one resource: the set of all members for whom a relation holds, 64 and more at a time
- `subjects`: who asks: a member, or an API token narrowed to actions or resources
- `explain`: why, as a tree of paths
- `ways`: what would have to be added to make a denial an allow, and who could add it
- `effects`: what_if: who wins and loses what by a change
"""
