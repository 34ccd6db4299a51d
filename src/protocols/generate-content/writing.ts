import type { Part, TextPart, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { mapName } from '../../kit/ids.ts'
import { createToolNames, toolKey } from '../../kit/tool-names.ts'
import type { EncodingContext, FieldNames } from '../../protocol.ts'
import type { GeminiReport } from './notes.ts'
import type { Options } from './options.ts'
import type { GeminiPart } from './schema.ts'

/** What reading a part needs to know. */
export type Reading = {
  report: GeminiReport
  /** Where the body stands in what was given. */
  root: string
  /** A pointer in camelCase → the one into the body as it came. */
  place(pointer: string): string
  /** Fields of single nodes that stand elsewhere than the table says. Reading adds to it. */
  names: FieldNames
  /** The id of a call that came without one. */
  callId(at: string): string
  /** Who says it. Absent: whoever may. */
  speaks?: 'model' | 'user' | 'instructions' | undefined
  /** The id of the call that a result answers. */
  answered?: ((result: { id: string | undefined; name: string | undefined }, at: string) => string) | undefined
}

/** What writing a part needs to know. In a request all keys are there from the start: a copy with other values is then made in no time. */
export type Writing = {
  report: GeminiReport
  /** Requests go to a provider, which checks signatures; replies go to a client, which keeps whatever it is given. */
  to: 'provider' | 'client'
  /** The message came from this protocol, and its parts are written as they stood. */
  native: boolean
  toolName(name: string, namespace: string | undefined, at: string | undefined): string
  /** The id that a call and its result are written with; undefined: none. */
  callId(id: string, part: ToolCallPart | ToolResultPart): string | undefined
  /** The call that a result answers. */
  callOf?: ((result: ToolResultPart) => ToolCallPart | undefined) | undefined
  /** Calls that are written with the documented placeholder, for want of a signature. */
  unsigned?: ReadonlySet<Part> | undefined
  /** Are these the instructions, where nothing vanishes unsaid? */
  instructs?: boolean
  /** Who will read it. */
  model?: string | undefined
  /** Is a result whose text is a JSON object written as that object? */
  parseJson?: boolean
  /** Is it inside of a result, where media have nothing beside them? */
  inResult?: boolean
  serverToolHistory?: 'drop' | 'text'
  unresolvable(part: Part): void
  /** Takes what of a text stands elsewhere in a reply: its citations and the odds of its tokens. Absent: there is no such place. */
  beside?: ((part: TextPart, written: GeminiPart) => void) | undefined
}

/** Notes a part that makes no sense inside of another one: nobody would answer a call there, and a thought would be nobody's. */
export function isInner({ type, at }: Part, report: GeminiReport): boolean {
  const isOdd = type === 'tool-call' || type === 'tool-result' || type === 'reasoning'
  if (isOdd) report.add('part.unsupported', at)
  return isOdd
}

// ---- for requests

export type RequestWriting = Writing & {
  options: Options
  renamed: NonNullable<EncodingContext['tools']>
  nameTool(name: string, namespace: string | undefined, at: string | undefined, wrapped?: boolean): string
}

export function startWriting({ model, tools, messages }: CanonicalRequest, options: Options, report: GeminiReport, native: boolean): RequestWriting {
  const late = flatMap(messages, ({ parts }) => flatMap(parts, part => (part.type === 'control' ? (part.tools ?? []) : [])))
  const freeform = new Set(flatMap([...(tools ?? []), ...late], tool => (tool.type === 'freeform' ? [toolKey(tool.name, tool.namespace)] : [])))
  const { renamed, nameOf } = createToolNames({ limit: nameLimit, spell: asName, native }, report)
  const nameTool = (name: string, namespace: string | undefined, at: string | undefined, wrapped = freeform.has(toolKey(name, namespace))): string =>
    nameOf(name, namespace, at, wrapped)
  return {
    report,
    options,
    to: 'provider',
    native,
    callOf: undefined,
    unsigned: undefined,
    instructs: false,
    inResult: false,
    beside: undefined,
    toolName: (name, namespace, at) => nameTool(name, namespace, at),
    nameTool,
    callId(id, part) {
      if (options.gcIds !== 'never') return part.type === 'tool-call' && part.idOrigin === 'synthesized' && native ? undefined : id
      report.once('tool-call.id', part.at, part.type === 'tool-call' ? 'id' : 'callId')
      return undefined
    },
    renamed,
    model,
    parseJson: options.gcParseJson === 'object',
    serverToolHistory: options.serverToolHistory ?? 'drop',
    unresolvable: part => report.unresolvable(part.at, undefined, options),
  }
}

const nameLimit = 128

/** A name that this wire accepts: it begins with a letter or an underscore, and may hold dots and colons. */
function asName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/.test(name)) return name
  const mapped = mapName(name, nameLimit)
  return /^[A-Za-z_]/.test(mapped) ? mapped : `_${mapped.slice(0, nameLimit - 1)}`
}
