import { omitUndefined } from '../../kit/fields/omit.ts'
import { isBottomless, isObject, parseJson } from '../../kit/json/json.ts'
import { countOf } from '../../kit/response/usage.ts'
import { textOf } from '../../sse/bytes.ts'
import { createFrameParser } from '../../sse/parse.ts'
import { membersOf, outlineOf } from '../body/outline.ts'
import { writtenIn } from '../endpoints/estimate.ts'
import type { Trace } from '../request-context.ts'

/**
 * Takes the tokens of a whole response, under whichever names the upstream has for them; else what
 * a model has written in it.
 */
export function takeUsage(bytes: Uint8Array, trace: Trace): void {
  const usage = usageIn(outlineOf(bytes, membersOf(bytes)))
  if (usage) trace.usage = usage
  if (!usage?.output) trace.received = { written: writtenIn(parsed(textOf(bytes))), finished: true }
}

/** Reads the usage of a stream while it passes. A frame that is too long to be read is a file. */
export function readUsage(trace: Trace): (chunk: Uint8Array | string) => void {
  const received = { written: 0, finished: false }
  trace.received = received
  let isReadable = true
  const parser = createFrameParser(
    ({ data }) => {
      if (!data.trimStart().startsWith('{')) return
      const event = data.length < longestText || hasUsage.test(data) ? parsed(data) : undefined
      const usage = usageIn(event)
      if (usage) {
        trace.usage = { ...trace.usage, ...usage }
        received.finished = true
      } else received.written += writtenIn(event)
    },
    { maxLength: longestFrame },
  )
  return chunk => {
    if (!isReadable) return
    try {
      parser.push(chunk)
    } catch {
      isReadable = false
    }
  }
}

/** In UTF-16 units. */
const longestText = 64 * 1024
const longestFrame = 64 * 1024 * 1024
const hasUsage = /"usage"\s*:\s*\{/

const parsed = (text: string): unknown => (isBottomless(text) ? undefined : parseJson(text))

/** `response`: events of some streams have the whole response in it. */
function usageIn(value: unknown): Trace['usage'] {
  if (!isObject(value)) return undefined
  const { usage = isObject(value['response']) ? value['response']['usage'] : undefined } = value
  if (!isObject(usage)) return undefined
  const input = countOf(usage['prompt_tokens'] ?? usage['input_tokens'])
  const output = countOf(usage['completion_tokens'] ?? usage['output_tokens'])
  return input === undefined && output === undefined ? undefined : omitUndefined({ input, output })
}
