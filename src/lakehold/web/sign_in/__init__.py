"""Pages for visitors who are not signed in, and signing out.

- `sign_in`: signing in with a password or with a mailed link, the page of such a link, and signing out
- `password_reset`: requesting a reset link, and setting a new password with it
- `onboarding`: the first run (the first tenant and its Owner, optionally with the demo company), and accepting an
  invite as a new or an existing member
- `session_flow`: what all of them do at the end: set or clear the session cookie; the page of an expired link
"""
