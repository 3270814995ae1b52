import { useObserved } from '../definitions/observed.ts'
import { namesIn } from '../parts/json-pointer.ts'

/** A variable that customers can be divided by, with its values if they are few. */
type ObservedVariable = { name: string; values: readonly string[] }

const comparable = ['string', 'number', 'integer', 'boolean']

/** The variables of the latest events with a name, in the order of the events; empty until they have loaded. */
export function useObservedVariables(event_id: string): readonly ObservedVariable[] {
  const { data } = useObserved(event_id)
  return (data?.fields ?? []).flatMap(({ pointer, types, values }) => {
    const [name, inner] = namesIn(pointer)
    const isUsable = name && inner === undefined && types.some((type) => comparable.includes(type))
    return isUsable ? [{ name, values: values.map(String) }] : []
  })
}
