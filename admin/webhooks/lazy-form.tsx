import { Loading } from '../parts/loading.tsx'
import { onDemand } from '../parts/on-demand.tsx'

/** The form of a webhook, loaded when it is shown: the page of a webhook is mostly read. */
export const WebhookForm = onDemand(
  () => import('./webhook-form.tsx').then((module) => module.WebhookForm),
  () => <Loading lines={8} />,
)
