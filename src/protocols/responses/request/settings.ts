import type { Place } from '../../../canonical/message.ts'
import type {
  CanonicalRequest,
  OutputFormat,
  OutputSpec,
  ReasoningSpec,
  StateSpec,
} from '../../../canonical/request.ts'
import type { AllowedTool, Tool, ToolChoice } from '../../../canonical/tool.ts'
import { encodeEffort } from '../../../kit/fields/effort.ts'
import { omitNullishOrNone, omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { wrapRoot } from '../../../kit/response/wrapped-output.ts'
import { asRead, type Undefinable } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { asFunction } from '../../../kit/tools/client-tools.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import type { FieldNames } from '../../../protocol.ts'
import { nearestOf, withoutAnnotations } from '../content/tools.ts'
import { unresolvable, type Writing } from '../content/writing.ts'
import { protocolName, type ResponsesReport } from '../own.ts'
import type { ResponsesRequest } from '../schema.ts'
import { serverToolKind } from '../vocabulary.ts'
import type {
  ResponsesBody,
  ResponsesChosen,
  ResponsesFormat,
  ResponsesNamed,
  ResponsesWrittenChoice,
} from '../written.ts'

const logprobsInclude = 'message.output_text.logprobs'
const encryptedInclude = 'reasoning.encrypted_content'

/** What the decoders of a request's fields add to, in addition to the values that they return. */
export type Reading = {
  /** Unknown keys of the body. */
  unknown: JsonObject
  /** Where canonical fields were, if not in their default place. */
  places: FieldNames
  report: ResponsesReport
}

/** `text.format`. */
export function decodeOutput(
  { text }: ResponsesRequest,
  { unknown, report }: Reading,
): OutputSpec | undefined {
  if (!text?.format) return undefined
  const { format, rest } = decodeFormat(text.format)
  keepIn(unknown, 'text', omitUndefinedOrNone({ format: omitNullishOrNone(rest) }))
  if (format.type === 'schema') {
    const plain = withoutAnnotations(format.schema)
    if (plain !== format.schema) report.add('tool.annotation', '/text/format/schema')
    format.schema = plain
  }
  return { format }
}

/** Keeps unknown keys of an object in the body. */
function keepIn(
  unknown: JsonObject,
  key: 'text' | 'reasoning',
  more: JsonObject | undefined,
): void {
  if (more) unknown[key] = Object.assign({}, unknown[key], more)
}

function decodeFormat(wire: JsonObject & { type: string }): {
  format: OutputFormat
  rest: JsonObject
} {
  const { type, name, schema, description, strict, ...rest } = wire
  const bare =
    name === undefined && schema === undefined && description === undefined && strict === undefined
  if (type === 'text' && bare) return { format: { type: 'text' }, rest }
  if (type === 'json_object' && bare) return { format: { type: 'json' }, rest }
  if (type !== 'json_schema' || !isObject(schema))
    return { format: { type: 'opaque', protocol: protocolName, raw: wire }, rest: {} }
  const format: OutputFormat = {
    type: 'schema',
    schema,
    ...omitUndefined({
      name: typeof name === 'string' ? name : undefined,
      description: typeof description === 'string' ? description : undefined,
      strict: typeof strict === 'boolean' || strict === null ? strict : undefined,
    }),
  }
  return { format, rest }
}

/** The format of the output. */
export function encodeOutput(
  output: OutputSpec | undefined,
  writing: Writing,
): ResponsesBody['text'] {
  if (!output) return undefined
  const { format, modalities } = output
  if (modalities?.some(one => one !== 'text')) writing.report.rest({ modalities }, '', 'output.')
  return omitUndefinedOrNone({ format: format && encodeFormat(format, writing) })
}

function encodeFormat(format: OutputFormat, writing: Writing): ResponsesFormat | undefined {
  const { report, native } = writing
  switch (format.type) {
    case 'text':
      return { type: 'text' }
    case 'json':
      return { type: 'json_object' }
    case 'schema': {
      const { schema, name, description, strict } = format
      if (name === undefined) report.add('schema.name', '/text/format/name')
      const wrapped = native || writing.target === 'output' ? undefined : wrapRoot(schema)
      if (wrapped) {
        writing.output ??= 'value'
        report.add('output.wrapped', '', 'output.format.schema')
      }
      return omitUndefined<ResponsesFormat>({
        type: 'json_schema',
        name: name ?? 'response',
        description,
        schema: wrapped ?? schema,
        strict,
      })
    }
    case 'enum':
      report.add('output.enum', '', 'output.format')
      if (wrapRoot(format.schema)) writing.output = 'word'
      return encodeFormat({ type: 'schema', schema: format.schema }, writing)
    case 'opaque':
      if (format.protocol === protocolName && isObject(format.raw)) return asRead(format.raw)
      report.rest({ format }, '', 'output.')
      return undefined
    default:
      return format satisfies never
  }
}

/**
 * `include` → log probabilities, encrypted reasoning, and what else it asks for that has no field
 * of its own here.
 */
export function decodeInclude(
  { include: wire }: ResponsesRequest,
  { places }: Reading,
): Pick<CanonicalRequest, 'logprobs' | 'state'> {
  if (!wire) return {}
  const include: string[] = []
  for (const [index, one] of wire.entries()) {
    if (one === logprobsInclude) places['logprobs.enabled'] ??= `include/${index}`
    else if (one !== encryptedInclude)
      places[`state.include.${include.push(one) - 1}`] = `include/${index}`
  }
  return omitUndefined({
    logprobs: wire.includes(logprobsInclude) ? { enabled: true } : undefined,
    state: omitUndefinedOrNone({
      include: include.length > 0 ? include : undefined,
      encryptedReasoning: wire.includes(encryptedInclude) || undefined,
    }),
  })
}

/** Refuses references to what another provider stores. */
export function refuseReferences(request: CanonicalRequest, writing: Writing): void {
  const { cache = {}, state = {} } = request
  if (cache.auto?.ttl !== undefined) writing.report.add('cache.ttl', '', 'cache.auto')
  if (cache.contentRef !== undefined) unresolvable(undefined, 'cache.contentRef', writing)
  if (state.thread !== undefined) unresolvable(undefined, 'state.thread', writing)
  if (state.compaction !== undefined) unresolvable(undefined, 'state.compaction', writing)
  if (state.continuationToken !== undefined)
    unresolvable(undefined, 'state.continuationToken', writing)
}

/** `store` and `include`. */
export function encodeState(
  { state = {}, logprobs }: CanonicalRequest,
  writing: Writing,
): Pick<ResponsesBody, 'store' | 'include'> {
  const { report, native } = writing
  if (state.store === undefined && !native) report.add('store.default', '/store')
  const store = state.store ?? (native ? undefined : false)
  return { store, include: encodeInclude(state, logprobs?.enabled, store, writing) }
}

function encodeInclude(
  { include = [], encryptedReasoning }: StateSpec,
  hasLogprobs: boolean | undefined,
  store: boolean | undefined,
  { native, report }: Writing,
): string[] | undefined {
  const wanted = new Set(include)
  if (hasLogprobs) wanted.add(logprobsInclude)
  if (encryptedReasoning) wanted.add(encryptedInclude)
  else if (!native && store === false && !wanted.has(encryptedInclude)) {
    wanted.add(encryptedInclude)
    report.add('reasoning.include-encrypted', '/include')
  }
  return wanted.size > 0 ? [...wanted] : undefined
}

/** The older name of `summary`. */
export function decodeOlderSummary(
  { reasoning }: ResponsesRequest,
  { unknown, places, report }: Reading,
): ReasoningSpec | undefined {
  const { summary, generate_summary: older } = reasoning ?? {}
  if (older == null) return undefined
  if (summary != null) {
    keepIn(unknown, 'reasoning', { generate_summary: older })
    return undefined
  }
  report.add('reasoning.older-summary', '/reasoning/generate_summary')
  places['reasoning.summary'] = 'reasoning/generate_summary'
  return { summary: older }
}

/** Effort and summary. */
export function encodeReasoningSpec(
  spec: ReasoningSpec | undefined,
  { report, native }: Writing,
): ResponsesBody['reasoning'] {
  if (!spec) return undefined
  const { summary } = spec
  const shown = summary === 'none' && !native ? undefined : (summary ?? encodeDisplay(spec, report))
  return omitUndefinedOrNone({ effort: encodeEffort(spec, report), summary: shown })
}

function encodeDisplay(
  { display, mode, budgetTokens }: ReasoningSpec,
  report: Writing['report'],
): string | undefined {
  // Reasoning with a budget is shown unless the request says otherwise.
  if (mode === 'enabled' && display === undefined && budgetTokens !== 0) {
    report.add('reasoning.shown', '', 'reasoning.mode')
    return 'auto'
  }
  if (display !== undefined && display !== 'summarized' && display !== 'omitted')
    report.add('field.unsupported', '', 'reasoning.display')
  if (display !== 'summarized') return undefined
  report.add('reasoning.display-as-summary', '', 'reasoning.display')
  return 'auto'
}

/** `fields`: unknown keys are added to it. */
export function decodeToolChoice(
  wire: string | (JsonObject & { type: string }),
  fields: JsonObject,
): ToolChoice {
  if (typeof wire === 'string')
    return wire === 'auto' || wire === 'none' || wire === 'required'
      ? { mode: wire }
      : { mode: 'opaque', protocol: protocolName, raw: wire }
  const { type, name, namespace, ...rest } = wire
  const leave = (left: JsonObject) => {
    if (Object.keys(left).length > 0) fields['tool_choice'] = left
  }
  switch (type) {
    case 'function':
    case 'custom': {
      if (typeof name !== 'string') return { mode: 'opaque', protocol: protocolName, raw: wire }
      const kind = type === 'function' ? ('function' as const) : ('freeform' as const)
      leave(
        namespace === undefined || typeof namespace === 'string' ? rest : { namespace, ...rest },
      )
      return { mode: 'tool', kind, name, ...(typeof namespace === 'string' && { namespace }) }
    }
    case 'allowed_tools': {
      const { mode, tools, ...others } = rest
      if (
        !Array.isArray(tools) ||
        !tools.every(isObject) ||
        (mode !== 'auto' && mode !== 'required')
      )
        return { mode: 'opaque', protocol: protocolName, raw: wire }
      const unread = tools.map(unknownOfAllowed)
      const odd = unread.some(left => Object.keys(left).length > 0)
      leave({
        ...(name !== undefined && { name }),
        ...(namespace !== undefined && { namespace }),
        ...others,
        ...(odd && { tools: unread }),
      })
      return {
        mode: 'allowed',
        require: mode === 'required',
        tools: tools.map((tool, index) => decodeAllowed(tool, below('/tool_choice/tools', index))),
      }
    }
    default: {
      const named = serverName(name, rest['server_label']) ?? serverToolKind(type) ?? type
      return serverToolKind(type)
        ? { mode: 'tool', kind: 'server', name: named, protocol: protocolName, raw: wire }
        : { mode: 'opaque', protocol: protocolName, raw: wire }
    }
  }
}

/** The name of a provider's tool, or else the label of its server. */
function serverName(name: unknown, label: unknown): string | undefined {
  if (typeof name === 'string') return name
  return typeof label === 'string' ? label : undefined
}

function decodeAllowed(raw: JsonObject, at: Place = ''): AllowedTool {
  const { type, name, server_label: label, ...rest } = raw
  const extra = Object.keys(rest).length > 0 ? { protocol: protocolName, raw } : {}
  if (type === 'function' && typeof name === 'string')
    return { kind: 'function', name, at, ...extra }
  if (type === 'custom' && typeof name === 'string') return { kind: 'freeform', name, at, ...extra }
  const named = serverName(name, label) ?? String(type)
  return { kind: 'server', name: named, at, protocol: protocolName, raw }
}

/**
 * The unknown keys of an entry, which other protocols lose. None for a provider's tool, which is
 * kept and noted as a whole.
 */
function unknownOfAllowed(raw: JsonObject): JsonObject {
  if (decodeAllowed(raw).kind === 'server') return {}
  const { type: _, name: _name, namespace, ...rest } = raw
  return namespace === undefined || typeof namespace === 'string' ? rest : { namespace, ...rest }
}

/**
 * `tools`: the tools of the request. Undefined: this protocol has no form for the choice, which is
 * noted.
 * @throws TranslationError `inexpressible` for a forced tool that does not exist here, unless the
 * options ask for a note
 */
export function encodeToolChoice(
  choice: ToolChoice,
  tools: readonly Tool[],
  writing: Writing,
): ResponsesWrittenChoice | undefined {
  const { report } = writing
  switch (choice.mode) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.mode
    case 'tool': {
      const { kind, name, namespace, protocol: of, raw } = choice
      if (of === protocolName && raw !== undefined) return asRead(raw)
      const server = tools.find(
        tool => tool.type === 'server' && tool.name === name && tool.protocol !== protocolName,
      )
      if (kind !== 'server' && !server)
        return omitUndefined<Undefinable<ResponsesNamed>>({
          type: kind === 'function' ? 'function' : 'custom',
          name,
          namespace,
        })
      if (server?.type === 'server' && writing.options.expandClientTools && asFunction(server))
        return { type: 'function', name }
      const nearby =
        server?.type === 'server' && writing.options.serverTools === 'map'
          ? nearestOf(server)?.type
          : undefined
      if (nearby !== undefined) return { type: nearby }
      if (writing.target === 'output') return undefined
      refuseForeignTools(
        'forced tool',
        { protocol: protocolName, path: '/tool_choice' },
        writing.options,
      )
      report.add('tool-choice.unsupported', '', 'toolChoice')
      return undefined
    }
    case 'allowed': {
      const tools = flatMap(choice.tools, tool => encodeAllowed(tool, writing) ?? [])
      return { type: 'allowed_tools', mode: choice.require ? 'required' : 'auto', tools }
    }
    case 'validated':
      // The passes before the encoder have made it another choice.
      report.add('tool-choice.unsupported', '', 'toolChoice')
      return undefined
    case 'opaque':
      if (choice.protocol === protocolName) return asRead(choice.raw)
      report.add('tool-choice.unsupported', '', 'toolChoice.raw')
      return undefined
    default:
      return choice satisfies never
  }
}

function encodeAllowed(
  { kind, name, at, protocol: of, raw }: AllowedTool,
  writing: Writing,
): ResponsesChosen | undefined {
  if (of === protocolName && raw !== undefined) return asRead(raw)
  if (kind !== 'server') return { type: kind === 'function' ? 'function' : 'custom', name }
  writing.report.add('tool-choice.unsupported', at ?? writing.report.placeOf('toolChoice'))
  return undefined
}
