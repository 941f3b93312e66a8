"""Who is told by mail of what happens in a project.

- `channels`: what can be told of: failed runs, broken checks, succeeded runs
- `sides`: technical or business, each member of a project, and since when; worked out from the facts
- `choices`: what was switched and chosen by hand, and when
- `receivers`: both together: who receives what; `changing`: who may change that
- `owners`: Technical Owners whose role is too low for what they own
- `telling`: of a run that has ended, to receivers who may see its data mart
"""
