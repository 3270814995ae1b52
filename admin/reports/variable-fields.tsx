import { Box, Button, Group, TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { monospaceField } from '../parts/forms/monospace-field.ts'
import { useObservedVariables } from './observed-variables.ts'
import type { ReportFilters } from './report-filters.ts'
import { reportListReaders } from './report-readers.ts'
import { TouchField } from './touch-field.tsx'

const { most, read } = reportListReaders.variables

/** Adds a filter by the value of a variable. What the latest events had is suggested. */
export function VariableFields({
  filters,
  steps,
}: {
  filters: ReportFilters
  steps: Schemas['JourneySteps']
}) {
  const {
    lists: { variables },
    setList,
  } = filters
  const observed = useObservedVariables(steps[0]?.event_id ?? '')
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const [fault, setFault] = useState<string>()
  const ids = useId()
  const values = observed.find((variable) => variable.name === name)?.values ?? []

  function add() {
    const filter = `${name}:${value}`
    const found = faultOf(name, filter, variables)
    setFault(found)
    if (found) return
    setList('variables', [...variables.filter((other) => other !== filter), filter])
    setName('')
    setValue('')
  }

  return (
    <form
      noValidate
      aria-label="Filter by a variable"
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <TextInput
          label="Variable"
          placeholder="plan"
          autoComplete="off"
          flex={1}
          miw={0}
          styles={{ input: monospaceField }}
          list={`${ids}names`}
          error={fault}
          value={name}
          onChange={(change) => setName(change.currentTarget.value)}
        />
        <TextInput
          label="is"
          placeholder="team"
          autoComplete="off"
          flex={1}
          miw={0}
          list={`${ids}values`}
          value={value}
          onChange={(change) => setValue(change.currentTarget.value)}
        />
        <Button type="submit" variant="default" mt={25}>
          Add
        </Button>
      </Group>
      <datalist id={`${ids}names`}>
        {observed.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id={`${ids}values`}>
        {values.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
      {variables.length > 0 && (
        <Box mt="sm">
          <TouchField filters={filters} steps={steps} />
        </Box>
      )}
    </form>
  )
}

function faultOf(name: string, filter: string, set: readonly string[]): string | undefined {
  if (name === '') return 'Enter a name.'
  if (name.includes(':')) return 'Names with a colon cannot be filtered.'
  if (read(filter) === undefined) return 'At most 100 characters each.'
  if (set.length === most && !set.includes(filter)) return `At most ${most} at once.`
  return undefined
}
