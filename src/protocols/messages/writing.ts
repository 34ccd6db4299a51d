import type { CanonicalRequest } from '../../canonical/request.ts'
import { TranslationError } from '../../errors.ts'
import { hashHex, mapName } from '../../kit/ids.ts'
import type { CodecOptions, EncodingContext } from '../../protocol.ts'
import type { Writing } from './content.ts'
import { type MessagesReport, notes } from './notes.ts'
import type { MessagesOptions } from './options.ts'
import { name } from './vocabulary.ts'

export type Options = CodecOptions & MessagesOptions

// ---- wire → canonical

export type RequestWriting = Omit<Writing, 'native'> & {
  renamed: NonNullable<EncodingContext['tools']>
  nameTool(called: string, namespace: string | undefined, at: string | undefined, wrapped?: boolean): string
}

export function startWriting({ tools, messages }: CanonicalRequest, options: Options, report: MessagesReport, native: boolean): RequestWriting {
  const renamed: NonNullable<EncodingContext['tools']> = {}
  const written = new Map<string, string>()
  const taken = new Set<string>()
  const freeform = new Set(tools?.flatMap(tool => (tool.type === 'freeform' ? [keyOf(tool.name, tool.namespace)] : [])))
  const nameTool = (called: string, namespace: string | undefined, at: string | undefined, wrapped = false): string => {
    const key = keyOf(called, namespace)
    const known = written.get(key)
    if (known !== undefined) return known
    const flat = namespace === undefined ? called : `${namespace}__${called}`
    const fitting = native && namespace === undefined ? called : mapName(flat, nameLimit)
    const wire = taken.has(fitting) && !native ? `${fitting.slice(0, nameLimit - 9)}_${hashHex(key, 8)}` : fitting
    if (namespace !== undefined) report.add('tool.namespace', at, 'namespace')
    if (wire !== flat) report.add('tool.renamed', at, 'name')
    taken.add(wire)
    written.set(key, wire)
    if (wire !== called || namespace !== undefined || wrapped)
      Object.defineProperty(renamed, wire, {
        value: { name: called, ...(namespace !== undefined && { namespace }), ...(wrapped && { wrapped }) },
        enumerable: true,
        configurable: true,
        writable: true,
      })
    return wire
  }
  return {
    report,
    to: 'provider',
    callId: id => id,
    toolName: (called, namespace, at) => nameTool(called, namespace, at, freeform.has(keyOf(called, namespace))),
    nameTool,
    called: new Set(messages.flatMap(({ parts }) => parts.flatMap(part => (part.type === 'tool-call' ? [part.id] : [])))),
    renamed,
    unsigned: options.amUnsigned ?? 'drop',
    newest: options.apiVersion === '2026-10-21',
    unresolvable: part => refuse(part.at ?? '', options, report),
    marks: [],
    place: 'messages',
  }
}

const nameLimit = 128

const keyOf = (called: string, namespace: string | undefined) => JSON.stringify([namespace ?? null, called])

/** Loss of what the model would answer to is no matter for a note, unless the caller says so. */
export function refuse(path: string, { onUnresolvable }: Options, report: MessagesReport): void {
  if (onUnresolvable !== 'note') throw new TranslationError({ code: 'inexpressible', protocol: name, path }, notes['state.unresolvable'].reason)
  report.add('state.unresolvable', path)
}

export function malformed(path: string, message: string): TranslationError {
  return new TranslationError({ code: 'malformed', protocol: name, path }, message)
}
