import { Alert, Anchor } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { useKeyName } from '../keys/key-name.tsx'
import { clockText } from '../parts/instant-text.ts'
import { countOf, countText, shareText } from '../parts/number-text.ts'
import { useMembership } from '../session/session.ts'
import { useRefusedShare } from './refused-share.ts'

/** Tells of an unusual share of refusals those who did not come to look for it; nothing where there is none. */
export function RefusedNotice() {
  const { workspace_id, canChange } = useMembership()
  const { data } = useRefusedShare()
  if (!data?.isUnusual) return null
  const { since, refused, sent, worst } = data
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle aria-hidden />}
      title={`${shareText(refused / sent)} of what was sent since ${clockText(since)} was refused`}
    >
      {countText(refused)} of {countOf(sent, 'event')}
      {worst ? (
        <>
          {', most of all '}
          <WorstMistake worst={worst} />.{' '}
        </>
      ) : (
        '. '
      )}
      {canChange && (
        <Anchor component={Link} inherit to={`/w/${workspace_id}/events/refused`}>
          See what was refused, and why
        </Anchor>
      )}
    </Alert>
  )
}

function WorstMistake({
  worst: { code, field, key_id, first_at, count },
}: {
  worst: Schemas['RefusalGroup']
}) {
  return (
    <>
      {code}
      {field && <bdi> {field}</bdi>} from key <bdi>{useKeyName(key_id)}</bdi> since{' '}
      {clockText(new Date(first_at))}, {countText(count)} times
    </>
  )
}
