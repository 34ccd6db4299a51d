import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { GatewayState, UsageRecord } from '../gateway/gateway.ts'
import { createModelLabels } from '../gateway/model-labels.ts'

/** Metrics in the text format of Prometheus. */
export type Metrics = {
  /** Counts a finished request. */
  count(record: UsageRecord): void
  /** `type`: of the body. */
  text(): Promise<{ type: string; body: string }>
}

const seconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** `state`: of the gateway at this moment. Labels have few values. Long because it declares every metric. */
export function createMetrics(state: () => GatewayState): Metrics {
  const registry = new Registry()
  const labelOf = createModelLabels()
  const registers = [registry]
  const requests = new Counter({
    name: 'wireglot_requests_total',
    help: 'Finished requests',
    labelNames: ['protocol', 'channel', 'model', 'status'],
    registers,
  })
  const tokens = new Counter({
    name: 'wireglot_tokens_total',
    help: 'Tokens, as the upstream counted them',
    labelNames: ['channel', 'model', 'type'],
    registers,
  })
  const failures = new Counter({ name: 'wireglot_failures_total', help: 'Failed requests, by what failed', labelNames: ['channel', 'kind'], registers })
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
    collect() {
      this.reset()
      for (const { name, breaker } of state().channels) this.set({ channel: name }, { closed: 1, probing: 0.5, open: 0 }[breaker])
    },
  })
  return {
    count({ protocolIn, channel = 'none', modelServed, status, usage, firstByteMs, totalMs, failure }) {
      const model = modelServed === undefined ? 'none' : labelOf(modelServed, failure === undefined)
      requests.inc({ protocol: protocolIn, channel, model, status: String(status) })
      duration.observe({ channel }, totalMs / 1000)
      if (firstByteMs !== undefined) firstByte.observe({ channel }, firstByteMs / 1000)
      if (usage?.input !== undefined) tokens.inc({ channel, model, type: 'input' }, usage.input)
      if (usage?.output !== undefined) tokens.inc({ channel, model, type: 'output' }, usage.output)
      if (failure !== undefined) failures.inc({ channel, kind: failure })
    },
    text: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  }
}
