import type { CanonicalEvent } from '../../canonical/event.ts'
import { explode } from '../../canonical/explode.ts'
import type { Message, Part, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import type { CanonicalRequest, StateSpec } from '../../canonical/request.ts'
import type { CanonicalResponse } from '../../canonical/response.ts'
import type { FreeformTool, FunctionTool, JsonSchema, ToolChoice } from '../../canonical/tool.ts'
import { TranslationError } from '../../errors.ts'
import { isObject } from '../../kit/json/json.ts'
import type { CodecOptions, Protocol } from '../../protocol.ts'
import { protocols } from '../../protocols/index.ts'
import { streamHeaders } from '../../sse/write.ts'
import { refuseForeign } from '../../translate/foreign.ts'
import type { TransportResponse } from '../../transports/transport.ts'

type Callable = FunctionTool | FreeformTool

/**
 * The demo model as an upstream of any protocol. The same request always gets the same response.
 * `state`: of the caller's request, where the gateway itself keeps the response, or has put the
 * history in the place of a reference.
 * @throws TranslationError `malformed` for a body that is no request of the protocol
 */
export function demoUpstream(
  body: unknown,
  protocol: Protocol,
  {
    model,
    stream,
    state: kept,
    ...options
  }: CodecOptions & { model: string; stream: boolean; state?: StateSpec },
): TransportResponse {
  refuseForeign(body, protocol, Object.values(protocols))
  const { value: request } = protocol.decodeRequest(body, options)
  rejectMemory(request, protocol)
  const { messages, ...rest } = request
  const question = {
    ...rest,
    state: { ...rest.state, ...kept },
    messages: messages.filter(({ origin }) => origin === 'instructions'),
  }
  const encoding = {
    ...options,
    context: { from: protocol.name, to: protocol.name, request: question },
  }
  const response = demoResponse(request, { ...options, model })
  if (!stream)
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: chunksOf([JSON.stringify(protocol.encodeResponse(response, encoding).wire)]),
    }
  const { streamEncoder, frames } = protocol
  const machine = streamEncoder.initial(encoding)
  const texts: string[] = []
  const write = (wire: unknown) => texts.push(frames.write(wire))
  for (const event of explode(response))
    for (const small of inSmallDeltas(event)) streamEncoder.step(machine, small, write)
  streamEncoder.end(machine, write)
  return { status: 200, headers: streamHeaders, body: chunksOf(texts) }
}

const memories = [
  'thread',
  'previousId',
  'conversation',
  'prompt',
  'continuationToken',
  'background',
] as const

/** The demo model stores nothing, so requests that continue a response are refused. */
function rejectMemory({ state }: CanonicalRequest, { name, fieldNames }: Protocol): void {
  for (const key of memories)
    if (state?.[key])
      throw new TranslationError(
        { code: 'inexpressible', protocol: name, path: `/${fieldNames[`state.${key}`] ?? key}` },
        'the built-in model has no memory: send the whole conversation',
      )
}

/** The response of the demo model. */
function demoResponse(
  request: CanonicalRequest,
  { model, now, newId = prefix => `${prefix}0` }: CodecOptions & { model: string },
): CanonicalResponse {
  const parts: Part[] = []
  if (wantsReasoning(request))
    parts.push({
      type: 'reasoning',
      segments: [
        { kind: 'summary', text: 'I look at the last message and decide how to respond to it.' },
      ],
    })
  const call = callFor(request, newId)
  if (call) parts.push(call)
  else parts.push({ type: 'text', text: textFor(request) })
  const output = parts.reduce((sum, part) => sum + wordsOf(wordsIn(part)), 0)
  const limit = request.maxOutputTokens
  const whole: Whole = {
    index: 0,
    messages: [{ role: 'assistant', origin: 'message', parts, status: 'completed' }],
    finish: { reason: call ? 'tool_calls' : 'stop' },
  }
  return {
    model,
    ...(now !== undefined && { createdAt: now, completedAt: now }),
    candidates: [limit !== undefined && output > limit && !call ? cutOff(whole, limit) : whole],
    usage: {
      input: request.messages.reduce(
        (sum, message) =>
          sum + message.parts.reduce((words, part) => words + wordsOf(wordsIn(part)), 0),
        0,
      ),
      output: limit === undefined ? output : Math.min(output, limit),
    },
  }
}

type Whole = {
  index: number
  messages: Message[]
  finish: { reason: 'tool_calls' | 'stop' | 'length' }
}

/** The limit counts words, as the usage does. */
function cutOff(candidate: Whole, limit: number): Whole {
  let left = limit
  const shorten = (text: string) => {
    const words = text.trimEnd().match(oneWord) ?? []
    const kept = words.slice(0, left)
    left -= kept.length
    return kept.join('')
  }
  const messages = candidate.messages.map(message => ({
    ...message,
    status: 'incomplete' as const,
    parts: message.parts.map(part => {
      if (part.type === 'text') return { ...part, text: shorten(part.text) }
      if (part.type === 'reasoning')
        return {
          ...part,
          segments: part.segments.map(segment => ({ ...segment, text: shorten(segment.text) })),
        }
      return part
    }),
  }))
  return { ...candidate, messages, finish: { reason: 'length' } }
}

function textFor({ messages, output }: CanonicalRequest): string {
  if (output?.format?.type === 'schema')
    return JSON.stringify(instanceOf(output.format.schema, output.format.schema, 0))
  if (output?.format?.type === 'enum')
    return String(instanceOf(output.format.schema, output.format.schema, 0))
  if (output?.format?.type === 'json') return '{}'
  const last = messages.at(-1)
  const result = last?.parts.findLast((part): part is ToolResultPart => part.type === 'tool-result')
  if (result)
    return `The tool said: ${result.content.map(wordsIn).join(' ') || (result.structured === undefined ? 'nothing' : JSON.stringify(result.structured))}`
  const earlier = messages
    .findLast(({ role }) => role === 'user')
    ?.parts.map(part => (part.type === 'text' ? part.text : ''))
    .join(' ')
    .trim()
  return earlier ? `Hello! You said: ${earlier}` : 'Hello! You said nothing.'
}

/** The tool that is forced, or that the user mentions. Undefined: respond with text. */
function callFor(
  { messages, tools = [], toolChoice }: CanonicalRequest,
  newId: (prefix: string) => string,
): ToolCallPart | undefined {
  const last = messages.at(-1)
  if (last?.role !== 'user' || last.parts.some(({ type }) => type === 'tool-result'))
    return undefined
  const callable = tools.filter(
    (tool): tool is Callable =>
      (tool.type === 'function' || tool.type === 'freeform') && allows(toolChoice, tool.name),
  )
  // Clients put files and other context into the parts before it.
  const said = last.parts.findLast(({ type }) => type === 'text')
  const text = said ? wordsIn(said).toLowerCase() : ''
  const forced =
    toolChoice?.mode === 'required' ||
    toolChoice?.mode === 'tool' ||
    (toolChoice?.mode === 'allowed' && toolChoice.require)
  const tool =
    callable.find(({ name }) => mentions(text, name)) ?? (forced ? callable[0] : undefined)
  if (!tool) return undefined
  const { name, namespace, type } = tool
  const input =
    type === 'freeform'
      ? text
      : JSON.stringify(tool.parameters ? instanceOf(tool.parameters, tool.parameters, 0) : {})
  return {
    type: 'tool-call',
    id: newId('call_'),
    name,
    kind: type,
    input,
    ...(namespace !== undefined && { namespace }),
  }
}

function allows(choice: ToolChoice | undefined, name: string): boolean {
  if (choice?.mode === 'none') return false
  if (choice?.mode === 'tool') return choice.name === name
  if (choice?.mode === 'validated') return choice.tools?.includes(name) ?? true
  return choice?.mode === 'allowed' ? choice.tools.some(tool => tool.name === name) : true
}

/** Does the text mention the tool? `get_weather` is mentioned by its name and by "weather". */
function mentions(text: string, name: string): boolean {
  const lower = name.toLowerCase()
  return (
    text.includes(lower) ||
    lower
      .split(/[^a-z0-9]+/)
      .some(word => word.length > 3 && new RegExp(`\\b${word}\\b`).test(text))
  )
}

function wantsReasoning({ reasoning }: CanonicalRequest): boolean {
  if (!reasoning) return false
  const { effort, mode, budgetTokens } = reasoning
  if (effort === 'none' || mode === 'disabled' || budgetTokens === 0) return false
  return effort !== undefined || mode !== undefined || budgetTokens !== undefined
}

/** A minimal value for a JSON schema; knows only the common keywords. */
function instanceOf(schema: unknown, root: JsonSchema, depth: number): unknown {
  if (!isObject(schema) || depth > 12) return null
  const {
    const: constant,
    enum: values,
    anyOf,
    oneOf,
    allOf,
    $ref: ref,
    default: standard,
  } = schema
  if (constant !== undefined) return constant
  if (standard !== undefined) return standard
  if (Array.isArray(values) && values.length > 0) return values[0]
  if (typeof ref === 'string') return instanceOf(resolve(ref, root), root, depth + 1)
  for (const choice of [anyOf, oneOf])
    if (Array.isArray(choice) && choice.length > 0) return instanceOf(choice[0], root, depth + 1)
  if (Array.isArray(allOf))
    return instanceOf(
      Object.assign({}, ...allOf.map(part => resolved(part, root))),
      root,
      depth + 1,
    )
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  const implied = isObject(schema['properties']) ? 'object' : undefined
  switch (typeof type === 'string' ? type.toLowerCase() : implied) {
    case 'object':
      return objectOf(schema, root, depth)
    case 'array':
      return Array.from({ length: numberOr(schema['minItems'], 0) }, () =>
        instanceOf(schema['items'], root, depth + 1),
      )
    case 'integer':
    case 'number':
      return numberOr(schema['minimum'], numberOr(schema['exclusiveMinimum'], -1) + 1)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return 'text'.padEnd(Math.min(numberOr(schema['minLength'], 0), 1_000), '.')
  }
}

function objectOf(schema: JsonSchema, root: JsonSchema, depth: number): Record<string, unknown> {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required'])
    ? schema['required'].filter(key => typeof key === 'string')
    : []
  return Object.fromEntries(
    required.map(key => [
      key,
      instanceOf(Object.hasOwn(properties, key) ? properties[key] : {}, root, depth + 1),
    ]),
  )
}

function resolved(part: unknown, root: JsonSchema): unknown {
  return isObject(part) && typeof part['$ref'] === 'string' ? resolve(part['$ref'], root) : part
}

function resolve(ref: string, root: JsonSchema): unknown {
  let place: unknown = root
  for (const key of ref.replace(/^#\/?/, '').split('/')) {
    if (key === '') continue
    place = isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined
  }
  return place
}

const numberOr = (value: unknown, standard: number) =>
  typeof value === 'number' ? value : standard

function wordsIn(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text
    case 'reasoning':
      return part.segments.map(({ text }) => text).join(' ')
    case 'tool-call':
      return `${part.name} ${part.input}`
    case 'tool-result':
      return part.content.map(wordsIn).join(' ')
    default:
      return part.type
  }
}

/**
 * A word with the space before it. Not `\s*\S+`, which is quadratic for a text that ends in many
 * spaces.
 */
const oneWord = /\s+(?:\S+)?|\S+/g

function wordsOf(text: string): number {
  return text.match(/\S+/g)?.length ?? 0
}

/** One delta per word, so that streams look real. */
function inSmallDeltas(event: CanonicalEvent): CanonicalEvent[] {
  if (event.type !== 'part.delta') return [event]
  const { delta } = event
  if (delta.kind === 'text' || delta.kind === 'reasoning')
    return split(delta.text, oneWord).map(text => ({ ...event, delta: { ...delta, text } }))
  if (delta.kind === 'input')
    return split(delta.text, /.{1,12}/gsu).map(text => ({ ...event, delta: { ...delta, text } }))
  return [event]
}

function split(text: string, pattern: RegExp): string[] {
  return text.match(pattern) ?? [text]
}

async function* chunksOf(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts
}
