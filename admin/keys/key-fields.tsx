import { NumberInput, Select, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core'
import type { useForm } from '@mantine/form'
import type { Schemas } from '../../client/person.ts'
import { InstantInput } from '../parts/instant-input.tsx'
import { dayText } from '../parts/instant-text.ts'
import { type KeyDraft, startOfDay, tomorrow } from './key-draft.ts'

type KeyFieldsProps = {
  form: Pick<ReturnType<typeof useForm<KeyDraft>>, 'values' | 'getInputProps' | 'setFieldValue'>
  kind: Schemas['KeyKind']
  /** How the key's present expiry is offered; undefined if it has none. */
  presentExpiry?: string | undefined
}

/** The fields that a new key and one that is changed have in common. */
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
          description="Only pages of these origins may use the key; none: every page. Write each as browsers send it, such as https://app.example.com, and press Enter. This keeps honest pages apart; it does not make the key a secret."
          placeholder={form.values.allowed_origins.length === 0 ? 'https://app.example.com' : ''}
          splitChars={[',', ' ']}
          {...form.getInputProps('allowed_origins')}
        />
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Expiry"
          description="From then on the key is refused."
          allowDeselect={false}
          data={[
            ...(presentExpiry ? [{ value: 'unchanged', label: presentExpiry }] : []),
            { value: 'never', label: 'Never' },
            { value: '30', label: '30 days from now' },
            { value: '90', label: '90 days from now' },
            { value: '365', label: '365 days from now' },
            { value: 'date', label: 'On a date' },
          ]}
          {...form.getInputProps('expiry')}
        />
        {expiry === 'date' && (
          <InstantInput
            type="date"
            label="Expiry date"
            description="Refused from the beginning of this day on."
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
          description="How many events the key may send."
          allowDeselect={false}
          data={[
            { value: 'default', label: "The server's default" },
            { value: 'own', label: 'A limit of its own' },
            { value: 'unlimited', label: 'No limit' },
          ]}
          {...form.getInputProps('rate')}
        />
        {rate === 'own' && (
          <NumberInput
            label="Events a second"
            description="For a short time, twice as many pass."
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
