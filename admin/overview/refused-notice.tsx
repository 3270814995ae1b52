import { Alert, Anchor } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useKeyName } from '../keys/key-name.tsx'
import { clockText } from '../parts/instants/instant-text.ts'
import { countOf, countText, shareText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { useRefusedShare } from './refused-share.ts'
import { rejectionCount, rejectionText } from './rejections.ts'
import type { Mistake } from './unusual-rejections.ts'

/** Alerts everyone to an unusual share of rejected requests; renders nothing otherwise. */
export function RefusedNotice() {
  const { workspace_id, canChange } = useMembership()
  const { data } = useRefusedShare()
  if (!data?.isUnusual) return null
  const { since, rejections, received, worst } = data
  const { events } = rejections
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle aria-hidden />}
      title={`${countText(rejectionCount(rejections))} rejected since ${clockText(since)}: ${rejectionText(rejections)}`}
    >
      {received > 0
        ? `Rejection rate: ${shareText(events / received)} of ${countOf(received, 'received event')}. `
        : 'No events were received. '}
      {worst && (
        <>
          Most frequent error: <WorstMistake worst={worst} />.{' '}
        </>
      )}
      {canChange && (
        <Anchor component={Link} inherit to={`/w/${workspace_id}/events/refused`}>
          View rejected requests
        </Anchor>
      )}
    </Alert>
  )
}

function WorstMistake({ worst: { code, field, key_id, first_at, count } }: { worst: Mistake }) {
  return (
    <>
      {code}
      {field && ` ${isolated(field)}`} from key {useKeyName(key_id)} since {clockText(new Date(first_at))},{' '}
      {countOf(count, 'time')}
    </>
  )
}
