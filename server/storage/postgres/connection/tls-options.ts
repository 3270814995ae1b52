import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { Tls } from '../../../domain/postgres-urls.ts'
import { CannotConnect } from './outages.ts'

/**
 * Returns what Node must verify of the server, so that `sslmode` means the same as in libpq.
 * @returns false for no TLS; undefined if PGSSLMODE decides
 * @throws {CannotConnect} if a file cannot be read
 */
export function tlsOptions({
  sslmode,
  sslrootcert,
  sslcert,
  sslkey,
}: Tls): ConnectionOptions | false | undefined {
  if (sslmode === 'disable') return false
  if (sslmode === undefined && !sslrootcert && !sslcert && !sslkey) return undefined
  const checksName = sslmode !== 'require' && sslmode !== 'verify-ca'
  return {
    ...(sslrootcert && { ca: readCertificate('sslrootcert', sslrootcert) }),
    ...(sslcert && { cert: readCertificate('sslcert', sslcert) }),
    ...(sslkey && { key: readCertificate('sslkey', sslkey) }),
    // With a certificate authority, `require` is `verify-ca`.
    ...(sslmode === 'require' && !sslrootcert && { rejectUnauthorized: false }),
    ...(!checksName && { checkServerIdentity: () => undefined }),
  }
}

function readCertificate(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CannotConnect(
      `${parameter} names a file that cannot be read: ${error instanceof Error ? error.message : error}`,
      error,
    )
  }
}
