import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { closeSync, constants, existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../config.ts'
import { isFile } from '../storage/open.ts'
import { openPrivateFile, writePrivateFile } from '../storage/private-file.ts'
import { ENCRYPTION_KEY, sqlitePath } from '../storage/sqlite/store-files.ts'
import { readEncryptionKey } from './encryption-key.ts'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `v1:` the digest of the key `:` nonce, ciphertext and tag in base64. */
const SEALED = /^v1:([0-9a-f]{16}):([A-Za-z0-9+/]+=*)$/

/** Encrypts the secrets of webhooks for the database, so that a copy of it without the key does not reveal them. */
export class SecretBox {
  /** Of the environment, or of a file that is created with the first secret. */
  readonly #source: { key: Buffer } | { path: string }
  #key: Buffer | undefined

  constructor(source: { key: Buffer } | { path: string }) {
    this.#source = source
  }

  /**
   * Encrypts a secret. The result can only be decrypted for the same webhook, so that nobody who can write to the database
   * can exchange secrets unnoticed.
   * @throws {Error} from the file system
   */
  seal(secret: string, webhookId: string): string {
    const key = this.#keyOnDisk()
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
      Buffer.from(webhookId),
    )
    const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `v1:${digestOf(key)}:${sealed.toString('base64')}`
  }

  /**
   * Decrypts a secret. `other_key`: it was encrypted with a key that this server does not have, as after a restore without
   * it; the secret must be rotated.
   * @throws {Error} if it was changed, or belongs to another webhook
   */
  open(sealed: string, webhookId: string): { secret: string } | 'other_key' {
    const [, digest, base64 = ''] = SEALED.exec(sealed) ?? []
    if (digest === undefined) throw new Error('A sealed secret is damaged')
    // Read again only for another key: the operator may have put that in place since.
    const key = this.#key && digestOf(this.#key) === digest ? this.#key : this.#readKey()
    if (key === undefined || digestOf(key) !== digest) return 'other_key'
    const bytes = Buffer.from(base64, 'base64')
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(webhookId)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const secret = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8')
    return { secret: secret + decipher.final('utf8') }
  }

  /** Returns the key that is on disk now; the last one if its file was removed. */
  #readKey(): Buffer | undefined {
    if ('key' in this.#source) return this.#source.key
    if (!existsSync(this.#source.path)) return this.#key
    const file = openPrivateFile(this.#source.path, constants.O_RDONLY)
    try {
      this.#key = readEncryptionKey(readFileSync(file, 'utf8').trim())
    } finally {
      closeSync(file)
    }
    // A new key would make the secrets unreadable.
    if (!this.#key) throw new Error(`${this.#source.path} must contain 32 bytes in base64 or hexadecimal`)
    return this.#key
  }

  #keyOnDisk(): Buffer {
    if ('key' in this.#source) return this.#source.key
    const key = this.#readKey() ?? randomBytes(32)
    // Also if the file was removed since it was read: after a restart, nobody could decrypt the secrets.
    const { path } = this.#source
    if (!existsSync(path)) writePrivateFile(path, `${key.toString('base64')}\n`, dirname(path))
    this.#key = key
    return key
  }
}

/**
 * Returns what encrypts the secrets of a store: with the key of the environment, otherwise with that of a file next to a
 * SQLite database. On PostgreSQL, whose servers need the same key, undefined without one in the environment.
 */
export function openSecretBox({
  encryptionKey,
  databaseUrl,
}: Pick<Config, 'encryptionKey' | 'databaseUrl'>): SecretBox | undefined {
  if (encryptionKey) return new SecretBox({ key: encryptionKey })
  return isFile(databaseUrl) ? new SecretBox({ path: sqlitePath(databaseUrl) + ENCRYPTION_KEY }) : undefined
}

/** Tells keys apart, and reveals nothing of a random key. */
function digestOf(key: Buffer): string {
  return createHash('sha256').update('cairn encryption key\0').update(key).digest('hex').slice(0, 16)
}
