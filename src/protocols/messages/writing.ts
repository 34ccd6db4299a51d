import type { Part, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { TranslationError } from '../../errors.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { mapName } from '../../kit/ids.ts'
import type { JsonObject } from '../../kit/json.ts'
import { createToolNames, toolKey } from '../../kit/tool-names.ts'
import { callIds } from '../../kit/turns.ts'
import type { EncodingContext } from '../../protocol.ts'
import { encodeMark, type Mark } from './cache.ts'
import type { MessagesReport } from './notes.ts'
import type { MessagesOptions, Options } from './options.ts'
import { ownUnder, protocolName } from './own.ts'
import type { MessagesRawBlock } from './schema.ts'

/** What carries the signature of a text, and where that stood. */
export type Carriers = Map<JsonObject, string | undefined>

/** What writing a part needs to know. In a request all keys are there from the start: a copy with other values is then made in no time. */
export type Writing = {
  report: MessagesReport
  /** Requests go to a provider, which checks signatures; replies go to a client, which keeps whatever it is given. */
  to: 'provider' | 'client'
  /** The message came from this protocol, and its blocks are written as they stood. */
  native: boolean
  /** Another provider took part in the conversation: so thinking without a proof of this one is not its own. */
  mixed?: boolean
  /** The id that a call and its result are written with. */
  callId(part: ToolCallPart | ToolResultPart): string
  toolName(name: string, namespace: string | undefined, at: string | undefined): string
  /** Ids of the calls in the request: what a result says of its tool stands there. A reply need not have the call. */
  called?: ReadonlySet<string>
  unsigned: 'drop' | 'text'
  /** Who will read it. */
  model?: string | undefined
  serverToolHistory?: 'drop' | 'text'
  /** A tool that joins in mid-conversation; absent: it stands with the others. */
  addTool?(tool: Tool): MessagesRawBlock[]
  /** Citations of a user's text, and documents of an assistant, are refused by the newest version. */
  newest: boolean
  convertMedia?: MessagesOptions['convertMedia'] | undefined
  unresolvable(part: Part, field?: string): void
  marks: Mark[]
  place: Mark['place']
  /** Gathers blocks that may only carry a signature, and where that was. */
  carriers?: Carriers | undefined
}

/** The block of a part with its cache mark, which the limit on marks may take back later. Changes the block. */
export function marked<T extends JsonObject>(block: T, { cache, at, ext }: Part, { report, marks, place, to, native }: Writing): T {
  if (!cache) return block
  if (to === 'client' && !native) {
    report.add('cache.place', at, 'cache')
    return block
  }
  const wire = encodeMark(cache, ownUnder(ext, 'cache_control'), () => report.add('cache.ttl', at, 'cache.ttl'))
  marks.push({ wire, at, place })
  return Object.assign(block, { cache_control: wire })
}

// ---- for requests

export type RequestWriting = Writing & {
  options: Options
  renamed: NonNullable<EncodingContext['tools']>
  nameTool(name: string, namespace: string | undefined, at: string | undefined, wrapped?: boolean): string
}

export function startWriting({ model, tools, messages }: CanonicalRequest, options: Options, report: MessagesReport, native: boolean): RequestWriting {
  const freeform = new Set(flatMap(tools ?? [], tool => (tool.type === 'freeform' ? [toolKey(tool.name, tool.namespace)] : [])))
  const { renamed, nameOf } = createToolNames({ limit: nameLimit, spell: flat => mapName(flat, nameLimit), native }, report)
  const nameTool = (name: string, namespace: string | undefined, at: string | undefined, wrapped = false): string => nameOf(name, namespace, at, wrapped)
  return {
    report,
    options,
    to: 'provider',
    native,
    callId: idOf,
    toolName: (name, namespace, at) => nameTool(name, namespace, at, freeform.has(toolKey(name, namespace))),
    nameTool,
    called: callIds(messages),
    mixed: messages.some(({ parts }) => parts.some(({ signature }) => signature !== undefined && signature.issuer !== protocolName)),
    renamed,
    unsigned: options.amUnsigned ?? 'drop',
    model,
    serverToolHistory: options.serverToolHistory ?? 'drop',
    newest: options.apiVersion === '2026-10-21',
    convertMedia: options.convertMedia,
    unresolvable: part => report.unresolvable(part.at, undefined, options),
    marks: [],
    place: 'messages',
  }
}

/** The id of a call, or of the call that a result answers, as it came. */
export const idOf = (part: ToolCallPart | ToolResultPart): string => (part.type === 'tool-call' ? part.id : part.callId)

const nameLimit = 128

export function malformed(path: string, message: string): TranslationError {
  return new TranslationError({ code: 'malformed', protocol: protocolName, path }, message)
}
