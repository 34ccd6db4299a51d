import { type Check, isObject, type JsonObject } from './faults.ts'

/** The rules for the order of a stream's events. */

const deltasOf: Record<string, readonly string[]> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
  mcp_tool_use: ['input_json_delta'],
  compaction: ['compaction_delta'],
}

/** The checks of single values: the shape of an event, and the stop reason of a message. */
type Shapes = {
  event: Check
  stop(delta: JsonObject, content: JsonObject[], at: string, faults: string[]): void
}

/** The faults of a complete stream. Empty: it is legal. */
export function checkOrder(all: readonly unknown[], shapes: Shapes): string[] {
  const validator = new StreamValidator(shapes)
  all.forEach((entry, index) => {
    validator.take(entry, index)
  })
  return validator.end()
}

class StreamValidator {
  readonly #shapes: Shapes
  readonly #faults: string[] = []
  #phase: 'before' | 'blocks' | 'delta' | 'over' = 'before'
  /** The open block: clients add deltas to the newest one. */
  #open: { block: JsonObject; json: string; signed: boolean } | undefined
  readonly #content: JsonObject[] = []
  /** The current event, for messages. */
  #at = ''
  #type: unknown

  constructor(shapes: Shapes) {
    this.#shapes = shapes
  }

  take(entry: unknown, index: number): void {
    this.#at = `event ${index}`
    this.#shapes.event(entry, this.#at, this.#faults)
    if (!isObject(entry)) return
    this.#type = entry['type']
    if (this.#phase === 'over') this.#fault('after the end')
    else if (this.#type === 'ping') return
    else if (this.#type === 'error') this.#phase = 'over'
    else if (this.#type === 'message_start') {
      if (this.#phase !== 'before') this.#fault('twice')
      this.#phase = 'blocks'
    } else {
      if (this.#phase === 'before') this.#fault('before message_start')
      this.#takeInside(entry)
    }
  }

  end(): string[] {
    if (this.#phase !== 'over')
      this.#faults.push('the stream ends without message_stop and without an error')
    return this.#faults
  }

  #takeInside(entry: JsonObject): void {
    switch (this.#type) {
      case 'content_block_start':
        this.#start(entry)
        return
      case 'content_block_delta':
        this.#delta(entry)
        return
      case 'content_block_stop':
        this.#stop(entry)
        return
      case 'message_delta':
        this.#messageDelta(entry)
        return
      case 'message_stop':
        if (this.#phase !== 'delta') this.#fault('before message_delta')
        this.#phase = 'over'
    }
  }

  #start({ index, content_block: given }: JsonObject): void {
    if (this.#phase !== 'blocks') this.#fault('after message_delta')
    if (this.#open) this.#fault('a block is open')
    if (index !== this.#content.length)
      this.#fault(`index ${index}, expected ${this.#content.length}`)
    const block = isObject(given) ? given : {}
    if (block['type'] === 'tool_use' && JSON.stringify(block['input']) !== '{}')
      this.#fault('a call starts with an empty input')
    this.#open = { block, json: '', signed: false }
    this.#content.push(block)
  }

  #delta({ index, delta: given }: JsonObject): void {
    const open = this.#openAt(index)
    if (!open) return
    const delta = isObject(given) ? given : {}
    const { type } = delta
    if (!deltasOf[String(open.block['type'])]?.includes(String(type)))
      this.#fault(`${type} in a ${open.block['type']} block`)
    if (type === 'input_json_delta') open.json += String(delta['partial_json'])
    if (open.signed)
      this.#fault(type === 'signature_delta' ? 'signed twice' : 'a delta after the signature')
    open.signed ||= type === 'signature_delta'
  }

  #stop({ index }: JsonObject): void {
    const open = this.#openAt(index)
    if (open?.block['type'] === 'tool_use' && open.json.trim() !== '' && !isJsonObject(open.json))
      this.#fault('the input of the call is no JSON object')
    if (open) this.#open = undefined
  }

  #messageDelta({ delta }: JsonObject): void {
    if (this.#phase !== 'blocks') this.#fault('twice')
    if (this.#open && !this.#isCutCall(delta)) this.#fault('a block is open')
    if (isObject(delta)) this.#shapes.stop(delta, this.#content, this.#at, this.#faults)
    this.#phase = 'delta'
  }

  /** The token limit may cut a call off; then its block has no stop event. */
  #isCutCall(delta: unknown): boolean {
    const isLimit =
      isObject(delta) && delta['stop_reason'] !== 'end_turn' && delta['stop_reason'] !== 'tool_use'
    return isLimit && this.#open?.block['type'] === 'tool_use' && !isJsonObject(this.#open.json)
  }

  #openAt(index: unknown) {
    if (this.#open && index === this.#content.length - 1) return this.#open
    this.#fault('its block is not open')
    return undefined
  }

  #fault(what: string): void {
    this.#faults.push(`${this.#at} (${this.#type}): ${what}`)
  }
}

function isJsonObject(json: string): boolean {
  try {
    return isObject(JSON.parse(json))
  } catch {
    return false
  }
}
