import { List } from '@mantine/core'

/** How a journey's report counts customers. */
export function CountingRuleList() {
  return (
    <List size="sm" spacing={6} mt="xs" maw="46rem">
      <List.Item>
        <b>Each customer counts once.</b> Customers enter the journey when your application registers them for
        it, or with their first event in it if that happened earlier.
      </List.Item>
      <List.Item>
        <b>Steps are reached in order.</b> The first step is reached by the customer’s earliest event with its
        name, each later step by the earliest event with its name at or after the previous step. Other events
        in between do not matter.
      </List.Item>
      <List.Item>
        <b>Events count by when they occurred,</b> not by when they were received. Late and duplicate events
        lead to the same numbers.
      </List.Item>
      <List.Item>
        <b>Steps completed too early are not reached.</b> Customers who completed a step without the steps
        before it are reported separately as “out of order”.
      </List.Item>
      <List.Item>
        <b>Without a conversion window, nobody has dropped off:</b> customers may still continue at any time.
        With a window, which starts at a customer’s first step, only steps reached within it count. Customers
        who have not continued are in progress while their window is open, and dropped off afterwards.
      </List.Item>
      <List.Item>
        <b>Times</b> are measured from the previous step, for the first step from entering the journey. Half
        of the customers took no longer than the median.
      </List.Item>
      <List.Item>
        <b>When you change the steps,</b> the report is recalculated. Until that is done, the old numbers are
        shown and marked as outdated.
      </List.Item>
    </List>
  )
}
