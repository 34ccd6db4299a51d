import type { Transport } from '../transports/transport.ts'
import type { CloudApi } from '../vendors/vendor.ts'
import { signing } from './aws.ts'
import { deployments } from './deployments.ts'
import { entraTokens } from './entra.ts'
import { googleTokens } from './google.ts'
import { invokeModel } from './invoke-model.ts'
import { rawPredict } from './raw-predict.ts'
import type { CloudSettings } from './settings.ts'
import type { Wrapping } from './wrapping.ts'

const wrappings: Record<CloudApi, Wrapping> = { 'invoke-model': invokeModel, 'raw-predict': rawPredict, deployments }

function authorizing(auth: CloudSettings['auth'], transport: Transport): Transport {
  if (auth?.aws) return signing(auth.aws, transport)
  if (auth?.google) return googleTokens(auth.google, transport)
  return auth?.entra ? entraTokens(auth.entra, transport) : transport
}

/** A transport for one channel that sends every call as its cloud requires. */
export function createCloud(settings: CloudSettings, transport: Transport): Transport {
  const { auth, apis } = settings
  const authorized = authorizing(auth, transport)
  return {
    async send(call) {
      for (const api of apis) {
        const wrapped = wrappings[api](call, settings)
        if (wrapped) return wrapped.unwrap(await authorized.send(wrapped.call))
      }
      return authorized.send(call)
    },
  }
}
