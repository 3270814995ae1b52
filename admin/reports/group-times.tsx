import { Box, Group, Stack, Table, Title, useMatches } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { durationText } from '../parts/instants/duration-text.ts'
import { countText } from '../parts/number-text.ts'
import { OutputMenu } from '../parts/output/output-menu.tsx'
import type { TextTable } from '../parts/output/table-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { breakdownText, groupKey, groupLabel } from './group-label.ts'

/** How long the customers of each group take to reach a step. */
export function GroupTimes({
  groups,
  breakdown,
  name,
}: {
  groups: readonly Schemas['JourneyStepTimesGroup'][]
  breakdown: string
  /** What the times are of: `Time from “Signed up” to “Paid”`. */
  name: string
}) {
  const table = timeRows(groups, breakdown)
  const spacing = useMatches({ base: 6, sm: 'xs' })
  const title = `${name} by ${isolated(breakdownText(breakdown))}`
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="flex-start">
        <Title order={3} size="h5" flex="1 1 10rem">
          {title}
        </Title>
        <OutputMenu output={() => ({ name: title, sentence: title, table })} />
      </Group>
      {/* With text spacing of the reader's own, it may need more than a narrow window has. */}
      <Box role="region" aria-label="Times by group" tabIndex={0} style={{ overflowX: 'auto' }}>
        <Table aria-label="Times by group" verticalSpacing={4} horizontalSpacing={spacing}>
          <Table.Thead>
            <Table.Tr>
              {table.columns.map(({ key, label }, index) => (
                <Table.Th
                  key={key}
                  ta={index === 0 ? 'left' : 'right'}
                  miw={index === 0 ? '5rem' : 0}
                  style={{ overflowWrap: 'normal' }}
                >
                  {label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {table.rows.map(({ key, cells: [label, ...numbers] }) => (
              <Table.Tr key={key}>
                <Table.Th scope="row" fw={400} className="breakable">
                  {isolated(label)}
                </Table.Th>
                {numbers.map((number, index) => (
                  <Table.Td key={table.columns[index + 1]?.key} ta="right">
                    {number}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Box>
    </Stack>
  )
}

function timeRows(groups: readonly Schemas['JourneyStepTimesGroup'][], breakdown: string): TextTable {
  const length = (ms: number | null) => (ms === null ? '–' : durationText(ms))
  return {
    columns: [
      { key: 'group', label: breakdownText(breakdown) },
      { key: 'n', label: 'Customers' },
      { key: 'median', label: 'Median' },
      { key: 'p90', label: '90% within' },
    ],
    rows: groups.map(({ group, times: { n, median_ms, p90_ms } }) => ({
      key: groupKey(group),
      cells: [groupLabel(group, breakdown), countText(n), length(median_ms), length(p90_ms)],
    })),
  }
}
