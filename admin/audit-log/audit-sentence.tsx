import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'

type Entry = Schemas['AuditEntry']

/** An entry as a sentence: “Grace Hopper changed the role of Alan Turing from viewer to admin”. */
export function AuditSentence({ entry }: { entry: Entry }) {
  return (
    <Text span inherit className="breakable">
      <Actor actor={entry.actor} /> {predicate(entry)}
    </Text>
  )
}

/** The predicate of the sentence. Unknown actions of newer servers are shown by their name. */
function predicate(entry: Entry): ReactNode {
  const { actor, before, after } = entry
  const subject = <Subject subject={entry.subject} />
  const isOwn = actor.id !== null && actor.id === entry.subject.id
  switch (entry.action) {
    case 'signed_in':
      return 'signed in'
    case 'sign_in_failed':
      return <>failed to sign in as {named(textOf(after, 'email')) ?? subject}</>
    case 'signed_out':
      return 'signed out'
    case 'signed_out_everywhere':
      return 'signed out everywhere'
    case 'password_changed':
      return isOwn ? 'changed their own password' : <>changed the password of {subject}</>
    case 'password_change_failed':
      return 'failed to change their own password: the current one was wrong'
    case 'session_ended':
      return 'ended one of their sessions'
    case 'password_link_created':
      return <>created a password reset link for {subject}</>
    case 'password_reset':
      return 'reset their password with a link'
    case 'person_renamed':
      return (
        <>
          changed their own name from {named(textOf(before, 'name'))} to {named(textOf(after, 'name'))}
        </>
      )
    case 'workspace_renamed':
      return <>renamed the workspace to {subject}</>
    case 'workspace_retention_changed':
      return 'changed the event retention'
    case 'workspace_protection_changed':
      return after?.protect_customers ? 'turned on customer protection' : 'turned off customer protection'
    case 'workspace_unknown_events_changed':
      return <>changed what happens to events without a definition</>
    case 'workspace_view_links_changed':
      return after?.view_links === 'on' ? 'turned on links to views' : 'turned off links to views'
    case 'workspace_archived':
      return 'archived the workspace'
    case 'workspace_restored':
      return 'restored the archived workspace'
    case 'workspace_created':
      return <>created the workspace {subject}</>
    case 'setup_link_created':
      return <>created a setup link for a new owner of {subject}</>
    case 'store_restored':
      return <>restored {subject} from a backup</>
    case 'member_added':
      return (
        <>
          added the member {subject}
          {as(after)}
        </>
      )
    case 'member_invited':
      return (
        <>
          invited {subject}
          {as(after)}
        </>
      )
    case 'invitation_revoked':
      return <>revoked the invitation of {subject}</>
    case 'member_joined':
      return isOwn ? (
        <>joined the workspace{as(after)}</>
      ) : (
        <>
          accepted the invitation of {subject}
          {as(after)}
        </>
      )
    case 'member_role_changed':
      return (
        <>
          changed {isOwn ? 'their own role' : <>the role of {subject}</>}
          {fromTo(textOf(before, 'role'), textOf(after, 'role'))}
        </>
      )
    case 'member_removed':
      return isOwn ? 'left the workspace' : <>removed {subject} from the workspace</>
    case 'service_key_created':
      return <>created the service key {subject}</>
    case 'service_key_updated':
      return <>changed the service key {subject}</>
    case 'service_key_rotated':
      return <>rotated the service key {subject}</>
    case 'service_key_revoked':
      return <>revoked the service key {subject}</>
    case 'journey_created':
      return <>created the journey {subject}</>
    case 'journey_updated':
      return <>changed the journey {subject}</>
    case 'journey_archived':
      return <>archived the journey {subject}</>
    case 'journey_restored':
      return <>restored the journey {subject}</>
    case 'journey_removed':
      return <>removed the journey {subject}</>
    case 'event_defined':
      return <>defined the event {subject}</>
    case 'event_definition_updated':
      return <>changed the definition of the event {subject}</>
    case 'event_definition_removed':
      return <>removed the definition of the event {subject}</>
    case 'webhook_created':
      return <>created the webhook {subject}</>
    case 'webhook_updated':
      return <>changed the webhook {subject}</>
    case 'webhook_secret_rotated':
      return <>rotated the secret of the webhook {subject}</>
    case 'webhook_replayed':
      return <>replayed events to the webhook {subject}</>
    case 'webhook_removed':
      return <>removed the webhook {subject}</>
    case 'view_created':
      return <>saved the view {subject} for the workspace</>
    case 'view_updated':
      return <>changed the view {subject}</>
    case 'view_removed':
      return <>removed the view {subject}</>
    case 'view_link_created':
      return <>created a link to the view {subject}</>
    case 'view_link_revoked':
      return <>revoked a link to the view {subject}</>
    case 'customer_erased':
      return <>erased the customer {subject}</>
    case 'refusals_read':
      return 'viewed rejected requests'
    case 'refusals_replayed':
      return 'replayed rejected requests'
    case 'events_exported':
      return 'exported events'
    case 'customers_exported':
      return 'exported customers'
    case 'customer_exported':
      return <>exported the data of the customer {subject}</>
    default: {
      const action: string = entry.action
      const kind: string = entry.subject.kind
      return (
        <>
          – {action.replaceAll('_', ' ')} ({kind.replaceAll('_', ' ')} {subject})
        </>
      )
    }
  }
}

function Actor({ actor }: { actor: Schemas['AuditActor'] }) {
  switch (actor.kind) {
    case 'command_line':
      return <strong>The cairn command</strong>
    case 'service_key':
      return <>The service key {named(actor.name)}</>
    default:
      return named(actor.name) ?? <strong>Someone</strong>
  }
}

/** Where the pages of subjects are, by kind. */
const pagePaths: Partial<Record<Schemas['AuditSubject']['kind'], string>> = {
  journey: 'journeys',
  event_definition: 'events/definitions',
  webhook: 'webhooks',
}

function Subject({ subject }: { subject: Schemas['AuditSubject'] }) {
  const { workspace_id } = useMembership()
  const path = pagePaths[subject.kind]
  if (!path) return named(subject.name)
  return (
    <Text
      component={Link}
      inherit
      fw={600}
      td="underline"
      c="inherit"
      to={`/w/${workspace_id}/${path}/${subject.id}`}
    >
      {visibleName(subject.name ?? '', subject.id)}
    </Text>
  )
}

function named(name: string | null | undefined): ReactNode {
  return name && <strong>{visibleName(name)}</strong>
}

function as(after: Entry['after']): string {
  const role = textOf(after, 'role')
  return role ? ` as ${role}` : ''
}

function fromTo(before: string | undefined, after: string | undefined): string {
  return before && after ? ` from ${before} to ${after}` : ''
}

function textOf(fields: Entry['after'], name: string): string | undefined {
  const value = fields?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
