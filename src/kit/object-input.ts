import type { ToolCallPart } from '../canonical/message.ts'
import { wrapInput } from './freeform.ts'
import { holdsNumber, type JsonObject, keepsNumbers, parseObject, parseShallow } from './json.ts'

type Reporting = {
  add(code: 'freeform.wrapped', at: string | undefined): void
  add(code: 'tool-call.number' | 'tool-call.input', at: string | undefined, field: string): void
}

/** The arguments of a call as an object, for wires that require one. Other values are put into an object. `kind`: of the declared tool. */
export function objectInput({ input, at }: ToolCallPart, kind: ToolCallPart['kind'], report: Reporting): JsonObject {
  if (kind === 'freeform') {
    report.add('freeform.wrapped', at)
    return parseObject(wrapInput(input)) ?? {}
  }
  if (!input.trim()) return {}
  const object = parseShallow(input)
  if (object) {
    // Most arguments contain no numbers; a few parsed values show that faster than a long text.
    if (holdsNumber(object) && !keepsNumbers(input)) report.add('tool-call.number', at, 'input')
    return object
  }
  report.add('tool-call.input', at, 'input')
  return isNullInput(input) ? {} : { __raw: input }
}

/** Some models write `null` for no arguments. */
export function isNullInput(input: string): boolean {
  return input.trim() === 'null'
}
