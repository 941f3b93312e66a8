"""Pages for visitors who are not signed in, and signing out.

- `sign_in`: signing in with a password or with a mailed link, signing out, and resetting a password
- `onboarding`: the first run (the first tenant and its Owner, optionally with the demo company), and accepting an
  invite as a new or an existing member
- `session_flow`: what all of them do at the end: set or clear the session cookie; pages without navigation
"""
