import type { Note } from '../canonical/note.ts'
import type { Transport, TransportCall, TransportResponse } from '../transports/transport.ts'
import type { CloudApi } from '../vendors/vendor.ts'
import { signing } from './aws.ts'
import { deployments } from './deployments.ts'
import { entraTokens } from './entra.ts'
import { googleTokens } from './google.ts'
import { invokeModel } from './invoke-model.ts'
import { rawPredict } from './raw-predict.ts'
import type { CloudSettings } from './settings.ts'
import type { Wrapping } from './wrapping.ts'

const wrappings: Record<CloudApi, Wrapping> = {
  'invoke-model': invokeModel,
  'raw-predict': rawPredict,
  deployments,
}

function authorizing(auth: CloudSettings['auth'], transport: Transport): Transport {
  if (auth?.aws) return signing(auth.aws, transport)
  if (auth?.google) return googleTokens(auth.google, transport)
  return auth?.entra ? entraTokens(auth.entra, transport) : transport
}

/**
 * Sends the calls of one channel as its cloud requires. `onNotes`: gets the notes of a call before
 * it is sent, and may throw instead.
 */
export type Cloud = {
  send(call: TransportCall, onNotes?: (notes: readonly Note[]) => void): Promise<TransportResponse>
}

export function createCloud(settings: CloudSettings, transport: Transport): Cloud {
  const { auth, apis } = settings
  const authorized = authorizing(auth, transport)
  return {
    async send(call, onNotes) {
      for (const api of apis) {
        const wrapped = wrappings[api](call, settings)
        if (!wrapped) continue
        if (wrapped.notes?.length) onNotes?.(wrapped.notes)
        return wrapped.unwrap(await authorized.send(wrapped.call))
      }
      return authorized.send(call)
    },
  }
}
