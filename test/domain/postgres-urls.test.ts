import { describe, expect, it } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'

/** Names of hosts in the order in which they are tried. */
function hosts(url: string): string[] {
  return readAddress(url).hosts.map(({ name }) => name)
}

/** Parameters that the driver gets for the first host. */
function parameters(url: string): Record<string, string> {
  const [first] = readAddress(url).hosts
  return Object.fromEntries(new URL(first?.connectionString ?? '').searchParams)
}

describe('the address of a PostgreSQL server', () => {
  it.each([
    ['postgres://cairn@db.example.com/cairn', ['db.example.com:5432']],
    ['postgresql://cairn@db.example.com:6432/cairn', ['db.example.com:6432']],
    ['postgres://cairn@db1,db2:6432/cairn', ['db1:5432', 'db2:6432']],
    ['postgres://cairn@[::1]:6432,127.0.0.1/cairn', ['::1:6432', '127.0.0.1:5432']],
    ['postgres:///cairn?host=/run/postgresql', ['/run/postgresql']],
    ['postgres://%2Frun%2Fpostgresql/cairn', ['/run/postgresql']],
    ['postgres:///cairn?host=db1,db2&port=6001,6002', ['db1:6001', 'db2:6002']],
    ['postgres:///cairn?host=db1,db2&port=6001', ['db1:6001', 'db2:6001']],
    ['postgres:///cairn', ['localhost:5432']],
  ])('of %s leads to %j', (url, expected) => {
    expect(hosts(url)).toEqual(expected)
  })

  it('passes over standbys where there are several hosts, or where that is asked for', () => {
    expect(readAddress('postgres://db/cairn').needsPrimary).toBe(false)
    expect(readAddress('postgres://db1,db2/cairn').needsPrimary).toBe(true)
    expect(readAddress('postgres://db/cairn?target_session_attrs=read-write').needsPrimary).toBe(true)
    expect(readAddress('postgres://db1,db2/cairn?target_session_attrs=any').needsPrimary).toBe(false)
  })

  it('means by sslmode what libpq does', () => {
    expect(parameters('postgres://db/cairn?sslmode=require')).toMatchObject({
      sslmode: 'require',
      uselibpqcompat: 'true',
    })
    expect(parameters('postgres://db/cairn?sslmode=verify-full&sslrootcert=system')).not.toHaveProperty(
      'sslrootcert',
    )
    expect(readAddress('postgres://db/cairn?channel_binding=require').bindsChannel).toBe(true)
  })

  it('keeps name, password and database as they were written', () => {
    const [first] = readAddress('postgres://ca%40irn:p%2Fw%3A%23@db/my%20cairn').hosts
    expect(first?.connectionString).toContain('ca%40irn:p%2Fw%3A%23@')
    expect(first?.connectionString).toContain('/my%20cairn?')
  })

  it.each([
    ['postgres://cairn:geheim@db/cairn/other', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['postgres://cairn:ge/heim@db/cairn', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['postgres://cairn:geheim@db/cairn?geheim=1', 'it has a parameter that is not supported'],
    ['postgres://cairn:geheim@db/cairn?sslmode=prefer', 'sslmode must be one of disable, require'],
    ['postgres://cairn:geheim@db/cairn?sslmode=verify-ca', 'sslmode=verify-ca needs sslrootcert'],
    ['postgres://cairn:geheim@db/cairn?target_session_attrs=standby', 'Cairn writes'],
    ['postgres://cairn:geheim@db/cairn?connect_timeout=soon', 'connect_timeout must be a whole number'],
    ['postgres://cairn:geheim@db/%', 'a % in it must be written as %25'],
  ])('refuses %s, and repeats nothing of it', (url, message) => {
    expect(() => readAddress(url)).toThrow(message)
    expect(() => readAddress(url)).toThrow(/^(?!.*geheim)/)
  })
})
