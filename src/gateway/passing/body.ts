import { writeExact } from '../../kit/json/digits.ts'
import { isObject } from '../../kit/json/json.ts'
import { isJson, type ReadBody, readAll, readJson } from '../body/body.ts'
import { namedIn } from '../body/model-name.ts'
import { renamed } from '../body/outline.ts'
import type { GatewayRequest } from '../request.ts'
import { readForm } from './form.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** The body of a request that passes. */
export type PassedBody = {
  /** The name of the model in it. Absent: none is seen. */
  model?: string
  /** Of a JSON body. */
  outline?: unknown
  /** The name is seen, and servers cannot read another one in a body that is written anew. */
  isClear: boolean
  /** What to send: the same bytes, or anew where the model gets another name, or must be sure. */
  sent(isAnew: boolean): Sent
}

/** `type`: the content type. `bytes`: with this name of the model. Absent: there is none. */
export type Sent = { type?: string; bytes(model: string): string | Bytes | undefined }

/**
 * Reads the body of a request that passes: JSON, a form, or any other bytes.
 * @throws GatewayError 400, 413, 415, 503
 */
export async function readPassed(
  request: GatewayRequest,
  limits: Parameters<typeof readJson>[1],
): Promise<PassedBody> {
  if (request.method !== 'POST') return { isClear: true, sent: () => ({ bytes: () => undefined }) }
  const { 'content-type': type } = request.headers
  const typed = type === undefined ? {} : { type }
  if (isJson(request.headers)) return ofJson(await readJson(request, limits), typed)
  const bytes = await readAll(request, limits)
  const form = type === undefined ? undefined : await readForm(bytes, type, limits.memory)
  const same = { ...typed, bytes: () => bytes }
  if (form?.model === undefined) return { isClear: false, sent: () => same }
  return {
    model: form.model,
    isClear: form.isPlain,
    sent: isAnew => (isAnew ? form : same),
  }
}

function ofJson(body: ReadBody, typed: { type?: string }): PassedBody {
  const { outline, bytes, members } = body
  const hasModel =
    isObject(outline) && Object.keys(outline).some(key => key.toLowerCase() === 'model')
  const same = () => bytes ?? writeExact(body.value)
  if (!hasModel) return { outline, isClear: false, sent: () => ({ ...typed, bytes: same }) }
  const own = namedIn(body, undefined)
  const renamedTo = (model: string) => {
    const { value } = body
    return (
      (bytes && renamed(bytes, model, members)) ??
      writeExact(isObject(value) ? { ...value, model } : value)
    )
  }
  return {
    model: own,
    outline,
    isClear: true,
    sent: isAnew => ({
      // A server that reads this as JSON does not look for a form in it.
      ...(isAnew ? { type: 'application/json' } : typed),
      bytes: model => (model === own ? same() : renamedTo(model)),
    }),
  }
}
