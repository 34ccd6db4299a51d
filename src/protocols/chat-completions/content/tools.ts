import type { Place } from '../../../canonical/message.ts'
import type { FreeformTool, FunctionTool, ServerTool, Tool } from '../../../canonical/tool.ts'
import { type Keys, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitNullishOrNone, omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { asRead, type Written } from '../../../kit/schema/written.ts'
import { asFunction } from '../../../kit/tools/client-tools.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import { responseToolName } from '../../../kit/tools/tool-names.ts'
import { contextSizeIn, userLocationIn } from '../../../kit/tools/web-search.ts'
import { type ChatCompletionsReport, keep, protocolName, wireOf, withInner } from '../own.ts'
import type {
  ChatCompletionsCustomTool,
  ChatCompletionsFunction,
  ChatCompletionsRequest,
  ChatCompletionsTool,
} from '../schema.ts'
import type {
  ChatCompletionsControlMark,
  ChatCompletionsSearchOptions,
  ChatCompletionsWrittenTool,
} from '../written.ts'
import { controlMark, type Marks, readMark, takeMark, type Writing } from './writing.ts'

/**
 * All fields that declare tools: `tools`, the older `functions`, and `web_search_options` for a web
 * search.
 */
export function decodeTools({
  tools,
  functions,
  web_search_options,
}: Pick<ChatCompletionsRequest, 'tools' | 'functions' | 'web_search_options'>): Tool[] | undefined {
  if (!tools && !functions && !web_search_options) return undefined
  return [
    ...(tools ?? []).map((tool, i) => decodeTool(tool, below('/tools', i))),
    ...(functions ?? []).map((fn, i) =>
      keep(decodeFunction(fn, below('/functions', i)), unknownOf(fn, knownOfFunction)),
    ),
    ...(web_search_options ? [decodeWebSearch(web_search_options)] : []),
  ]
}

type WireTool = Marks & {
  type: string
  function: ChatCompletionsFunction
  custom: ChatCompletionsCustomTool
}

const knownOfFunction = keysOf<ChatCompletionsFunction>()('name description parameters strict')
const knownOfFunctionTool = keysOf<WireTool>()(
  'type function cache_control prompt_cache_breakpoint',
)
const knownOfCustom = keysOf<ChatCompletionsCustomTool>()('name description format')
const knownOfCustomTool = keysOf<WireTool>()('type custom')

function decodeTool(wire: ChatCompletionsTool, at: Place): Tool {
  const { type } = wire
  if (
    'function' in wire &&
    isObject(wire.function) &&
    (type === 'function' || type === undefined || type === null)
  ) {
    const fn = wire.function as ChatCompletionsFunction
    const tool = decodeFunction(fn, at)
    const marks = wire as Marks
    const unknown = unknownOf(fn, knownOfFunction)
    const isMarked =
      (marks.cache_control ?? marks.prompt_cache_breakpoint ?? undefined) !== undefined
    // Inside `function` it marks the tool, as it does next to it.
    const { cache, left } = isMarked ? { left: unknown } : takeMark(unknown)
    if (cache) tool.cache = cache
    return readMark(tool, marks, withInner(unknownOf(wire, knownOfFunctionTool), 'function', left))
  }
  if ('custom' in wire && type === 'custom') {
    const { name, description, format } = wire.custom as ChatCompletionsCustomTool
    const tool: FreeformTool = {
      type: 'freeform',
      name,
      ...omitNullish({ description, format: decodeGrammar(format) }),
      at,
    }
    const unknown = withInner(
      unknownOf(wire.custom as ChatCompletionsCustomTool, knownOfCustom),
      'format',
      unknownOfFormat(format),
    )
    return keep(tool, withInner(unknownOf(wire, knownOfCustomTool), 'custom', unknown))
  }
  return { type: 'opaque', protocol: protocolName, raw: wire, at }
}

function decodeGrammar(format: unknown): FreeformTool['format'] {
  if (!isObject(format)) return undefined
  const { type, grammar } = format
  if (type === 'grammar' && isObject(grammar))
    return { type, syntax: String(grammar['syntax']), definition: String(grammar['definition']) }
  return type === 'text' ? { type } : undefined
}

/** The keys of a format that have no canonical field. Undefined: none. */
function unknownOfFormat(wire: unknown): JsonObject | undefined {
  if (!isObject(wire)) return undefined
  const format = decodeGrammar(wire)
  if (!format) return wire
  const { type: _, grammar, ...outer } = wire
  if (format.type === 'text') return omitNullishOrNone({ ...outer, grammar })
  const { syntax: _syntax, definition: _definition, ...inner } = isObject(grammar) ? grammar : {}
  return withInner(omitNullishOrNone(outer), 'grammar', omitNullishOrNone(inner))
}

/** The value of `function`, or an entry of the older list. */
function decodeFunction(
  { name, description, parameters, strict }: ChatCompletionsFunction,
  at: Place,
): FunctionTool {
  const tool: FunctionTool = { type: 'function', name, at }
  if (description !== undefined && description !== null) tool.description = description
  if (parameters !== undefined && parameters !== null) tool.parameters = parameters
  // `null` has a meaning of its own.
  if (strict !== undefined) tool.strict = strict
  return tool
}

function decodeWebSearch(raw: JsonObject): ServerTool {
  const { search_context_size: size, user_location: location } = raw
  const place = isObject(location) ? location['approximate'] : undefined
  return {
    type: 'server',
    tool: 'web_search',
    protocol: protocolName,
    raw,
    common: omitUndefined({
      contextSize: contextSizeIn(size),
      userLocation: userLocationIn(place),
    }),
    at: '/web_search_options',
  }
}

/**
 * The tools of a request as its wire fields.
 * @throws TranslationError `inexpressible` when all tools exist only at another provider
 */
export function encodeTools(
  tools: readonly Tool[],
  writing: Writing,
): { tools?: ChatCompletionsWrittenTool[]; web_search_options?: ChatCompletionsSearchOptions } {
  const written: ChatCompletionsWrittenTool[] = []
  let search: ChatCompletionsSearchOptions | undefined
  const lost: ServerTool[] = []
  for (const tool of tools) {
    switch (tool.type) {
      case 'function':
        written.push(encodeFunctionTool(tool, writing))
        break
      case 'freeform':
        written.push(encodeFreeform(tool, writing))
        break
      case 'server':
        if (tool.tool === 'web_search' && tool.protocol === protocolName) search = asRead(tool.raw)
        else if (writing.options.expandClientTools && asFunction(tool))
          written.push(...encodeExpanded(tool, writing))
        else if (tool.tool === 'web_search' && writing.options.serverTools === 'map')
          search = encodeWebSearch(tool, writing.report)
        else lost.push(tool)
        break
      case 'opaque':
        if (tool.protocol === protocolName && isObject(tool.raw)) written.push(asRead(tool.raw))
        else writing.report.add('tool.unknown', tool.at)
        break
      default:
        tool satisfies never
    }
  }
  if (lost.length > 0 && lost.length === tools.length)
    refuseForeignTools(
      'tools of the request',
      { protocol: protocolName, path: lost[0]?.at ?? '/tools' },
      writing.options,
    )
  for (const tool of lost) {
    writing.report.add('tool.server', tool.at)
    if (tool.mcp?.at !== undefined) writing.report.add('tool.server', tool.mcp.at)
  }
  return {
    ...(written.length > 0 && { tools: written }),
    ...(search !== undefined && { web_search_options: search }),
  }
}

function encodeExpanded(tool: ServerTool, writing: Writing): ChatCompletionsWrittenTool[] {
  const expanded = asFunction(tool)
  writing.report.add('tool.expanded', tool.at)
  return expanded
    ? [encodeFunctionTool({ ...expanded, ...(tool.cache && { cache: tool.cache }) }, writing)]
    : []
}

/** Tells whether the tool of a name is one that cannot be declared here. */
export function lostIn(
  tools: readonly Tool[] | undefined,
  options: Writing['options'],
): (name: string) => boolean {
  let lost: ReadonlyMap<string, boolean> | undefined
  return name => {
    lost ??= areLost(tools ?? [], options)
    return lost.get(name) ?? false
  }
}

/** By name. The first tool of a name counts. */
function areLost(
  tools: readonly Tool[],
  { expandClientTools }: Writing['options'],
): ReadonlyMap<string, boolean> {
  const lost = new Map<string, boolean>()
  for (const tool of tools) {
    if (tool.type === 'opaque' || tool.name === undefined || lost.has(tool.name)) continue
    const isForeign = tool.type === 'server' && tool.protocol !== protocolName
    lost.set(tool.name, isForeign && !(expandClientTools && asFunction(tool)))
  }
  return lost
}

function encodeFunctionTool(tool: FunctionTool, writing: Writing): ChatCompletionsWrittenTool {
  const mark = tool.cache && encodeToolMark(tool.cache, tool.at, writing)
  const declared: ChatCompletionsWrittenTool = {
    type: 'function',
    function: encodeFunction(tool, writing),
  }
  return wireOf<ChatCompletionsWrittenTool>(mark ? { ...declared, ...mark } : declared, tool.ext)
}

/** OpenAI has no cache breakpoint on tools. */
function encodeToolMark(
  cache: NonNullable<FunctionTool['cache']>,
  at: Place | undefined,
  { options, native, report }: Writing,
): ChatCompletionsControlMark {
  if (native || options.cacheMarks === 'cache_control')
    return controlMark(cache, () => report.add('cache.ttl', at, 'cache.ttl'))
  report.add('cache.unsupported', at, 'cache')
  return {}
}

const handledOfFunction = keysOf<FunctionTool>()(
  'type name namespace description parameters strict strictImplied cache allowedCallers at',
  'ext',
)

function encodeFunction(tool: FunctionTool, writing: Writing): Written<ChatCompletionsFunction> {
  const { name, namespace, description, parameters, strict, at } = tool
  noteBeside(tool, handledOfFunction, writing.report)
  return omitUndefined<Written<ChatCompletionsFunction>>({
    name: responseToolName(name, namespace, at, writing.report),
    description,
    parameters: parameters ?? undefined,
    strict: strict === null && !writing.native ? undefined : strict,
  })
}

/**
 * Makes notes for what no declaration of a tool has here. Flags that are false are the default, and
 * calls by the model alone.
 */
function noteBeside(
  tool: FunctionTool | FreeformTool,
  handled: Keys,
  report: ChatCompletionsReport,
): void {
  const { allowedCallers, at } = tool
  for (const key in tool)
    if (!handled[key] && tool[key as never] !== false)
      report.rest({ [key]: tool[key as never] }, at)
  if (allowedCallers?.length !== 1 || allowedCallers[0] !== 'direct')
    report.rest({ allowedCallers }, at)
  report.ext(tool.ext, at)
}

const handledOfFreeform = keysOf<FreeformTool>()(
  'type name namespace description format allowedCallers at ext',
)

function encodeFreeform(tool: FreeformTool, writing: Writing): ChatCompletionsWrittenTool {
  const { name, namespace, description, format, at } = tool
  noteBeside(tool, handledOfFreeform, writing.report)
  const custom = omitUndefined<Written<ChatCompletionsCustomTool>>({
    name: responseToolName(name, namespace, at, writing.report),
    description,
    format: format && encodeGrammar(format),
  })
  return wireOf<ChatCompletionsWrittenTool>({ type: 'custom', custom }, tool.ext)
}

function encodeGrammar(
  format: NonNullable<FreeformTool['format']>,
): NonNullable<Written<ChatCompletionsCustomTool>['format']> {
  return format.type === 'text'
    ? { type: 'text' }
    : { type: 'grammar', grammar: { definition: format.definition, syntax: format.syntax } }
}

function encodeWebSearch(
  { common, at }: ServerTool,
  report: ChatCompletionsReport,
): ChatCompletionsSearchOptions {
  report.add('tool.server-mapped', at)
  const { contextSize, userLocation, ...rest } = common ?? {}
  report.rest(rest, at)
  return omitUndefined<ChatCompletionsSearchOptions>({
    search_context_size: contextSize,
    user_location: userLocation && { type: 'approximate', approximate: userLocation },
  })
}
