import { randomUUID } from 'node:crypto'
import argon2 from 'argon2'
import { createPersonClient, type PersonClient } from '../client/person.ts'
import type { components } from '../generated/contract.ts'
import { newId } from '../server/domain/identifiers.ts'
import { insertMember } from '../server/storage/tables/members.ts'
import { insertPerson } from '../server/storage/tables/people.ts'
import type { Cairn } from './cairn.ts'
import { inStore } from './in-store.ts'

type Role = components['schemas']['Role']

/** A person who can sign in. */
export type Person = components['schemas']['Person'] & { password: string }

/** The headers of a request from a page of the server, in the browser of a signed-in person. */
export type SignedIn = { cookie: string; 'sec-fetch-site': 'same-origin' }

/** The header that a browser sends from a page of the server, wherever that is. */
export const OWN_PAGE = { 'sec-fetch-site': 'same-origin' } as const

const password = 'nine-lives-of-a-moth'

/** Parameters of a cheap hash. A hash contains its cost: the server's own takes 30 ms of processor time to compare. */
const CHEAP = { type: argon2.argon2id, memoryCost: 64, timeCost: 2, parallelism: 1 } as const
let cheap: Promise<string> | undefined

function cheapHash(): Promise<string> {
  cheap ??= argon2.hash(password, CHEAP)
  return cheap
}

type PersonOptions = {
  name?: string
  email?: string
  /** For a hash with the server's own cost. */
  password_hash?: string | Promise<string>
}

/** Returns an unused email. */
export function newEmail(): string {
  return `${randomUUID()}@example.com`
}

/** Creates a person in the store who is a member of no workspace. */
export async function newPerson(
  { databaseUrl }: Pick<Cairn, 'databaseUrl'>,
  options: PersonOptions = {},
): Promise<Person> {
  const { stored, person } = await personOf(options)
  await inStore(databaseUrl, (db) => insertPerson(db, stored))
  return person
}

async function personOf({
  name = 'Grace Hopper',
  email = newEmail(),
  password_hash = cheapHash(),
}: PersonOptions) {
  const person = { person_id: newId('per'), name, email }
  const stored = { ...person, password_hash: await password_hash, created_ms: Date.now() }
  return { stored, person: { ...person, password } }
}

/** Makes the person a member of the workspace, directly in the store. */
export async function addMember(
  { databaseUrl }: Pick<Cairn, 'databaseUrl'>,
  { workspace_id }: { workspace_id: string },
  { person_id }: Pick<Person, 'person_id'>,
  role: Role,
): Promise<void> {
  await inStore(databaseUrl, (db) =>
    insertMember(db, { workspace_id, person_id, role, joined_ms: Date.now() }),
  )
}

/** Creates a person in the store who is a member of the workspace. */
export async function newMember(
  { databaseUrl }: Pick<Cairn, 'databaseUrl' | 'url'>,
  { workspace_id }: { workspace_id: string },
  role: Role,
): Promise<Person> {
  const { stored, person } = await personOf({})
  const { person_id } = person
  await inStore(databaseUrl, async (db) => {
    await insertPerson(db, stored)
    await insertMember(db, { workspace_id, person_id, role, joined_ms: stored.created_ms })
  })
  return person
}

/** Starts a session of the person. */
export async function signIn(
  { fetch }: Pick<Cairn, 'fetch'>,
  { email, password }: Pick<Person, 'email' | 'password'>,
): Promise<SignedIn> {
  const reply = await fetch('/session', {
    method: 'POST',
    headers: { ...OWN_PAGE, 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  if (reply.status !== 201) throw new Error(`signing in answered ${reply.status}: ${await reply.text()}`)
  const [cookie = ''] = (reply.headers.getSetCookie()[0] ?? '').split(';')
  return { cookie, ...OWN_PAGE }
}

/** A page of the server in a browser. */
export type Browser<Headers = SignedIn> = {
  /** Sent with every request. */
  headers: Headers
  /** Sends a request like the page. @param line method and path below the base path, for example `GET /members` */
  fetch(line: string, sent?: { body?: unknown; headers?: Record<string, string> }): Promise<Response>
  /** @param workspaceId the workspace of its requests */
  client(workspaceId?: string): PersonClient
}

/** A person who is signed in. */
export type SignedUp = Person & Browser

/** Creates a person who is a member of the workspace, and signs the person in. */
export async function signUp(
  cairn: Cairn,
  workspace: { workspace_id: string },
  role: Role,
): Promise<SignedUp> {
  const person = await newMember(cairn, workspace, role)
  return { ...person, ...browser(cairn, await signIn(cairn, person)) }
}

/** Returns a browser with a session; with `OWN_PAGE`, one in which nobody is signed in. */
export function browser<Headers extends Record<string, string> = SignedIn>(
  cairn: Pick<Cairn, 'url' | 'fetch'>,
  headers: Headers,
): Browser<Headers> {
  return {
    headers,
    async fetch(line, { body, headers: others } = {}) {
      const [method = '', path = ''] = line.split(' ')
      const json = body === undefined ? {} : { 'content-type': 'application/json' }
      return await cairn.fetch(path, {
        method,
        headers: { ...headers, ...json, ...others },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    },
    client: (workspaceId) =>
      createPersonClient({
        baseUrl: `${cairn.url}/v1`,
        workspaceId,
        retries: 0,
        async fetch(request) {
          const { pathname, search } = new URL(request.url)
          const body = await request.text()
          return await cairn.fetch(pathname.slice('/v1'.length) + search, {
            method: request.method,
            headers: { ...Object.fromEntries(request.headers), ...headers },
            ...(body !== '' && { body }),
          })
        },
      }),
  }
}
