/** Paths that are not operations. */
const OTHERS = [
  ...['/v1/openapi.yaml', '/healthz', '/readyz', '/metrics', '/admin/assets'],
  ...['/docs/problems', '/docs/operations', '/docs/postgres', '/docs/backup-and-restore', '/docs/monitoring'],
  ...['/docs/import-and-export', '/docs/privacy'],
]

/** Maximum segments of a path; none of ours is as long. */
const SEGMENTS = 8

/**
 * Returns a function that redacts paths for the log: by mistake a caller may put a key anywhere into it.
 * @param paths those of the contract, with parameters as `:name`
 * @returns keeps known segments of a request target, replaces others with `*`, and removes the query
 */
export function loggedPaths(paths: readonly string[]): (target: string) => string {
  const known = new Set([...paths, ...OTHERS].flatMap((path) => path.split('/')))
  return (target) => {
    const [path = ''] = target.split(/[?#]/, 1)
    const segments = path.split('/', SEGMENTS).map((segment) => (known.has(segment) ? segment : '*'))
    return segments.join('/')
  }
}
