/**
 * An email address as the contract has it (`Email`, the same pattern): a plain local part of up to 64 characters, and a
 * domain of two labels or more of up to 63 each. RFC 5321 allows more, which mail programs and people trip over.
 */
export const EMAIL =
  /^(?=.{3,254}$)(?=[^@]{1,64}@)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

/**
 * An email as accounts are compared: in lower case and in Unicode's compatibility form (NFKC). The Greek sigma has a form
 * of its own at the end of a word.
 */
export function emailKey(email: string): string {
  return email.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')
}
