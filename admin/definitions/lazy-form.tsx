import { Loading } from '../parts/loading.tsx'
import { onDemand } from '../parts/on-demand.tsx'

/** The form of a definition, loaded when it is shown: it is more code than the pages, which most people only read. */
export const DefinitionForm = onDemand(
  () => import('./definition-form.tsx').then((module) => module.DefinitionForm),
  () => <Loading lines={8} />,
)
