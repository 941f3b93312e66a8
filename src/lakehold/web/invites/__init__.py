"""Pages of invites.

- `invite_pages`: pending invites (resend, revoke), and creating one; its link is shown once or mailed
- `invite_options`: roles, values and labels that the caller may invite with, in the words of each model
"""
