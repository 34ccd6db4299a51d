import { type Check, isObject, type JsonObject, notDone } from './faults.ts'

/** The rules for the order of a stream's events. */

type Known = {
  item: JsonObject
  done: boolean
  parts: Slot[]
  summaries: Slot[]
  text: string
  seen: boolean
}
type Slot = { text: string; seen: boolean; done: boolean; type: unknown }

const textKinds: Record<string, { in: 'parts' | 'summaries'; of: string; whole: string }> = {
  'response.output_text': { in: 'parts', of: 'output_text', whole: 'text' },
  'response.refusal': { in: 'parts', of: 'refusal', whole: 'refusal' },
  'response.reasoning_text': { in: 'parts', of: 'reasoning_text', whole: 'text' },
  'response.reasoning_summary_text': { in: 'summaries', of: 'summary_text', whole: 'text' },
}
const inputKinds: Record<string, { of: string; whole: string }> = {
  'response.function_call_arguments': { of: 'function_call', whole: 'arguments' },
  'response.custom_tool_call_input': { of: 'custom_tool_call', whole: 'input' },
}
const partKinds: Record<string, { in: 'parts' | 'summaries'; key: string }> = {
  'response.content_part': { in: 'parts', key: 'content_index' },
  'response.reasoning_summary_part': { in: 'summaries', key: 'summary_index' },
}
/** The last events, and the status of the response in them. */
const lastStatus: Record<string, string> = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
}

/** The checks of single values: the shape of an event, and the final response. */
type Shapes = { event: Check; end(response: JsonObject, at: string, faults: string[]): void }

/** The faults of a complete stream. Empty: it is legal. */
export function checkOrder(all: readonly unknown[], shapes: Shapes): string[] {
  const validator = new StreamValidator(shapes)
  all.forEach((entry, index) => {
    validator.take(entry, index, index === all.length - 1)
  })
  return validator.end(all.at(-1))
}

class StreamValidator {
  readonly #shapes: Shapes
  readonly #faults: string[] = []
  readonly #items: Known[] = []
  /** The type of the final event, when it has arrived. */
  #over: string | undefined
  #id: unknown
  /** The current event, for messages. */
  #at = ''
  #type = ''

  constructor(shapes: Shapes) {
    this.#shapes = shapes
  }

  take(entry: unknown, index: number, isLast: boolean): void {
    this.#at = `event ${index}`
    if (entry === '[DONE]') {
      if (!this.#over || !isLast) this.#faults.push(`${this.#at}: [DONE] before the end`)
      return
    }
    this.#shapes.event(entry, this.#at, this.#faults)
    if (!isObject(entry)) return
    const type = String(entry['type'])
    this.#type = type
    if (entry['sequence_number'] !== index)
      this.#fault(`sequence_number ${entry['sequence_number']}`)
    if (this.#over && !(this.#over === 'error' && type === 'response.failed')) {
      this.#fault(`after ${this.#over}`)
      return
    }
    if (index === 0 && type !== 'response.created' && type !== 'error')
      this.#fault('the first event is response.created')
    if (type === 'error') this.#over = 'error'
    else if (isObject(entry['response'])) this.#takeResponse(entry['response'])
    else if (type === 'response.output_item.added') this.#addItem(entry)
    else this.#takeOfItem(entry)
  }

  end(last: unknown): string[] {
    if (!this.#over) this.#faults.push('the stream has no terminal event')
    if (this.#over && this.#over !== 'error' && last !== '[DONE]') this.#faults.push(notDone)
    return this.#faults
  }

  #fault(what: string): void {
    this.#faults.push(`${this.#at} (${this.#type}): ${what}`)
  }

  #takeResponse(response: JsonObject): void {
    this.#id ??= response['id']
    if (response['id'] !== this.#id) this.#fault('another response id')
    const ends = lastStatus[this.#type]
    if (!ends) return
    this.#over = this.#type
    this.#shapes.end(response, this.#at, this.#faults)
    const { status } = response
    if (status !== ends && !(ends === 'incomplete' && status === 'cancelled'))
      this.#fault(`status ${status}`)
    if (ends === 'completed' && this.#items.some(({ done }) => !done))
      this.#fault('an item is not done')
    if (ends !== 'failed') this.#compareOutput(arrayOf(response['output']))
  }

  #compareOutput(shown: JsonObject[]): void {
    if (
      !isSame(
        shown.map(one => one['id']),
        this.#items.map(one => one.item['id']),
      )
    )
      this.#fault('its output is not what was streamed')
    shown.forEach((whole, position) => {
      const known = this.#items[position]
      if (known?.done && !isSame(whole, known.item))
        this.#fault(`its item ${position} is not the one that was done`)
    })
  }

  #addItem(entry: JsonObject): void {
    if (entry['output_index'] !== this.#items.length)
      this.#fault(`output_index ${entry['output_index']}, expected ${this.#items.length}`)
    const item = isObject(entry['item']) ? entry['item'] : {}
    if (this.#items.some(({ item: other }) => other['id'] === item['id']))
      this.#fault('an item id used twice')
    this.#items.push({ item, done: false, parts: [], summaries: [], text: '', seen: false })
  }

  #takeOfItem(entry: JsonObject): void {
    const known = this.#items[Number(entry['output_index'])]
    if (!known) {
      this.#fault('its item was not added')
      return
    }
    if (known.done) this.#fault('its item is done')
    if (this.#type === 'response.output_item.done') {
      this.#endItem(known, entry)
      return
    }
    if (entry['item_id'] !== known.item['id']) this.#fault('another item_id')
    const stem = this.#type.replace(/\.(delta|added|done)$/, '')
    const [text, input, part] = [textKinds[stem], inputKinds[stem], partKinds[stem]]
    if (text) {
      const slot =
        known[text.in][Number(entry[text.in === 'parts' ? 'content_index' : 'summary_index'])]
      if (slot?.type !== text.of || slot.seen) this.#fault('its part is not open')
      else this.#takeText(slot, entry, text.whole)
    } else if (input) {
      if (known.item['type'] !== input.of || known.seen) this.#fault('its item does not take this')
      else this.#takeText(known, entry, input.whole)
    } else if (part) this.#takePart(known[part.in], entry, part.key)
  }

  /** A delta of a text, or the complete text at its end. */
  #takeText(into: { text: string; seen: boolean }, entry: JsonObject, whole: string): void {
    if (this.#type.endsWith('.delta')) into.text += String(entry['delta'])
    else {
      into.seen = true
      if (entry[whole] !== into.text) this.#fault('is not what the deltas added up to')
    }
  }

  #takePart(slots: Slot[], entry: JsonObject, key: string): void {
    const part = isObject(entry['part']) ? entry['part'] : {}
    if (this.#type.endsWith('.added')) {
      if (entry[key] !== slots.length) this.#fault(`${key} ${entry[key]}, expected ${slots.length}`)
      slots.push({ text: '', seen: false, done: false, type: part['type'] })
      return
    }
    const slot = slots[Number(entry[key])]
    if (!slot || slot.done) {
      this.#fault('its part is not open')
      return
    }
    if (!slot.seen) this.#fault('its text was not sent as a whole')
    slot.done = true
    if (textOf(part) !== slot.text) this.#fault('is not what the deltas added up to')
  }

  #endItem(known: Known, entry: JsonObject): void {
    const done = isObject(entry['item']) ? entry['item'] : {}
    for (const key of ['type', 'id', 'call_id', 'name'])
      if (done[key] !== known.item[key]) this.#fault(`another ${key}`)
    if (known.parts.some(slot => !slot.done) || known.summaries.some(slot => !slot.done))
      this.#fault('a part is not done')
    if (done['type'] === 'function_call' || done['type'] === 'custom_tool_call') {
      if (!known.seen) this.#fault('its input was not sent as a whole')
      if ((done['arguments'] ?? done['input']) !== known.text)
        this.#fault('its input is not what the deltas added up to')
    }
    if (
      done['type'] === 'message' &&
      joined(arrayOf(done['content']).map(textOf)) !== joined(textsOf(known.parts))
    )
      this.#fault('its text is not what the deltas added up to')
    if (
      done['type'] === 'reasoning' &&
      joined(arrayOf(done['summary']).map(textOf)) !== joined(textsOf(known.summaries))
    )
      this.#fault('its summary is not what the deltas added up to')
    known.done = true
    known.item = done
  }
}

const arrayOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

const textOf = (part: JsonObject) => part['text'] ?? part['refusal']

const textsOf = (slots: readonly Slot[]) => slots.map(({ text }) => text)

const joined = (texts: unknown[]) => texts.join('\n')

/** Also compares the order of keys. */
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
