import { Text } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'

type WebhookType = Schemas['WebhookType']

/** What a webhook can be told, in the order of the form. */
export const webhookTypes: readonly { value: WebhookType; label: string; meaning: string }[] = [
  { value: 'event.created', label: 'Events', meaning: 'An event is stored.' },
  {
    value: 'customer.created',
    label: 'New customers',
    meaning: 'A customer is registered for the first time.',
  },
  {
    value: 'customer.erased',
    label: 'Erased customers',
    meaning: 'A customer is erased, so that you can erase it elsewhere too.',
  },
  { value: 'journey.entered', label: 'Journey entered', meaning: 'A customer enters a journey.' },
  {
    value: 'journey.step_reached',
    label: 'Step reached',
    meaning: 'A customer reaches a step of a journey, once per step.',
  },
  { value: 'journey.completed', label: 'Journey completed', meaning: 'A customer reaches the last step.' },
  {
    value: 'journey.dropped',
    label: 'Journey not completed',
    meaning: 'A customer has not completed a journey in the time that you set.',
  },
  {
    value: 'refusals.rising',
    label: 'Rejections rising',
    meaning: 'Many more requests of a key are rejected than before.',
  },
]

/** The name of a type for people; the type itself if it is unknown. */
export function typeLabel(type: string): string {
  return webhookTypes.find(({ value }) => value === type)?.label ?? type
}

/** The names of the types of a webhook: `Events, New customers`. */
export function typesText(types: readonly string[]): string {
  return types.map(typeLabel).join(', ')
}

/** A URL with its host in bold, as it was given. It wraps. */
export function UrlText({ url }: { url: string }) {
  const [, before = '', host = '', after = ''] = /^([^/]*\/\/)([^/?#]*)(.*)$/s.exec(url) ?? []
  return (
    <Text span inherit className="breakable">
      {before}
      <strong>{host}</strong>
      {after}
    </Text>
  )
}
