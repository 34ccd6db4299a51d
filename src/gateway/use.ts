import type { Usage } from '../canonical/response.ts'
import { isObject } from '../kit/json/json.ts'
import { countOf } from '../kit/response/usage.ts'
import type { Protocol } from '../protocol.ts'
import { explodeResponse } from '../translate/fold.ts'
import { createStreamReader } from '../translate/stream-reader.ts'
import type { ReadBody } from './body/body.ts'
import { estimateBody, tokensOfLength } from './endpoints/estimate.ts'
import type { GatewayError } from './error.ts'
import type { UsageRecord } from './hooks.ts'
import type { RequestContext, Service, Trace } from './request-context.ts'
import { plusUsage } from './resume/plus-usage.ts'

// What a request uses: as the upstream counts it, or else by its size. Whoever leaves early has
// used it all the same.

/** The counts of a request whose limit is not known. */
const guess = 2_000

/**
 * The usage of an exchange, with an estimate of what the upstream did not say: it sent no counts,
 * or the response was not read to its end. Undefined: it has used nothing.
 */
export function useOf(trace: Omit<Trace, 'ended'>, failure?: GatewayError): UsageRecord['usage'] {
  const usage = useOfCall(trace, failure)
  return usage ? plusUsage(trace.spent, usage) : trace.spent
}

/** What a call has used, which is not the last one of its exchange. */
export function forgetCall(trace: Trace, failure?: GatewayError): UsageRecord['usage'] {
  const used = useOfCall(trace, failure)
  if (used) spend(trace, trace.sentTo, used)
  delete trace.usage
  delete trace.received
  delete trace.sent
  return used
}

/** Adds what another call has used for the same exchange. */
export function addSpent(trace: Trace, other: Trace, failure?: GatewayError): void {
  const used = useOfCall(other, failure)
  if (used) spend(other, other.sentTo, used)
  for (const [model, usage] of other.spentBy ?? []) spend(trace, model, usage)
}

function spend(trace: Trace, model = '', usage: Usage): void {
  trace.spent = plusUsage(trace.spent, usage)
  trace.spentBy = new Map(trace.spentBy).set(model, plusUsage(trace.spentBy?.get(model), usage))
}

/** What each model has used, where they are several. */
export function useByModel(trace: Trace, failure?: GatewayError): UsageRecord['usageByModel'] {
  const { spentBy, sentTo = '' } = trace
  if (!spentBy) return undefined
  const last = useOfCall(trace, failure)
  const all = new Map(spentBy)
  if (last) all.set(sentTo, plusUsage(all.get(sentTo), last))
  return all.size > 1 ? Object.fromEntries(all) : undefined
}

/** The same without what `trace.spent` says of earlier calls. */
export function useOfCall(
  { usage: told, sent, received, expected = 0 }: Omit<Trace, 'ended'>,
  failure?: GatewayError,
): UsageRecord['usage'] {
  const usage = told ?? received?.usage
  if (sent === undefined) return usage
  const hasCounts = usage !== undefined && (usage.input || usage.output)
  const { written: bytes = 0, finished = true } = received ?? {}
  // An upstream that refuses a request does not charge for it.
  if (!hasCounts && bytes === 0 && failure?.error.protocol !== undefined) return usage
  const written = Math.max(tokensOfLength(bytes), expected)
  const { input, output } = hasCounts ? usage : {}
  // Some upstreams count no output, whatever they send.
  const isFinal = output !== undefined && finished && (output > 0 || bytes === 0)
  const estimated = isFinal || written <= (output ?? 0) ? output : written
  if (input !== undefined && estimated === output) return usage
  return {
    ...usage,
    input: input ?? sent,
    ...(estimated !== undefined && { output: estimated }),
    estimated: true,
  }
}

/** What was received of a response that came as a whole and has no counts. */
export function wholeWithoutCounts(
  value: unknown,
  protocol: Protocol,
): NonNullable<Trace['received']> {
  const reader = createStreamReader(protocol, {}, () => {})
  try {
    reader.push(explodeResponse(value, protocol, {}).text)
  } catch {
    // It is no response of the protocol, so nothing in it is what a model wrote.
  }
  return { written: reader.seen.written, finished: true }
}

/** What a request is likely to use, in tokens. */
export type Likely = { input: number; output: number }

/** `outline`: of a request of this protocol. */
export function likelyUse(body: ReadBody, protocol: Protocol): Likely {
  const { outline } = body
  const candidates = countIn(outline, placesOf(protocol, 'candidateCount')) ?? 1
  const limit = countIn(outline, placesOf(protocol, 'maxOutputTokens')) ?? guess
  return { input: sizeOf(body), output: Math.max(1, candidates) * limit }
}

/** Does the request ask for a response that is generated after the exchange? */
export const isInBackground = (outline: unknown, protocol: Protocol): boolean =>
  placesOf(protocol, 'state.background').some(place => valueAt(outline, place) === true)

/** Endpoints whose response holds nothing that a model wrote. */
const withoutOutput = /\/(embeddings|moderations|rerank|files|uploads|batches)$/

/** The same for a request that passes to another endpoint. `path`: of the endpoint. */
export function likelyUseOfPassed(
  path: string,
  outline: unknown,
  bytes: string | Uint8Array,
): Likely {
  const limit = countIn(outline, [['max_tokens'], ['max_output_tokens']]) ?? guess
  return {
    input: estimateBody(bytes, outline !== undefined),
    output: withoutOutput.test(path) ? 0 : limit,
  }
}

/** Not by destructuring: the value of a long body is parsed when it is read. */
const sizeOf = (body: ReadBody): number => estimateBody(body.bytes ?? JSON.stringify(body.value))

/** The paths of a field in a request, under all of its names. */
function placesOf({ fieldNames, olderNames }: Protocol, field: string): string[][] {
  const names = [fieldNames[field], ...(olderNames?.[field] ?? [])]
  return names.flatMap(name => (name === undefined ? [] : [name.split('/')]))
}

function countIn(outline: unknown, places: readonly string[][]): number | undefined {
  for (const place of places) {
    const count = countOf(valueAt(outline, place))
    if (count !== undefined) return count
  }
  return undefined
}

const valueAt = (outline: unknown, place: readonly string[]): unknown =>
  place.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), outline)

/**
 * Asks whether a request may use so much, before it is sent. What it reserves ends with its usage
 * record.
 * @throws GatewayError that the hook returns
 */
export async function reserve(
  { hooks, attempt }: Pick<Service, 'hooks' | 'attempt'>,
  { requestId, identity = {} }: Pick<Trace, 'requestId' | 'identity'>,
  candidates: RequestContext['candidates'],
  likely: () => Likely,
): Promise<void> {
  if (!hooks.reserve) return
  const model = candidates[0]?.model ?? ''
  const rejection = await attempt('reserve', () =>
    hooks.reserve?.({ requestId, identity, model, ...likely() }),
  )
  if (rejection) throw rejection
}
