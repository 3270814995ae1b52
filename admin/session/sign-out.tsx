import { Button, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { cairnFor } from '../cairn.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf, taken } from '../problem.ts'

/** Ends the session and opens the sign-in page, discarding all loaded data. */
export function useSignOut() {
  return useMutation({
    mutationFn: async () => {
      try {
        await taken(cairnFor().signOut())
      } catch (error) {
        // It has already ended, which is the desired result.
        if (codeOf(error) !== 'unauthorized') throw error
      }
    },
    onSuccess: openSignIn,
  })
}

/** A full page load, so that the next person finds nothing in memory, nor on the screen by going back. */
export function openSignIn(): void {
  // Browsers restore a page that was left as it was (back/forward cache). `replace` alone would leave the one before it.
  document.body.replaceChildren()
  location.assign('/admin/sign-in')
}

/** For pages outside of the frame. */
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
