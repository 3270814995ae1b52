/**
 * A visible character, as in the contract's pattern of `GivenName`; the pattern's first 65,536 characters contain all
 * invisible ones.
 */
const SEEN = /[^\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u

/** Whether a name is allowed: 1–255 characters without NUL, at least one of them visible. */
export function isGivenName(name: string): boolean {
  return SEEN.test(name) && [...name].length <= 255 && !name.includes('\0')
}
