import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { nameLimit } from './field-faults.ts'
import { useDraft } from './filters.ts'
import { monospaceField } from './monospace-field.ts'

/**
 * A field for a filter of text. `onChange` is told when typing has paused for 200 ms, and at once by Enter and when the
 * field is left.
 */
export function FilterField({
  value,
  onChange,
  monospace = false,
  ...field
}: Pick<TextInputProps, 'label' | 'description' | 'placeholder' | 'leftSection'> & {
  /** For what engineers type: names and identifiers. */
  monospace?: boolean
  value: string
  onChange: (value: string) => void
}) {
  const { draft, setDraft, enter, leave } = useDraft(value)
  const tell = useDebouncedCallback(onChange, 200)
  return (
    <TextInput
      {...field}
      // Below, so that the fields of a row stand in line.
      inputWrapperOrder={['label', 'input', 'description']}
      styles={{ input: monospace ? monospaceField : {} }}
      type="search"
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      maxLength={nameLimit}
      value={draft}
      onFocus={enter}
      onChange={(event) => {
        setDraft(event.currentTarget.value)
        tell(event.currentTarget.value)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') tell.flush()
      }}
      onBlur={() => {
        leave()
        tell.flush()
      }}
    />
  )
}
