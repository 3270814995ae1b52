import '@mantine/core/styles/Tabs.css'
import '../parts/tabs.css'
import { Stack, Tabs, Text, Title } from '@mantine/core'
import { CodeBlock } from '../first-event/code-block.tsx'
import { verificationCode } from './verification-code.ts'

/** A section about how a receiver verifies messages, with code. */
export function VerificationHelp() {
  return (
    <section aria-labelledby="verification-heading">
      <Title order={2} size="h4" mb="sm" id="verification-heading">
        How a receiver verifies messages
      </Title>
      <Stack gap="md">
        <Text size="sm" maw="46rem">
          Every message is signed with the secret of its webhook, which is shown once when you create it. The
          receiver computes the signature over the bytes of the body as they came, compares it with the header
          webhook-signature, and rejects a webhook-timestamp that is more than five minutes away. It answers
          with 2xx once it has stored the message, and ignores a webhook-id that it already has: a message can
          arrive more than once.
        </Text>
        <Tabs defaultValue={verificationCode[0]?.value ?? null} keepMounted={false}>
          <Tabs.List aria-label="How to verify messages">
            {verificationCode.map(({ value, label }) => (
              <Tabs.Tab key={value} value={value}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {verificationCode.map(({ value, codeLabel, hint, code }) => (
            <Tabs.Panel key={value} value={value} pt="md">
              <Stack gap="xs">
                <Text size="sm">{hint}</Text>
                <CodeBlock label={codeLabel} code={code} />
              </Stack>
            </Tabs.Panel>
          ))}
        </Tabs>
      </Stack>
    </section>
  )
}
