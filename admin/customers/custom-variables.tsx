import { Box, Button, Stack } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useId, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { JsonView } from '../parts/json-view.tsx'

/** More than this many characters of JSON are shown only on demand: a timeline is for skimming. */
const limitCharacters = 400

/** The custom variables of one event in a timeline: at once if short, else behind a button. */
export function CustomVariables({ event }: { event: Schemas['Event'] }) {
  const [opened, setOpened] = useState(false)
  const contentId = useId()
  const variables = event.custom_variables
  if (variables === null) return null

  const isLong = JSON.stringify(variables).length > limitCharacters
  if (!isLong) return <JsonView value={variables} />
  const Chevron = opened ? IconChevronDown : IconChevronRight
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<Chevron size={16} aria-hidden />}
        aria-expanded={opened}
        aria-controls={opened ? contentId : undefined}
        onClick={() => setOpened(!opened)}
      >
        {extent(variables)}
      </Button>
      {opened && (
        <Box id={contentId} w="100%">
          <JsonView value={variables} />
        </Box>
      )}
    </Stack>
  )
}

function extent(variables: NonNullable<Schemas['Event']['custom_variables']>): string {
  if (typeof variables === 'string') {
    return `Text of ${new Intl.NumberFormat('en').format(variables.length)} characters`
  }
  const count = Object.keys(variables).length
  return count === 1 ? '1 custom variable' : `${count} custom variables`
}
