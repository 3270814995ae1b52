import { Button, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { cairnFor } from '../cairn.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf, taken } from '../problem.ts'

/** Ends the session and opens the sign-in page, with nothing left of what was read. */
export function useSignOut() {
  return useMutation({
    mutationFn: async () => {
      try {
        await taken(cairnFor().signOut())
      } catch (error) {
        // It has ended already: that is what was wanted.
        if (codeOf(error) !== 'unauthorized') throw error
      }
    },
    onSuccess: openSignIn,
  })
}

/** A load of the whole page, so that the next person finds nothing in memory; nor, by going back, on the screen. */
export function openSignIn(): void {
  // Browsers keep a page that is left, and show it again as it was. `replace` alone would leave the one before it.
  document.body.replaceChildren()
  location.assign('/admin/sign-in')
}

/** For pages without the frame and its menu. */
export function SignOutButton() {
  const signOut = useSignOut()
  return (
    <Stack align="flex-start">
      <ProblemAlert error={signOut.error} />
      <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out
      </Button>
    </Stack>
  )
}
