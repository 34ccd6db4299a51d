import { refuse } from './error.ts'
import type { GatewayRequest, RequestBody } from './request.ts'

/** `bytes`: the body as it came, where it came as bytes. */
export type ReadBody = { value: unknown; bytes?: Uint8Array<ArrayBuffer> }

/** @throws Refusal 400, 413, 415 */
export async function readJson({ headers, body }: Pick<GatewayRequest, 'headers' | 'body'>, limit: number): Promise<ReadBody> {
  if ('parsed' in body) return typeof body.parsed === 'string' ? { value: parse(body.parsed) } : { value: body.parsed }
  const type = headers['content-type']
  if (type !== undefined && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type.trim()))
    throw refuse(415, 'invalid_request', 'the body must be JSON: send content-type: application/json')
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw refuse(415, 'invalid_request', 'send the body without content-encoding')
  const bytes = await readBytes(body, limit, Number(headers['content-length'] ?? 0))
  return { value: parse(decode(bytes)), bytes }
}

async function readBytes(body: Extract<RequestBody, { bytes: unknown }>, limit: number, told: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => refuse(413, 'too_large', `the body is larger than ${limit} bytes`)
  if (told > limit) throw tooLarge()
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body.bytes) {
    length += chunk.byteLength
    if (length > limit) throw tooLarge()
    chunks.push(chunk)
  }
  return join(chunks, length)
}

export function join(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refuse(400, 'invalid_request', 'the body is not UTF-8')
  }
}

function parse(text: string): unknown {
  if (text.trim() === '') throw refuse(400, 'invalid_request', 'the body is empty: expected a JSON object')
  try {
    return JSON.parse(text)
  } catch (error) {
    const at = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0]
    throw refuse(400, 'invalid_request', `the body is not JSON${at ? ` (at ${at})` : ''}`)
  }
}
