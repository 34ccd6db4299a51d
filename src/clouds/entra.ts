import type { Transport } from '../transports/transport.ts'
import { missing, reasonOf } from './packages.ts'
import { createRenewing } from './renewing.ts'
import { CloudAuthError, type EntraSettings } from './settings.ts'
import { bearing } from './tokens.ts'

/** For `*.openai.azure.com`. */
const scope = 'https://cognitiveservices.azure.com/.default'

type Credential = {
  getToken(scope: string): Promise<{ token: string; expiresOnTimestamp: number } | null>
}

/**
 * Sends calls with an access token of Microsoft Entra ID: of an application with a secret, or of
 * the default credentials.
 */
export function entraTokens(settings: EntraSettings, transport: Transport): Transport {
  return bearing(
    createRenewing(async () => {
      // A new one each time, because a credential keeps its token until it expires.
      const credential = await credentialOf(settings)
      try {
        const found = await credential.getToken(settings.scope ?? scope)
        if (!found) throw new Error('there is no token for this scope')
        return { value: found.token, expiresAt: found.expiresOnTimestamp }
      } catch (error) {
        throw new CloudAuthError(
          `no access token of Entra: ${reasonOf(error, [settings.clientSecret])}`,
        )
      }
    }),
    transport,
  )
}

async function credentialOf({
  tenantId,
  clientId,
  clientSecret,
  authorityHost,
}: EntraSettings): Promise<Credential> {
  const needed = missing('@azure/identity')
  const loaded: Partial<typeof import('@azure/identity')> = await import('@azure/identity').catch(
    needed,
  )
  const { ClientSecretCredential = needed(), DefaultAzureCredential = needed() } = loaded
  const options = authorityHost === undefined ? {} : { authorityHost }
  if (tenantId !== undefined && clientId !== undefined && clientSecret !== undefined)
    return new ClientSecretCredential(tenantId, clientId, clientSecret, options)
  return new DefaultAzureCredential({
    ...options,
    ...(tenantId !== undefined && { tenantId }),
    ...(clientId !== undefined && { managedIdentityClientId: clientId }),
  })
}
