import { Table } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { JsonValue } from '../parts/json/json-value.tsx'

/** The changed fields of an entry, before and after. Renders nothing if there are none. */
export function AuditChanges({ entry }: { entry: Schemas['AuditEntry'] }) {
  const before = entry.before ?? {}
  const after = entry.after ?? {}
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  if (names.length === 0) return null
  return (
    <Table layout="fixed" verticalSpacing={6} captionSide="top" aria-label="Changes">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Field</Table.Th>
          <Table.Th>Before</Table.Th>
          <Table.Th>After</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {names.map((name) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400} ff="monospace" className="breakable">
              {name}
            </Table.Th>
            <Table.Td>{Object.hasOwn(before, name) ? <JsonValue value={before[name]} /> : '–'}</Table.Td>
            <Table.Td>{Object.hasOwn(after, name) ? <JsonValue value={after[name]} /> : '–'}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
