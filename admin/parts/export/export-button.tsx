import { Button, Group, Menu, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Problem } from '../../../client/person.ts'
import { taken } from '../../problem.ts'
import { useMembership } from '../../session/session.ts'
import { bytesText } from '../number-text.ts'
import { ProblemAlert } from '../problem-alert.tsx'

export type ExportFormat = 'ndjson' | 'csv'

type Answer = Promise<
  | { data: ReadableStream<Uint8Array<ArrayBuffer>>; error?: undefined; response: Response }
  | { data?: undefined; error: Problem; response: Response }
>

/** Exports a list with its current filters to a file. Hidden from viewers, who may not export. */
export function ExportButton({
  request,
  ignores,
}: {
  /** A filter of the list that an export does not apply, shown before it starts; for example `the variable plan=pro`. */
  ignores?: string | undefined
  /** Requests the export. */
  request: (format: ExportFormat, signal: AbortSignal) => Answer
}) {
  const { role } = useMembership()
  const saving = useSaving()
  if (role === 'viewer') return null
  const begin = (format: ExportFormat) => void saving.begin((signal) => request(format, signal))
  return (
    <SavingStatus saving={saving}>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown maw="20rem">
          {ignores !== undefined && (
            <Menu.Label>
              Exports do not apply the filter {ignores}. The file contains all matches of the other filters.
            </Menu.Label>
          )}
          <Menu.Item onClick={() => begin('csv')}>Export CSV (for spreadsheets)</Menu.Item>
          <Menu.Item onClick={() => begin('ndjson')}>Export NDJSON (for programs)</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </SavingStatus>
  )
}

/** Exports one file. Hidden from viewers. */
export function SaveButton({ label, request }: { label: string; request: (signal: AbortSignal) => Answer }) {
  const { role } = useMembership()
  const saving = useSaving()
  if (role === 'viewer') return null
  return (
    <SavingStatus saving={saving}>
      <Button
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
        onClick={() => void saving.begin(request)}
      >
        {label}
      </Button>
    </SavingStatus>
  )
}

function SavingStatus({ saving, children }: { saving: Saving; children: ReactNode }) {
  const { bytes, error, cancel } = saving
  return (
    <Stack gap="xs" align="flex-end" maw="100%">
      {bytes === undefined ? (
        children
      ) : (
        <Group gap="sm">
          <Text size="sm">Exporting: {bytesText(bytes)}</Text>
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
        </Group>
      )}
      <ProblemAlert error={error} />
    </Stack>
  )
}

type Saving = ReturnType<typeof useSaving>

/** A download in progress; leaving the screen aborts it. */
function useSaving() {
  const [bytes, setBytes] = useState<number>()
  const [error, setError] = useState<unknown>()
  const current = useRef<AbortController>(undefined)
  useEffect(() => () => current.current?.abort(), [])

  async function begin(request: (signal: AbortSignal) => Answer) {
    const controller = new AbortController()
    current.current = controller
    const { signal } = controller
    setBytes(0)
    setError(undefined)
    try {
      const answer = request(signal)
      const body = await taken(answer)
      const { fileName, saveFile } = await import('./save-file.ts')
      await saveFile({ body, name: fileName((await answer).response) }, setBytes)
    } catch (failure) {
      if (!signal.aborted) setError(failure)
    } finally {
      if (!signal.aborted || current.current === controller) setBytes(undefined)
    }
  }

  return { bytes, error, begin, cancel: () => current.current?.abort() }
}
