import { Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Loading } from '../parts/loading.tsx'

// Few open it; it is a hundredth of what the page may load.
const CountingRuleList = lazy(() =>
  import('./counting-rule-list.tsx').then((module) => ({ default: module.CountingRuleList })),
)

/** What the numbers mean, for those who did not configure the journey. */
export function CountingRule() {
  const [isOpened, setIsOpened] = useState(false)
  return (
    <details onToggle={() => setIsOpened(true)}>
      <summary style={{ cursor: 'pointer', width: 'fit-content' }}>
        <Text span size="sm" td="underline">
          How is this counted?
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
