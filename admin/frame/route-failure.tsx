import { Button } from '@mantine/core'
import { Page } from '../parts/page.tsx'

/** Takes the place of a screen that could not be loaded or drawn. */
export function RouteFailure() {
  return (
    <Page
      title="This page did not open"
      description="Cairn may not answer, or it was upgraded while this page was open. Reload the page; if it happens again, tell the operator."
      action={<Button onClick={() => location.reload()}>Reload the page</Button>}
    >
      {null}
    </Page>
  )
}
