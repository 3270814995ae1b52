import { Text } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { pointsText } from './points-text.ts'

type ShareDifference = Schemas['ShareDifference']

/** A difference of shares; one that is within chance is not emphasized. */
export function Difference({ difference }: { difference: ShareDifference }) {
  const isClear = difference !== null && !difference.within_chance
  return (
    <Text span inherit fw={isClear ? 600 : 400}>
      {differenceText(difference)}
    </Text>
  )
}

/** A difference in points, and whether it is within chance; `–` if there is nothing to compare with. */
export function differenceText(difference: ShareDifference): string {
  if (!difference) return '–'
  const points = pointsText(difference.of_enrolled)
  const unit = points === '+1' || points === '-1' ? 'point' : 'points'
  return `${points} ${unit}${difference.within_chance ? ', within chance' : ''}`
}

/** The 95% confidence interval of a difference: `+2 to +18`. */
export function intervalText(difference: ShareDifference): string {
  return difference ? `${pointsText(difference.low)} to ${pointsText(difference.high)}` : '–'
}
