// engines: none (opens no store)

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { breakingChanges } from './additive.ts'
import { copy, type Edit, remove, rename, set } from './edits.ts'

const INITIALIZE = '/paths/~1customers~1initialize/post'
const CREATE_EVENT = '/paths/~1events~1create/post'
const LIST_EVENTS = '/paths/~1events/get'
const ARCHIVE = '/paths/~1journeys~1{journey_id}~1archive'
const SCHEMAS = '/components/schemas'
const EVENT = `${SCHEMAS}/EventCreation`
const CREATED = `${SCHEMAS}/CreatedEvent`
const OPTIONAL_PARAMETER = { name: 'order', in: 'query', schema: { type: 'string', maxLength: 4 } }

const RELEASED = 'test/contract/released.yaml'

/** Changed on purpose, by the release since which it is changed. */
const ON_PURPOSE: Record<string, string[]> = {
  // A name that nobody can see helps no caller and is always a caller's mistake.
  '1.0.0': ['#/components/schemas/GivenName/pattern'],
  // Actions may be added, as the contract has always said, and what they concern comes with them.
  '1.1.0': [
    '#/components/schemas/AuditSubject/properties/id/pattern',
    '#/components/schemas/AuditSubject/properties/kind/enum',
    // The names of people and workspaces too.
    '#/components/schemas/GivenName/pattern',
  ],
}

describe('the contract', () => {
  it('breaks no caller of the last release', async () => {
    const released = load(readFileSync(RELEASED, 'utf8')) as { info: { version: string } }
    const found = await breakingChanges(RELEASED, 'openapi.yaml')
    expect(found.map(({ place }) => place)).toEqual(ON_PURPOSE[released.info.version] ?? [])
  })
})

/** A breaking change: the edits that make it, where it is found, and how it is reported. */
type Breach = [name: string, edits: Edit[], pointer: string, change: string]

const breaches: Breach[] = [
  ['a removed path', [remove('/paths/~1customers')], '/paths/~1customers', 'Path `/customers` was removed.'],
  [
    'a renamed path',
    [rename(ARCHIVE, '/journeys/{journey_id}/archived')],
    `${ARCHIVE}d`,
    'Path `/journeys/{journey_id}/archive` was renamed to `/journeys/{journey_id}/archived`.',
  ],
  [
    'another name in the braces of a path',
    [
      rename(ARCHIVE, '/journeys/{id}/archive'),
      set('/paths/~1journeys~1{id}~1archive/post/parameters', [
        { name: 'id', in: 'path', required: true, schema: { $ref: '#/components/schemas/Reference' } },
      ]),
    ],
    '/paths/~1journeys~1{id}~1archive',
    'Path `/journeys/{journey_id}/archive` was renamed to `/journeys/{id}/archive`.',
  ],
  [
    'a removed method',
    [remove('/paths/~1journeys~1{journey_id}/patch')],
    '/paths/~1journeys~1{journey_id}/patch',
    'Operation `PATCH /journeys/{journey_id}` was removed.',
  ],
  [
    'another operationId',
    [set(`${LIST_EVENTS}/operationId`, 'findEvents')],
    `${LIST_EVENTS}/operationId`,
    "`operationId` of operation `GET /events` changed from 'listEvents' to 'findEvents'.",
  ],
  ['another base path', [set('/servers', [{ url: '/v2' }])], '/servers/0', 'Server `/v1` was removed.'],
  [
    'a removed parameter',
    [remove(`${LIST_EVENTS}/parameters/id`)],
    `${LIST_EVENTS}/parameters/4`,
    '`id` query parameter was removed.',
  ],
  [
    'a renamed parameter',
    [set(`${LIST_EVENTS}/parameters/id/name`, 'journey')],
    `${LIST_EVENTS}/parameters/4/name`,
    '`id` query parameter was renamed to `journey`.',
  ],
  [
    'a parameter that becomes required',
    [set(`${LIST_EVENTS}/parameters/id/required`, true)],
    `${LIST_EVENTS}/parameters/4/required`,
    '`id` query parameter became required.',
  ],
  [
    'a new required parameter',
    [set(`${ARCHIVE}/post/parameters/-`, { ...OPTIONAL_PARAMETER, required: true })],
    `${ARCHIVE}/post/parameters/2`,
    'Required `order` query parameter was added.',
  ],
  [
    'a parameter written in another way',
    [set('/components/parameters/Cursor/style', 'spaceDelimited')],
    '/components/parameters/Cursor/style',
    "`style` of `cursor` query parameter was set to 'spaceDelimited'.",
  ],
  [
    'another default',
    [set('/components/parameters/Limit/schema/default', 100)],
    '/components/parameters/Limit/schema/default',
    'The default changed from 50 to 100.',
  ],
  [
    'a new default',
    [set(`${EVENT}/properties/message_id/default`, 'm')],
    `${EVENT}/properties/message_id/default`,
    'The default changed from none to "m".',
  ],
  [
    'a new required body',
    [copy(`${INITIALIZE}/requestBody`, `${ARCHIVE}/post/requestBody`)],
    `${ARCHIVE}/post/requestBody`,
    'A required request body was added.',
  ],
  [
    'a removed body',
    [remove('/paths/~1journeys/post/requestBody')],
    '/paths/~1journeys/post/requestBody',
    'Request body was removed.',
  ],
  [
    'another media type of a body',
    [rename(`${CREATE_EVENT}/requestBody/content/application~1json`, 'application/xml')],
    `${CREATE_EVENT}/requestBody/content/application~1xml`,
    'Media type `application/json` became `application/xml`.',
  ],
  [
    'a property of a request that becomes required',
    [set(`${EVENT}/required/-`, 'message_id')],
    `${EVENT}/required`,
    'Properties of `EventCreation` became required: `message_id`.',
  ],
  [
    'a new required property of a request',
    [
      set(`${EVENT}/properties/source`, { type: 'string', maxLength: 9 }),
      set(`${EVENT}/required/-`, 'source'),
    ],
    `${EVENT}/required`,
    'Properties of `EventCreation` became required: `source`.',
  ],
  [
    'a removed property of a request',
    [remove(`${EVENT}/properties/message_id`)],
    `${EVENT}/properties/message_id`,
    'Property `message_id` of `EventCreation` was removed.',
  ],
  [
    'a removed property of a request that may have any',
    [remove(`${EVENT}/additionalProperties`), remove(`${EVENT}/properties/message_id`)],
    `${EVENT}/properties/message_id`,
    'Property `message_id` was removed.',
  ],
  [
    'a renamed property of a request that may have any',
    [remove(`${EVENT}/additionalProperties`), rename(`${EVENT}/properties/message_id`, 'message_key')],
    `${EVENT}/properties/message_key`,
    'Property `message_id` was renamed to `message_key`.',
  ],
  [
    'a property that callers may no longer send',
    [set(`${EVENT}/properties/message_id/readOnly`, true)],
    `${EVENT}/properties/message_id/readOnly`,
    'It became `readOnly`.',
  ],
  [
    'a narrower type of a request',
    [set(`${SCHEMAS}/CustomVariables/type`, 'object')],
    `${SCHEMAS}/CustomVariables/type`,
    "Type of `custom_variables` narrowed from 'object | string' to 'object'.",
  ],
  [
    'a value that requests may no longer have',
    [remove(`${SCHEMAS}/CustomerType/enum/account`)],
    `${SCHEMAS}/CustomerType/enum`,
    "Enum of `customer_type` lost values: 'account'.",
  ],
  [
    'an enumeration where any text was accepted',
    [set(`${EVENT}/properties/message_id/enum`, ['a', 'b'])],
    `${EVENT}/properties/message_id/enum`,
    "Enum of `message_id` was set to 'a', 'b'.",
  ],
  [
    'a limit that narrows',
    [set(`${SCHEMAS}/GivenName/maxLength`, 254)],
    `${SCHEMAS}/GivenName/maxLength`,
    "`maxLength` of `customer_name` changed from '255' to '254'.",
  ],
  [
    'a removed property of a reply',
    [remove(`${CREATED}/properties/received_at`), remove(`${CREATED}/required/received_at`)],
    `${CREATED}/properties/received_at`,
    'Property `received_at` of `CreatedEvent` was removed.',
  ],
  [
    'a renamed property of a reply',
    [rename(`${SCHEMAS}/Customer/properties/customer_name`, 'customer_label')],
    `${SCHEMAS}/Customer/properties/customer_label`,
    'Property `customer_name` of `Customer` was renamed to `customer_label`.',
  ],
  [
    'a property of a reply that may be absent',
    [remove(`${CREATED}/required/received_at`)],
    `${CREATED}/required`,
    'Properties of `CreatedEvent` are no longer required: `received_at`.',
  ],
  [
    'a property of a reply that may be null',
    [set(`${CREATED}/properties/duplicate/type`, ['boolean', 'null'])],
    `${CREATED}/properties/duplicate/type`,
    "Type of `duplicate` widened from 'boolean' to 'boolean | null'.",
  ],
  [
    'another type of a reply',
    [set(`${CREATED}/properties/duplicate/type`, 'string')],
    `${CREATED}/properties/duplicate/type`,
    "Type of `duplicate` widened from 'boolean' to 'string'.",
  ],
  [
    'a constant of a reply that may vary',
    [remove(`${CREATED}/properties/success/const`)],
    `${CREATED}/properties/success`,
    '`const` of `success` was removed.',
  ],
  [
    'a reply without the format that it had',
    [remove(`${SCHEMAS}/StoredInstant/format`)],
    `${SCHEMAS}/StoredInstant`,
    // A field with the same name as a keyword of its schema.
    expect.stringMatching(/^`format` of `(received|occurred)_at` was removed\.$/),
  ],
  [
    'a new value in a reply',
    [set(`${SCHEMAS}/CustomerType/enum/-`, 'site')],
    `${SCHEMAS}/CustomerType/enum`,
    "Enum of `customer_type` gained values: 'site'.",
  ],
  [
    'a removed problem code',
    [remove(`${SCHEMAS}/ProblemCode/enum/overloaded`)],
    `${SCHEMAS}/ProblemCode/enum`,
    'Enum lost values: "overloaded".',
  ],
  [
    'a renamed problem code',
    [remove(`${SCHEMAS}/ProblemCode/enum/overloaded`), set(`${SCHEMAS}/ProblemCode/enum/-`, 'too_busy')],
    `${SCHEMAS}/ProblemCode/enum`,
    'Enum lost values: "overloaded".',
  ],
  [
    'problem codes of any form',
    [remove(`${SCHEMAS}/ProblemCode/enum`)],
    `${SCHEMAS}/ProblemCode`,
    'Enum of `code` was removed.',
  ],
  [
    'a reply of any form',
    [remove(`${LIST_EVENTS}/responses/200/content/application~1json/schema`)],
    `${LIST_EVENTS}/responses/200/content/application~1json/schema`,
    'The schema was removed.',
  ],
  [
    'a removed status',
    [remove(`${CREATE_EVENT}/responses/409`)],
    `${CREATE_EVENT}/responses/409`,
    'Response `409` was removed.',
  ],
  [
    'another status of success',
    [rename('/paths/~1journeys/post/responses/201', '200')],
    '/paths/~1journeys/post/responses/200',
    'Response `201` became `200`.',
  ],
  [
    'a new status of success',
    [copy(`${CREATE_EVENT}/responses/201`, `${CREATE_EVENT}/responses/202`)],
    `${CREATE_EVENT}/responses/202`,
    'Response `202` was added.',
  ],
  [
    'a removed media type of a reply',
    [remove(`${LIST_EVENTS}/responses/200/content`)],
    `${LIST_EVENTS}/responses/200/content`,
    'All media types were removed.',
  ],
  [
    'a removed header of a reply',
    [remove('/components/responses/RateLimited/headers/Retry-After')],
    '/components/responses/RateLimited/headers/Retry-After',
    'Response header `Retry-After` was removed.',
  ],
  [
    'a header of a reply that may be absent',
    [remove('/components/headers/Retry-After/required')],
    '/components/headers/Retry-After',
    'Response header `Retry-After` is no longer required.',
  ],
  [
    'a removed schema',
    [
      copy(`${SCHEMAS}/CustomVariables`, `${EVENT}/properties/custom_variables`),
      remove(`${SCHEMAS}/CustomVariables`),
    ],
    `${SCHEMAS}/CustomVariables`,
    'Schema `CustomVariables` was removed.',
  ],
  [
    'a renamed schema',
    [
      rename(`${SCHEMAS}/CustomVariables`, 'CustomVariable'),
      set(`${EVENT}/properties/custom_variables/$ref`, '#/components/schemas/CustomVariable'),
    ],
    `${SCHEMAS}/CustomVariable`,
    'Schema `CustomVariables` was renamed to `CustomVariable`.',
  ],
  [
    'a removed kind of credential',
    [
      remove('/components/securitySchemes/PublishableKey'),
      remove(`${INITIALIZE}/security/PublishableKey`),
      remove(`${CREATE_EVENT}/security/PublishableKey`),
    ],
    '/components/securitySchemes/PublishableKey',
    'Security scheme `PublishableKey` was removed.',
  ],
  [
    'a credential in another header',
    [set('/components/securitySchemes/SecretKey/name', 'authorization')],
    '/components/securitySchemes/SecretKey/name',
    "`name` of security scheme `SecretKey` changed from 'x-service-key' to 'authorization'.",
  ],
  [
    'a credential that an operation no longer accepts',
    [remove(`${CREATE_EVENT}/security/PublishableKey`)],
    `${CREATE_EVENT}/security`,
    'PublishableKey is no longer accepted.',
  ],
  [
    'a credential that an operation loses with its list',
    [remove(`${CREATE_EVENT}/security`)],
    `${CREATE_EVENT}/security`,
    'PublishableKey is no longer accepted.',
  ],
  [
    'a credential that every operation loses',
    [set('/security', [{ PublishableKey: [] }])],
    `${LIST_EVENTS}/security`,
    'SecretKey is no longer accepted.',
  ],
  [
    'a credential that is not enough any more',
    [set(`${LIST_EVENTS}/security`, [{ SecretKey: [], PublishableKey: [] }])],
    `${LIST_EVENTS}/security`,
    'SecretKey is no longer accepted.',
  ],
]

/**
 * Breaches far enough apart to be found in one comparison: each comparison takes most of a second, whatever changed.
 */
const groups: Breach[][] = []
for (const breach of breaches) {
  const group = groups.find((others) => !others.some((other) => areNear(breach, other)))
  if (group) group.push(breach)
  else groups.push([breach])
}

/** Whether two breaches change, or are found in, the same path or component. */
function areNear(one: Breach, other: Breach): boolean {
  const subjects = subjectsOf(other)
  return subjectsOf(one).some((subject) => subjects.includes(subject))
}

function subjectsOf([, edits, pointer]: Breach): string[] {
  return [pointer, ...edits.flatMap(({ at }) => at)].map((place) => {
    const steps = place.split('/')
    return steps.slice(0, steps[1] === 'components' ? 4 : 3).join('/')
  })
}

const findings = new Map<Breach[] | undefined, ReturnType<typeof breakingChanges>>()

/** The findings in the contract with the edits of the breach and of the others in its group. */
function findingsWith(breach: string) {
  const group = groups.find((breaches) => breaches.some(([name]) => name === breach))
  const found =
    findings.get(group) ?? breakingChanges('openapi.yaml', edited(group?.flatMap(([, edits]) => edits) ?? []))
  findings.set(group, found)
  return found
}

describe.concurrent('breakingChanges', () => {
  it.each(breaches)('finds %s', async (name, _edits, pointer, change) => {
    const found = await findingsWith(name)
    expect(found).toContainEqual({ place: `#${pointer}`, change, reason: expect.stringMatching(/^\w.*\.$/) })
  })

  it('finds every limit that narrows', async () => {
    const limits: [string, unknown][] = [
      [`${SCHEMAS}/Name/maxLength`, 254],
      [`${SCHEMAS}/Name/minLength`, 2],
      [`${SCHEMAS}/Name/pattern`, '^.$'],
      [`${SCHEMAS}/Name/format`, 'uuid'],
      [`${SCHEMAS}/GivenJourneySteps/maxItems`, 99],
      [`${SCHEMAS}/GivenJourneySteps/minItems`, 1],
      [`${SCHEMAS}/JourneyUpdate/minProperties`, 2],
      [`${SCHEMAS}/CustomVariables/maxProperties`, 99],
      [`${SCHEMAS}/CustomVariables/additionalProperties`, false],
      ['/components/parameters/Limit/schema/maximum', 499],
      ['/components/parameters/Limit/schema/minimum', 2],
    ]
    const found = await breakingChanges(
      'openapi.yaml',
      edited(limits.map(([pointer, value]) => set(pointer, value))),
    )
    expect(found.map(({ place }) => place).sort()).toEqual(limits.map(([pointer]) => `#${pointer}`).sort())
  })

  it('accepts every change that only adds', async () => {
    const additions = {
      'a new operation': [
        copy('/paths/~1events', '/paths/~1messages'),
        set('/paths/~1messages/get/operationId', 'listMessages'),
      ],
      'a new optional parameter': [set(`${LIST_EVENTS}/parameters/-`, OPTIONAL_PARAMETER)],
      'a new optional field of a request': [
        set(`${EVENT}/properties/source`, { type: 'string', maxLength: 9 }),
      ],
      'a new optional body': [
        copy(`${INITIALIZE}/requestBody`, `${ARCHIVE}/post/requestBody`),
        set(`${ARCHIVE}/post/requestBody/required`, false),
      ],
      'a field of a request that need not be sent': [remove(`${EVENT}/required/event_id`)],
      'a wider limit of requests and replies': [set(`${SCHEMAS}/Name/maxLength`, 256)],
      'a wider limit of a parameter': [set('/components/parameters/Limit/schema/maximum', 501)],
      'a wider limit of a reply': [set(`${SCHEMAS}/EventPage/properties/data/maxItems`, 501)],
      'no limit where one was': [remove(`${SCHEMAS}/JourneyPage/properties/data/maxItems`)],
      'a wider type of a request': [set(`${SCHEMAS}/CustomVariables/type`, ['object', 'string', 'null'])],
      'a new field of a reply': [
        set(`${CREATED}/properties/position`, { type: 'integer' }),
        set(`${CREATED}/required/-`, 'position'),
      ],
      'a field of a reply that is always there': [set(`${SCHEMAS}/Fault/required/-`, 'pointer')],
      'a new problem code': [set(`${SCHEMAS}/ProblemCode/enum/-`, 'quota_used_up')],
      'a new refusal': [copy(`${LIST_EVENTS}/responses/403`, `${LIST_EVENTS}/responses/410`)],
      'a new header of a reply': [
        copy('/components/headers/RateLimit', `${LIST_EVENTS}/responses/200/headers/Link`),
      ],
      'a new credential': [
        set(`${LIST_EVENTS}/security`, [{ SecretKey: [] }, { SessionCookie: [] }, { PublishableKey: [] }]),
      ],
      'a new schema': [copy(`${SCHEMAS}/Name`, `${SCHEMAS}/Title`)],
      'other words': [
        set('/info/description', 'Other'),
        set(`${SCHEMAS}/Name/description`, 'Other'),
        set(`${LIST_EVENTS}/summary`, 'Other'),
      ],
    }
    const next = edited(Object.values(additions).flat())
    expect(await breakingChanges('openapi.yaml', next)).toEqual([])
  })

  it('refuses a file that is not a contract', async () => {
    await expect(breakingChanges('openapi.yaml', 'test/contract/absent.yaml')).rejects.toThrow('absent.yaml')
    await expect(breakingChanges('openapi.yaml', edited([remove(`${SCHEMAS}/Name`)]))).rejects.toThrow(
      "Can't resolve",
    )
  })
})

/** A file with the edited contract. */
function edited(edits: Edit[]): string {
  const contract = load(readFileSync('openapi.yaml', 'utf8')) as object
  for (const edit of edits) edit(contract)
  const file = join(temporaryFolder(), 'openapi.json')
  writeFileSync(file, JSON.stringify(contract))
  return file
}
