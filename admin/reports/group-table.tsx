import { Box, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { useIsNarrow } from '../parts/narrow.ts'
import { countOf, countText, shareText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { Difference, differenceText } from './difference.tsx'
import { breakdownText, groupKey, groupLabel } from './group-label.ts'

type Report = Schemas['JourneyReport']
type Group = Schemas['JourneyReportGroup']

/**
 * Groups by step. On narrow screens the steps of a group are below its name; on wide ones each is a column, and the table
 * scrolls within its frame if there are many.
 */
export function GroupTable({ report, breakdown }: { report: Report; breakdown: string }) {
  const isNarrow = useIsNarrow()
  const { steps } = report
  const groups = report.groups ?? []
  return (
    <Box role="region" aria-label="Groups by step" tabIndex={0} style={{ overflowX: 'auto' }}>
      <Table aria-label="Groups" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{isolated(breakdownText(breakdown))}</Table.Th>
            {!isNarrow &&
              steps.map(({ step, name }) => (
                <Table.Th key={step} miw="9rem">
                  {step}. {isolated(name)}
                </Table.Th>
              ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map((group) => (
            <Table.Tr key={groupKey(group.group)} style={{ verticalAlign: 'top' }}>
              <Table.Th scope="row" miw="8rem" className="breakable">
                {isolated(groupLabel(group.group, breakdown))}
                <Text size="xs" fw={400}>
                  {countOf(group.enrolled, 'customer')}
                </Text>
                {isNarrow && (
                  <Stack component="ul" gap="xs" m={0} mt={6} p={0} fw={400} style={{ listStyle: 'none' }}>
                    {group.steps.map(({ step, name }, index) => (
                      <li key={step}>
                        {step}. {isolated(name)}
                        <GroupStep group={group} index={index} />
                      </li>
                    ))}
                  </Stack>
                )}
              </Table.Th>
              {!isNarrow &&
                group.steps.map(({ step }, index) => (
                  <Table.Td key={step}>
                    <GroupStep group={group} index={index} />
                  </Table.Td>
                ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  )
}

/** How many of a group reached a step, of the group and of those before, and how that differs. */
function GroupStep({ group: { steps, differences, comparison }, index }: { group: Group; index: number }) {
  const step = steps[index]
  if (!step) return null
  const before = comparison?.steps[index]
  return (
    <Text size="sm" component="div">
      <Text span inherit fw={600}>
        {shareText(step.of_enrolled)}
      </Text>{' '}
      ({countText(step.reached)})
      <Text size="xs">
        <Difference difference={differences[index] ?? null} />
      </Text>
      {index > 0 && <Text size="xs">{shareText(step.of_previous)} of previous step</Text>}
      {before && (
        <Text size="xs">
          compared period {shareText(before.of_enrolled)} ({countText(before.reached)}):{' '}
          {differenceText(comparison.differences[index] ?? null)}
        </Text>
      )}
    </Text>
  )
}
