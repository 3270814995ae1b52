import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { nameLimit } from '../forms/field-faults.ts'
import { monospaceField } from '../forms/monospace-field.ts'
import { useDraft } from './filters.ts'

/**
 * A text filter. `onChange` is debounced by 200 ms, and called immediately on Enter and on blur.
 */
export function FilterField({
  value,
  onChange,
  monospace = false,
  ...field
}: Pick<TextInputProps, 'aria-label' | 'label' | 'description' | 'placeholder' | 'leftSection'> & {
  /** For names and identifiers from code. */
  monospace?: boolean
  value: string
  onChange: (value: string) => void
}) {
  const { draft, setDraft, enter, leave } = useDraft(value)
  const commit = useDebouncedCallback(onChange, 200)
  return (
    <TextInput
      {...field}
      // Description below, so that the fields of a row align.
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
        commit(event.currentTarget.value)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') commit.flush()
      }}
      onBlur={() => {
        leave()
        commit.flush()
      }}
    />
  )
}
