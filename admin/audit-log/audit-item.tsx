import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { AuditChanges } from './audit-changes.tsx'
import { AuditSentence } from './audit-sentence.tsx'

/** An entry of the audit log: a sentence and the time; expanded, all details. `onActor` filters the log by its actor. */
export function AuditItem({
  entry,
  onActor,
}: {
  entry: Schemas['AuditEntry']
  onActor: (actorId: string) => void
}) {
  const [opened, setOpened] = useState(false)
  const sentenceId = useId()
  const buttonId = useId()
  const detailsId = useId()
  const actorId = entry.actor.id
  const Chevron = opened ? IconChevronDown : IconChevronRight
  return (
    <Paper component="li" withBorder p="sm">
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <Stack gap={2} miw={0}>
          <div id={sentenceId}>
            <AuditSentence entry={entry} />
          </div>
          <Text size="sm" c="dimmed" component="div">
            <Instant at={entry.at} relative />
            {entry.address !== null && (
              <>
                {' from '}
                <Text span inherit className="breakable">
                  {entry.address}
                </Text>
              </>
            )}
          </Text>
        </Stack>
        <Button
          id={buttonId}
          variant="default"
          size="compact-sm"
          style={{ flexShrink: 0 }}
          leftSection={<Chevron size={16} aria-hidden />}
          aria-expanded={opened}
          aria-controls={opened ? detailsId : undefined}
          aria-labelledby={`${buttonId} ${sentenceId}`}
          onClick={() => setOpened(!opened)}
        >
          Details
        </Button>
      </Group>
      {opened && (
        <Stack id={detailsId} gap="sm" mt="sm" align="flex-start">
          <AuditChanges entry={entry} />
          <Field name="Entry">
            <Identifier value={entry.id} label="entry ID" />
          </Field>
          <Field name="Subject">
            <Identifier value={entry.subject.id} label="subject ID" />
          </Field>
          {actorId !== null && (
            <Field name="Actor">
              <Identifier value={actorId} label="actor ID" />
            </Field>
          )}
          <Field name="Request">
            {entry.request_id === null ? (
              'None (command line)'
            ) : (
              <Identifier value={entry.request_id} label="request ID" />
            )}
          </Field>
          {actorId !== null && (
            <Button variant="default" size="compact-sm" onClick={() => onActor(actorId)}>
              Show only entries of {entry.actor.name === null ? 'this actor' : visibleName(entry.actor.name)}
            </Button>
          )}
        </Stack>
      )}
    </Paper>
  )
}

function Field({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Group gap="xs" fz="sm" wrap="nowrap" maw="100%">
      <Text span inherit fw={600} w="4.5rem" style={{ flexShrink: 0 }}>
        {name}
      </Text>
      {children}
    </Group>
  )
}
