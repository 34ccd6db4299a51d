import { type Attributes, context, createNoopMeter, type Histogram, metrics, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Headers } from './headers.ts'
import type { UsageRecord } from './hooks.ts'

/**
 * One exchange as OpenTelemetry sees it, in the words of its semantic conventions for generative AI. Without an SDK in the
 * process all of this does nothing. No text of a request or an answer is told.
 */
export type Observed = {
  /** What an upstream call carries so that its spans belong to this one. */
  headers(): Headers
  end(record: UsageRecord): void
}

const scope = 'wireglot'

/** Who the provider is, is not known here: the name of its protocol stands for it. */
const attributesOf = ({ protocolOut, protocolIn, modelAsked, modelServed, channel, stream, status, failure }: UsageRecord): Attributes => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': protocolOut ?? protocolIn,
  'wireglot.protocol.in': protocolIn,
  'http.response.status_code': status,
  'gen_ai.request.stream': stream,
  ...(protocolOut !== undefined && { 'wireglot.protocol.out': protocolOut }),
  ...(modelAsked !== undefined && { 'gen_ai.request.model': modelAsked }),
  ...(modelServed !== undefined && { 'gen_ai.response.model': modelServed }),
  ...(channel !== undefined && { 'wireglot.channel': channel }),
  ...(failure !== undefined && { 'error.type': failure }),
})

/** Bounds of the histograms, as the conventions have them. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]

type Instruments = { duration: Histogram; firstByte: Histogram; usage: Histogram }

/** Undefined: no SDK counts anything. */
function instruments(): Instruments | undefined {
  const meter = metrics.getMeter(scope)
  if (meter === createNoopMeter()) return undefined
  const histogram = (name: string, unit: string, description: string, bounds: number[]) =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: bounds } })
  return {
    duration: histogram('gen_ai.server.request.duration', 's', 'from the request to the last byte of the answer', seconds),
    firstByte: histogram('gen_ai.server.time_to_first_token', 's', 'from the request to the first byte of the answer', seconds),
    usage: histogram('gen_ai.client.token.usage', '{token}', 'tokens as the upstream counted them', tokens),
  }
}

/** Finds an SDK that was registered before; so it is made with the gateway and not with the module. */
export function createTelemetry(): { start(startedMs: number): Observed } {
  const counted = instruments()
  const tracer = trace.getTracer(scope)
  return {
    start(startedMs) {
      const span = tracer.startSpan('chat', { kind: SpanKind.SERVER, startTime: startedMs })
      return {
        headers() {
          const carried: Headers = {}
          if (propagation.fields().length > 0) propagation.inject(trace.setSpan(context.active(), span), carried)
          return carried
        },
        end(record) {
          if (counted) count(counted, record)
          // Without an SDK nobody would read them.
          if (!span.isRecording()) return
          setAttributes(span, record)
          span.end(Date.parse(record.time) + record.totalMs)
        },
      }
    },
  }
}

function count({ duration, firstByte, usage }: Instruments, record: UsageRecord): void {
  const { 'gen_ai.request.model': model, ...others } = attributesOf(record)
  // A client may ask for any name: one that no channel was asked for would be a series for ever.
  const attributes = record.channel === undefined ? others : { ...others, 'gen_ai.request.model': model }
  duration.record(record.totalMs / 1000, attributes)
  if (record.firstByteMs !== undefined) firstByte.record(record.firstByteMs / 1000, attributes)
  const { input, output } = record.usage ?? {}
  if (input !== undefined) usage.record(input, { ...attributes, 'gen_ai.token.type': 'input' })
  if (output !== undefined) usage.record(output, { ...attributes, 'gen_ai.token.type': 'output' })
}

function setAttributes(span: Span, record: UsageRecord): void {
  const { modelAsked, usage = {}, attempts, notes, failure, requestId } = record
  if (modelAsked !== undefined) span.updateName(`chat ${modelAsked}`)
  const { input, output, cacheRead, cacheWrite } = usage
  span.setAttributes({
    ...attributesOf(record),
    'wireglot.request_id': requestId,
    'wireglot.attempts': attempts,
    'wireglot.notes': notes,
    ...(input !== undefined && { 'gen_ai.usage.input_tokens': input }),
    ...(output !== undefined && { 'gen_ai.usage.output_tokens': output }),
    ...(cacheRead !== undefined && { 'gen_ai.usage.cache_read.input_tokens': cacheRead }),
    ...(cacheWrite !== undefined && { 'gen_ai.usage.cache_creation.input_tokens': cacheWrite }),
  })
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
}
