import type { Place } from '../../canonical/message.ts'
import type { FreeformTool, FunctionTool, ServerTool, Tool } from '../../canonical/tool.ts'
import { asFunction } from '../../kit/client-tools.ts'
import { defined } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { refuseForeignTools } from '../../kit/foreign-tools.ts'
import { wrapFreeform } from '../../kit/freeform.ts'
import { hashHex, mapName } from '../../kit/ids.ts'
import { isObject, type JsonObject, same } from '../../kit/json.ts'
import { below } from '../../kit/path.ts'
import { toolKey } from '../../kit/tool-names.ts'
import type { EncodingContext } from '../../protocol.ts'
import { cacheIn, controlMark, decodeMark, takeToolMark } from './cache.ts'
import type { ChatReport } from './notes.ts'
import { keep, ownForm, protocolName, splitNulls, under, wireOf } from './own.ts'
import type { ChatCustomTool, ChatFunction, ChatRequest, ChatTool } from './schema.ts'
import type { Writing } from './writing.ts'

const nameLimit = 64

/** `nameOf`: the wire name of a tool; `renamed`: what the reply has to undo. `wraps`: freeform tools are written as functions. */
export function createNames(
  native: boolean,
  { tools, wraps = false }: { tools?: readonly Tool[] | undefined; wraps?: boolean } = {},
): { nameOf: Writing['nameOf']; renamed: NonNullable<EncodingContext['tools']> } {
  const renamed: NonNullable<EncodingContext['tools']> = Object.create(null)
  // On a conflict, the tool without a namespace keeps its name.
  const owners = new Map(
    native ? [] : flatMap(tools ?? [], tool => ('name' in tool && !namespaceOf(tool) ? [[tool.name, toolKey(tool.name, undefined)] as const] : [])),
  )
  const freeform = new Set(native ? [] : flatMap(tools ?? [], tool => (tool.type === 'freeform' ? [toolKey(tool.name, tool.namespace)] : [])))
  return {
    renamed,
    nameOf(name, namespace) {
      const flat = namespace === undefined ? name : `${namespace}__${name}`
      const key = toolKey(name, namespace)
      let written = native ? flat : mapName(flat, nameLimit)
      if (!native && (owners.get(written) ?? key) !== key) written = `${written.slice(0, nameLimit - 9)}_${hashHex(JSON.stringify([namespace, name]), 8)}`
      if (!native) owners.set(written, key)
      const shape = freeform.has(key) ? (wraps ? { wrapped: true } : { freeform: true }) : undefined
      if (written !== name || shape) renamed[written] = defined({ name, namespace, ...shape })
      return written
    },
  }
}

const namespaceOf = (tool: Tool) => (tool.type === 'function' || tool.type === 'freeform' ? tool.namespace : undefined)

/** All fields that declare tools: `tools`, the older `functions`, and `web_search_options` for a web search. */
export function decodeTools({ tools, functions, web_search_options }: Pick<ChatRequest, 'tools' | 'functions' | 'web_search_options'>): Tool[] | undefined {
  if (!tools && !functions && !web_search_options) return undefined
  return [
    ...(tools ?? []).map((tool, i) => decodeTool(tool, below('/tools', i))),
    ...(functions ?? []).map((tool, i) => decodeFunction(tool, below('/functions', i), (unknown, nothing) => keep(unknown, nothing, { legacy: true }))),
    ...(web_search_options ? [decodeWebSearch(web_search_options)] : []),
  ]
}

function decodeTool(wire: ChatTool, at: Place): Tool {
  if ('function' in wire && isObject(wire.function) && (wire.type === 'function' || wire.type === undefined || wire.type === null)) {
    const { present: tool, nothing } = splitNulls(wire)
    const { type, function: inner, cache_control, prompt_cache_breakpoint, ...outer } = tool
    return decodeFunction(inner as ChatFunction, at, (unknown, unsaid) => {
      const isMarked = cache_control !== undefined || prompt_cache_breakpoint !== undefined
      const { cache, left } = isMarked ? { left: unknown } : takeToolMark(unknown)
      return decodeMark(
        { prompt_cache_breakpoint, cache_control: cache ? unknown['cache_control'] : cache_control },
        { ...outer, ...under('function', left) },
        {
          nothing: { ...nothing, ...under('function', unsaid) },
          form: { typeless: type === undefined || undefined, marksFunction: cache ? true : undefined },
        },
      )
    })
  }
  if ('custom' in wire && wire.type === 'custom') {
    const { present: custom, nothing } = splitNulls(wire.custom as ChatCustomTool)
    const { type: _, custom: __, ...outer } = wire
    const { name, description, format, ...rest } = custom
    const unknown = { ...rest, ...unknownOfFormat(format) }
    return defined({
      type: 'freeform' as const,
      name,
      description,
      ...decodeGrammar(format),
      at,
      ...keep({ ...outer, ...under('custom', unknown) }, under('custom', nothing), { format }),
    })
  }
  return { type: 'opaque', protocol: protocolName, raw: wire, at }
}

function decodeGrammar(format: unknown): Pick<FreeformTool, 'format'> {
  if (!isObject(format)) return {}
  const { type, grammar } = format
  if (type === 'grammar' && isObject(grammar)) return { format: { type, syntax: String(grammar['syntax']), definition: String(grammar['definition']) } }
  return type === 'text' ? { format: { type } } : {}
}

/** The keys of a format that have no canonical field. */
function unknownOfFormat(wire: unknown): JsonObject {
  if (!isObject(wire)) return {}
  const { format } = decodeGrammar(wire)
  if (!format) return { format: wire }
  const { type: _, grammar, ...outer } = wire
  if (format.type === 'text') return grammar === undefined && Object.keys(outer).length === 0 ? {} : { format: defined({ ...outer, grammar }) }
  const { syntax: _syntax, definition: _definition, ...inner } = isObject(grammar) ? grammar : {}
  const left = Object.keys(inner).length > 0 ? { ...outer, grammar: inner } : outer
  return Object.keys(left).length > 0 ? { format: left } : {}
}

/** The value of `function`, or an entry of the older list. `keepRest` handles its unknown keys and its null keys. */
function decodeFunction(
  wire: ChatFunction,
  at: Place,
  keepRest: (unknown: JsonObject, nothing: JsonObject) => Pick<FunctionTool, 'cache' | 'ext'>,
): FunctionTool {
  const { present: fn, nothing } = splitNulls(wire)
  const { name, description, parameters, strict = wire.strict, ...unknown } = fn
  // `strict: null` has a meaning of its own, so it is not kept as a null key.
  const { strict: _, ...unsaid } = nothing
  return defined({ type: 'function' as const, name, description, parameters, strict, at, ...keepRest(unknown, unsaid) })
}

function decodeWebSearch(raw: JsonObject): ServerTool {
  const { search_context_size: size, user_location: location } = raw
  const place = isObject(location) && isObject(location['approximate']) ? location['approximate'] : undefined
  const word = (key: string) => (typeof place?.[key] === 'string' ? (place[key] as string) : undefined)
  const contextSize: 'low' | 'medium' | 'high' | undefined = size === 'low' || size === 'medium' || size === 'high' ? size : undefined
  const userLocation = place && defined({ city: word('city'), country: word('country'), region: word('region'), timezone: word('timezone') })
  return { type: 'server', tool: 'web_search', protocol: protocolName, raw, common: defined({ contextSize, userLocation }), at: '/web_search_options' }
}

/**
 * The tools of a request as its wire fields.
 * @throws TranslationError `inexpressible` when all tools exist only at another provider
 */
export function encodeTools(tools: readonly Tool[], writing: Writing): { tools?: JsonObject[]; functions?: JsonObject[]; web_search_options?: unknown } {
  const written: JsonObject[] = []
  const functions: JsonObject[] = []
  let search: unknown
  const lost: ServerTool[] = []
  for (const tool of tools) {
    switch (tool.type) {
      case 'function':
        if (ownForm(tool.ext)?.['legacy'] === true) functions.push(wireOf(encodeFunction(tool, writing), tool.ext))
        else written.push(encodeFunctionTool(tool, writing))
        break
      case 'freeform':
        if (writing.wraps) {
          writing.report.add('freeform.wrapped', tool.at)
          written.push(encodeFunctionTool(wrapFreeform(tool), writing))
        } else written.push(encodeFreeform(tool, writing))
        break
      case 'server':
        if (tool.tool === 'web_search' && tool.protocol === protocolName) search = tool.raw
        else if (writing.options.expandClientTools && asFunction(tool)) written.push(...encodeExpanded(tool, writing))
        else if (tool.tool === 'web_search' && writing.options.serverTools === 'map') search = encodeWebSearch(tool, writing.report)
        else lost.push(tool)
        break
      case 'opaque':
        if (tool.protocol === protocolName && isObject(tool.raw)) written.push(tool.raw)
        else writing.report.add('tool.unknown', tool.at)
        break
      default:
        tool satisfies never
    }
  }
  if (lost.length > 0 && lost.length === tools.length)
    refuseForeignTools('tools of the request', { protocol: protocolName, path: lost[0]?.at ?? '/tools' }, writing.options)
  for (const tool of lost) {
    writing.report.add('tool.server', tool.at)
    if (tool.mcp?.at !== undefined) writing.report.add('tool.server', tool.mcp.at)
  }
  return {
    ...(written.length > 0 && { tools: written }),
    ...(functions.length > 0 && { functions }),
    ...(search !== undefined && { web_search_options: search }),
  }
}

function encodeExpanded(tool: ServerTool, writing: Writing): JsonObject[] {
  const expanded = asFunction(tool)
  writing.report.add('tool.expanded', tool.at)
  return expanded ? [encodeFunctionTool({ ...expanded, ...(tool.cache && { cache: tool.cache }) }, writing)] : []
}

/** Is the tool of this name one that cannot be declared here? */
export function isLost(name: string, tools: readonly Tool[] | undefined, { expandClientTools }: Writing['options']): boolean {
  const named = tools?.find(tool => tool.type !== 'opaque' && tool.name === name)
  return named?.type === 'server' && named.protocol !== protocolName && !(expandClientTools && asFunction(named))
}

function encodeFunctionTool(tool: FunctionTool, writing: Writing): JsonObject {
  const { ext } = tool
  const { mark, typeless, marksFunction } = ownForm(ext) ?? {}
  const marked = isObject(mark) && same(cacheIn(mark), tool.cache) ? mark : encodeToolMark(tool, writing)
  const declared = encodeFunction(tool, writing)
  const type = typeless ? undefined : 'function'
  return wireOf(marksFunction === true ? { type, function: { ...declared, ...marked } } : { type, function: declared, ...marked }, ext)
}

/** OpenAI has no cache breakpoint on tools. */
function encodeToolMark({ cache, at, ext }: FunctionTool, { options, native, report }: Writing): JsonObject {
  if (!cache || ownForm(ext)?.['mark']) return {}
  if (options.ccCacheMarks === 'cache_control' && !native) return controlMark(cache, () => report.add('cache.ttl', at, 'cache.ttl'))
  report.add('cache.place', at, 'cache')
  return {}
}

function encodeFunction(tool: FunctionTool, writing: Writing): JsonObject {
  const { type: _, name, namespace, description, parameters, strict, strictImplied: _implied, cache: _cache, ...rest } = tool
  const { at } = rest
  noteBeside(rest, writing.report)
  return defined({
    name: noteName(name, namespace, { at, writing }),
    description,
    parameters: parameters ?? undefined,
    strict: strict === null && !writing.native ? undefined : strict,
  })
}

/** Makes notes for what no declaration of a tool has here. Flags that are false are the default, and calls by the model alone. */
function noteBeside({ allowedCallers, at, ext, ...rest }: Pick<FunctionTool, 'allowedCallers' | 'at' | 'ext'>, report: ChatReport): void {
  for (const key in rest) if (rest[key as never] !== false) report.rest({ [key]: rest[key as never] }, at)
  if (allowedCallers?.length !== 1 || allowedCallers[0] !== 'direct') report.rest({ allowedCallers }, at)
  report.ext(ext, at)
}

type Naming = { at: Place | undefined; writing: Pick<Writing, 'report' | 'nameOf' | 'told'> }

/** The wire name of a tool. Makes a note if it differs. */
export function noteName(name: string, namespace: string | undefined, { at, writing }: Naming): string {
  const written = writing.nameOf(name, namespace)
  const key = toolKey(name, namespace)
  if (writing.told?.has(key)) return written
  writing.told?.add(key)
  if (namespace !== undefined) writing.report.add('tool.namespace', at, 'namespace')
  if (written !== (namespace === undefined ? name : `${namespace}__${name}`)) writing.report.add('tool.renamed', at, 'name')
  return written
}

function encodeFreeform(tool: FreeformTool, writing: Writing): JsonObject {
  const { type: _, name, namespace, description, format, ...rest } = tool
  const { at, ext } = rest
  noteBeside(rest, writing.report)
  const came = ownForm(ext)?.['format']
  const spelledFormat = came !== undefined && same(decodeGrammar(came).format, format) ? came : format && encodeGrammar(format)
  const custom = defined({ name: noteName(name, namespace, { at, writing }), description, format: spelledFormat })
  return wireOf({ type: 'custom', custom }, ext)
}

function encodeGrammar(format: NonNullable<FreeformTool['format']>): JsonObject {
  return format.type === 'text' ? { type: 'text' } : { type: 'grammar', grammar: { definition: format.definition, syntax: format.syntax } }
}

function encodeWebSearch({ common, at }: ServerTool, report: ChatReport): JsonObject {
  report.add('tool.server-mapped', at)
  const { contextSize, userLocation, ...rest } = common ?? {}
  report.rest(rest, at)
  return defined({ search_context_size: contextSize, user_location: userLocation && { type: 'approximate', approximate: userLocation } })
}
