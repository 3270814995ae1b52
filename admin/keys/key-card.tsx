import {
  Badge,
  Box,
  Button,
  Code,
  Collapse,
  Group,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { useId, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Fact } from '../parts/fact.tsx'
import { Instant } from '../parts/instant.tsx'
import { useMembership } from '../session/session.ts'
import { EditKeyDialog } from './edit-key-dialog.tsx'
import type { MadeKey } from './made-key-dialog.tsx'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'

type KeyCardProps = {
  serviceKey: Schemas['ServiceKey']
  /** Called with the new key when this one was rotated. */
  onMade: (made: MadeKey) => void
}

/** All that is known of one key, and what can be done with it. */
export function KeyCard({ serviceKey, onMade }: KeyCardProps) {
  const { canChange } = useMembership()
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'revoke'>()
  const [isShown, setIsShown] = useState(false)
  const tokenId = useId()
  const { kind, name, last_four, token, status, created_by, created_at, last_used_at } = serviceKey
  // A rotated key and the new one have the same name.
  const fullName = `${name} …${last_four}`
  const isChangeable = canChange && status !== 'revoked'
  const close = () => setDialog(undefined)

  return (
    <Paper component="li" withBorder p="md">
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start">
          <Box miw={0}>
            <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Title>
            <Text size="sm" ff="monospace">
              {kind === 'publishable' ? 'pk_' : 'sk_'}…{last_four}
            </Text>
          </Box>
          <Group gap="xs">
            <Badge variant="outline" color="gray" tt="none">
              {kind === 'publishable' ? 'Publishable' : 'Secret'}
            </Badge>
            <Badge variant="dot" color={stateColors[status]} tt="none">
              {status === 'active' ? 'Active' : status === 'expired' ? 'Expired' : 'Revoked'}
            </Badge>
          </Group>
        </Group>
        <SimpleGrid component="dl" m={0} cols={{ base: 1, xs: 2, md: 3 }} spacing="md" verticalSpacing="xs">
          <Fact name="Created">
            <Instant at={created_at} /> by {created_by ?? 'command line'}
          </Fact>
          <Fact name="Last used">{last_used_at ? <Instant at={last_used_at} /> : 'never'}</Fact>
          <EndFact serviceKey={serviceKey} />
          <Fact name="Rate limit">{rateText(serviceKey.rate_limit)}</Fact>
          {kind === 'publishable' && (
            <Fact name="Allowed origins">{serviceKey.allowed_origins.join(', ') || 'every origin'}</Fact>
          )}
        </SimpleGrid>
        {(token || isChangeable) && (
          <Group gap="xs">
            {token && (
              <Button
                {...buttonProps}
                aria-expanded={isShown}
                aria-controls={tokenId}
                aria-label={`${isShown ? 'Hide' : 'Show'} key ${fullName}`}
                onClick={() => setIsShown(!isShown)}
              >
                {isShown ? 'Hide key' : 'Show key'}
              </Button>
            )}
            {isChangeable && (
              <>
                {status === 'active' && (
                  <>
                    <Button
                      {...buttonProps}
                      aria-label={`Edit ${fullName}`}
                      onClick={() => setDialog('edit')}
                    >
                      Edit
                    </Button>
                    <Button
                      {...buttonProps}
                      aria-label={`Rotate ${fullName}`}
                      onClick={() => setDialog('rotate')}
                    >
                      Rotate
                    </Button>
                  </>
                )}
                <Button
                  {...buttonProps}
                  aria-label={`Revoke ${fullName}`}
                  onClick={() => setDialog('revoke')}
                >
                  Revoke
                </Button>
              </>
            )}
          </Group>
        )}
        {token && (
          <Collapse id={tokenId} expanded={isShown}>
            <Group gap="xs" wrap="nowrap">
              <Code style={{ overflowWrap: 'anywhere', userSelect: 'all' }} fz="sm">
                {token}
              </Code>
              <CopyButton value={token} label={`Copy key ${fullName}`} />
            </Group>
          </Collapse>
        )}
      </Stack>
      <EditKeyDialog serviceKey={serviceKey} opened={dialog === 'edit'} onClose={close} />
      <RotateKeyDialog serviceKey={serviceKey} opened={dialog === 'rotate'} onClose={close} onMade={onMade} />
      <RevokeKeyDialog serviceKey={serviceKey} opened={dialog === 'revoke'} onClose={close} />
    </Paper>
  )
}

/** When the key stops or stopped working. */
function EndFact({ serviceKey: { status, expires_at, revoked_at } }: { serviceKey: Schemas['ServiceKey'] }) {
  if (revoked_at) {
    return (
      <Fact name="Revoked">
        <Instant at={revoked_at} />
      </Fact>
    )
  }
  if (!expires_at) return <Fact name="Expires">never</Fact>
  return (
    <Fact name={status === 'expired' ? 'Expired' : 'Expires'}>
      {timeFromNow(expires_at)} (<Instant at={expires_at} />)
    </Fact>
  )
}

const buttonProps = { variant: 'default', size: 'xs' } as const

const stateColors = { active: 'green', expired: 'yellow', revoked: 'red' }

function rateText(rate: number | null): string {
  if (rate === null) return "the server's default"
  return rate === 0 ? 'no limit' : `${rate.toLocaleString('en')} ${rate === 1 ? 'event' : 'events'} a second`
}

const relativeTime = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

/** "in 3 days", "2 hours ago"; whole units, the largest that fits. */
function timeFromNow(instant: string): string {
  const seconds = (new Date(instant).getTime() - Date.now()) / 1000
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? (['minute', 60] as const)
  return relativeTime.format(Math.trunc(seconds / length), unit)
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
] as const
