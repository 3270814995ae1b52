import '@mantine/core/styles/Drawer.css'
import { ActionIcon, Drawer, Group, Stack, Text } from '@mantine/core'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { type ReactNode, useEffect } from 'react'
import { useSessionEnded } from '../../session/session.ts'
import type { Moves } from './opened.ts'

/** A drawer with the details of a list item. J and K, or the arrow keys, move through the list. */
export function SideDrawer({
  title,
  opened,
  onClose,
  moves: { next, previous },
  children,
}: {
  title: ReactNode
  opened: boolean
  onClose: () => void
  moves: Moves
  children: ReactNode
}) {
  // Then the keys belong to the dialog that asks to sign in again.
  const isCovered = useSessionEnded()
  useEffect(() => {
    if (!opened || isCovered) return
    function onKeyDown(event: KeyboardEvent) {
      if (event.altKey || event.ctrlKey || event.metaKey || isTyping(event)) return
      const move = ['j', 'ArrowDown'].includes(event.key)
        ? next
        : ['k', 'ArrowUp'].includes(event.key)
          ? previous
          : undefined
      if (!move) return
      event.preventDefault()
      move()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [opened, isCovered, next, previous])

  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="min(34rem, 100vw)"
      title={title}
      closeButtonProps={{ 'aria-label': 'Close' }}
      attributes={{ header: { role: 'presentation' } }}
      overlayProps={{ backgroundOpacity: 0.15 }}
      styles={{ title: { fontWeight: 650, minWidth: 0, overflowWrap: 'anywhere' } }}
    >
      <Stack gap="md">
        <Group gap={4}>
          <MoveButton label="Previous" onClick={previous} icon={<IconChevronUp size={16} aria-hidden />} />
          <MoveButton label="Next" onClick={next} icon={<IconChevronDown size={16} aria-hidden />} />
          <Text size="xs" c="dimmed" ml={4} visibleFrom="sm">
            K and J, or the arrow keys
          </Text>
        </Group>
        {children}
      </Stack>
    </Drawer>
  )
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.matches('input, textarea, select, [contenteditable]')
}

function MoveButton({
  label,
  icon,
  onClick,
}: {
  label: string
  icon: ReactNode
  onClick: (() => void) | undefined
}) {
  return (
    <ActionIcon
      variant="default"
      aria-label={label}
      // Not truly disabled: that would lose the focus at the end of the list.
      aria-disabled={!onClick}
      data-disabled={!onClick}
      onClick={() => onClick?.()}
    >
      {icon}
    </ActionIcon>
  )
}
