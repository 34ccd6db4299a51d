import {
  AggregatorRegistry,
  Counter,
  type CounterConfiguration,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client'
import type { GatewayState, UsageRecord } from '../gateway/gateway.ts'
import { createModelLabels } from '../gateway/model-labels.ts'

/** Metrics in the text format of Prometheus. */
export type Metrics = {
  /** Counts a finished request. */
  count(record: UsageRecord): void
  text(): Promise<MetricsText>
  /** The same as plain JSON, for another process. */
  values(): Promise<MetricValues>
}

/** `type`: of the body. */
export type MetricsText = { type: string; body: string }

/** The metrics of one process, as prom-client has them. */
export type MetricValues = object[]

const seconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** `state`: of the gateway at this moment. Labels have few values. */
export function createMetrics(state: () => GatewayState): Metrics {
  const registry = new Registry()
  const labelOf = createModelLabels()
  const registers = [registry]
  const requests = createTally({
    name: 'wireglot_requests_total',
    help: 'Finished requests',
    labelNames: ['protocol', 'channel', 'model', 'status'],
    registers,
  })
  const tokens = createTally({
    name: 'wireglot_tokens_total',
    help: 'Tokens, as the upstream counted them, or estimated where it did not',
    labelNames: ['channel', 'model', 'type'],
    registers,
  })
  const prefixes = createTally({
    name: 'wireglot_cache_prefix_tokens_total',
    help: 'Tokens of the prompt before in a conversation, estimated: kept at the beginning of the next one, or lost for a cache',
    labelNames: ['channel', 'model', 'type'],
    registers,
  })
  const failures = new Counter({
    name: 'wireglot_failures_total',
    help: 'Failed requests, by what failed',
    labelNames: ['channel', 'kind'],
    registers,
  })
  const firstByte = new Histogram({
    name: 'wireglot_time_to_first_byte_seconds',
    help: 'Time to the first byte of the response',
    labelNames: ['channel'],
    buckets: seconds,
    registers,
  })
  const duration = new Histogram({
    name: 'wireglot_request_duration_seconds',
    help: 'Time to the last byte of the response',
    labelNames: ['channel'],
    buckets: seconds,
    registers,
  })
  new Gauge({
    name: 'wireglot_requests_in_progress',
    help: 'Open requests and streams',
    registers,
    collect() {
      this.set(state().inProgress)
    },
  })
  new Gauge({
    name: 'wireglot_channel_up',
    help: 'Whether the circuit breaker lets requests through: 1 closed, 0.5 probing, 0 open',
    labelNames: ['channel'],
    registers,
    aggregator: 'min',
    collect() {
      this.reset()
      for (const { name, breaker } of state().channels)
        this.set({ channel: name }, { closed: 1, probing: 0.5, open: 0 }[breaker])
    },
  })
  return {
    count({
      protocolIn,
      channel = 'none',
      modelServed,
      status,
      usage,
      firstByteMs,
      totalMs,
      failure,
      cachePrefix,
    }) {
      const model = modelServed === undefined ? 'none' : labelOf(modelServed, failure === undefined)
      requests.add([protocolIn, channel, model, String(status)], 1)
      duration.observe({ channel }, totalMs / 1000)
      if (firstByteMs !== undefined) firstByte.observe({ channel }, firstByteMs / 1000)
      if (usage?.input !== undefined) tokens.add([channel, model, 'input'], usage.input)
      if (usage?.output !== undefined) tokens.add([channel, model, 'output'], usage.output)
      if (cachePrefix) {
        prefixes.add([channel, model, 'kept'], cachePrefix.kept)
        prefixes.add([channel, model, 'lost'], cachePrefix.lost)
      }
      if (failure !== undefined) failures.inc({ channel, kind: failure })
    },
    text: () => textOf(registry),
    values: () => registry.getMetricsAsJSON(),
  }
}

const textOf = async (registry: Registry): Promise<MetricsText> => ({
  type: registry.contentType,
  body: await registry.metrics(),
})

/** The metrics of several processes: sums, and of each channel the worst state. */
export const textOfAll = (all: readonly MetricValues[]): Promise<MetricsText> =>
  textOf(AggregatorRegistry.aggregate([...all]))

/** What stays of processes that have ended: a counter that went down would be taken for a restart. */
export async function countsOfAll(all: readonly MetricValues[]): Promise<MetricValues> {
  const sums = await AggregatorRegistry.aggregate([...all]).getMetricsAsJSON()
  return sums.filter(({ type }) => String(type) !== 'gauge')
}

type Tally = {
  /** `values`: of the labels, in their order. */
  add(values: readonly string[], count: number): void
}

/**
 * A counter that adds up by itself between two scrapes: prom-client takes a microsecond to find the
 * labels.
 */
function createTally(config: CounterConfiguration<string>): Tally {
  const sums = new Map<string, { values: readonly string[]; count: number }>()
  new Counter({
    ...config,
    collect() {
      for (const { values, count } of sums.values()) this.labels(...values).inc(count)
      sums.clear()
    },
  })
  return {
    add(values, count) {
      // An upstream may report any number; prom-client throws for one that is negative or infinite.
      if (!(count >= 0 && count < Infinity)) return
      const name = values.join('\n')
      const sum = sums.get(name)
      if (sum) sum.count += count
      else sums.set(name, { values, count })
    },
  }
}
