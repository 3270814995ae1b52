/** What can be seen, as the contract's pattern of `GivenName` has it; beyond its 65,536 characters nothing invisible is. */
const SEEN = /[^\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u

/** Whether a name may be given: 1–255 characters without NUL, of which one can be seen. */
export function isGivenName(name: string): boolean {
  return SEEN.test(name) && [...name].length <= 255 && !name.includes('\0')
}
