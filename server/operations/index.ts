import type { Operations } from '../contract.ts'
import * as activity from './activity.ts'
import * as auditLog from './audit-log.ts'
import * as customerExport from './customer-export.ts'
import * as customerJourneys from './customer-journeys.ts'
import * as customers from './customers.ts'
import * as definitionViolations from './definition-violations.ts'
import * as erasures from './erasures.ts'
import * as eventDefinitions from './event-definitions.ts'
import * as events from './events.ts'
import * as exports from './exports.ts'
import * as ingestion from './ingestion.ts'
import * as invitations from './invitations.ts'
import * as journeyContract from './journey-contract.ts'
import * as journeys from './journeys.ts'
import * as members from './members.ts'
import * as observedEvents from './observed-events.ts'
import * as passwordLinks from './password-links.ts'
import * as refusals from './refusals.ts'
import * as reports from './reports.ts'
import * as retention from './retention.ts'
import * as serviceKeys from './service-keys.ts'
import * as sessions from './sessions.ts'
import * as setup from './setup.ts'
import * as sharedViews from './shared-views.ts'
import * as viewLinks from './view-links.ts'
import * as views from './views.ts'
import * as webhooks from './webhooks.ts'
import * as workspaces from './workspaces.ts'

/** The function of each operation, by its operationId. A missing one does not compile. */
export const allOperations: Operations = {
  ...activity,
  ...auditLog,
  ...customerExport,
  ...customerJourneys,
  ...customers,
  ...definitionViolations,
  ...erasures,
  ...eventDefinitions,
  ...events,
  ...exports,
  ...ingestion,
  ...invitations,
  ...journeyContract,
  ...journeys,
  ...members,
  ...observedEvents,
  ...passwordLinks,
  ...refusals,
  ...reports,
  ...retention,
  ...serviceKeys,
  ...sessions,
  ...setup,
  ...sharedViews,
  ...viewLinks,
  ...views,
  ...webhooks,
  ...workspaces,
}
