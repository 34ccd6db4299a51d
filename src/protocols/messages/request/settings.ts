import { isNeutral } from '../../../canonical/neutral.ts'
import type {
  CacheSpec,
  CanonicalRequest,
  OutputFormat,
  OutputSpec,
  Sampling,
  StateSpec,
} from '../../../canonical/request.ts'
import { hashHex } from '../../../kit/conversation/ids.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { leaveState } from '../../../kit/signatures/state.ts'
import { enforceable } from '../../../kit/tools/enforceable.ts'
import { mostTokens, takesNoSampling, takesOneSampling } from '../../../models/claude.ts'
import { encodeMark } from '../content/cache.ts'
import type { RequestWriting } from '../content/writing.ts'
import { defaultMaxTokens, type MessagesOptions } from '../options.ts'
import { type MessagesReport, ownUnder, protocolName } from '../own.ts'
import { requestTier } from '../vocabulary.ts'
import type { MessagesBody, MessagesFormat, MessagesWrittenBlock } from '../written.ts'

const known = keysOf<{ type: string; schema: JsonObject }>()('type schema')

/** A format, and its unknown keys. A format of an unknown type is `unknown` as a whole. */
export function decodeFormat(wire: JsonObject): {
  format?: OutputFormat
  unknown?: JsonObject | undefined
} {
  const { type, schema } = wire
  return type === 'json_schema' && isObject(schema)
    ? { format: { type: 'schema', schema }, unknown: unknownOf(wire, known) }
    : { unknown: wire }
}

export function maxTokensFor(
  model: string | undefined,
  { defaultMaxTokens: given = defaultMaxTokens }: MessagesOptions,
): number {
  return Math.min(mostTokens(model), typeof given === 'function' ? given(model) : given)
}

/**
 * With `jsonMode: 'instruct'` JSON without a schema is requested by an instruction, which is added
 * to `conversation.system`.
 */
export function encodeFormat(
  output: OutputSpec | undefined,
  conversation: { system?: string | MessagesWrittenBlock[] },
  { native, options, report }: RequestWriting,
): MessagesFormat | undefined {
  if (!output) return undefined
  const { format, modalities } = output
  if (modalities?.some(kind => kind.toLowerCase() !== 'text'))
    report.add('field.unsupported', undefined, 'output.modalities')
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined
    case 'json': {
      if (options.jsonMode !== 'instruct') {
        report.add('field.unsupported', undefined, 'output.format')
        return undefined
      }
      report.add('output.json-instructed', '/system')
      const line = { type: 'text' as const, text: 'Respond with one JSON object and nothing else.' }
      const { system } = conversation
      conversation.system =
        system === undefined
          ? line.text
          : [
              ...(typeof system === 'string' ? [{ type: 'text' as const, text: system }] : system),
              line,
            ]
      return undefined
    }
    case 'schema':
      if (format.strict === false) report.add('output.strict', undefined, 'output.format.strict')
      // The name is only a label, and gets no note; the description would be read by the model.
      if (format.description !== undefined)
        report.add('field.unsupported', undefined, 'output.format.description')
      return {
        type: 'json_schema',
        schema: native
          ? format.schema
          : enforceable(format.schema, { at: undefined, field: 'output.format.schema' }, report),
      }
    case 'enum':
      report.add('output.enum', undefined, 'output.format')
      return { type: 'json_schema', schema: format.schema }
    case 'opaque':
      if (format.protocol === protocolName && isObject(format.raw)) return asRead(format.raw)
      report.add('field.unsupported', undefined, 'output.format')
      return undefined
    default:
      return format satisfies never
  }
}

export function encodeSampling(
  sampling: Sampling | undefined,
  { thinks }: { thinks: boolean },
  { report, native, model }: RequestWriting,
): Pick<MessagesBody, 'temperature' | 'top_p' | 'top_k'> {
  if (!sampling) return {}
  const { temperature, topP, topK: requested } = sampling
  const topK = !native && isNeutral('sampling.topK', requested) ? undefined : requested
  if (thinks && !native) {
    if (temperature !== undefined && temperature !== 1)
      report.add('sampling.with-thinking', undefined, 'sampling.temperature')
    if (topP !== undefined && topP !== 1)
      report.add('sampling.with-thinking', undefined, 'sampling.topP')
    if (topK !== undefined) report.add('sampling.with-thinking', undefined, 'sampling.topK')
    return {}
  }
  const taken = native
    ? { temperature, topP, topK }
    : takenBy(model, { temperature, topP, topK }, report)
  const hot = taken.temperature !== undefined && taken.temperature > 1 && !native
  if (hot) report.add('sampling.temperature-clamped', undefined, 'sampling.temperature')
  return omitUndefined<Pick<MessagesBody, 'temperature' | 'top_p' | 'top_k'>>({
    temperature: hot ? 1 : taken.temperature,
    top_p: taken.topP,
    top_k: taken.topK,
  })
}

type SamplingValues = { [K in 'temperature' | 'topP' | 'topK']?: number | undefined }

/** Leaves out what the model is known to refuse. */
function takenBy(
  model: string | undefined,
  requested: SamplingValues,
  report: MessagesReport,
): SamplingValues {
  const { temperature, topP } = requested
  const lose = (key: keyof SamplingValues) => {
    if (requested[key] !== undefined && !isNeutral(`sampling.${key}`, requested[key]))
      report.add('sampling.model', undefined, `sampling.${key}`)
  }
  if (takesNoSampling(model)) {
    lose('temperature')
    if (topP !== undefined && topP < 0.99) lose('topP')
    lose('topK')
    return {}
  }
  if (temperature === undefined || topP === undefined || !takesOneSampling(model)) return requested
  if (isNeutral('sampling.temperature', temperature))
    return { ...requested, temperature: undefined }
  lose('topP')
  return { ...requested, topP: undefined }
}

const userLimit = 512

/** The server refuses an id that contains the address of a person. */
const email = /[^\s@]@[^\s@]+\.[^\s@]/

export function encodeUser(
  user: CanonicalRequest['user'],
  { native, report }: RequestWriting,
): MessagesBody['metadata'] {
  const { safetyId, user: named } = user ?? {}
  if (safetyId !== undefined && named !== undefined && named !== safetyId)
    report.add('field.unsupported', undefined, 'user.user')
  const id = safetyId ?? named
  if (id === undefined) return undefined
  const fits = native || (id.length <= userLimit && !email.test(id))
  if (!fits)
    report.add('user.hashed', undefined, safetyId === undefined ? 'user.user' : 'user.safetyId')
  return { user_id: fits ? id : hashHex(id, 64) }
}

export function encodeTier(
  serviceTier: CanonicalRequest['serviceTier'],
  { native, report }: RequestWriting,
): Pick<MessagesBody, 'service_tier' | 'speed'> {
  if (!serviceTier) return {}
  const { tier, speed } = serviceTier
  const own = omitUndefined({ speed })
  if (tier === undefined) return own
  const word = requestTier.toWire(tier) ?? (native ? tier : undefined)
  if (word !== undefined) return { service_tier: word, ...own }
  if (tier === 'priority') {
    report.add('tier.nearest', undefined, 'serviceTier.tier')
    return { service_tier: 'auto', ...own }
  }
  report.add('field.unsupported', undefined, 'serviceTier.tier')
  return own
}

export function encodeCaching(
  cache: CacheSpec | undefined,
  request: CanonicalRequest,
  { report, options, native, marks }: RequestWriting,
): Pick<MessagesBody, 'diagnostics' | 'cache_control'> {
  const { auto, contentRef, mode, diagnostics } = cache ?? {}
  // This protocol has cache marks and no mode: both known modes only say whether there are marks.
  if (mode !== undefined && mode !== 'implicit' && mode !== 'explicit')
    report.rest({ mode }, undefined, 'cache.')
  if (!native) report.rest({ diagnostics }, undefined, 'cache.')
  if (contentRef !== undefined) report.unresolvable(undefined, 'cache.contentRef', options)
  const own = native ? omitUndefined({ diagnostics }) : {}
  if (auto) {
    return {
      ...own,
      cache_control: encodeMark(auto, ownUnder(request.ext, 'cache_control'), () =>
        report.add('cache.ttl', undefined, 'cache.auto.ttl'),
      ),
    }
  }
  if (!native && options.autoCache && marks.length === 0) {
    report.add('cache.auto', '/cache_control')
    return { ...own, cache_control: { type: 'ephemeral' } }
  }
  return own
}

/**
 * `limited`: `maxToolCalls` is already written as `max_uses` of the only tool that the provider
 * runs.
 */
export function encodeState(
  state: StateSpec | undefined,
  { limited }: { limited: boolean },
  { native, options, report }: RequestWriting,
): Pick<MessagesBody, 'container' | 'context_management' | 'thread' | 'compaction'> {
  if (!state) return {}
  const { store, contextManagement, maxToolCalls, container, thread, compaction, ...memory } = state
  leaveState(
    native ? memory : { ...memory, ...omitUndefined({ thread, compaction }) },
    options,
    report,
  )
  if (store) report.add('field.unsupported', undefined, 'state.store')
  if (native)
    return omitUndefined<
      Pick<MessagesBody, 'container' | 'context_management' | 'thread' | 'compaction'>
    >({
      container,
      context_management: contextManagement,
      thread,
      compaction,
    })
  report.rest(omitUndefined({ container, contextManagement }), undefined, 'state.')
  if (maxToolCalls !== undefined && !limited)
    report.add('field.unsupported', undefined, 'state.maxToolCalls')
  return {}
}

/**
 * The `anthropic-beta` values without which a server refuses this request. Only for fields that the
 * encoder writes by itself: for the others the client sends the header.
 */
export function betasOf({ thinking, mcp_servers, speed }: JsonObject): string[] {
  const betas: string[] = []
  if (isObject(thinking) && isObject(thinking['block_binding']))
    betas.push('thinking-binding-controls-2026-08-01')
  if (Array.isArray(mcp_servers)) betas.push('mcp-client-2025-11-20')
  if (speed === 'fast') betas.push('fast-mode-2026-02-01')
  return betas
}
