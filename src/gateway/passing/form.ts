import { joined } from '../../sse/bytes.ts'
import { faultOfName } from '../body/model-name.ts'
import { reject } from '../error.ts'
import type { Share } from '../memory.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** RFC 2046, section 5.1.1. A search takes longer with each letter. */
const longestBoundary = 70

/** Each part takes about a kilobyte of memory, whatever its own length. */
const mostParts = 1000

/** A form, as the upstream gets it when it is written anew: then it can be read in one way only. */
export type Form = {
  /** Absent: it has none. */
  model?: string
  /** Has every field a name of plain letters, which all servers read alike? */
  isPlain: boolean
  type: string
  bytes(model: string): Bytes
}

/** `file`: the name and type of a file; absent: the part is a text. */
type Part = { name: string; value: Bytes; file?: { name: string; type: string } }

/**
 * Reads a form with the parser of the runtime. Undefined: the body is no form, or not a valid one.
 * @throws GatewayError 400 when it is too complex, or does not name its model exactly once; 503
 */
export async function readForm(
  bytes: Bytes,
  type: string,
  memory: Share,
): Promise<Form | undefined> {
  const boundary = boundaryOf(type)
  const isUrlEncoded = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i.test(type)
  if (boundary === undefined && !isUrlEncoded) return undefined
  if (hasMore(bytes, boundary === undefined ? '&' : `\n--${boundary}`, mostParts))
    throw reject(400, 'invalid_request', `a form may have at most ${mostParts} fields`)
  // Its parts, and what is written of them.
  memory.add(2 * bytes.length)
  const parts = await partsOf(bytes, isUrlEncoded ? urlEncoded : `${multipart}"${boundary}"`)
  if (!parts) return undefined
  const model = modelIn(parts)
  const fresh = `wireglot-${crypto.randomUUID()}`
  return {
    ...(model !== undefined && { model }),
    isPlain: parts.every(({ name }) => /^[\w.:[\]-]+$/.test(name)),
    type: isUrlEncoded ? urlEncoded : multipart + fresh,
    bytes(served) {
      const renamed = parts.map(part =>
        part.name === 'model' && model !== undefined
          ? { name: part.name, value: encoder.encode(served) }
          : part,
      )
      return isUrlEncoded ? asUrlEncoded(renamed) : asMultipart(renamed, fresh)
    },
  }
}

const urlEncoded = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data; boundary='
const encoder = new TextEncoder()

/**
 * Undefined: the form is not of this type.
 * @throws GatewayError 400 when it is longer than allowed
 */
function boundaryOf(type: string): string | undefined {
  const found = /^\s*multipart\/form-data\s*;.*?\bboundary\s*=\s*("[^"\\]*"|[^\s;"\\]+)/i.exec(type)
  const boundary = found?.[1]?.replaceAll('"', '')
  if (boundary !== undefined && boundary.length > longestBoundary)
    throw reject(
      400,
      'invalid_request',
      `the boundary of a form may have at most ${longestBoundary} letters`,
    )
  return boundary
}

/** Do the bytes contain the text more than `most` times? */
function hasMore(bytes: Bytes, text: string, most: number): boolean {
  // One letter for each byte.
  const searched = new TextDecoder('latin1').decode(bytes)
  let at = searched.indexOf(text)
  for (let count = 0; at >= 0; count++) {
    if (count === most) return true
    at = searched.indexOf(text, at + text.length)
  }
  return false
}

async function partsOf(bytes: Bytes, type: string): Promise<Part[] | undefined> {
  try {
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData()
    return await Promise.all(Array.from(form, ([name, value]) => partOf(name, value)))
  } catch {
    return undefined
  }
}

async function partOf(name: string, value: FormDataEntryValue): Promise<Part> {
  if (typeof value === 'string') return { name, value: encoder.encode(value) }
  const { name: file, type } = value
  return { name, value: new Uint8Array(await value.arrayBuffer()), file: { name: file, type } }
}

/** @throws GatewayError 400 */
function modelIn(parts: readonly Part[]): string | undefined {
  // Some servers ignore the case, or take `model[]` for the same field.
  const [part, ...more] = parts.filter(({ name }) => isModelField(name))
  if (!part) return undefined
  if (more.length > 0) throw wrong('the model is named more than once')
  const model = new TextDecoder().decode(part.value)
  if (part.name !== 'model' || part.file || model === '')
    throw wrong('the model is missing: expected its id in the field `model`')
  const fault = faultOfName(model)
  if (fault) throw wrong(fault)
  return model
}

export const isModelField = (name: string): boolean => /^model(\[|$)/i.test(name)

const wrong = (message: string) => reject(400, 'invalid_request', message, { param: 'model' })

function asUrlEncoded(parts: readonly Part[]): Bytes {
  const fields = new URLSearchParams()
  for (const { name, value } of parts) fields.append(name, new TextDecoder().decode(value))
  return encoder.encode(String(fields))
}

function asMultipart(parts: readonly Part[], boundary: string): Bytes {
  const written = parts.flatMap(({ name, value, file }) => {
    const disposition = `content-disposition: form-data; name="${quoted(name)}"`
    const head = file
      ? `${disposition}; filename="${quoted(file.name)}"\r\ncontent-type: ${typeOf(file)}`
      : disposition
    return [encoder.encode(`--${boundary}\r\n${head}\r\n\r\n`), value, encoder.encode('\r\n')]
  })
  return joined([...written, encoder.encode(`--${boundary}--\r\n`)])
}

/** As browsers escape it, and without backslashes, which some servers take for an escape. */
const quoted = (text: string) =>
  text.replaceAll('\\', '_').replace(/[\r\n"]/g, letter => encodeURIComponent(letter))

const typeOf = ({ type }: { type: string }) =>
  /^[\x20-\x7e]+$/.test(type) ? type : 'application/octet-stream'
