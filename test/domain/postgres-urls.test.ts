// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'

/** The host and its port; what the environment adds is missing. */
function host(url: string): string {
  const { host = '', port = '' } = readAddress(url).login
  return `${host} ${port}`.trim()
}

describe('the address of a PostgreSQL server', () => {
  it.each([
    ['postgres://cairn@db.example.com/cairn', 'db.example.com'],
    ['postgresql://cairn@db.example.com:6432/cairn', 'db.example.com 6432'],
    ['postgres://cairn@db.example.com:/cairn', 'db.example.com'],
    ['postgres://cairn@[::1]:6432/cairn', '::1 6432'],
    ['postgres://cairn@[fe80::1%25eth0]/cairn', 'fe80::1%eth0'],
    ['postgres://cairn@[fe80::1%25eth0]:6432/cairn', 'fe80::1%eth0 6432'],
    ['postgres:///cairn?host=/run/postgresql', '/run/postgresql'],
    ['postgres:///cairn?host=%2Frun%2Fpostgresql', '/run/postgresql'],
    ['postgres://%2Frun%2Fpostgresql/cairn', '/run/postgresql'],
    ['postgres://%2Frun%2Fpostgresql:6432/cairn', '/run/postgresql 6432'],
    ['postgres:///cairn?host=::1', '::1'],
    ['postgres://ignored:1/cairn?host=db&port=6432', 'db 6432'],
    ['postgres:///cairn?host=db1&host=db2', 'db2'],
    ['postgres://cairn@db_1.tail-net/cairn?', 'db_1.tail-net'],
    ['postgres://:6432/cairn', '6432'],
    ['postgres:///cairn', ''],
    ['postgres://', ''],
  ])('of %s is %j', (url, expected) => {
    expect(host(url)).toBe(expected)
  })

  it.each([
    ['postgres://cairn:geheim@db/cairn', { user: 'cairn', password: 'geheim', database: 'cairn' }],
    ['postgres://ca+irn:ge+heim@db/ca+irn', { user: 'ca+irn', password: 'ge+heim', database: 'ca+irn' }],
    [
      'postgres://ca%40irn:p%2Fw%3A%23@db/my%20cairn',
      { user: 'ca@irn', password: 'p/w:#', database: 'my cairn' },
    ],
    ['postgres://cairn:ge#heim@db/cairn#1', { password: 'ge#heim', database: 'cairn#1' }],
    ['postgres://cairn:#@db/cairn', { password: '#' }],
    ['postgres://cairn:a:b[]$c"d@db/a%2Fb%3Fc%23d', { password: 'a:b[]$c"d', database: 'a/b?c#d' }],
    ['postgres://cairn:%D0%BF@db/cairn', { password: 'п' }],
    ['postgres://:geheim@db', { user: undefined, password: 'geheim', database: undefined }],
    ['postgres://cairn:@db/', { user: 'cairn', password: undefined, database: undefined }],
    ['postgres://a:b@db/c?user=d&password=e%26f&dbname=g', { user: 'd', password: 'e&f', database: 'g' }],
    [
      'postgres://db/cairn?application_name=a+b&options=-c%20x%3Dy',
      { application_name: 'a+b', options: '-c x=y' },
    ],
  ])('of %s has what the URL says', (url, login) => {
    expect(readAddress(url).login).toMatchObject(login)
  })

  it('refuses standbys on request', () => {
    expect(readAddress('postgres://db/cairn').needsPrimary).toBe(false)
    expect(readAddress('postgres://db/cairn?target_session_attrs=read-write').needsPrimary).toBe(true)
    expect(readAddress('postgres://db/cairn?target_session_attrs=any').needsPrimary).toBe(false)
  })

  it('uses the certificate authorities that Node trusts for those of the system', () => {
    const { tls } = readAddress('postgres://db/cairn?sslmode=verify-full&sslrootcert=system')
    expect(tls).toEqual({ sslmode: 'verify-full' })
    expect(readAddress('postgres://db/cairn?channel_binding=require').bindsChannel).toBe(true)
  })

  it.each([
    ['postgres://cairn:geheim@db/cairn/other', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['postgres://cairn:ge/heim@db/cairn', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['postgres://cairn:ge?heim@db/cairn', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['postgres://db?password=ge@heim', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['postgres://cairn:geheim@heim@db/cairn', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['postgres://cairn:12/geheim@db/cairn', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['postgres://cairn:geheim', 'its port must be a number from 1 to 65535'],
    ['postgres://cairn:geheim@db:5432x/cairn', 'its port must be a number from 1 to 65535'],
    ['postgres://cairn:geheim@db:$PGPORT/cairn', 'its port must be a number from 1 to 65535'],
    ['postgres://cairn:geheim@db:0/cairn', 'its port must be a number from 1 to 65535'],
    ['postgres://cairn:geheim@db:65536/cairn', 'its port must be a number from 1 to 65535'],
    ['postgres://cairn:geheim@db:5432:5432/cairn', 'its port must be a number from 1 to 65535'],
    ['postgres://cairn:geheim@::1/cairn', 'its port must be a number from 1 to 65535'],
    ['postgres://cairn:geheim@/cairn?port=5432x', 'its port must be a number from 1 to 65535'],
    ['postgres://cairn:geheim@$PGHOST/cairn', 'its host must be a name, an IP address'],
    ['postgres://cairn:geheim@/cairn?host=db:6432', 'its host must be a name, an IP address'],
    ['postgres://cairn:geheim@/cairn?host=[::1]', 'its host must be a name, an IP address'],
    ['postgres://cairn:geheim@[::1/cairn', 'its host must be a name, or an IPv6 address in [ ]'],
    ['postgres://cairn:geheim@[]/cairn', 'its host must be a name, or an IPv6 address in [ ]'],
    ['postgres://cairn:geheim@[fe80::1%eth0]/cairn', 'its host must be a name, or an IPv6 address in [ ]'],
    ['postgres://cairn:geheim@db1,db2/cairn', 'it must name one host'],
    ['postgres://cairn:geheim@db1:5432,db2:6432/cairn', 'it must name one host'],
    ['postgres://cairn:geheim@/cairn?host=a,b', 'it must name one host'],
    ['postgres://cairn:geheim@/cairn?host=db&port=1,2', 'it must name one host'],
    ['postgres://cairn:geheim@db/cairn?sslcrl=x', 'its parameter sslcrl is not supported'],
    ['postgres://cairn:geheim@db/cairn?Host=x', 'its parameter is not supported'],
    ['postgres://cairn:1/b?geheim=d@db/cairn', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['postgres://cairn:geheim@db/cairn?&host=x', 'its parameter is not supported'],
    ['postgres://cairn:geheim@db/cairn?options=-cx=y', 'write = in the value of options as %3D'],
    ['postgres://cairn:geheim@db/cairn?port=', 'its parameter port has no value'],
    ['postgres://cairn:geheim@db/cairn?port', 'its parameter port has no value'],
    ['postgres://cairn:geheim@db/cairn?sslmode=prefer', 'sslmode must be one of disable, require'],
    ['postgres://cairn:geheim@db/cairn?sslmode=verify-ca', 'sslmode=verify-ca needs sslrootcert'],
    ['postgres://cairn:geheim@db/cairn?sslrootcert=system', 'sslrootcert=system needs sslmode=verify-full'],
    ['postgres://cairn:geheim@db/cairn?sslnegotiation=direct', 'sslnegotiation=direct needs sslmode=require'],
    ['postgres://cairn:geheim@db/cairn?sslnegotiation=none', 'sslnegotiation must be postgres or direct'],
    ['postgres://cairn:geheim@db/cairn?channel_binding=on', 'channel_binding must be disable, prefer'],
    ['postgres://cairn:geheim@db/cairn?target_session_attrs=standby', 'Cairn writes'],
    ['postgres://cairn:geheim@db/cairn?connect_timeout=soon', 'connect_timeout must be a whole number'],
    ['postgres://cairn:geheim@db/%', 'write a % in it as %25'],
    ['postgres://cairn:geheim%zz@db/cairn', 'write a % in it as %25'],
    ['postgres://cairn:geheim%00@db/cairn', 'it must not contain %00'],
    ['postgres://cairn:geheim@db/cairn\r', 'it contains whitespace'],
    ['postgres://cairn:geheim@db/cairn ', 'it contains whitespace'],
    ['postgres://cairn:geheim @db/cairn', 'it contains whitespace'],
    ['POSTGRES://cairn:geheim@db/cairn', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['postgres:cairn:geheim@db/cairn', 'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
  ])('refuses %j, and repeats nothing of it', (url, message) => {
    expect(() => readAddress(url)).toThrow(message)
    expect(() => readAddress(url)).toThrow(/^(?!.*geheim)/)
  })
})
