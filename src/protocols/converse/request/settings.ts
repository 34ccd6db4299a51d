import { isNeutral } from '../../../canonical/neutral.ts'
import type {
  CacheSpec,
  CanonicalRequest,
  OutputFormat,
  OutputSpec,
  Sampling,
  StateSpec,
} from '../../../canonical/request.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { writeExact } from '../../../kit/json/digits.ts'
import { type JsonObject, parseObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { jsonInstruction } from '../../../kit/response/json-instruction.ts'
import { wrapRoot } from '../../../kit/response/wrapped-output.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { leaveState } from '../../../kit/signatures/state.ts'
import { enforceable, isClosable } from '../../../kit/tools/enforceable.ts'
import { refusesSchemas, takesNoSampling, takesOneSampling } from '../../../models/claude.ts'
import type { EncodingContext } from '../../../protocol.ts'
import type { RequestWriting } from '../content/writing.ts'
import { protocolName, withInner } from '../own.ts'
import type { ConverseTextFormat } from '../schema.ts'
import { tierWords } from '../vocabulary.ts'
import type { ConverseBody, ConverseWrittenBlock, ConverseWrittenFormat } from '../written.ts'

type Inner = NonNullable<NonNullable<ConverseTextFormat['structure']>['jsonSchema']>

const formatKeys = keysOf<ConverseTextFormat>()('type structure')
const structureKeys = keysOf<NonNullable<ConverseTextFormat['structure']>>()('jsonSchema')
const schemaKeys = keysOf<Inner>()('schema name description')

/**
 * The format, and its unknown keys. A format of an unknown type, or whose schema cannot be read, is
 * kept whole.
 */
export function decodeFormat(wire: ConverseTextFormat): {
  format: OutputFormat
  unknown?: JsonObject | undefined
} {
  const { type, structure } = wire
  const inner = structure?.jsonSchema
  const schema = inner?.schema == null ? undefined : parseObject(inner.schema)
  if (type !== 'json_schema' || !structure || !inner || !schema)
    return { format: { type: 'opaque', protocol: protocolName, raw: wire } }
  const { name, description } = inner
  const unknownInside = withInner(
    unknownOf(structure, structureKeys),
    'jsonSchema',
    unknownOf(inner, schemaKeys),
  )
  return {
    format: {
      type: 'schema',
      schema,
      ...omitUndefined({ name: name ?? undefined, description: description ?? undefined }),
    },
    unknown: withInner(unknownOf(wire, formatKeys), 'structure', unknownInside),
  }
}

type Formatted = { format?: ConverseWrittenFormat; output?: EncodingContext['output'] }

/**
 * With `jsonMode: 'instruct'` JSON without a schema is requested by an instruction, which is added
 * to `system`.
 */
export function encodeFormat(
  output: OutputSpec | undefined,
  system: ConverseWrittenBlock[],
  { native, options, report, model, family }: RequestWriting,
): Formatted {
  if (!output) return {}
  const { format, modalities } = output
  if (modalities?.some(kind => kind.toLowerCase() !== 'text'))
    report.add('field.unsupported', undefined, 'output.modalities')
  if (!native && (format?.type === 'schema' || format?.type === 'enum') && refusesSchemas(model)) {
    report.add('field.unsupported', undefined, 'output.format')
    return {}
  }
  switch (format?.type) {
    case undefined:
    case 'text':
      return {}
    case 'json':
      if (options.jsonMode === 'instruct') {
        report.add('output.json-instructed', `/system/${system.length}`)
        system.push({ text: 'Respond with one JSON object and nothing else.' })
      } else report.add('field.unsupported', undefined, 'output.format')
      return {}
    case 'schema': {
      if (format.strict === false) report.add('output.strict', undefined, 'output.format.strict')
      const { schema, name, description } = format
      if (native) return { format: formatOf(schema, name, description) }
      const wrapped = wrapRoot(schema)
      // Servers of all models want the objects closed.
      if (!isClosable(wrapped ?? schema)) {
        report.add('output.format-instructed', undefined, 'output.format')
        system.push({ text: jsonInstruction(schema) })
        return {}
      }
      if (wrapped) report.add('output.wrapped', undefined, 'output.format.schema')
      const enforced = enforceable(
        wrapped ?? schema,
        { at: undefined, field: 'output.format.schema', all: family !== 'claude' },
        report,
      )
      return { format: formatOf(enforced, name, description), ...(wrapped && { output: 'value' }) }
    }
    case 'enum': {
      report.add('output.enum', undefined, 'output.format')
      const wrapped = wrapRoot(format.schema)
      return {
        format: formatOf(wrapped ?? format.schema, undefined, undefined),
        ...(wrapped && { output: 'word' }),
      }
    }
    case 'opaque':
      if (format.protocol === protocolName) return { format: asRead(format.raw) }
      report.add('field.unsupported', undefined, 'output.format')
      return {}
    default:
      return format satisfies never
  }
}

/** The schema is a text here. */
const formatOf = (
  schema: JsonObject,
  name: string | undefined,
  description: string | undefined,
): ConverseWrittenFormat => ({
  type: 'json_schema',
  structure: { jsonSchema: omitUndefined({ schema: writeExact(schema), name, description }) },
})

/** `fields`: of the model's own API. */
type Sampled = Pick<NonNullable<ConverseBody['inferenceConfig']>, 'temperature' | 'topP'> & {
  fields?: JsonObject | undefined
}

export function encodeSampling(
  sampling: Sampling | undefined,
  { thinks }: { thinks: boolean },
  writing: RequestWriting,
): Sampled {
  if (!sampling) return {}
  const { report, native, family, model } = writing
  const { temperature, topP, topK } = sampling
  if (native)
    return omitUndefined<Sampled>({
      temperature,
      topP,
      ...(topK !== undefined && { fields: { top_k: topK } }),
    })
  const lose = (code: 'sampling.with-thinking' | 'sampling.model', given: Sampling) => {
    for (const key in given)
      if (given[key as 'topK'] !== undefined && !isNeutral(`sampling.${key}`, given[key as 'topK']))
        report.add(code, undefined, `sampling.${key}`)
  }
  if (thinks || (family === 'claude' && takesNoSampling(model))) {
    lose(
      thinks ? 'sampling.with-thinking' : 'sampling.model',
      omitUndefined({ temperature, topP, topK }),
    )
    return {}
  }
  const both =
    temperature !== undefined &&
    topP !== undefined &&
    family === 'claude' &&
    takesOneSampling(model)
  const losesTop = both && !isNeutral('sampling.temperature', temperature)
  if (losesTop) lose('sampling.model', { topP })
  const isHot = temperature !== undefined && temperature > 1
  if (isHot) report.add('sampling.temperature-clamped', undefined, 'sampling.temperature')
  const clamped = isHot ? 1 : temperature
  return omitUndefined<Sampled>({
    temperature: both && !losesTop ? undefined : clamped,
    topP: losesTop ? undefined : topP,
    fields: encodeTopK(topK, writing),
  })
}

function encodeTopK(
  topK: number | undefined,
  { family, report }: RequestWriting,
): JsonObject | undefined {
  if (topK === undefined || isNeutral('sampling.topK', topK)) return undefined
  if (family === 'claude') return { top_k: topK }
  if (family === 'nova' || family === 'nova2') return { inferenceConfig: { topK } }
  report.add('sampling.model', undefined, 'sampling.topK')
  return undefined
}

const fits = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/

/** Entries beyond sixteen, and those with other characters, are left out. */
export function encodeMetadata(
  metadata: Readonly<Record<string, string>>,
  { native, report }: RequestWriting,
  field: string,
): Record<string, string> | undefined {
  if (native) return { ...metadata }
  const given = Object.entries(metadata)
  const kept = given
    .filter(([key, value]) => fits.test(key) && (value === '' || fits.test(value)))
    .slice(0, 16)
  for (const entry of given)
    if (!kept.includes(entry))
      report.add('field.unsupported', below(report.placeOf(field), entry[0]))
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}

export function encodeTier(
  serviceTier: CanonicalRequest['serviceTier'],
  { native, report }: RequestWriting,
): { type: string } | undefined {
  if (!serviceTier) return undefined
  const { tier } = serviceTier
  if (tier === undefined) return undefined
  const word = tierWords.toWire(tier) ?? (native ? tier : undefined)
  if (word !== undefined) return { type: word }
  if (tier === 'fast') {
    report.add('tier.nearest', undefined, 'serviceTier.tier')
    return { type: 'priority' }
  }
  if (tier !== 'auto') report.add('tier.unsupported', undefined, 'serviceTier.tier')
  return undefined
}

/** The whole request's cache settings but for `auto`, which is written as a cache point. */
export function leaveCaching(
  cache: CacheSpec | undefined,
  { report, options }: RequestWriting,
): void {
  const { contentRef, mode } = cache ?? {}
  // This protocol has cache points and no mode: both known modes only say whether there are points.
  if (mode !== undefined && mode !== 'implicit' && mode !== 'explicit')
    report.rest({ mode }, undefined, 'cache.')
  if (contentRef !== undefined) report.unresolvable(undefined, 'cache.contentRef', options)
}

export function encodeState(
  state: StateSpec | undefined,
  { options, report }: RequestWriting,
): void {
  if (!state) return
  const { store, ...memory } = state
  leaveState(memory, options, report)
  if (store) report.add('field.unsupported', undefined, 'state.store')
}
