import { List } from '@mantine/core'

/** The rule by which a journey's report counts, one sentence after the other. */
export function CountingRuleList() {
  return (
    <List size="sm" spacing={6} mt="xs" maw="46rem">
      <List.Item>
        <b>One customer counts once.</b> It enters the journey when your application registers it for the
        journey, or with its first event there if that happened earlier.
      </List.Item>
      <List.Item>
        <b>Steps are reached in their order.</b> The first step is reached by the customer’s earliest event of
        that name, each further step by the earliest event of its name at or after the step before. What else
        happens in between does not matter.
      </List.Item>
      <List.Item>
        <b>What counts is when something happened,</b> not when it arrived here. An event that comes late or
        comes twice leads to the same numbers.
      </List.Item>
      <List.Item>
        <b>Done too early is not reached.</b> Who did a step without the ones before it is counted apart, as
        “out of order”.
      </List.Item>
      <List.Item>
        <b>Without a time limit nobody has dropped out;</b> customers who have not gone on may still do so.
        With one, counted from a customer’s first step, a step counts only within it: who has not gone on
        either still has time or has dropped out.
      </List.Item>
      <List.Item>
        <b>Times</b> are from the step before, for the first step from entering. The median is the time that
        half of the customers did not exceed.
      </List.Item>
      <List.Item>
        <b>When the steps are changed,</b> everything is counted anew; until that is done, the numbers from
        before are shown and marked as old.
      </List.Item>
    </List>
  )
}
