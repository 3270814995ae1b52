import '@mantine/core/styles/NumberInput.css'
import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import { NumberInput, Select, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core'
import type { useForm } from '@mantine/form'
import type { Schemas } from '../../client/person.ts'
import { InstantInput } from '../parts/instants/instant-input.tsx'
import { dayText } from '../parts/instants/instant-text.ts'
import { type KeyDraft, startOfDay, tomorrow } from './key-draft.ts'

type KeyFieldsProps = {
  form: Pick<ReturnType<typeof useForm<KeyDraft>>, 'values' | 'getInputProps' | 'setFieldValue'>
  kind: Schemas['KeyKind']
  /** The label of the option to keep the current expiry; undefined if it has none. */
  presentExpiry?: string | undefined
}

/** The fields shared by the forms to create and to edit a key. */
export function KeyFields({ form, kind, presentExpiry }: KeyFieldsProps) {
  const { expiry, rate } = form.values
  return (
    <Stack>
      <TextInput
        label="Name"
        description="Where the key is used, for example Website or Importer."
        withAsterisk
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('name')}
      />
      {kind === 'publishable' && (
        <TagsInput
          label="Allowed origins"
          description="Only pages from these origins may use the key; leave empty to allow all. Enter each origin, such as https://app.example.com, and press Enter. Only browsers enforce this: it does not make the key secret."
          placeholder={form.values.allowed_origins.length === 0 ? 'https://app.example.com' : ''}
          splitChars={[',', ' ']}
          {...form.getInputProps('allowed_origins')}
        />
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Expiry"
          description="Requests with an expired key are rejected."
          allowDeselect={false}
          data={[
            ...(presentExpiry ? [{ value: 'unchanged', label: presentExpiry }] : []),
            { value: 'never', label: 'Never' },
            { value: '30', label: 'In 30 days' },
            { value: '90', label: 'In 90 days' },
            { value: '365', label: 'In 365 days' },
            { value: 'date', label: 'On a date…' },
          ]}
          {...form.getInputProps('expiry')}
        />
        {expiry === 'date' && (
          <InstantInput
            type="date"
            label="Expiry date"
            description="The key expires at the start of this day."
            min={tomorrow()}
            chosen={startOfDay(form.values.expiryDate)}
            onChoose={(day) => form.setFieldValue('expiryDate', dayText(day))}
            {...form.getInputProps('expiryDate')}
          />
        )}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Rate limit"
          description="How many events per second the key may send."
          allowDeselect={false}
          data={[
            { value: 'default', label: 'Server default' },
            { value: 'own', label: 'Custom' },
            { value: 'unlimited', label: 'No limit' },
          ]}
          {...form.getInputProps('rate')}
        />
        {rate === 'own' && (
          <NumberInput
            label="Events per second"
            autoComplete="off"
            description="Short bursts of twice as many are allowed."
            allowDecimal={false}
            allowNegative={false}
            thousandSeparator=","
            min={1}
            max={1_000_000}
            clampBehavior="none"
            hideControls
            {...form.getInputProps('ratePerSecond')}
          />
        )}
      </SimpleGrid>
    </Stack>
  )
}
