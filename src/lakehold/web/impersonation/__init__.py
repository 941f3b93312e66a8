"""Impersonation ("View as"): seeing every page as another member does.

- `routes`: choosing a member, starting and ending

While it lasts the layout shows a banner on every page, and nothing can be changed: the middleware and the services
refuse it, and the page of the refusal says why.
"""
