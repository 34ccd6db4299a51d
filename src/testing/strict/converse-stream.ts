import {
  any,
  type Check,
  int,
  isObject,
  type JsonObject,
  list,
  loose,
  object,
  one,
  run,
  text,
} from './faults.ts'

/** The rules for streams: the shapes of events, and their order. */

/** The checks of what whole responses have, too. `around`: further keys of the last event. */
type Shapes = {
  usage: Check
  metrics: Check
  stopReason: Check
  citation: Check
  errorBody: Check
  around: Record<string, Check>
}

const index = { contentBlockIndex: int(0) }
const filled = text({ min: 1 })
const base64 = text({ pattern: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/ })
const callId = text({ pattern: /^[a-zA-Z0-9_.:-]{1,64}$/ })

/** An object with exactly one of these keys: the clients of AWS refuse any other. */
const union =
  (members: Record<string, Check>): Check =>
  (value, at, faults) => {
    const keys = isObject(value) ? Object.keys(value) : []
    const [key = ''] = keys
    const member = Object.hasOwn(members, key) ? members[key] : undefined
    if (keys.length !== 1 || !member)
      faults.push(
        `${at}: expected one of ${Object.keys(members).join(', ')}, found ${keys.join(', ') || 'none'}`,
      )
    else member((value as JsonObject)[key], `${at}/${key}`, faults)
  }

const start = union({
  toolUse: object(
    { toolUseId: callId, name: text({ pattern: /^[a-zA-Z0-9_-]{1,64}$/ }) },
    { type: text() },
  ),
  toolResult: object({ toolUseId: callId }, { type: text(), status: one('success', 'error') }),
  image: object({ format: one('png', 'jpeg', 'gif', 'webp') }),
})

const exceptions = [
  'internalServerException',
  'modelStreamErrorException',
  'validationException',
  'throttlingException',
  'serviceUnavailableException',
]

/** Checks complete streams. */
export function createStreamCheck({
  usage,
  metrics,
  stopReason,
  citation,
  errorBody,
  around,
}: Shapes): (events: unknown[]) => string[] {
  const delta = union({
    text: text(),
    toolUse: object({ input: text() }),
    reasoningContent: union({ text: text(), signature: filled, redactedContent: base64 }),
    citation,
    toolResult: list(union({ text: text(), json: any })),
    image: loose({}),
  })
  const event = union({
    messageStart: object({ role: one('assistant') }),
    contentBlockStart: object({ ...index, start }),
    contentBlockDelta: object({ ...index, delta }),
    contentBlockStop: object(index),
    messageStop: object({ stopReason }, { additionalModelResponseFields: any }),
    metadata: object({ usage, metrics }, around),
    ping: object({}),
    error: loose({ message: text() }),
    ...Object.fromEntries(exceptions.map(name => [name, errorBody])),
  })
  return events => {
    const order = new Order()
    const faults: string[] = []
    events.forEach((entry, nth) => {
      const wire = withoutPadding(entry)
      faults.push(...run(event, wire).map(fault => `event ${nth}${fault}`))
      if (isObject(wire)) order.take(wire, nth)
    })
    return [...faults, ...order.end()]
  }
}

/** `p` only pads a frame. */
function withoutPadding(entry: unknown): unknown {
  if (!isObject(entry)) return entry
  return Object.fromEntries(
    Object.entries(entry).map(([name, payload]) => [
      name,
      isObject(payload)
        ? Object.fromEntries(Object.entries(payload).filter(([key]) => key !== 'p'))
        : payload,
    ]),
  )
}

const isFailure = (name: string) => name === 'error' || /Exception$/.test(name)

/**
 * How a client of AWS takes the end: it only notices exceptions, and applications look for the stop
 * reason.
 */
export function outcome(events: unknown[]): 'success' | 'failed' | 'cut' {
  const names = events.flatMap(entry => (isObject(entry) ? Object.keys(entry) : []))
  if (names.some(isFailure)) return 'failed'
  if (names.includes('messageStop')) return 'success'
  return 'cut'
}

/** What the delta of a block says about its kind. */
const kindOf = (delta: JsonObject): string =>
  delta['citation'] !== undefined ? 'text' : (Object.keys(delta)[0] ?? '')

class Order {
  readonly #faults: string[] = []
  #phase: 'before' | 'blocks' | 'stopped' | 'over' = 'before'
  #next = 0
  /** The open block. `kind`: the deltas that it takes. */
  #open: { kind: string; json: string; deltas: number; signed: boolean } | undefined
  #calls = 0
  #stopReason: unknown
  #at = ''

  take(wire: JsonObject, nth: number): void {
    const [name = ''] = Object.keys(wire)
    const payload = isObject(wire[name]) ? wire[name] : {}
    this.#at = `event ${nth} (${name})`
    if (name === 'ping') return
    if (this.#phase === 'over') this.#fault('after the end')
    else if (isFailure(name)) this.#phase = 'over'
    else if (name === 'messageStart') {
      if (this.#phase !== 'before') this.#fault('twice')
      this.#phase = 'blocks'
    } else this.#takeInside(name, payload)
  }

  end(): string[] {
    if (this.#phase !== 'over')
      this.#faults.push('the stream ends without metadata and without an exception')
    if (this.#stopReason === 'tool_use' && this.#calls === 0)
      this.#faults.push('tool_use without a call')
    return this.#faults
  }

  #takeInside(name: string, payload: JsonObject): void {
    if (this.#phase === 'before') this.#fault('before messageStart')
    if (name === 'metadata') {
      if (this.#phase !== 'stopped') this.#fault('before messageStop')
      this.#phase = 'over'
      return
    }
    if (this.#phase === 'stopped') this.#fault('after messageStop')
    if (name === 'contentBlockStart') this.#start(payload)
    else if (name === 'contentBlockDelta') this.#delta(payload)
    else if (name === 'contentBlockStop') this.#stop(payload)
    else if (name === 'messageStop') {
      if (this.#open && !this.#isCutCall(payload)) this.#fault('a block is open')
      this.#stopReason = payload['stopReason']
      this.#phase = 'stopped'
    }
  }

  #begin(index: unknown, kind: string): void {
    if (this.#open) this.#fault('a block is open')
    if (index !== this.#next) this.#fault(`index ${String(index)}, expected ${this.#next}`)
    this.#next++
    this.#open = { kind, json: '', deltas: 0, signed: false }
  }

  #start({ contentBlockIndex, start: given }: JsonObject): void {
    const kind = isObject(given) ? (Object.keys(given)[0] ?? '') : ''
    this.#begin(contentBlockIndex, kind)
    if (kind === 'toolUse') this.#calls++
  }

  #delta({ contentBlockIndex, delta: given }: JsonObject): void {
    const delta = isObject(given) ? given : {}
    const kind = kindOf(delta)
    // Text and reasoning have no start.
    if (!this.#open && (kind === 'text' || kind === 'reasoningContent'))
      this.#begin(contentBlockIndex, kind)
    const open = this.#openAt(contentBlockIndex)
    if (!open) return
    open.deltas++
    if (open.kind !== kind) this.#fault(`${kind} in a block of ${open.kind}`)
    const { toolUse, reasoningContent } = delta
    if (isObject(toolUse)) open.json += String(toolUse['input'])
    if (!isObject(reasoningContent)) return
    if (open.signed) this.#fault('a delta after the signature')
    open.signed = reasoningContent['signature'] !== undefined
  }

  #stop({ contentBlockIndex }: JsonObject): void {
    const open = this.#openAt(contentBlockIndex)
    if (!open) return
    if (open.kind === 'toolUse' && open.json.trim() !== '' && !isJsonObject(open.json))
      this.#fault('the input of the call is no JSON object')
    if (open.deltas === 0) this.#fault('a block without a delta')
    this.#open = undefined
  }

  /** The token limit may cut a call off; then its block does not stop. */
  #isCutCall({ stopReason }: JsonObject): boolean {
    return (
      stopReason !== 'end_turn' &&
      stopReason !== 'tool_use' &&
      this.#open?.kind === 'toolUse' &&
      !isJsonObject(this.#open.json)
    )
  }

  #openAt(index: unknown) {
    if (this.#open && index === this.#next - 1) return this.#open
    this.#fault('its block is not open')
    return undefined
  }

  #fault(what: string): void {
    this.#faults.push(`${this.#at}: ${what}`)
  }
}

function isJsonObject(json: string): boolean {
  try {
    return isObject(JSON.parse(json))
  } catch {
    return false
  }
}
