import { urlOf } from '../address/paths.ts'
import { collect } from '../canonical/collect.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import { checkGrammar } from '../canonical/grammar.ts'
import { textOf, toolCallsOf, usageOf } from '../canonical/read.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { TranslationError } from '../errors.ts'
import { isObject, parseJson } from '../kit/json/json.ts'
import type { Protocol } from '../protocol.ts'
import { parseData } from '../sse/data.ts'
import { createFrameParser } from '../sse/parse.ts'
import { isGrave, isNullMissing } from '../testing/strict/faults.ts'
import { strictOf } from '../testing/strict/index.ts'
import { encodeRequest } from '../translate/encode.ts'
import { createStreamReader } from '../translate/stream-reader.ts'
import { fixFor, gist, isHtml, type Received, type Sender, speaksOfModel } from './ask.ts'
import type { Check, ReportCheck } from './check.ts'

export type Probe = {
  ask: Sender
  service: string
  protocol: Protocol
  model: string
  key: string | undefined
  /** It was requested by name. */
  wanted: boolean
  report: ReportCheck
}

const noSuchModel = 'wireglot-verify-no-such-model'

/** One protocol, request by request. False: the service does not offer it. */
export async function checkProtocol(probe: Probe): Promise<boolean> {
  const { report, wanted, model } = probe
  const whole = await send(probe, plain(model))
  if (!wanted && isNotOffered(whole)) {
    report(
      'offered',
      'skipped',
      `not offered here: ${gist(whole.status === 404 ? { ...whole, text: '' } : whole)}`,
    )
    return false
  }
  if (
    !checkWhole(probe, 'complete response', whole, response =>
      reportText(probe, 'complete response', response, whole.totalMs),
    )
  )
    return true
  checkStreamed(
    probe,
    'streamed response',
    await send(probe, { ...plain(model), stream: { enabled: true } }),
    (response, ms) => reportText(probe, 'streamed response', response, ms),
  )
  const called = await send(probe, withTool(model))
  checkWhole(probe, 'tool call', called, response =>
    reportCall(probe, 'tool call', response, called.totalMs),
  )
  checkStreamed(
    probe,
    'streamed tool call',
    await send(probe, { ...withTool(model), stream: { enabled: true } }),
    (response, ms) => reportCall(probe, 'streamed tool call', response, ms),
  )
  checkRefusal(probe, await send(probe, plain(noSuchModel)))
  return true
}

const plain = (model: string): CanonicalRequest => ({
  model,
  messages: [
    {
      role: 'user',
      origin: 'message',
      parts: [{ type: 'text', text: 'Say hello in three words.' }],
    },
  ],
  maxOutputTokens: 1024,
})

const withTool = (model: string): CanonicalRequest => ({
  ...plain(model),
  messages: [
    {
      role: 'user',
      origin: 'message',
      parts: [
        { type: 'text', text: 'What is the weather in Paris? Call the tool, say nothing else.' },
      ],
    },
  ],
  tools: [
    {
      type: 'function',
      name: 'get_weather',
      description: 'The weather of a city',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string', description: 'Name of the city' } },
        required: ['city'],
      },
    },
  ],
})

async function send(
  { ask, service, protocol, key }: Probe,
  request: CanonicalRequest,
): Promise<Received> {
  const { address, streamUsage } = protocol
  const stream = request.stream?.enabled ?? false
  const { wire } = encodeRequest(request, protocol)
  const body = stream && streamUsage ? streamUsage.ask(wire).wire : wire
  const path =
    address.target({ operation: 'generate', model: request.model ?? '', stream }) ?? address.path
  return ask(urlOf(service, path), { headers: address.upstreamHeaders(key, undefined), body })
}

/** Is the path unknown, and not the model? */
function isNotOffered(received: Received): boolean {
  if (received.failure !== undefined) return false
  if (received.status === 405 || received.status === 501) return true
  return received.status === 404 && !speaksOfModel(received)
}

/** @returns whether there was a response */
function checkWhole(
  { protocol, report }: Probe,
  name: string,
  received: Received,
  reportMore: (response: CanonicalResponse) => Check,
): boolean {
  const ms = received.totalMs
  const failed = (detail: string, fix = fixFor(received)) => {
    report(name, 'failed', detail, { fix, ms })
    return false
  }
  if (received.status !== 200 || received.failure !== undefined)
    return failed(gist(isHtml(received) ? { ...received, text: 'a web page' } : received))
  const body = parseJson(received.text)
  if (!isObject(body))
    return failed(
      isHtml(received) ? 'a web page with status 200' : 'no JSON object with status 200',
    )
  try {
    const { value } = protocol.decodeResponse(body)
    const { faults, missing } = sorted(strictOf(protocol.name).checkResponse(body))
    warnOf(missing, name, report)
    if (faults.length > 0)
      failed(
        firstOf(faults),
        'Strict clients cannot parse this response: fix these fields in the server, or in something between.',
      )
    else reportMore(value)
    return true
  } catch (error) {
    if (!TranslationError.is(error)) throw error
    return failed(
      error.message,
      `This is no response of ${protocol.name}: does this path speak another protocol, or does a proxy change the response?`,
    )
  }
}

function checkStreamed(
  { protocol, report }: Probe,
  name: string,
  received: Received,
  reportMore: (body: CanonicalResponse, ms: number) => Check,
): Check {
  const ms = received.totalMs
  const failed = (detail: string, fix = fixFor(received)) =>
    report(name, 'failed', detail, { fix, ms })
  if (received.status !== 200)
    return failed(gist(isHtml(received) ? { ...received, text: 'a web page' } : received))
  const expected = protocol.framing?.contentType ?? 'text/event-stream'
  if (!received.type.toLowerCase().includes(expected))
    return failed(
      `the response is ${received.type || 'without a content type'}, not ${expected}`,
      'The service does not stream this model, or something between collects the stream: ask without streaming, or configure the model so.',
    )
  const { wires, broken } = framesIn(received.text)
  const events: CanonicalEvent[] = []
  const reader = createStreamReader(protocol, {}, event => events.push(event))
  reader.push(received.text)
  reader.end()
  const validator = strictOf(protocol.name)
  const outcome = validator.outcome(wires)
  const { response, clean } = collect(events)
  if (response.error)
    return failed(
      `the stream ends in an error: ${response.error.message}`,
      'The service failed after it had begun: look at its log.',
    )
  if (broken > 0)
    return failed(
      `${broken} frames are no JSON`,
      'The server, or a proxy that cuts lines, breaks the frames of the stream.',
    )
  if (!clean || outcome !== 'success')
    return failed(
      received.failure ?? `the stream stops before it is at its end, after ${wires.length} events`,
      'Clients take this for a failure, or worse, for the complete response: check timeouts and buffers of proxies, and the last event of the server.',
    )
  const { faults, missing } = sorted(validator.checkStream(wires))
  faults.push(...checkGrammar(events))
  warnOf(missing, name, report)
  if (faults.length > 0)
    return failed(
      firstOf(faults),
      'Strict clients break on this stream: the server has to write its events as the protocol says, or a proxy must repair them.',
    )
  if (ms > 2_000 && received.firstByteMs > ms * 0.9)
    report(
      `${name}: chunks`,
      'warned',
      `everything came at once after ${received.firstByteMs} ms`,
      {
        fix: 'A proxy collects the stream: switch off its buffering for text/event-stream.',
      },
    )
  return reportMore(response, ms)
}

function framesIn(text: string): { wires: unknown[]; broken: number } {
  const wires: unknown[] = []
  let broken = 0
  const parser = createFrameParser(({ data }) => {
    const wire = parseData(data)
    if (wire === undefined) broken++
    else wires.push(wire)
  })
  parser.push(text)
  parser.end()
  return { wires, broken }
}

function reportText(
  { report }: Probe,
  name: string,
  response: CanonicalResponse,
  ms: number,
): Check {
  const text = textOf(response)
  const reason = response.candidates[0]?.finish?.reason
  if (text) report(name, 'passed', `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`, { ms })
  else if (reason === 'length')
    report(name, 'warned', 'the limit of 1024 tokens was reached before any text', {
      ms,
      fix: 'This model thinks at length: clients have to ask for more tokens.',
    })
  else
    report(name, 'failed', 'the response has no text', {
      ms,
      fix: 'Ask the model directly; if it responds there, something between drops the text.',
    })
  const { input, output } = usageOf(response) ?? {}
  if (input && output)
    return report(`${name}: usage`, 'passed', `${input} tokens in, ${output} out`)
  return report(`${name}: usage`, 'failed', 'no count of tokens', {
    fix: 'Clients and bills show nothing for this model: let the server count, in streams too.',
  })
}

function reportCall(
  { report }: Probe,
  name: string,
  response: CanonicalResponse,
  ms: number,
): Check {
  const [call] = toolCallsOf(response)
  if (!call)
    return report(name, 'warned', 'the model did not call the tool', {
      ms,
      fix: 'Coding tools cannot work with a model that calls no tools: try a larger model, or look whether the server takes tools at all.',
    })
  const { input } = call
  if (call.name !== 'get_weather' || !isObject(input))
    return report(name, 'failed', `calls ${call.name} with what is no JSON object`, {
      ms,
      fix: 'Clients cannot run this call: look at the server’s parser of tool calls.',
    })
  return report(name, 'passed', `${call.name} ${JSON.stringify(input)}`, { ms })
}

/** Does an invalid request get an error of this protocol? */
function checkRefusal({ protocol, report }: Probe, received: Received): Check {
  const name = 'an error'
  const ms = received.totalMs
  const fix =
    'Clients decide by status and body whether to retry: an error must have the form of the protocol.'
  if (received.failure !== undefined) return report(name, 'failed', received.failure, { ms, fix })
  if (received.status < 400)
    return report(name, 'warned', `an unknown model gets status ${received.status}`, {
      ms,
      fix: 'A mistyped model goes unnoticed: let the service refuse ids that it does not know.',
    })
  const faults = strictOf(protocol.name).checkError(parseJson(received.text)).filter(isGrave)
  if (faults.length > 0)
    return report(
      name,
      'failed',
      `${gist(isHtml(received) ? { ...received, text: 'a web page' } : received)} (${firstOf(faults)})`,
      { ms, fix },
    )
  return report(name, 'passed', `an unknown model is refused with status ${received.status}`, {
    ms,
  })
}

function sorted(all: readonly string[]): { faults: string[]; missing: string[] } {
  const grave = all.filter(isGrave)
  return {
    faults: grave.filter(fault => !isNullMissing(fault)),
    missing: grave.filter(isNullMissing),
  }
}

function warnOf(missing: readonly string[], name: string, report: ReportCheck): void {
  if (missing.length > 0)
    report(`${name}: fields`, 'warned', firstOf(missing), {
      fix: 'The official SDKs read this all the same. A client that requires every field may not.',
    })
}

const firstOf = (faults: readonly string[]) =>
  `${faults.slice(0, 3).join('; ')}${faults.length > 3 ? `; and ${faults.length - 3} more` : ''}`
