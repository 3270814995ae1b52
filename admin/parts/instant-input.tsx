import { ActionIcon, TextInput, type TextInputProps } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { useRef } from 'react'
import { nativeText } from './instant-text.ts'

/**
 * A field for an instant or a day as text, in the one form in which all of the interface writes them (the native fields
 * follow the browser's language instead), with a button that opens the browser's own calendar.
 */
export function InstantInput({
  type,
  chosen,
  onChoose,
  min,
  label,
  ...field
}: Omit<TextInputProps, 'type' | 'onChange' | 'min'> & {
  label: string
  type: 'date' | 'datetime-local'
  /** What the calendar begins with. */
  chosen: Date | undefined
  /** Told what is chosen in the calendar. */
  onChoose: (instant: Date) => void
  /** In the form of a native field. */
  min: string
  onChange: TextInputProps['onChange']
}) {
  const calendar = useRef<HTMLInputElement>(null)
  return (
    <TextInput
      {...field}
      label={label}
      placeholder={type === 'date' ? 'e.g. 20 Nov 2026' : 'e.g. 20 Nov 2026, 09:30'}
      autoComplete="off"
      rightSectionPointerEvents="all"
      rightSection={
        <>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={`Choose ${label} in a calendar`}
            onClick={() => calendar.current?.showPicker()}
          >
            <IconCalendar size={16} aria-hidden />
          </ActionIcon>
          {/* Only what its calendar hangs on: nobody reads it or types into it. */}
          <input
            ref={calendar}
            type={type}
            className="calendar"
            tabIndex={-1}
            aria-hidden
            min={min}
            max={type === 'date' ? '9999-12-30' : '9999-12-30T23:59'}
            value={chosen ? nativeText(chosen, type) : ''}
            onChange={({ currentTarget: { value } }) => {
              const instant = new Date(type === 'date' ? `${value}T00:00` : value)
              if (!Number.isNaN(instant.getTime())) onChoose(instant)
            }}
          />
        </>
      }
    />
  )
}
