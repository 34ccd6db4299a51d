import type { Place, ToolCallPart } from '../../canonical/message.ts'
import { keepsNumbers, markNumbers, writeExact } from '../json/digits.ts'
import {
  advanceJson,
  holdsNumber,
  type JsonObject,
  parseObject,
  parseShallow,
  startJson,
} from '../json/json.ts'
import { wrapInput } from './freeform.ts'

type Reporting = {
  add(code: 'freeform.wrapped', at: Place | undefined): void
  add(
    code: 'tool-call.number' | 'tool-call.input' | 'stream.trailing-arguments',
    at: Place | undefined,
    field: string,
  ): void
}

type Writing = { report: Reporting; to: 'provider' | 'client' }

/**
 * The arguments of a call as an object, for wires that require one. Other values are put into an
 * object. `kind`: of the declared tool. `to`: a client gets the object that the text begins with,
 * as in a stream; a model of the history sees its own fault.
 */
export function objectInput(
  call: ToolCallPart,
  kind: ToolCallPart['kind'],
  { report, to }: Writing,
): JsonObject {
  const { input, at } = call
  if (kind === 'freeform') {
    report.add('freeform.wrapped', at)
    return parseObject(wrapInput(input)) ?? {}
  }
  if (!input.trim()) return {}
  const object = parseShallow(input)
  const first = object || to === 'provider' ? undefined : firstObject(input)
  if (first !== undefined) {
    report.add('stream.trailing-arguments', at, 'input')
    return objectInput({ ...call, input: first }, kind, { report, to })
  }
  if (object) {
    // Most arguments contain no numbers; a few parsed values show that faster than a long text.
    if (holdsNumber(object) && !keepsNumbers(input)) {
      report.add('tool-call.number', at, 'input')
      markNumbers(object, input)
    }
    return object
  }
  report.add('tool-call.input', at, 'input')
  return inObject(input)
}

/** The same as text, for servers that parse it: an object stays as it is written. */
export const objectText = (input: string): string =>
  parseObject(input) ? input : JSON.stringify(inObject(input))

const inObject = (input: string): JsonObject => (isNullInput(input) ? {} : { __raw: input })

/**
 * The object that the text begins with, if more text follows it. A stream has passed it on before
 * the rest comes.
 */
function firstObject(input: string): string | undefined {
  if (!input.trimStart().startsWith('{')) return undefined
  const progress = startJson()
  const first = input.slice(0, advanceJson(progress, input))
  return progress.whole && first !== input && parseObject(first) ? first : undefined
}

/** Arguments should be text; some servers send an object, or nothing at first. */
export function readInput(input: unknown): string {
  if (typeof input === 'string') return input
  return input === undefined || input === null ? '' : writeExact(input)
}

/** Some models write `null` for no arguments. */
export function isNullInput(input: string): boolean {
  return input.trim() === 'null'
}
