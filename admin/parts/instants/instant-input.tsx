import { ActionIcon, TextInput, type TextInputProps } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { type CSSProperties, useRef } from 'react'
import { nativeText } from './typed-instant.ts'

/** Hidden under the button that opens the calendar, which the browser places next to this field. */
const anchorStyle: CSSProperties = {
  position: 'absolute',
  right: 0,
  bottom: 0,
  width: 1,
  height: 1,
  padding: 0,
  border: 0,
  opacity: 0,
  pointerEvents: 'none',
}

/**
 * A text field for an instant or a day, in the format used throughout the interface (native fields would use the browser's
 * language), with a button that opens the browser's calendar.
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
  /** The initial selection of the calendar. */
  chosen: Date | undefined
  /** Called with the selection in the calendar. */
  onChoose: (instant: Date) => void
  /** In the format of a native field. */
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
            aria-label={`Pick ${label} in a calendar`}
            onClick={() => calendar.current?.showPicker()}
          >
            <IconCalendar size={16} aria-hidden />
          </ActionIcon>
          <input
            ref={calendar}
            type={type}
            style={anchorStyle}
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
