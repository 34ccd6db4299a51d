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
import { isGrave } from '../testing/strict/faults.ts'
import { strictOf } from '../testing/strict/index.ts'
import { encodeRequest } from '../translate/encode.ts'
import { createStreamReader } from '../translate/stream-reader.ts'
import { type Asker, gist, type Heard, isHtml, mendOf, speaksOfModel } from './ask.ts'
import type { Point, Tell } from './point.ts'

export type Probe = {
  ask: Asker
  service: string
  protocol: Protocol
  model: string
  key: string | undefined
  /** It was requested by name. */
  wanted: boolean
  tell: Tell
}

const noSuchModel = 'wireglot-verify-no-such-model'

/** One protocol, request by request. False: the service does not offer it. */
export async function checkProtocol(probe: Probe): Promise<boolean> {
  const { tell, wanted, model } = probe
  const whole = await send(probe, plain(model))
  if (!wanted && isNotOffered(whole)) {
    tell('offered', 'skipped', `not offered here: ${gist(whole.status === 404 ? { ...whole, text: '' } : whole)}`)
    return false
  }
  if (!checkReply(probe, 'whole reply', whole, reply => tellText(probe, 'whole reply', reply, whole.totalMs))) return true
  checkStreamed(probe, 'streamed reply', await send(probe, { ...plain(model), stream: { enabled: true } }), (reply, ms) =>
    tellText(probe, 'streamed reply', reply, ms),
  )
  const called = await send(probe, withTool(model))
  checkReply(probe, 'tool call', called, reply => tellCall(probe, 'tool call', reply, called.totalMs))
  checkStreamed(probe, 'streamed tool call', await send(probe, { ...withTool(model), stream: { enabled: true } }), (reply, ms) =>
    tellCall(probe, 'streamed tool call', reply, ms),
  )
  checkRefusal(probe, await send(probe, plain(noSuchModel)))
  return true
}

const plain = (model: string): CanonicalRequest => ({
  model,
  messages: [{ role: 'user', origin: 'message', parts: [{ type: 'text', text: 'Say hello in three words.' }] }],
  maxOutputTokens: 1024,
})

const withTool = (model: string): CanonicalRequest => ({
  ...plain(model),
  messages: [{ role: 'user', origin: 'message', parts: [{ type: 'text', text: 'What is the weather in Paris? Call the tool, say nothing else.' }] }],
  tools: [
    {
      type: 'function',
      name: 'get_weather',
      description: 'The weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string', description: 'Name of the city' } }, required: ['city'] },
    },
  ],
})

async function send({ ask, service, protocol, key }: Probe, request: CanonicalRequest): Promise<Heard> {
  const { address, streamUsage } = protocol
  const stream = request.stream?.enabled ?? false
  const { wire } = encodeRequest(request, protocol)
  const body = stream && streamUsage ? streamUsage.ask(wire).wire : wire
  const path = address.target({ operation: 'generate', model: request.model ?? '', stream }) ?? address.path
  return ask(urlOf(service, path), { headers: address.upstreamHeaders(key, undefined), body })
}

/** Is the path unknown, and not the model? */
function isNotOffered(heard: Heard): boolean {
  if (heard.failure !== undefined) return false
  if (heard.status === 405 || heard.status === 501) return true
  return heard.status === 404 && !speaksOfModel(heard)
}

/** @returns whether there was a reply */
function checkReply({ protocol, tell }: Probe, name: string, heard: Heard, tellMore: (reply: CanonicalResponse) => Point): boolean {
  const ms = heard.totalMs
  const failed = (told: string, mend = mendOf(heard)) => {
    tell(name, 'failed', told, { mend, ms })
    return false
  }
  if (heard.status !== 200 || heard.failure !== undefined) return failed(gist(isHtml(heard) ? { ...heard, text: 'a web page' } : heard))
  const body = parseJson(heard.text)
  if (!isObject(body)) return failed(isHtml(heard) ? 'a web page with status 200' : 'no JSON object with status 200')
  try {
    const { value } = protocol.decodeResponse(body)
    const faults = strictOf(protocol.name).checkResponse(body).filter(isGrave)
    if (faults.length > 0)
      failed(
        firstOf(faults),
        'Strict clients cannot read this reply: the server has to write these fields as the protocol says, or something between has to mend them.',
      )
    else tellMore(value)
    return true
  } catch (error) {
    if (!TranslationError.is(error)) throw error
    return failed(error.message, `This is no reply of ${protocol.name}: does another protocol answer on this path, or does a proxy change the answer?`)
  }
}

function checkStreamed({ protocol, tell }: Probe, name: string, heard: Heard, tellMore: (reply: CanonicalResponse, ms: number) => Point): Point {
  const ms = heard.totalMs
  const failed = (told: string, mend = mendOf(heard)) => tell(name, 'failed', told, { mend, ms })
  if (heard.status !== 200) return failed(gist(isHtml(heard) ? { ...heard, text: 'a web page' } : heard))
  if (!/text\/event-stream/i.test(heard.type))
    return failed(
      `the answer is ${heard.type || 'without a content type'}, not text/event-stream`,
      'The service does not stream this model, or something between collects the stream: ask without streaming, or configure the model so.',
    )
  const { wires, broken } = framesIn(heard.text)
  const events: CanonicalEvent[] = []
  const reader = createStreamReader(protocol, {}, event => events.push(event))
  reader.push(heard.text)
  reader.end()
  const judge = strictOf(protocol.name)
  const outcome = judge.outcome(wires)
  const { response, clean } = collect(events)
  if (response.error) return failed(`the stream ends in an error: ${response.error.message}`, 'The service failed after it had begun: look at its log.')
  if (broken > 0) return failed(`${broken} frames are no JSON`, 'The server, or a proxy that cuts lines, breaks the frames of the stream.')
  if (!clean || outcome !== 'success')
    return failed(
      heard.failure ?? `the stream stops before it is at its end, after ${wires.length} events`,
      'Clients take this for a failure, or worse, for the whole answer: look for time limits and buffers of proxies, and for the last event of the server.',
    )
  const faults = [...judge.checkStream(wires).filter(isGrave), ...checkGrammar(events)]
  if (faults.length > 0)
    return failed(
      firstOf(faults),
      'Strict clients break on this stream: the server has to write its events as the protocol says, or something between has to mend them.',
    )
  if (ms > 2_000 && heard.firstByteMs > ms * 0.9)
    tell(`${name}: pieces`, 'warned', `everything came at once after ${heard.firstByteMs} ms`, {
      mend: 'A proxy collects the stream: switch off its buffering for text/event-stream.',
    })
  return tellMore(response, ms)
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

function tellText({ tell }: Probe, name: string, reply: CanonicalResponse, ms: number): Point {
  const text = textOf(reply)
  const reason = reply.candidates[0]?.finish?.reason
  if (text) tell(name, 'passed', `«${text.length > 60 ? `${text.slice(0, 60)}…` : text}»`, { ms })
  else if (reason === 'length')
    tell(name, 'warned', 'the limit of 1024 tokens was reached before any text', {
      ms,
      mend: 'This model thinks at length: clients have to ask for more tokens.',
    })
  else tell(name, 'failed', 'the reply says nothing', { ms, mend: 'Ask the model directly; if it answers there, something between loses the text.' })
  const { input, output } = usageOf(reply) ?? {}
  if (input && output) return tell(`${name}: usage`, 'passed', `${input} tokens in, ${output} out`)
  return tell(`${name}: usage`, 'failed', 'no count of tokens', {
    mend: 'Clients and bills show nothing for this model: let the server count, in streams too.',
  })
}

function tellCall({ tell }: Probe, name: string, reply: CanonicalResponse, ms: number): Point {
  const [call] = toolCallsOf(reply)
  if (!call)
    return tell(name, 'warned', 'the model did not call the tool', {
      ms,
      mend: 'Coding tools cannot work with a model that calls no tools: try a larger model, or look whether the server takes tools at all.',
    })
  const { input } = call
  if (call.name !== 'get_weather' || !isObject(input))
    return tell(name, 'failed', `calls ${call.name} with what is no JSON object`, {
      ms,
      mend: 'Clients cannot run this call: look at the server’s parser of tool calls.',
    })
  return tell(name, 'passed', `${call.name} ${JSON.stringify(input)}`, { ms })
}

/** Is an invalid request answered with an error of this protocol? */
function checkRefusal({ protocol, tell }: Probe, heard: Heard): Point {
  const name = 'an error'
  const ms = heard.totalMs
  const mend = 'Clients decide by status and body whether to ask again: an error has to be told in the words of the protocol.'
  if (heard.failure !== undefined) return tell(name, 'failed', heard.failure, { ms, mend })
  if (heard.status < 400)
    return tell(name, 'warned', `an unknown model is answered with status ${heard.status}`, {
      ms,
      mend: 'A mistyped model goes unnoticed: let the service refuse ids that it does not know.',
    })
  const faults = strictOf(protocol.name).checkError(parseJson(heard.text)).filter(isGrave)
  if (faults.length > 0) return tell(name, 'failed', `${gist(isHtml(heard) ? { ...heard, text: 'a web page' } : heard)} (${firstOf(faults)})`, { ms, mend })
  return tell(name, 'passed', `an unknown model is refused with status ${heard.status}`, { ms })
}

const firstOf = (faults: readonly string[]) => `${faults.slice(0, 3).join('; ')}${faults.length > 3 ? `; and ${faults.length - 3} more` : ''}`
