/**
 * The session settings that the statements rely on, whatever the server, the database or the role sets. `search_path`
 * is the operator's, and a read-only database (`default_transaction_read_only`) stays so.
 */
const WANTED = {
  array_nulls: 'on',
  bytea_output: 'hex',
  DateStyle: 'ISO, MDY',
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  idle_session_timeout: '0',
  IntervalStyle: 'postgres',
  lock_timeout: '0',
  standard_conforming_strings: 'on',
  TimeZone: 'UTC',
  transaction_timeout: '0',
  transform_null_equals: 'off',
} as const

type Setting = keyof typeof WANTED

/** The settings without which statements would do something else, rather than just fail or look different. */
const ESSENTIAL = [
  'array_nulls',
  'default_transaction_isolation',
  'standard_conforming_strings',
  'transform_null_equals',
] as const satisfies Setting[]

/** The settings of a session; null if its version of PostgreSQL does not have one. */
export type SessionSettings = Record<Setting, string | null>

const names = Object.keys(WANTED) as Setting[]

/** An SQL expression that returns `SessionSettings`. */
export const SETTINGS_AS_JSON = `json_build_object(${names
  .map((name) => `'${name}', current_setting('${name}', true)`)
  .join(', ')})`

/** Returns the statements that change wrong settings of a session; usually none. */
export function settingStatements(settings: SessionSettings): string[] {
  const other = names.filter((name) => settings[name] !== null && settings[name] !== WANTED[name])
  if (other.length === 0) return []
  return [`SELECT ${other.map((name) => `set_config('${name}', '${WANTED[name]}', false)`).join(', ')}`]
}

/**
 * Returns what is wrong with settings that cannot be changed in the session, and the statements that would mend them;
 * undefined if nothing is.
 * @param role as SQL writes it
 */
export function unsuitable(
  settings: SessionSettings,
  role: string,
): { found: string; cure: string } | undefined {
  const other = ESSENTIAL.filter((name) => settings[name] !== WANTED[name])
  if (other.length === 0) return undefined
  return {
    found: other.map((name) => `${name} is '${settings[name]}'`).join(', '),
    cure: other.map((name) => `ALTER ROLE ${role} SET ${name} = '${WANTED[name]}'`).join('; '),
  }
}
