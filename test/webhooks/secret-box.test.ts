// engines: none (opens no store)

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSecretBox, SecretBox } from '../../server/webhooks/secret-box.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'

const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDJEFFpL5mK9A='
const [box, otherBox] = [new SecretBox({ key: randomBytes(32) }), new SecretBox({ key: randomBytes(32) })]

it('opens what it has sealed, and never seals the same twice', () => {
  const sealed = [box.seal(secret, 'whk_1'), box.seal(secret, 'whk_1')]
  expect(new Set(sealed).size).toBe(2)
  for (const text of sealed) {
    expect(text).toMatch(/^v1:[0-9a-f]{16}:[A-Za-z0-9+/]+=*$/)
    expect(Buffer.from(text.split(':')[2] ?? '', 'base64').includes(secret)).toBe(false)
    expect(box.open(text, 'whk_1')).toEqual({ secret })
  }
})

it('says that a secret was sealed with another key', () => {
  expect(otherBox.open(box.seal(secret, 'whk_1'), 'whk_1')).toBe('other_key')
})

it('refuses a secret that was changed, cut or moved to another webhook', () => {
  const sealed = box.seal(secret, 'whk_1')
  expect(() => box.open(sealed, 'whk_2')).toThrow()
  const [version, digest, base64 = ''] = sealed.split(':')
  const bytes = Buffer.from(base64, 'base64')
  for (let index = 0; index < bytes.byteLength; index++) {
    const changed = Buffer.from(bytes)
    changed[index] = (changed[index] ?? 0) ^ 1
    expect(() => box.open([version, digest, changed.toString('base64')].join(':'), 'whk_1')).toThrow()
    const cut = bytes.subarray(0, index).toString('base64')
    expect(() => box.open([version, digest, cut].join(':'), 'whk_1')).toThrow()
  }
  for (const text of ['', secret, sealed.replace('v1', 'v2'), `${sealed}!`]) {
    expect(() => box.open(text, 'whk_1')).toThrow('A sealed secret is damaged')
  }
})

it('creates its key next to a SQLite store with the first secret, for the owner alone', () => {
  const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
  const path = `${databaseUrl.slice(7)}-encryption-key`
  const open = () => openSecretBox({ encryptionKey: undefined, databaseUrl })
  expect(open()?.open(box.seal(secret, 'whk_1'), 'whk_1')).toBe('other_key')
  expect(existsSync(path)).toBe(false)
  const sealed = open()?.seal(secret, 'whk_1') ?? ''
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(path, 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/)
  expect(open()?.open(sealed, 'whk_1')).toEqual({ secret })
  // The same key again, not a new one.
  expect(open()?.open(open()?.seal(secret, 'whk_2') ?? '', 'whk_2')).toEqual({ secret })
  // The key may move to the environment.
  const encryptionKey = Buffer.from(readFileSync(path, 'utf8'), 'base64')
  expect(openSecretBox({ encryptionKey, databaseUrl })?.open(sealed, 'whk_1')).toEqual({ secret })
})

it('writes its key again before it seals if the file was removed, so that no secret is lost', () => {
  const path = join(temporaryFolder(), 'cairn.db-encryption-key')
  const box = new SecretBox({ path })
  const before = box.seal(secret, 'whk_1')
  rmSync(path)
  const after = box.seal(secret, 'whk_1')
  for (const sealed of [before, after]) {
    expect(new SecretBox({ path }).open(sealed, 'whk_1')).toEqual({ secret })
  }
})

it('seals with the key that is in its file now, and opens what that has sealed', () => {
  const path = join(temporaryFolder(), 'cairn.db-encryption-key')
  const box = new SecretBox({ path })
  box.seal(secret, 'whk_1')
  const key = randomBytes(32)
  const other = new SecretBox({ key })
  expect(box.open(other.seal(secret, 'whk_1'), 'whk_1')).toBe('other_key')
  writeFileSync(path, key.toString('base64'))
  expect(box.open(other.seal(secret, 'whk_1'), 'whk_1')).toEqual({ secret })
  const next = randomBytes(32)
  writeFileSync(path, next.toString('base64'))
  expect(new SecretBox({ key: next }).open(box.seal(secret, 'whk_1'), 'whk_1')).toEqual({ secret })
})

it('does not replace a key file that it cannot read', () => {
  const path = join(temporaryFolder(), 'cairn.db-encryption-key')
  writeFileSync(path, 'damaged')
  const sealing = () => new SecretBox({ path }).seal(secret, 'whk_1')
  expect(sealing).toThrow(`${path} must contain 32 bytes in base64 or hexadecimal`)
  expect(readFileSync(path, 'utf8')).toBe('damaged')
  const link = join(temporaryFolder(), 'cairn.db-encryption-key')
  symlinkSync(path, link)
  expect(() => new SecretBox({ path: link }).seal(secret, 'whk_1')).toThrow('is a link')
})

it('has no key on PostgreSQL without one in the environment', () => {
  const databaseUrl = 'postgres://cairn@localhost/cairn'
  expect(openSecretBox({ encryptionKey: undefined, databaseUrl })).toBeUndefined()
  expect(openSecretBox({ encryptionKey: randomBytes(32), databaseUrl })).toBeInstanceOf(SecretBox)
})
