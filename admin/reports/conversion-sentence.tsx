import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Schemas } from '../../client/person.ts'
import { countOf, countText, shareText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { isLaterPart } from './report-table.tsx'

/** The conversion rate of a funnel in a sentence, and what else is to be said about it. A funnel without steps has none. */
export function ConversionSentence({
  report: { enrolled, steps },
  children,
}: {
  report: Schemas['JourneyReport']
  children?: ReactNode
}) {
  const [first] = steps
  const last = steps.at(-1)
  if (!last) return null
  return (
    <Text>
      Of {countOf(enrolled, 'customer')} who{' '}
      {isLaterPart(steps) ? <>reached “{isolated(first?.name)}”</> : 'entered'}, {countText(last.reached)} (
      {shareText(last.of_enrolled)}) reached the last step, “{isolated(last.name)}”. {children}
    </Text>
  )
}
