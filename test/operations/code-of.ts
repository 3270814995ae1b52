/** Returns the code of the problem; null if the request succeeded. */
export async function codeOf(
  reply: Promise<{ error?: { code: string } | undefined }>,
): Promise<string | null> {
  return (await reply).error?.code ?? null
}
