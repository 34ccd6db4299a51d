import { explode } from '../canonical/explode.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { isObject } from '../kit/json/json.ts'
import type { Protocol } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'
import { encodeRequest } from '../translate/encode.ts'

/**
 * How the playground sends a request of a protocol. Paths contain `{model}` where the model is not
 * in the body; `streamPath` differs from `path` where the body does not say whether a stream is
 * wanted. `example`: a request as JSON. `deltaAt`, `textAt`: where the text of an event and of a
 * response is.
 */
export type SentProtocol = {
  name: string
  path: string
  streamPath: string
  example: string
  deltaAt: TextAt
  textAt: TextAt
}

/** The keys to a text. `type`: of the events that have it; absent: all. */
export type TextAt = { keys: string[]; type?: string }

/** Placeholder for the model in a path, and for the text in a response. */
const placeholder = 'PLACEHOLDER'

const question: CanonicalRequest = {
  model: '',
  messages: [
    {
      role: 'system',
      origin: 'instructions',
      parts: [{ type: 'text', text: 'Respond in one sentence.' }],
    },
    { role: 'user', origin: 'message', parts: [{ type: 'text', text: 'Why is the sky blue?' }] },
  ],
  maxOutputTokens: 1000,
}

const sample: CanonicalResponse = {
  id: 'placeholder',
  model: '',
  createdAt: 0,
  candidates: [
    {
      index: 0,
      messages: [
        { role: 'assistant', origin: 'message', parts: [{ type: 'text', text: placeholder }] },
      ],
      finish: { reason: 'stop' },
    },
  ],
}

/**
 * `isDemo`: the example has a field that the messages protocol lacks, and lacks one that it needs,
 * so that a newcomer sees what a note is.
 */
export function sentProtocols(isDemo: boolean): SentProtocol[] {
  const { maxOutputTokens: _, ...rest } = question
  const example = isDemo ? { ...rest, sampling: { seed: 7 } } : question
  return Object.values<Protocol>(protocols).map(protocol => ({
    name: protocol.name,
    path: pathOf(protocol, false),
    streamPath: pathOf(protocol, true),
    example: JSON.stringify(encodeRequest(example, protocol).wire, null, 2),
    deltaAt: deltaAt(protocol),
    textAt: { keys: keysTo(protocol.encodeResponse(sample).wire) ?? [] },
  }))
}

const pathOf = ({ address }: Protocol, stream: boolean) =>
  (address.target({ operation: 'generate', model: placeholder, stream }) ?? address.path).replace(
    placeholder,
    '{model}',
  )

/** Found in what the encoder writes, so that no protocol is described twice. */
function deltaAt({ streamEncoder }: Protocol): TextAt {
  const state = streamEncoder.initial()
  let first: TextAt | undefined
  const emit = (event: unknown) => {
    const keys = first ? undefined : keysTo(event)
    if (keys)
      first = {
        keys,
        ...(isObject(event) && typeof event['type'] === 'string' && { type: event['type'] }),
      }
  }
  for (const event of explode(sample)) streamEncoder.step(state, event, emit)
  return first ?? { keys: [] }
}

function keysTo(value: unknown): string[] | undefined {
  if (value === placeholder) return []
  for (const [key, item] of Object.entries(
    typeof value === 'object' && value !== null ? value : {},
  )) {
    const keys = keysTo(item)
    if (keys) return [key, ...keys]
  }
  return undefined
}
