import { textOf } from '../../sse/bytes.ts'

/** Seals text for one client, and opens it again: AES-GCM with a key of the configuration. */
export type Seal = {
  /** `owner`: who may open it. */
  close(text: string, owner: string): Promise<string>
  /** Undefined: it was sealed with another key, for another owner, or is no seal. */
  open(sealed: string, owner: string): Promise<string | undefined>
}

/** How a sealed text begins. */
export const sealPrefix = 'wireglot.1.'

const ivLength = 12

const encoded = (text: string) => new TextEncoder().encode(text)

/** `secret`: of any length. */
export function createSeal(secret: string): Seal {
  let imported: Promise<CryptoKey> | undefined
  const key = () => {
    imported ??= keyOf(secret)
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
      return `${sealPrefix}${base64(iv)}.${base64(new Uint8Array(sealed))}`
    },
    async open(sealed, owner) {
      const [iv, bytes] = sealed.slice(sealPrefix.length).split('.')
      if (!sealed.startsWith(sealPrefix) || !iv || !bytes) return undefined
      try {
        const text = await crypto.subtle.decrypt(
          { name: 'AES-GCM', iv: bytesOf(iv), additionalData: encoded(owner) },
          await key(),
          bytesOf(bytes),
        )
        return textOf(new Uint8Array(text))
      } catch {
        return undefined
      }
    },
  }
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const hash = await crypto.subtle.digest('SHA-256', encoded(`wireglot compaction ${secret}`))
  return crypto.subtle.importKey('raw', hash, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

function base64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}

const bytesOf = (text: string) => Uint8Array.from(atob(text), letter => letter.charCodeAt(0))
