import { isObject } from '../../kit/json/json.ts'
import { join } from '../../sse/bytes.ts'
import { isJson, type ReadBody, readAll, readJson } from '../body/body.ts'
import { faultOfName, namedIn } from '../body/model-name.ts'
import { renamed } from '../body/outline.ts'
import { refuse } from '../error.ts'
import type { ParsedConfig } from '../options.ts'
import type { GatewayRequest } from '../request.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** The body of a request that passes. `model`: the name in it; absent: it has none. */
export type PassedBody = {
  model?: string
  /** The body with another name of the model; else the same bytes. */
  named(model: string): string | Bytes | undefined
}

/**
 * Reads the body of a request that passes: JSON, a form with files, or any other bytes.
 * @throws Refusal 400, 413, 415
 */
export async function readPassed(
  request: GatewayRequest,
  defaults: ParsedConfig['defaults'],
): Promise<PassedBody> {
  if (request.method !== 'POST') return { named: () => undefined }
  if (isJson(request.headers)) return ofJson(await readJson(request, defaults))
  const bytes = await readAll(request, defaults.bodyLimitBytes)
  const place = modelIn(bytes, request.headers['content-type'] ?? '')
  if (!place) return { named: () => bytes }
  return {
    model: place.name,
    named: model => (model === place.name ? bytes : spliced(bytes, place, model)),
  }
}

function ofJson(body: ReadBody): PassedBody {
  const { outline, bytes, members } = body
  const hasModel =
    isObject(outline) && Object.keys(outline).some(key => key.toLowerCase() === 'model')
  const same = () => bytes ?? JSON.stringify(body.value)
  if (!hasModel) return { named: same }
  const own = namedIn(body, undefined)
  return {
    model: own,
    named(model) {
      if (model === own) return same()
      const { value } = body
      return (
        (bytes && renamed(bytes, model, members)) ??
        JSON.stringify(isObject(value) ? { ...value, model } : value)
      )
    },
  }
}

type Place = { name: string; start: number; end: number }

/** The longest head of a part that is searched for a name. */
const longestHead = 4096

/** The field `model` of a form. Undefined: it has none, or is no form. @throws Refusal 400 when it has two, or an invalid one */
function modelIn(bytes: Bytes, type: string): Place | undefined {
  const boundary = /^multipart\/form-data\s*;(?:[^;]*;)*?\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(
    type,
  )
  if (!boundary) return undefined
  const delimiter = `--${boundary[1] ?? boundary[2]}`
  // One letter for each byte, so that positions stay the same.
  const text = new TextDecoder('latin1').decode(bytes)
  const found: Place[] = []
  for (let at = text.indexOf(delimiter); at >= 0; ) {
    const head = at + delimiter.length
    const start = text.indexOf('\r\n\r\n', head) + 4
    const end = start < 4 ? -1 : text.indexOf(`\r\n${delimiter}`, start - 2)
    if (end < 0) break
    if (isModel(text.slice(head, Math.min(start, head + longestHead))))
      found.push({ name: new TextDecoder().decode(bytes.subarray(start, end)), start, end })
    at = end + 2
  }
  const [place] = found
  if (!place) return undefined
  const faultOfFirst = place.name === '' ? 'the model is empty' : faultOfName(place.name)
  const fault = found.length > 1 ? 'the model is named more than once' : faultOfFirst
  if (fault) throw refuse(400, 'invalid_request', fault, { param: 'model' })
  return place
}

const isModel = (head: string): boolean => {
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? ''
  return (
    /;\s*name\s*=\s*("model"|model)\s*(;|$)/i.test(disposition) && !/filename/i.test(disposition)
  )
}

function spliced(bytes: Bytes, { start, end }: Place, model: string): Bytes {
  const put = new TextEncoder().encode(model)
  return join(
    [bytes.subarray(0, start), put, bytes.subarray(end)],
    bytes.length - (end - start) + put.length,
  )
}
