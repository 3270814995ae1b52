import { ActionIcon, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconCheck, IconCopy, IconX } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'

const says = { idle: '', copied: 'Copied', failed: 'Could not copy; select the text instead' }

/** Copies `value`, and tells that it did so, to screen readers too. `label` is its accessible name. */
export function CopyButton({ value, label }: { value: string; label: string }) {
  const [state, setState] = useState<keyof typeof says>('idle')
  const button = useRef<HTMLButtonElement>(null)

  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 2500)
    return () => clearTimeout(timer)
  }, [state])

  async function copy() {
    try {
      await navigator.clipboard.writeText(value)
      setState('copied')
    } catch {
      // Over plain HTTP there is no clipboard, and a browser may refuse it.
      setState(copyBySelection(value, button.current) ? 'copied' : 'failed')
    }
  }

  return (
    <>
      <Tooltip label={says[state] || label} {...(state !== 'idle' && { opened: true })}>
        <ActionIcon ref={button} variant="subtle" color="gray" size="sm" aria-label={label} onClick={copy}>
          {state === 'copied' && <IconCheck size={16} aria-hidden />}
          {state === 'failed' && <IconX size={16} aria-hidden />}
          {state === 'idle' && <IconCopy size={16} aria-hidden />}
        </ActionIcon>
      </Tooltip>
      <VisuallyHidden component="span" role="status">
        {says[state]}
      </VisuallyHidden>
    </>
  )
}

/** Whether the browser copied by the older way, from a field that is gone afterwards. */
function copyBySelection(value: string, button: HTMLButtonElement | null): boolean {
  const field = document.createElement('textarea')
  field.value = value
  field.style.position = 'fixed'
  field.style.opacity = '0'
  // Beside the button: a dialog takes the focus back from whatever stands outside it.
  button?.after(field)
  field.select()
  const copied = document.execCommand('copy')
  field.remove()
  button?.focus()
  return copied
}
