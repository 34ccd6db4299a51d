import type { Transport } from '../transports/transport.ts'
import { missing, reasonOf } from './packages.ts'
import { createRenewing, type Lease } from './renewing.ts'
import { CloudAuthError, type GoogleSettings } from './settings.ts'
import { bearing } from './tokens.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'

/**
 * Sends calls with an access token of Google: of a service account, or of the application-default
 * credentials.
 */
export function googleTokens(settings: GoogleSettings, transport: Transport): Transport {
  const key = settings.credentials === undefined ? undefined : keyIn(settings.credentials)
  return bearing(
    createRenewing(() => obtain(settings, key)),
    transport,
  )
}

/**
 * A new client each time: a client keeps its token until it expires, also where Google has refused
 * it.
 */
async function obtain(
  { keyFile }: GoogleSettings,
  key: Record<string, string> | undefined,
): Promise<Lease<string>> {
  const needed = missing('google-auth-library')
  const { GoogleAuth = needed() }: Partial<typeof import('google-auth-library')> = await import(
    'google-auth-library'
  ).catch(needed)
  try {
    const auth = new GoogleAuth({
      scopes: [scope],
      ...(keyFile !== undefined && { keyFilename: keyFile }),
      ...(key && { credentials: key }),
    })
    const client = await auth.getClient()
    const { token } = await client.getAccessToken()
    if (!token) throw new Error('the token endpoint sent no token')
    return { value: token, expiresAt: client.credentials.expiry_date ?? undefined }
  } catch (error) {
    throw new CloudAuthError(
      `no access token of Google: ${reasonOf(error, Object.values(key ?? {}))}`,
    )
  }
}

/** The text of a key file. @throws CloudAuthError */
function keyIn(text: string): Record<string, string> {
  try {
    return JSON.parse(text) as Record<string, string>
  } catch {
    throw new CloudAuthError(
      '"credentials" of "google" is no JSON: it is the content of a key file',
    )
  }
}
