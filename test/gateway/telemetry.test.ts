import {
  type context,
  metrics,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  asking,
  failures,
  half,
  hostsOf,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  until,
  upstream,
} from './support.ts'

const spans = new InMemorySpanExporter()
const measured = new InMemoryMetricExporter(AggregationTemporality.DELTA)
const reader = new PeriodicExportingMetricReader({
  exporter: measured,
  exportIntervalMillis: 3_600_000,
})

/** Writes the span it is given, as any propagator does. */
const propagator = {
  inject(around: ReturnType<typeof context.active>, carrier: Record<string, string>) {
    const { traceId, spanId } = trace.getSpan(around)?.spanContext() ?? {}
    if (traceId) carrier['traceparent'] = `00-${traceId}-${spanId}-01`
  },
  extract: (around: ReturnType<typeof context.active>) => around,
  fields: () => ['traceparent'],
}

beforeAll(() => {
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
  )
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  propagation.setGlobalPropagator(
    propagator as unknown as Parameters<typeof propagation.setGlobalPropagator>[0],
  )
})
afterAll(async () => {
  await reader.shutdown()
  trace.disable()
  metrics.disable()
  propagation.disable()
})
beforeEach(async () => {
  await reader.forceFlush()
  spans.reset()
  measured.reset()
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each([false, true])(
    'records an exchange as one span with conventional attributes, stream: %s',
    async stream => {
      const { url, calls } = await upstream(
        stream ? sendStream(streams.messages) : sendJson(200, responses.messages),
      )
      const ask = await start(
        one(url, 'messages', {}, { id: 'nick', channels: [{ name: 'up', model: 'real' }] }),
      )
      await (
        await ask(
          paths['chat-completions'],
          post({ ...requests['chat-completions'], model: 'nick', stream }),
        )
      ).text()
      await until(() => spans.getFinishedSpans().length === 1)
      const [span] = spans.getFinishedSpans()
      expect(span).toMatchObject({
        name: 'chat nick',
        kind: SpanKind.SERVER,
        status: { code: SpanStatusCode.UNSET },
      })
      expect(span?.attributes).toMatchObject({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'messages',
        'gen_ai.request.model': 'nick',
        'gen_ai.response.model': 'real',
        'gen_ai.usage.input_tokens': 3,
        'gen_ai.usage.output_tokens': 2,
        'http.response.status_code': 200,
        'gen_ai.request.stream': stream,
      })
      expect(calls[0]?.headers['traceparent']).toBe(
        `00-${span?.spanContext().traceId}-${span?.spanContext().spanId}-01`,
      )
    },
  )

  test('records the kind of a failure', async () => {
    const { url } = await upstream(
      sendJson(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    )
    const ask = await start(one(url, 'messages'))
    await (await ask(paths.responses, post(requests.responses))).text()
    await until(() => spans.getFinishedSpans().length === 1)
    const [span] = spans.getFinishedSpans()
    expect(span).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: 'upstream_status' },
      attributes: { 'error.type': 'upstream_status' },
    })
  })

  test('measures tokens and times', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(url, 'messages'))
    await (await ask(paths.messages, post(requests.messages))).text()
    await until(() => spans.getFinishedSpans().length === 1)
    await reader.forceFlush()
    const points = measured
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(scope => scope.metrics))
    const named = new Map(points.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints]))
    expect([...named.keys()].sort()).toEqual([
      'gen_ai.client.token.usage',
      'gen_ai.server.request.duration',
      'gen_ai.server.time_to_first_token',
    ])
    const tokens = named
      .get('gen_ai.client.token.usage')
      ?.map(({ attributes, value }) => [
        attributes['gen_ai.token.type'],
        (value as { sum: number }).sum,
      ])
    expect(tokens?.sort()).toEqual([
      ['input', 3],
      ['output', 2],
    ])
  })

  test('adds no metric series for unknown models', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(url, 'messages'))
    for (const model of ['made-up-1', 'made-up-2'])
      await (await ask(paths.messages, post({ ...requests.messages, model }))).text()
    await until(() => spans.getFinishedSpans().length === 2)
    expect(
      spans.getFinishedSpans().map(({ attributes }) => attributes['gen_ai.request.model']),
    ).toEqual(['made-up-1', 'made-up-2'])
    await reader.forceFlush()
    const counted = measured
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(scope => scope.metrics))
    const models = counted.flatMap(({ dataPoints }) =>
      dataPoints.map(({ attributes }) => attributes['gen_ai.request.model']),
    )
    expect(models).toEqual([undefined])
  })

  const keyed = (text: string) => text.replace('Overheated', 'No for upstream-secret')
  const endings: [
    ending: string,
    script: Parameters<typeof upstream>[0],
    stream: boolean,
    leaves?: boolean,
  ][] = [
    ['a response', sendJson(200, responses.messages), false],
    ['a stream', sendStream(streams.messages), true],
    [
      'a refusal',
      sendJson(401, {
        type: 'error',
        error: { type: 'authentication_error', message: 'No for upstream-secret' },
      }),
      false,
    ],
    [
      'a web page',
      response => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>planted</p>'),
      true,
    ],
    ['a stream that fails', sendStream([...half('messages'), keyed(failures.messages)]), true],
    ['a stream that breaks off', sendStream(half('messages'), { cut: true }), true],
    ['a stream that its client leaves', sendStream([...half('messages'), 60_000]), true, true],
    ['a broken connection', response => response.destroy(), false],
  ]

  test.each(endings)(
    'of %s contain no text, no key and no prompt',
    async (_, script, stream, leaves = false) => {
      const { url } = await upstream(script)
      const { auth: _auth, ...config } = one(url, 'messages')
      const ask = await start({ ...config, keys: [{ name: 'alice', key: 'planted-key' }] })
      for (const client of ['messages', 'responses'] as const) {
        const left = new AbortController()
        const reported = {
          stream,
          ...(client === 'messages'
            ? { system: 'planted prompt' }
            : { instructions: 'planted prompt' }),
        }
        const [path, init] = asking(client, reported, { authorization: 'Bearer planted-key' })
        const response = await ask(path, { ...init, signal: left.signal })
        const reader = response.body?.getReader()
        if (leaves) await reader?.read().then(() => left.abort())
        // Behind some errors the connection breaks.
        else while (reader && !(await reader.read().catch(() => ({ done: true }))).done);
        await reader?.cancel().catch(() => {})
      }
      await until(() => spans.getFinishedSpans().length === 2)
      await reader.forceFlush()
      const finished = spans
        .getFinishedSpans()
        .map(({ name, attributes, events, status, links }) => ({
          name,
          attributes,
          events,
          status,
          links,
        }))
      const points = measured
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
      expect(points.length).toBeGreaterThan(0)
      if (leaves)
        expect(finished).toMatchObject([
          { attributes: { 'error.type': 'client' } },
          { attributes: { 'error.type': 'client' } },
        ])
      expect(JSON.stringify([finished, points])).not.toMatch(/planted|"Hel|Hello|upstream-secret/)
    },
  )
})
