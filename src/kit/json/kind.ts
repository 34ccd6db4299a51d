/** What a wrong value is, for the error that refuses it. */
function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return 'bytes'
  if (typeof value === 'string') return 'text'
  if (typeof value !== 'object') return `a ${typeof value}`
  if ('then' in value) return 'a promise'
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  return tag === 'Object' ? 'an object' : `a ${tag}`
}

type Advice = Readonly<Record<string, string>>

const forBody: Advice = {
  text: 'parse it first',
  bytes: 'parse their text first',
  'a promise': 'await it first',
  'a Response': 'await its json() first',
  'a Request': 'await its json() first',
}

const forStream: Advice = {
  text: 'put it in a list',
  bytes: 'put them in a list',
  'a promise': 'await it first',
  'a Response': 'pass its body',
  'a Request': 'pass its body',
}

function but(value: unknown, advice: Advice): string {
  const name = nameOf(value)
  return `but got ${name}${advice[name] === undefined ? '' : `; ${advice[name]}`}`
}

/** What is wrong with a value that is no JSON object. Undefined: it can be one. */
export function bodyFault(value: unknown): string | undefined {
  const isBody = typeof value === 'object' && value !== null && !Array.isArray(value) && forBody[nameOf(value)] === undefined
  return isBody ? undefined : `expected an object, ${but(value, forBody)}`
}

/** @throws TypeError always: for a value that is no stream */
export function refuseStream(value: unknown): never {
  throw new TypeError(`stream: expected a stream or a list of text or bytes, ${but(value, forStream)}`)
}

/** @throws TypeError for a value that is neither text nor bytes */
export function refuseNoChunk(value: unknown): void {
  if (typeof value !== 'string' && !ArrayBuffer.isView(value)) throw new TypeError(`chunk: expected text or bytes, ${but(value, {})}`)
}
