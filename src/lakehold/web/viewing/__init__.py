"""View as: seeing everything with another member's eyes, and stopping it.

- `routes`: the page on which somebody is chosen, beginning, and ending

While it lasts every page says so (the banner is the layout's), and nothing can be changed: the frame and the services
refuse it, and the page of the refusal says why.
"""
