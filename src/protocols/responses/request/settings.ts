import type {
  CanonicalRequest,
  OutputFormat,
  OutputSpec,
  ReasoningSpec,
  StateSpec,
} from '../../../canonical/request.ts'
import { encodeEffort } from '../../../kit/fields/effort.ts'
import { omitNullishOrNone, omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { wrapRoot } from '../../../kit/response/wrapped-output.ts'
import { asRead } from '../../../kit/schema/written.ts'
import type { FieldNames } from '../../../protocol.ts'
import { withoutAnnotations } from '../content/tools.ts'
import { unresolvable, type Writing } from '../content/writing.ts'
import type { ResponsesReport } from '../notes.ts'
import { protocolName } from '../own.ts'
import type { ResponsesBody, ResponsesFormat, ResponsesRequest } from '../schema.ts'

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
export function keepIn(
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
