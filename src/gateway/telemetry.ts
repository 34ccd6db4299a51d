import {
  type Attributes,
  context,
  createNoopMeter,
  type Histogram,
  metrics,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Headers } from '../protocol.ts'
import type { UsageRecord } from './hooks.ts'
import { createModelLabels } from './model-labels.ts'

/**
 * The span and metrics of one exchange, by the semantic conventions of OpenTelemetry for generative
 * AI. Without an SDK in the process they do nothing. They contain no text of requests and
 * responses.
 */
export type Observed = {
  /** Trace headers for upstream calls. */
  headers(): Headers
  /** Is there an SDK that the record is for? */
  isRecording(): boolean
  end(record: UsageRecord): void
}

const scope = 'wireglot'

/** Of an unknown vendor, the name of its protocol is used. */
const attributesOf = ({
  provider,
  protocolOut,
  protocolIn,
  requestedModel,
  modelServed,
  channel,
  stream,
  status,
  failure,
}: UsageRecord): Attributes => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': provider ?? protocolOut ?? protocolIn,
  'wireglot.protocol.in': protocolIn,
  'http.response.status_code': status,
  'gen_ai.request.stream': stream,
  ...(protocolOut !== undefined && { 'wireglot.protocol.out': protocolOut }),
  ...(requestedModel !== undefined && { 'gen_ai.request.model': requestedModel }),
  ...(modelServed !== undefined && { 'gen_ai.response.model': modelServed }),
  ...(channel !== undefined && { 'wireglot.channel': channel }),
  ...(failure !== undefined && { 'error.type': failure }),
})

/** Bucket bounds of the conventions. */
const seconds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]
const tokens = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
]

type Instruments = {
  duration: Histogram
  firstByte: Histogram
  usage: Histogram
  labelOf: ReturnType<typeof createModelLabels>
}

/** Undefined: there is no metrics SDK. */
function instruments(): Instruments | undefined {
  const meter = metrics.getMeter(scope)
  if (meter === createNoopMeter()) return undefined
  const histogram = (name: string, unit: string, description: string, bounds: number[]) =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: bounds } })
  return {
    duration: histogram(
      'gen_ai.server.request.duration',
      's',
      'from the request to the last byte of the response',
      seconds,
    ),
    firstByte: histogram(
      'gen_ai.server.time_to_first_token',
      's',
      'from the request to the first byte of the response',
      seconds,
    ),
    usage: histogram(
      'gen_ai.client.token.usage',
      '{token}',
      'tokens as the upstream counted them, or estimated where it did not',
      tokens,
    ),
    labelOf: createModelLabels(),
  }
}

/**
 * Uses the SDK that is registered now, so call it when a gateway is created and not when the module
 * is loaded.
 */
export function createTelemetry(): { start(startedMs: number): Observed } {
  const counted = instruments()
  const tracer = trace.getTracer(scope)
  return {
    start(startedMs) {
      const span = tracer.startSpan('chat', { kind: SpanKind.SERVER, startTime: startedMs })
      return {
        headers() {
          const carried: Headers = {}
          if (propagation.fields().length > 0)
            propagation.inject(trace.setSpan(context.active(), span), carried)
          return carried
        },
        isRecording: () => counted !== undefined || span.isRecording(),
        end(record) {
          if (counted) count(counted, record)
          // Without an SDK the attributes are not used.
          if (!span.isRecording()) return
          setAttributes(span, record)
          span.end(Date.parse(record.time) + record.totalMs)
        },
      }
    },
  }
}

function count({ duration, firstByte, usage, labelOf }: Instruments, record: UsageRecord): void {
  const { channel, requestedModel, modelServed, failure } = record
  const {
    'gen_ai.request.model': _,
    'gen_ai.response.model': __,
    ...attributes
  } = attributesOf(record)
  const isServed = failure === undefined
  if (channel !== undefined && requestedModel !== undefined)
    attributes['gen_ai.request.model'] = labelOf(requestedModel, isServed)
  if (modelServed !== undefined)
    attributes['gen_ai.response.model'] = labelOf(modelServed, isServed)
  duration.record(record.totalMs / 1000, attributes)
  if (record.firstByteMs !== undefined) firstByte.record(record.firstByteMs / 1000, attributes)
  const { input, output } = record.usage ?? {}
  if (input !== undefined) usage.record(input, { ...attributes, 'gen_ai.token.type': 'input' })
  if (output !== undefined) usage.record(output, { ...attributes, 'gen_ai.token.type': 'output' })
}

function setAttributes(span: Span, record: UsageRecord): void {
  const { requestedModel, usage = {}, attempts, notes, failure, requestId } = record
  if (requestedModel !== undefined) span.updateName(`chat ${requestedModel}`)
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
