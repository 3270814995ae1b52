import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconCheck, IconSend } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { PersonClient, Schemas } from '../../../client/person.ts'
import { countOf, countText } from '../../parts/number-text.ts'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { taken } from '../../problem.ts'
import { useCairn, useWorkspaceKey } from '../../session/session.ts'

type Filter = Schemas['RefusalReplay']

/** The outcomes of a replay or a dry run, summed over all pages. */
type Sums = Pick<
  Schemas['RefusalReplayResults'],
  'replayed' | 'duplicate' | 'refused' | 'incomplete' | 'codes'
>

/** Replays rejected requests, after a dry run that shows the outcome: those of the dry run, whatever `filter` is by then. */
export function SendAgain({ filter }: { filter: Filter }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const workspaceKey = useWorkspaceKey()
  /** What the replay has done so far. */
  const [sent, setSent] = useState<Sums>()
  const trial = useMutation({ mutationFn: (filter: Filter) => sendAll(cairn, filter, true) })
  const sending = useMutation({
    mutationFn: (filter: Filter) => sendAll(cairn, filter, false, setSent),
    // Not only if it succeeded: a replay that fails has done its first pages.
    onSettled: () => queryClient.invalidateQueries({ queryKey: workspaceKey }),
  })
  const { data: wouldBe, variables: previewed } = trial
  if (sending.data) {
    return (
      <Alert
        color={sending.data.refused > 0 ? 'yellow' : 'green'}
        icon={<IconCheck aria-hidden />}
        role="status"
      >
        {sumsText(sending.data, done)}
      </Alert>
    )
  }
  return (
    <Stack gap="xs" align="flex-start">
      {wouldBe && (
        <Text size="sm" role="status">
          {sumsText(wouldBe, {
            stored: 'would be stored',
            duplicate: 'would be duplicate',
            refused: 'would be rejected again',
          })}
        </Text>
      )}
      <ProblemAlert error={trial.error ?? sending.error} />
      {sending.error && sent && (
        <Text size="sm" role="status">
          Before this error: {sumsText(sent, done)} Preview and replay again to continue. What is stored
          already is not stored twice.
        </Text>
      )}
      <Group gap="xs">
        {wouldBe && previewed && wouldBe.replayed > 0 && (
          <Button
            size="xs"
            leftSection={<IconSend size={14} aria-hidden />}
            loading={sending.isPending}
            onClick={() => sending.mutate(previewed)}
          >
            Replay {countOf(wouldBe.replayed, 'request')}
          </Button>
        )}
        <Button size="xs" variant="default" loading={trial.isPending} onClick={() => trial.mutate(filter)}>
          {wouldBe ? 'Preview again' : 'Preview replay'}
        </Button>
      </Group>
    </Stack>
  )
}

/** All pages, one after the other. `onPage` receives the sums after each. */
async function sendAll(
  cairn: PersonClient,
  filter: Filter,
  isTrial: boolean,
  onPage?: (sums: Sums | undefined) => void,
): Promise<Sums> {
  let sums: Sums = { replayed: 0, duplicate: 0, refused: 0, incomplete: 0, codes: [] }
  onPage?.(undefined)
  const codes = new Map<string, number>()
  let cursor: string | null = null
  do {
    const query = { limit: 500, ...(cursor && { cursor }), ...(isTrial && { dry_run: true }) }
    const page: Schemas['RefusalReplayResults'] = await taken(cairn.replayRefusals({ body: filter, query }))
    for (const { code, count } of page.codes) codes.set(code, (codes.get(code) ?? 0) + count)
    sums = {
      replayed: sums.replayed + page.replayed,
      duplicate: sums.duplicate + page.duplicate,
      refused: sums.refused + page.refused,
      incomplete: sums.incomplete + page.incomplete,
      codes: [...codes].map(([code, count]) => ({ code, count })),
    }
    onPage?.(sums)
    cursor = page.next_cursor
  } while (cursor)
  return sums
}

type Words = { stored: string; duplicate: string; refused: string }

/** Of what a replay has done. */
const done: Words = { stored: 'stored', duplicate: 'duplicate', refused: 'rejected again' }

/** `37 would be stored, 2 would be duplicate, 1 would be rejected again: journey_archived (1).` */
function sumsText({ replayed, duplicate, refused, incomplete, codes }: Sums, words: Words): string {
  const why = codes.map(({ code, count }) => `${code} (${countText(count)})`).join(', ')
  const parts = [
    replayed > 0 && `${countText(replayed)} ${words.stored}`,
    duplicate > 0 && `${countText(duplicate)} ${words.duplicate}`,
    incomplete > 0 && `${countText(incomplete)} saved incompletely and not replayable`,
    refused > 0 && `${countText(refused)} ${words.refused}${why && `: ${why}`}`,
  ].filter(Boolean)
  return parts.length > 0 ? `${parts.join(', ')}.` : 'None of these requests are saved anymore.'
}
