"""Who may do what with a thing, why, and asking for more.

- `acting`: for other rooms: what can be done with a thing or why not, its tabs, and the way to it.
- `saying`: facts in the words of a person.
- `routes`: the access page. `holding`: its matrix, members × actions. `given`: what is given on the thing itself.
- `giving`, `owners`, `settings`: the forms that change it. `choosing`: a person or a group, and a time, in forms.
- `previewing`: the effect of a change before it is saved, and its rows. `undoing`: taking a change back.
- `why`: one explanation. `strands` finds the single ways through a reason, `drawing` draws those that held, and
  `missing` those that would, with what is missing in them.
- `requests`: what waits and what was asked. `asking`: a new one. `answering`: yes for a time, no with a reason.
"""
