import { isIP } from 'node:net'
import { otherVariables, settings } from '../config.ts'

/** How a name may differ from the setting that was meant. */
const TYPING_ERRORS = 2

/** Set by Kubernetes in every container beside a service that is called `cairn` or `cairn-…`. */
const OF_KUBERNETES = /^CAIRN_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_.+)?)$/

/** Its `…_PORT` has the form of Docker's links, which no port has. */
const LINK_OF_KUBERNETES = /^(tcp|udp|sctp):/

/** Of the settings without the prefix, those whose names are too long to be near to a variable of another program. */
const DISTINCT = settings.map(({ name }) => name).filter((name) => /^(?!CAIRN_).{8}/.test(name))

/**
 * Returns a warning for each variable that begins with `CAIRN_` but that nothing reads, most likely a misspelt setting: it would
 * be ignored silently. So would `LOGLEVEL` or `DATABSE_URL`, which are named unless the setting is there too. Without its value,
 * which may be a secret.
 */
export function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(environment).filter(
    (name) => isUnknown(name, environment[name]) || isMisspelt(name, environment),
  )
  return names.map((name) => {
    const meant = nearestSetting(name)
    return `${name} is not a setting and has no effect${meant === undefined ? '' : `; did you mean ${meant}?`}`
  })
}

function isMisspelt(name: string, environment: NodeJS.ProcessEnv): boolean {
  const spelling = name.toUpperCase()
  const meant = DISTINCT.find((setting) => distance(spelling, setting) <= TYPING_ERRORS)
  return meant !== undefined && meant !== name && !environment[meant]
}

function isUnknown(name: string, value = ''): boolean {
  if (!/^CAIRN_/i.test(name) || settings.some((setting) => setting.name === name)) return false
  // The sample of Caddy reads a host name from it; only an address can be meant for this server.
  if (name === 'CAIRN_HOST' && isIP(value) !== 0) return true
  if (otherVariables.some((known) => (known.endsWith('_') ? name.startsWith(known) : name === known)))
    return false
  return !OF_KUBERNETES.test(name) && !LINK_OF_KUBERNETES.test(value)
}

/** Settings without the prefix are found with it too. */
function nearestSetting(name: string): string | undefined {
  const spelling = name.toUpperCase()
  const distances = settings.map((setting) => ({
    name: setting.name,
    distance: Math.min(...[setting.name, `CAIRN_${setting.name}`].map((known) => distance(spelling, known))),
  }))
  const [nearest] = distances.toSorted((one, other) => one.distance - other.distance)
  return nearest && nearest.distance <= TYPING_ERRORS ? nearest.name : undefined
}

/** Returns the Levenshtein distance. */
function distance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...one].entries()) {
    const current = [row + 1]
    for (const [column, known] of [...other].entries()) {
      const replaced = (previous[column] ?? 0) + (letter === known ? 0 : 1)
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return previous.at(-1) ?? 0
}
