/** The tables that are read before the workspace is known: on Citus they are on every node. */
export const EVERYWHERE = [
  'people',
  'workspaces',
  'service_keys',
  'sessions',
  'setup_links',
  'password_links',
  'cairn_store',
  'wrong_guesses',
]
