import { lazy, Suspense } from 'react'
import { Loading } from '../parts/loading.tsx'
import type { DefinitionFormProps } from './definition-form.tsx'

const Form = lazy(() =>
  import('./definition-form.tsx').then((module) => ({ default: module.DefinitionForm })),
)

/** The form of a definition, loaded when it is shown: it is more code than the pages, which most people only read. */
export function DefinitionForm(props: DefinitionFormProps) {
  return (
    <Suspense fallback={<Loading lines={8} />}>
      <Form {...props} />
    </Suspense>
  )
}
