/** Paths that are no operations. */
const OTHERS = ['/v1/openapi.yaml', '/healthz', '/readyz', '/metrics', '/docs/problems', '/admin/assets']

/** More are cut off; no path of ours is as long. */
const SEGMENTS = 8

/**
 * Makes a path fit for the log: a caller's mistake may have put a key anywhere into it.
 * @param paths those of the contract, with a parameter as `:name`
 * @returns gives of a request's target the segments that such a path has, `*` in place of any other, and no query
 */
export function loggedPaths(paths: readonly string[]): (target: string) => string {
  const known = new Set([...paths, ...OTHERS].flatMap((path) => path.split('/')))
  return (target) => {
    const [path = ''] = target.split(/[?#]/, 1)
    const segments = path.split('/', SEGMENTS).map((segment) => (known.has(segment) ? segment : '*'))
    return segments.join('/')
  }
}
