import { type ComponentProps, lazy, Suspense } from 'react'
import { Loading } from '../parts/loading.tsx'
import type { WebhookForm as Form } from './webhook-form.tsx'

const LoadedForm = lazy(() =>
  import('./webhook-form.tsx').then((module) => ({ default: module.WebhookForm })),
)

/** The form of a webhook, loaded when it is shown: the page of a webhook is mostly read. */
export function WebhookForm(props: ComponentProps<typeof Form>) {
  return (
    <Suspense fallback={<Loading lines={8} />}>
      <LoadedForm {...props} />
    </Suspense>
  )
}
