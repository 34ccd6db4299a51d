import type { Note } from '../canonical/note.ts'
import { keyOf, membersOf } from '../gateway/body/outline.ts'
import { isObject, type JsonObject, parseJson, without } from '../kit/json/json.ts'
import { encoded, join, textOf } from '../sse/bytes.ts'
import { only } from '../transports/bodies.ts'
import type { TransportCall, TransportResponse } from '../transports/transport.ts'

/**
 * Writes calls of a protocol as another API takes them, and its responses as those of the protocol.
 * Undefined: this call stays as it is. The bodies of conversations keep their bytes. `notes`: what
 * is not sent.
 */
export type Wrapping = (
  call: TransportCall,
  settings: { apiVersion?: string | undefined },
) =>
  | {
      call: TransportCall
      notes?: readonly Note[]
      unwrap(response: TransportResponse): Promise<TransportResponse>
    }
  | undefined

const nothing = new Uint8Array()
const braces = [encoded('{'), encoded(','), encoded('}')] as const

/**
 * Takes members out of a JSON object. The others keep their bytes. Undefined: it is no JSON object.
 */
export function takeMembers(
  body: TransportCall['body'],
  keys: readonly string[],
): { taken: JsonObject; others: Uint8Array[] } | undefined {
  const bytes = encoded(body ?? nothing)
  const members = membersOf(bytes)
  if (!members) return undefined
  const taken: JsonObject = {}
  const others: Uint8Array[] = []
  for (const member of members) {
    const key = keyOf(bytes, member)
    if (keys.includes(key)) taken[key] = parseJson(textOf(bytes.subarray(member.start, member.end)))
    else others.push(bytes.subarray(member.keyStart, member.end))
  }
  return { taken, others }
}

/** A JSON object of new members and of those that kept their bytes. */
export function objectOfMembers(
  added: JsonObject,
  others: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const own = encoded(JSON.stringify(added).slice(1, -1))
  const [open, comma, close] = braces
  const members = [...(own.length > 0 ? [own] : []), ...others]
  const chunks = [
    open,
    ...members.flatMap((member, index) => (index === 0 ? [member] : [comma, member])),
    close,
  ]
  return join(
    chunks,
    chunks.reduce((sum, chunk) => sum + chunk.length, 0),
  )
}

/**
 * The URL without its last `steps` and its query, which belongs to the protocol. Undefined: it has
 * other steps.
 */
export function baseBefore(url: string, steps: RegExp): string | undefined {
  const { origin, pathname } = new URL(url)
  const found = steps.exec(pathname)
  return found ? origin + pathname.slice(0, found.index) : undefined
}

/** The body of a small JSON response as an object. */
export async function readObject({ body }: TransportResponse): Promise<JsonObject> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    if (text.length > 1024 * 1024) break
  }
  const value = parseJson(text)
  // Some servers send an error as a list of one.
  const object: unknown = Array.isArray(value) ? value[0] : value
  return isObject(object) ? object : {}
}

/** The response with another body. */
export function withJson(response: TransportResponse, body: object): TransportResponse {
  const headers = {
    ...without(response.headers, ['content-length', 'content-encoding']),
    'content-type': 'application/json',
  }
  return { ...response, headers, body: only(JSON.stringify(body)) }
}
