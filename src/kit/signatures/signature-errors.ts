/** What servers say of a signature that they did not make, where they have no code for it. */
const broken = /invalid `signature` in `thinking`/i

/**
 * The error code that makes clients retry without reasoning. Null: the message reports something
 * else.
 */
export const signatureErrorCode = (message: string): 'invalid_encrypted_content' | null =>
  broken.test(message) ? 'invalid_encrypted_content' : null
