import { Button } from '@mantine/core'
import { Page } from '../parts/page.tsx'

/** Shown instead of a screen that could not be loaded or rendered. */
export function RouteFailure() {
  return (
    <Page
      title="This page could not be loaded"
      description="Cairn may be unreachable, or it was upgraded while this page was open. Reload the page. If it happens again, contact the operator of this server."
      action={<Button onClick={() => location.reload()}>Reload page</Button>}
    >
      {null}
    </Page>
  )
}
