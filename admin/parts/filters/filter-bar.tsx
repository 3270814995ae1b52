import { Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import { timeZoneText } from '../instants/time-zone.ts'
import { useIsNarrow } from '../narrow.ts'
import { ClearFiltersButton } from './clear-filters-button.tsx'

/**
 * The filter fields of a list. On narrow screens a button, which shows how many filters are set, opens them.
 */
export function FilterBar({
  label,
  count,
  onClear,
  children,
}: {
  label: string
  count: number
  onClear: () => void
  children: ReactNode
}) {
  const isNarrow = useIsNarrow()
  const [opened, setOpened] = useState(false)
  const fieldsId = useId()
  const isShown = !isNarrow || opened
  return (
    <Stack gap="xs">
      {isNarrow && (
        <Button
          variant="default"
          leftSection={<IconFilter size={16} aria-hidden />}
          aria-expanded={opened}
          aria-controls={opened ? fieldsId : undefined}
          onClick={() => setOpened(!opened)}
        >
          {count === 0 ? 'Filters' : `Filters (${count} set)`}
        </Button>
      )}
      {isShown && (
        <Paper component="search" aria-label={label} id={fieldsId} withBorder p="sm">
          <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
            {children}
          </SimpleGrid>
          <Group justify="space-between" mt="sm" gap="xs">
            <Text size="sm">{timeZoneText()}</Text>
            <ClearFiltersButton variant="default" size="compact-sm" count={count} onClear={onClear} />
          </Group>
        </Paper>
      )}
    </Stack>
  )
}
