/**
 * The contract's pattern of an email address (`Email`): a plain local part of up to 64 characters, and a domain of at
 * least two labels of up to 63 characters. RFC 5321 allows more, which mail programs and people stumble over.
 */
export const EMAIL =
  /^(?=.{3,254}$)(?=[^@]{1,64}@)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

/**
 * Returns the form in which emails are compared: lower case in Unicode's compatibility form (NFKC). The Greek sigma has
 * a separate form at the end of a word.
 */
export function emailKey(email: string): string {
  return email.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')
}
