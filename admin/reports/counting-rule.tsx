import { Text } from '@mantine/core'
import { useState } from 'react'
import { Loading } from '../parts/loading.tsx'
import { onDemand } from '../parts/on-demand.tsx'

// Rarely opened, and 1% of the page's size limit.
const CountingRuleList = onDemand(
  () => import('./counting-rule-list.tsx').then((module) => module.CountingRuleList),
  () => <Loading lines={6} />,
)

/** Explains the numbers to people who did not set up the journey. */
export function CountingRule() {
  const [isOpened, setIsOpened] = useState(false)
  return (
    <details className={isOpened ? undefined : 'not-printed'} onToggle={() => setIsOpened(true)}>
      <summary style={{ cursor: 'pointer', width: 'fit-content' }}>
        <Text span size="sm" td="underline">
          How customers are counted
        </Text>
      </summary>
      {isOpened && <CountingRuleList />}
    </details>
  )
}
