import { Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Loading } from '../parts/loading.tsx'

// Rarely opened, and 1% of the page's size limit.
const CountingRuleList = lazy(() =>
  import('./counting-rule-list.tsx').then((module) => ({ default: module.CountingRuleList })),
)

/** Explains the numbers to people who did not set up the journey. */
export function CountingRule() {
  const [isOpened, setIsOpened] = useState(false)
  return (
    <details onToggle={() => setIsOpened(true)}>
      <summary style={{ cursor: 'pointer', width: 'fit-content' }}>
        <Text span size="sm" td="underline">
          How customers are counted
        </Text>
      </summary>
      {isOpened && (
        <Suspense fallback={<Loading lines={6} />}>
          <CountingRuleList />
        </Suspense>
      )}
    </details>
  )
}
