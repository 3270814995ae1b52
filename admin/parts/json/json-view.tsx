import { Box } from '@mantine/core'
import { Fragment } from 'react'
import { isolated } from '../visible-name.ts'
import { JsonValue } from './json-value.tsx'

/**
 * A JSON value for people: the names and values of an object as a list, anything else as one value. Never wider than its
 * container.
 */
export function JsonView({ value }: { value: unknown }) {
  const fields =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
  if (fields.length === 0) {
    return (
      <Box fz="sm">
        <JsonValue value={value} />
      </Box>
    )
  }
  return (
    <Box
      component="dl"
      m={0}
      fz="sm"
      style={{
        display: 'grid',
        // Names take the width they need up to a limit; values take the rest.
        gridTemplateColumns: 'fit-content(min(40%, 16rem)) minmax(0, 1fr)',
        gap: '0.25rem 1rem',
      }}
    >
      {fields.map(([name, field]) => (
        <Fragment key={name}>
          <Box component="dt" fw={500} className="breakable">
            {isolated(name)}
          </Box>
          <Box component="dd" m={0} miw={0}>
            <JsonValue value={field} />
          </Box>
        </Fragment>
      ))}
    </Box>
  )
}
