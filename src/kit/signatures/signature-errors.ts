/** What servers say of a signature that they did not make, where they have no code for it. */
const broken = /invalid `signature` in `thinking`/i

/** The code by which clients know that a request would pass without its earlier reasoning. Null: the message tells of something else. */
export const signatureErrorCode = (message: string): 'invalid_encrypted_content' | null => (broken.test(message) ? 'invalid_encrypted_content' : null)
