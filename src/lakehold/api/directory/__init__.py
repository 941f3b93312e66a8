"""The directory over HTTP, one file for each noun.

- `first_runs`, `sign_in`, and in `invites` what is done by link: for people who are not signed in yet
- `me`: who one is, one's sign-ins and one's password
- `members`, `removals`, `invites`, `groups`, `service_accounts`, `tokens`: for members
- `routers`: all of them, in order
- `visiting`: where a visitor comes from, and the cookie that they get; `texts`: e-mail addresses and secrets;
  `people`, `sign_in_list`: members and sign-ins as answers tell them
"""
