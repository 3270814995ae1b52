// engines: none (opens no store)

import { describe, expectTypeOf, it } from 'vitest'
import type {
  AnyEvents,
  Client,
  EventCreation,
  OperationId,
  OperationRequest,
  OperationResult,
  Schemas,
  TrackedEvent,
  Tracker,
  TrackerOptions,
  TrackOptions,
} from '../../client/index.ts'
import type { PersonClient } from '../../client/person.ts'
import type { operations } from '../../generated/contract.ts'
import type { operationPaths, personOperationPaths } from '../../generated/operations.ts'

/** The clients as seen by the compiler; these tests hold if `tsc` passes. */
describe('the types', () => {
  const event = { journey_id: 'jrn_1', customer_id: 'cus_1', event_id: 'signed_up' }

  it('offer one method per operation of the contract', () => {
    expectTypeOf<keyof Client | keyof PersonClient>().toEqualTypeOf<OperationId>()
    expectTypeOf<OperationId>().toExtend<keyof operations>()
  })

  it('require a body, a path and an argument exactly where the contract does', () => {
    expectTypeOf<Parameters<Client['createEvent']>>().toEqualTypeOf<
      [request: OperationRequest<'createEvent'>]
    >()
    expectTypeOf<Parameters<Client['getJourney']>>().toEqualTypeOf<
      [request: OperationRequest<'getJourney'>]
    >()
    expectTypeOf<Parameters<Client['listJourneys']>>().toEqualTypeOf<
      [request?: OperationRequest<'listJourneys'>]
    >()
    expectTypeOf<OperationRequest<'createEvent'>['body']>().toEqualTypeOf<Schemas['EventCreation']>()
    expectTypeOf<OperationRequest<'createEvents'>['body']>().toEqualTypeOf<Schemas['EventBatch']>()
    expectTypeOf<OperationRequest<'listCustomerEvents'>>().toExtend<{
      path: { customer_id: string }
      query?: { limit?: number; cursor?: string }
    }>()
    // @ts-expect-error: the body is missing
    void ({} satisfies OperationRequest<'createEvent'>)
    // @ts-expect-error: the path is missing
    void ({ body: { name: 'Renewal' } } satisfies OperationRequest<'updateJourney'>)
    // @ts-expect-error: there is no body to send
    void ({ path: { journey_id: 'jrn_1' }, body: {} } satisfies OperationRequest<'archiveJourney'>)
    void ({ path: { journey_id: 'jrn_1' }, signal: undefined } satisfies OperationRequest<'archiveJourney'>)
  })

  it('refuse a field that the contract does not know', () => {
    // @ts-expect-error: occurred_at, misspelt
    void ({ body: { ...event, ocurred_at: 'now' } } satisfies OperationRequest<'createEvent'>)
    // @ts-expect-error
    void ({ query: { page: 2 } } satisfies OperationRequest<'listEvents'>)
  })

  it('refuse a body in which a required field is missing', () => {
    // @ts-expect-error: customer_id
    void ({ body: { journey_id: 'jrn_1', event_id: 'signed_up' } } satisfies OperationRequest<'createEvent'>)
  })

  it('refuse a value outside of an enumeration', () => {
    const customer = { client_customer_id: 'user-8412', journey_id: 'jrn_1', customer_name: 'Ada Lovelace' }
    void ({
      body: { ...customer, customer_type: 'contact' },
    } satisfies OperationRequest<'initializeCustomer'>)
    // @ts-expect-error
    void ({ body: { ...customer, customer_type: 'lead' } } satisfies OperationRequest<'initializeCustomer'>)
    // @ts-expect-error
    void ({ query: { status: 'deleted' } } satisfies OperationRequest<'listJourneys'>)
  })

  it('have data or error, narrowed by either', () => {
    const check = (result: OperationResult<'createEvent'>) => {
      if (result.error) {
        expectTypeOf(result.error).toEqualTypeOf<Schemas['Problem']>()
        expectTypeOf(result.data).toEqualTypeOf<undefined>()
        // @ts-expect-error: no problem of the contract has this code
        void (result.error.code === 'no_such_code')
      } else {
        expectTypeOf(result.data).toEqualTypeOf<Schemas['CreatedEvent']>()
        // @ts-expect-error: the contract declares no such field
        void result.data.event_id
      }
      if (result.data) expectTypeOf(result.error).toEqualTypeOf<undefined>()
      expectTypeOf(result.response).toEqualTypeOf<Response>()
    }
    void check
  })

  it('take data from the declared 2xx and from no other status', () => {
    type DataOf<Id extends OperationId> = NonNullable<OperationResult<Id>['data']>
    expectTypeOf<DataOf<'createJourney'>>().toEqualTypeOf<Schemas['Journey']>()
    expectTypeOf<DataOf<'initializeCustomer'>>().toEqualTypeOf<Schemas['InitializedCustomer']>()
    expectTypeOf<DataOf<'createEvents'>>().toEqualTypeOf<Schemas['EventBatchResult']>()
    expectTypeOf<DataOf<'listCustomerEvents'>>().toEqualTypeOf<Schemas['EventPage']>()
  })
})

describe('the types of a client for people', () => {
  it('have what a session may call, and what needs no credential', () => {
    expectTypeOf<keyof Client>().toEqualTypeOf<keyof typeof operationPaths>()
    expectTypeOf<keyof PersonClient>().toEqualTypeOf<
      | keyof typeof personOperationPaths
      | Exclude<keyof typeof operationPaths, 'initializeCustomer' | 'createEvent' | 'createEvents'>
    >()
    expectTypeOf<PersonClient['listJourneys']>().toEqualTypeOf<Client['listJourneys']>()
  })

  it('require what the contract does, and no header', () => {
    expectTypeOf<Parameters<PersonClient['signOut']>>().toEqualTypeOf<
      [request?: OperationRequest<'signOut'>]
    >()
    expectTypeOf<Parameters<PersonClient['updateMember']>>().toEqualTypeOf<
      [request: OperationRequest<'updateMember'>]
    >()
    void ({
      path: { person_id: 'per_1' },
      body: { role: 'admin' },
    } satisfies OperationRequest<'updateMember'>)
    // @ts-expect-error: the password is missing
    void ({ body: { email: 'grace@example.com' } } satisfies OperationRequest<'signIn'>)
    // @ts-expect-error: a client is created for a workspace
    void ({ header: { 'x-workspace-id': 'wsp_1' } } satisfies OperationRequest<'listMembers'>)
  })

  it('give no data where the contract declares none', () => {
    expectTypeOf<OperationResult<'signOut'>['data']>().toEqualTypeOf<undefined>()
    expectTypeOf<NonNullable<OperationResult<'signIn'>['data']>>().toEqualTypeOf<Schemas['Session']>()
  })
})

describe('the types of a tracker', () => {
  it('take the name of an event, and then variables and options as the contract has them', () => {
    expectTypeOf<Parameters<Tracker['track']>>().toEqualTypeOf<
      [
        event_id: string,
        custom_variables?: Schemas['CustomVariables'] | undefined,
        options?: TrackOptions | undefined,
      ]
    >()
    void ({ occurred_at: undefined, message_id: 'm-1', signal: undefined } satisfies TrackOptions)
    // @ts-expect-error: occurred_at, misspelt
    void ({ ocurred_at: '2026-11-20T08:30:00Z' } satisfies TrackOptions)
  })

  it('return what createEvent and initializeCustomer return', () => {
    expectTypeOf<ReturnType<Tracker['track']>>().toEqualTypeOf<ReturnType<Client['createEvent']>>()
    expectTypeOf<ReturnType<Tracker['initialization']>>().toEqualTypeOf<
      ReturnType<Client['initializeCustomer']>
    >()
  })

  it('return events that createEvent accepts with a customer and a journey', () => {
    const sent = (event: TrackedEvent) => ({ ...event, journey_id: 'jrn_1', customer_id: 'cus_1' })
    expectTypeOf<ReturnType<Tracker['handOver']>>().toEqualTypeOf<TrackedEvent[]>()
    expectTypeOf<ReturnType<typeof sent>>().toExtend<OperationRequest<'createEvent'>['body']>()
    expectTypeOf<TrackedEvent['message_id']>().toEqualTypeOf<string>()
    // @ts-expect-error: an event is identified by its message_id
    void ({ event_id: 'signed_up' } satisfies TrackedEvent)
  })

  it('require the customer as the contract does', () => {
    const server = { baseUrl: 'http://127.0.0.1:3000/v1', serviceKey: 'pk_test' }
    expectTypeOf<TrackerOptions['customer']>().toEqualTypeOf<Schemas['CustomerInitialization']>()
    // @ts-expect-error: the customer is missing
    void (server satisfies TrackerOptions)
  })
})

describe('the types with the events of a journey', () => {
  interface Events {
    signed_up: { [name: string]: unknown } | string
    plan_chosen: { plan: 'free' | 'team'; seats?: number }
  }
  const ids = { journey_id: 'jrn_1', customer_id: 'cus_1' }
  type Body = Parameters<Client<Events>['createEvent']>[0]['body']

  it('are those of today without them', () => {
    expectTypeOf<Client<AnyEvents>>().toEqualTypeOf<Client>()
    expectTypeOf<Tracker<AnyEvents>>().toEqualTypeOf<Tracker>()
    expectTypeOf<EventCreation<AnyEvents>['event_id']>().toEqualTypeOf<string>()
  })

  it('change what events may be, and nothing else', () => {
    expectTypeOf<keyof Client<Events>>().toEqualTypeOf<keyof Client>()
    expectTypeOf<Client<Events>['listEvents']>().toEqualTypeOf<Client['listEvents']>()
    expectTypeOf<ReturnType<Client<Events>['createEvents']>>().toEqualTypeOf<
      ReturnType<Client['createEvents']>
    >()
    expectTypeOf<Body>().toExtend<Schemas['EventCreation']>()
    expectTypeOf<Parameters<Tracker<Events>['track']>[0]>().toEqualTypeOf<'signed_up' | 'plan_chosen'>()
  })

  it('narrow an event by its name, and require variables where one is required', () => {
    void ({ ...ids, event_id: 'signed_up' } satisfies Body)
    void ({ ...ids, event_id: 'plan_chosen', custom_variables: { plan: 'team' } } satisfies Body)
    // @ts-expect-error: the variables of another event
    void ({ ...ids, event_id: 'plan_chosen', custom_variables: 'noted' } satisfies Body)
    // @ts-expect-error: no variables
    void ({ ...ids, event_id: 'plan_chosen' } satisfies Body)
    // @ts-expect-error: a misspelt name
    void ({ ...ids, event_id: 'plan_choosen', custom_variables: { plan: 'team' } } satisfies Body)
  })
})
