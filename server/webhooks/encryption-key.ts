/** Reads the key that encrypts secrets: 32 bytes in base64 or hexadecimal. @returns undefined if it is neither */
export function readEncryptionKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
}
