import { ActionIcon, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconCheck, IconCopy, IconX } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { copyText } from './clipboard.ts'

const messages = { idle: '', copied: 'Copied', failed: 'Could not copy. Select the text and copy it.' }

/** Copies `value` and confirms it, also to screen readers. `label` is the button's accessible name. */
export function CopyButton({
  value,
  label,
  onCopied,
}: {
  value: string
  label: string
  onCopied?: () => void
}) {
  const [state, setState] = useState<keyof typeof messages>('idle')
  const button = useRef<HTMLButtonElement>(null)

  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 2500)
    return () => clearTimeout(timer)
  }, [state])

  async function copy() {
    try {
      await copyText(value, button.current)
      setState('copied')
      onCopied?.()
    } catch {
      setState('failed')
    }
  }

  return (
    <>
      <Tooltip label={messages[state] || label} {...(state !== 'idle' && { opened: true })}>
        <ActionIcon ref={button} variant="subtle" color="gray" size="sm" aria-label={label} onClick={copy}>
          {state === 'copied' && <IconCheck size={16} aria-hidden />}
          {state === 'failed' && <IconX size={16} aria-hidden />}
          {state === 'idle' && <IconCopy size={16} aria-hidden />}
        </ActionIcon>
      </Tooltip>
      <VisuallyHidden component="span" role="status">
        {messages[state]}
      </VisuallyHidden>
    </>
  )
}
