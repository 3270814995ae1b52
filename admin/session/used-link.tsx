import { Anchor, Text } from '@mantine/core'
import { Link } from 'react-router'

/**
 * For a one-time link that is not valid: the person who opened it may have used it, even in an attempt whose response was
 * lost.
 */
export function UsedLink() {
  return (
    <Text size="sm">
      If you have already used it, even in an attempt that seemed to fail,{' '}
      <Anchor component={Link} inherit to="/sign-in">
        sign in
      </Anchor>
      .
    </Text>
  )
}
