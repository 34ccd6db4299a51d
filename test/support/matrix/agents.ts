import type { ProtocolName } from '../../../src/protocols/index.ts'
import { type Body, clientOf, type Echo } from '../clients/index.ts'
import { isJson, type Json, listOf } from '../vendors/base/turn.ts'

/**
 * A client program in the middle of an agent's loop: its first request, and how it continues after
 * a response.
 */
export type Agent = {
  name: string
  protocol: ProtocolName
  /** As it names the program. */
  agent: string
  body: Body
  stream: boolean
  echo: Echo
  /** Is what the model thought in its next request? */
  keepsReasoning: boolean
}

/** The response as the program holds it, and what a person sees of it. */
export type Held = { received: unknown; text: string; calls: string[]; usage: Json }

/**
 * Reads a response as the official library does, and in chat-completions as programs do that add up
 * the fields of other vendors.
 */
export async function hold({ protocol, stream }: Agent, text: string): Promise<Held> {
  if (protocol === 'chat-completions')
    return chatHeld(stream ? foldChat(text) : (JSON.parse(text) as Json))
  const client = clientOf(protocol)
  const body = stream ? { text } : { body: JSON.parse(text) as unknown }
  const response = stream
    ? await client.readStream(text)
    : await client.readResponse(JSON.parse(text))
  const usage = { input: response.counts.input, output: response.counts.output }
  return {
    received: await client.receive(body),
    text: response.text,
    calls: response.calls.map(({ name }) => name),
    usage,
  }
}

export const next = ({ protocol, echo }: Agent, body: Body, { received }: Held): Body =>
  clientOf(protocol).continueWith(body, received, {
    runTool: () => 'It is so.',
    ask: 'And then?',
    echo,
  })

/** What a call calls. */
function calledOf(fn: unknown, custom: unknown): Json {
  if (isJson(fn)) return fn
  return isJson(custom) ? custom : {}
}

function chatHeld(completion: Json): Held {
  const [choice] = listOf(completion['choices'])
  const message = isJson(choice?.['message']) ? choice['message'] : {}
  // Some servers leave the type of calls out.
  for (const call of listOf(message['tool_calls'])) call['type'] ??= 'function'
  const usage = isJson(completion['usage']) ? completion['usage'] : {}
  const calls = listOf(message['tool_calls']).map(({ function: fn, custom }) =>
    String(calledOf(fn, custom)['name']),
  )
  return {
    received: message,
    text:
      typeof message['content'] === 'string'
        ? message['content']
        : listOf(message['content'])
            .map(({ text = '' }) => String(text))
            .join(''),
    calls,
    usage: { input: usage['prompt_tokens'], output: usage['completion_tokens'] },
  }
}

function foldChat(text: string): Json {
  const message: Json = { role: 'assistant', content: null }
  const calls: Json[] = []
  let usage: unknown
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: {')) continue
    const chunk = JSON.parse(line.slice(6)) as Json
    if (chunk['error']) throw new Error(JSON.stringify(chunk['error']))
    usage = chunk['usage'] ?? usage
    const [choice] = listOf(chunk['choices'])
    const {
      role: _,
      tool_calls: deltas,
      ...rest
    } = isJson(choice?.['delta']) ? choice['delta'] : ({} as Json)
    for (const [key, value] of Object.entries(rest))
      if (typeof value === 'string')
        message[key] = `${typeof message[key] === 'string' ? message[key] : ''}${value}`
      else if (Array.isArray(value))
        message[key] = [
          ...(Array.isArray(message[key]) ? (message[key] as unknown[]) : []),
          ...(value as unknown[]),
        ]
    for (const delta of listOf(deltas)) addCall(calls, delta)
  }
  if (calls.length > 0) message['tool_calls'] = calls
  return { choices: [{ index: 0, message }], usage }
}

function addCall(calls: Json[], { index, id, function: fn, custom, ...rest }: Json): void {
  // Some servers send whole calls without an index.
  const at = typeof index === 'number' ? index : calls.length
  const inside = isJson(custom)
    ? { custom: { name: custom['name'], input: '' } }
    : { function: { name: '', arguments: '' } }
  const call: Json = calls[at] ?? { id, type: 'function', ...rest, ...inside }
  calls[at] = call
  Object.assign(call, rest)
  const called = calledOf(fn, custom)
  const inner = (isJson(call['custom']) ? call['custom'] : call['function']) as Json
  for (const key of ['arguments', 'input'])
    if (typeof called[key] === 'string') inner[key] = `${String(inner[key] ?? '')}${called[key]}`
  if (isJson(fn) && typeof fn['name'] === 'string')
    inner['name'] = `${String(inner['name'])}${fn['name']}`
}
