import {
  Anchor,
  Badge,
  Code,
  Group,
  Menu,
  SimpleGrid,
  Stack,
  Table,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Fact } from '../parts/fact.tsx'
import { Instant, Relative, useNow } from '../parts/instants/instant.tsx'
import { RowMenu } from '../parts/lists/row-menu.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { countOf } from '../parts/number-text.ts'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { keyText } from './key-name.tsx'

type KeyRowProps = {
  serviceKey: Schemas['ServiceKey']
  /** When it was read. */
  read_ms: number
  /** Opens a dialog about the key. */
  onAsk: (dialog: KeyDialog) => void
}

export type KeyDialog = 'edit' | 'rotate' | 'revoke'

/** A key as a table row that expands to its details, with a menu of actions. */
export function KeyRow({ serviceKey, read_ms, onAsk }: KeyRowProps) {
  const { canChange } = useMembership()
  const isNarrow = useIsNarrow()
  const [opened, setOpened] = useState(false)
  const detailsId = useId()
  const status = statusAt(serviceKey, useNow(), read_ms)
  const { kind, last_four, last_used_at } = serviceKey
  const name = visibleName(serviceKey.name)
  const key = `${kind === 'publishable' ? 'pk_' : 'sk_'}…${last_four}`
  const Chevron = opened ? IconChevronDown : IconChevronRight
  const badge = (
    <Badge variant="dot" color={stateColors[status]} tt="none" miw="max-content">
      {status === 'active' ? 'Active' : status === 'expired' ? 'Expired' : 'Revoked'}
    </Badge>
  )

  return (
    <>
      <Table.Tr>
        <Table.Td>
          <UnstyledButton
            maw="100%"
            fz="sm"
            aria-expanded={opened}
            aria-controls={opened ? detailsId : undefined}
            onClick={() => setOpened(!opened)}
          >
            <Group gap={6} wrap="nowrap">
              <Chevron size={16} aria-hidden style={{ flexShrink: 0 }} />
              <Text span inherit fw={600} truncate>
                {name}
              </Text>
              {/* A rotated key and its replacement have the same name. */}
              <VisuallyHidden>, details of key {key}</VisuallyHidden>
            </Group>
          </UnstyledButton>
          <Group hiddenFrom="sm" gap="xs" mt={4}>
            <Text span size="sm" ff="monospace">
              {key}
            </Text>
            {badge}
          </Group>
        </Table.Td>
        <Table.Td visibleFrom="sm" ff="monospace">
          {key}
        </Table.Td>
        <Table.Td visibleFrom="sm">{badge}</Table.Td>
        <Table.Td visibleFrom="sm">
          {last_used_at ? <Instant at={last_used_at} relative /> : 'Never'}
        </Table.Td>
        {canChange && (
          <Table.Td>
            {status !== 'revoked' && (
              <RowMenu name={keyText(serviceKey)}>
                {status === 'active' && (
                  <>
                    <Menu.Item onClick={() => onAsk('edit')}>Edit</Menu.Item>
                    <Menu.Item onClick={() => onAsk('rotate')}>Rotate</Menu.Item>
                  </>
                )}
                <Menu.Item onClick={() => onAsk('revoke')}>Revoke</Menu.Item>
              </RowMenu>
            )}
          </Table.Td>
        )}
      </Table.Tr>
      {opened && (
        <Table.Tr id={detailsId}>
          {/* In a fixed layout, spanning hidden columns would give them a width. */}
          <Table.Td colSpan={(isNarrow ? 1 : 4) + (canChange ? 1 : 0)}>
            <KeyDetails serviceKey={{ ...serviceKey, status }} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

/**
 * The status of a key: it may have expired since the list was read, at `read_ms`. A key that was active although it expired before
 * that is active: the clock of the browser is ahead.
 */
export function statusAt(
  { status, expires_at }: Schemas['ServiceKey'],
  now_ms: number,
  read_ms: number,
): Schemas['ServiceKey']['status'] {
  const expires_ms = Date.parse(expires_at ?? '')
  return status === 'active' && read_ms < expires_ms && expires_ms <= now_ms ? 'expired' : status
}

function KeyDetails({ serviceKey }: { serviceKey: Schemas['ServiceKey'] }) {
  const { workspace_id, canChange } = useMembership()
  const { key_id, kind, name, token, created_by, created_at, last_used_at, rate_limit, allowed_origins } =
    serviceKey
  return (
    <Stack gap="sm" pb="xs">
      <SimpleGrid component="dl" m={0} cols={{ base: 1, xs: 2, md: 3 }} spacing="md" verticalSpacing="xs">
        <Fact name="Name">{visibleName(name)}</Fact>
        <Fact name="Kind">
          {kind === 'publishable' ? 'Publishable, for browsers' : 'Secret, for servers'}
        </Fact>
        <Fact name="Created">
          <Instant at={created_at} relative /> by{' '}
          {created_by === null ? 'the command line' : visibleName(created_by)}
        </Fact>
        <Fact name="Last used">{last_used_at ? <Instant at={last_used_at} relative /> : 'Never'}</Fact>
        <EndFact serviceKey={serviceKey} />
        <Fact name="Rate limit">{rateText(rate_limit)}</Fact>
        {kind === 'publishable' && (
          <Fact name="Allowed origins">{allowed_origins.join(', ') || 'All origins'}</Fact>
        )}
      </SimpleGrid>
      {canChange && (
        <Anchor component={Link} size="sm" to={`/w/${workspace_id}/events/refused?last=7d&key_id=${key_id}`}>
          Rejected requests
        </Anchor>
      )}
      {token && (
        <Group gap="xs" wrap="nowrap">
          <Code style={{ overflowWrap: 'anywhere', userSelect: 'all' }} fz="sm">
            {token}
          </Code>
          <CopyButton value={token} label={`Copy key ${keyText(serviceKey)}`} />
        </Group>
      )}
    </Stack>
  )
}

/** When the key stops or stopped working. */
function EndFact({ serviceKey: { status, expires_at, revoked_at } }: { serviceKey: Schemas['ServiceKey'] }) {
  if (revoked_at) {
    return (
      <Fact name="Revoked">
        <Instant at={revoked_at} relative />
      </Fact>
    )
  }
  if (!expires_at) return <Fact name="Expires">Never</Fact>
  return (
    <Fact name={status === 'expired' ? 'Expired' : 'Expires'}>
      <Relative instant={new Date(expires_at)} within_ms={Infinity} />{' '}
      <span className="not-printed">
        (<Instant at={expires_at} />)
      </span>
    </Fact>
  )
}

const stateColors = { active: 'green', expired: 'yellow', revoked: 'red' }

function rateText(rate: number | null): string {
  if (rate === null) return 'Server default'
  return rate === 0 ? 'No limit' : `${countOf(rate, 'event')} per second`
}
