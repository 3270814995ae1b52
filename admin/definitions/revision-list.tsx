import { Paper, Stack, Text, Title } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { usePages } from '../parts/lists/pages.ts'
import { Loading } from '../parts/loading.tsx'
import { countText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { Differences, verdictText } from './differences.tsx'

/** The revisions of a definition, newest first, each with what it changed. */
export function RevisionList({ definition_id }: Pick<Schemas['EventDefinition'], 'definition_id'>) {
  const cairn = useCairn()
  const revisions = usePages(
    useWorkspaceKey('definitions', definition_id, 'revisions'),
    async (before, signal) => {
      const query = before === undefined ? {} : { before: Number(before) }
      const request = { path: { definition_id }, query, signal }
      const { data, next_before } = await taken(cairn.listEventDefinitionRevisions(request))
      return { data, next_cursor: next_before === null ? null : String(next_before) }
    },
  )
  return (
    <section aria-labelledby="revisions-heading">
      <Title order={2} size="h4" mb="sm" id="revisions-heading">
        Revisions
      </Title>
      <Stack gap="sm">
        {revisions.isPending && <Loading lines={2} />}
        <ProblemAlert error={revisions.listError} onRetry={() => revisions.refetch()} />
        {revisions.items.map((revision) => (
          <Paper key={revision.revision} withBorder p="sm">
            <Stack gap={4}>
              <Text size="sm">
                <strong>Revision {countText(revision.revision)}</strong>,{' '}
                <Instant at={revision.created_at} relative />
              </Text>
              <Text size="sm">{revision.revision === 1 ? 'The first revision.' : verdictText(revision)}</Text>
              <Differences changes={revision.changes} />
            </Stack>
          </Paper>
        ))}
        <LoadMore query={revisions} />
      </Stack>
    </section>
  )
}
