import { base64Of, bytesIn } from '../kit/media/base64.ts'

/** Seals text for one owner, and opens it again: AES-GCM with a key from outside. */
export type Seal = {
  /** `owner`: who may open it. */
  close(text: string, owner: string): Promise<string>
  /** Undefined: it was sealed with another key, for another owner, or is no seal. */
  open(sealed: string, owner: string): Promise<string | undefined>
}

/** How a sealed text begins. */
export const sealPrefix = 'wireglot.1.'

const ivLength = 12

const decoder = new TextDecoder()
const encoded = (text: string) => new TextEncoder().encode(text)

/**
 * `secret`: of any length, and hard to guess. `purpose`: what is sealed with the same secret for
 * another purpose cannot be opened.
 */
export function createSeal(secret: string, purpose: string): Seal {
  let imported: Promise<CryptoKey> | undefined
  const key = () => {
    imported ??= keyOf(`wireglot ${purpose} ${secret}`)
    return imported
  }
  return {
    async close(text, owner) {
      const iv = crypto.getRandomValues(new Uint8Array(ivLength))
      const sealed = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv, additionalData: encoded(owner) },
        await key(),
        encoded(text),
      )
      return `${sealPrefix}${base64Of(iv)}.${base64Of(new Uint8Array(sealed))}`
    },
    async open(sealed, owner) {
      const [iv, bytes] = sealed.slice(sealPrefix.length).split('.')
      if (!sealed.startsWith(sealPrefix) || !iv || !bytes) return undefined
      try {
        const text = await crypto.subtle.decrypt(
          { name: 'AES-GCM', iv: bytesIn(iv), additionalData: encoded(owner) },
          await key(),
          bytesIn(bytes),
        )
        return decoder.decode(text)
      } catch {
        return undefined
      }
    },
  }
}

async function keyOf(text: string): Promise<CryptoKey> {
  const hash = await crypto.subtle.digest('SHA-256', encoded(text))
  return crypto.subtle.importKey('raw', hash, 'AES-GCM', false, ['encrypt', 'decrypt'])
}
