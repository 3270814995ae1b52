import { Badge, Box, Group, List, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { countText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import type { DefinedValue } from './value-draft.ts'
import { type DefinedField, fieldsOf, pointerText, ruleTexts, typeText } from './value-words.ts'

type Observed = Schemas['ObservedEvent']

/**
 * The fields of `custom_variables`, each beside what was observed in stored events; on narrow screens everything else is below
 * the name.
 */
export function FieldTable({
  variables,
  observed,
}: {
  variables: DefinedValue
  observed: Observed | undefined
}) {
  const fields = fieldsOf(variables)
  const isObserved = observed !== undefined && observed.examined > 0
  const pointers = new Set(fields.map(({ pointer }) => pointer))
  const undefinedFields = observed?.fields.filter(({ pointer }) => !isDefined(pointer, pointers)) ?? []
  const others =
    variables.additionalProperties === false ? 'Other fields do not conform.' : 'Other fields are allowed.'
  return (
    <Stack gap="xs">
      {fields.length > 0 && (
        <Table aria-label="Fields" layout="fixed" verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th visibleFrom="sm" w={160}>
                Type
              </Table.Th>
              <Table.Th visibleFrom="sm">Values</Table.Th>
              <Table.Th visibleFrom="sm">Description</Table.Th>
              {isObserved && <Table.Th visibleFrom="sm">Observed</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {fields.map((field) => (
              <Table.Tr key={field.pointer} style={{ verticalAlign: 'top' }}>
                <Table.Td className="breakable">
                  <FieldName field={field} />
                  <Box hiddenFrom="sm" fz="sm" mt={4}>
                    <div>{typeText(field.value)}</div>
                    <Rules value={field.value} />
                    <div>
                      <Description value={field.value} />
                    </div>
                    {isObserved && <ObservedField pointer={field.pointer} observed={observed} />}
                  </Box>
                </Table.Td>
                <Table.Td visibleFrom="sm">{typeText(field.value)}</Table.Td>
                <Table.Td visibleFrom="sm" className="breakable">
                  <Rules value={field.value} />
                </Table.Td>
                <Table.Td visibleFrom="sm" className="breakable">
                  <Description value={field.value} />
                </Table.Td>
                {isObserved && (
                  <Table.Td visibleFrom="sm" className="breakable">
                    <ObservedField pointer={field.pointer} observed={observed} />
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Text size="sm">
        {fields.length === 0 && 'No fields are defined. '}
        {others}
      </Text>
      {observed && undefinedFields.length > 0 && (
        <>
          <Text size="sm">
            <strong>Observed in stored events, but not defined:</strong>
          </Text>
          <List size="sm">
            {undefinedFields.map((field) => (
              <List.Item key={field.pointer} className="breakable">
                <Text span inherit ff="monospace">
                  {pointerText(field.pointer)}
                </Text>{' '}
                {observedText(field, observed)}
              </List.Item>
            ))}
          </List>
        </>
      )}
    </Stack>
  )
}

/** Whether a field is defined; the items of a defined array are defined with it. */
function isDefined(pointer: string, pointers: ReadonlySet<string>): boolean {
  return pointers.has(pointer.replace(/(\/-)+$/, ''))
}

function ObservedField({ pointer, observed }: { pointer: string; observed: Observed }) {
  const field = observed.fields.find((field) => field.pointer === pointer)
  return field ? observedText(field, observed) : 'not observed'
}

/** A field in words: `in 980 of 1,000 events, String: "free", "team"`. */
function observedText({ events, types, values }: Schemas['ObservedField'], { examined }: Observed): string {
  const share = `in ${countText(events)} of ${countText(examined)} events`
  const examples = values.map((value) => isolated(JSON.stringify(value))).join(', ')
  return `${share}, ${typeText({ type: types })}${examples && `: ${examples}`}`
}

function FieldName({ field: { pointer, name, level, isRequired, value } }: { field: DefinedField }) {
  return (
    <Group gap="xs" pl={`${level}rem`} component="span">
      <Text span inherit ff="monospace" fw={500} title={pointerText(pointer)}>
        {name}
      </Text>
      {isRequired && (
        <Badge variant="default" size="sm" tt="none">
          Required
        </Badge>
      )}
      {value.deprecated && (
        <Badge variant="default" size="sm" tt="none">
          Deprecated
        </Badge>
      )}
    </Group>
  )
}

function Rules({ value }: { value: DefinedValue }) {
  return ruleTexts(value).map((text) => <div key={text}>{text}</div>)
}

function Description({ value: { title, description } }: { value: DefinedValue }) {
  return [title && isolated(title), description].filter(Boolean).join(': ')
}
