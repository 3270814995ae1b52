/**
 * An email as accounts are compared: in lower case and in Unicode's compatibility form (NFKC). The Greek sigma has a form
 * of its own at the end of a word.
 */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')
}
