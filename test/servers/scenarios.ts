import type { Message, Part } from '../../src/canonical/message.ts'
import { textOf, toolCallsOf } from '../../src/canonical/read.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import type { Tool } from '../../src/canonical/tool.ts'

/**
 * One thing that clients ask of a model. `expects`: why the response is not what was asked for;
 * undefined: it is. A model may be small and its words random, so only what the server decides is a
 * fault; what the model decides is `open`.
 */
export type Scenario = {
  name: string
  request: Omit<CanonicalRequest, 'model'>
  expects(response: CanonicalResponse): string | undefined
  /** A server without this feature refuses it. */
  mayRefuse?: true
}

const text = (words: string): Part => ({ type: 'text', text: words })
const user = (...parts: Part[]): Message => ({ role: 'user', origin: 'message', parts })
const asked = (words: string) => ({ messages: [user(text(words))], maxOutputTokens: 512 })
const call = (id: string, city: string): Part => ({
  type: 'tool-call',
  id,
  name: 'get_weather',
  kind: 'function',
  input: JSON.stringify({ city }),
})
const result = (callId: string, words: string): Part => ({
  type: 'tool-result',
  callId,
  name: 'get_weather',
  kind: 'function',
  content: [text(words)],
})

const city = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Name of the city' } },
  required: ['city'],
  additionalProperties: false,
}
const weather: Tool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: city,
}
const time: Tool = { ...weather, name: 'get_time', description: 'The time of a city' }
/** 8 by 8 points of one color. */
const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC'

const anything = () => undefined
const words = (response: CanonicalResponse) =>
  textOf(response) || response.candidates[0]?.finish?.reason === 'length'
    ? undefined
    : 'no text in the response'
const called = (response: CanonicalResponse) => {
  const [first] = toolCallsOf(response)
  if (!first) return 'no call, although one was demanded'
  return first.name === 'get_weather' ? undefined : `a call of ${first.name}`
}

/** Each is asked for as a whole and as a stream. */
export const scenarios: readonly Scenario[] = [
  { name: 'text', request: asked('Say hello.'), expects: words },
  {
    name: 'instructions',
    request: {
      ...asked('Say hello.'),
      messages: [
        { role: 'system', origin: 'message', parts: [text('Be brief.')] },
        user(text('Say hello.')),
      ],
    },
    expects: words,
  },
  {
    name: 'conversation',
    request: {
      ...asked(''),
      messages: [
        user(text('Say hello.')),
        { role: 'assistant', origin: 'message', parts: [text('Hello.')] },
        user(text('Say it again.')),
      ],
    },
    expects: words,
  },
  {
    name: 'sampling',
    request: { ...asked('Say hello.'), sampling: { temperature: 0.5, topP: 0.9, seed: 7 } },
    expects: words,
  },
  { name: 'stop', request: { ...asked('Say hello.'), stop: ['END'] }, expects: anything },
  {
    name: 'effort',
    request: { ...asked('Say hello.'), maxOutputTokens: 2048, reasoning: { effort: 'low' } },
    expects: words,
  },
  {
    name: 'thinking off',
    request: { ...asked('Say hello.'), reasoning: { effort: 'none', mode: 'disabled' } },
    expects: words,
  },
  { name: 'a tool', request: { ...asked('Say hello.'), tools: [weather] }, expects: anything },
  {
    name: 'a call',
    request: {
      ...asked('What is the weather in Paris? Call the tool.'),
      tools: [weather],
      toolChoice: { mode: 'required' },
    },
    expects: called,
  },
  {
    name: 'this tool',
    request: {
      ...asked('What is the weather in Paris? Call the tool.'),
      tools: [time, weather],
      toolChoice: { mode: 'tool', kind: 'function', name: 'get_weather' },
    },
    expects: called,
  },
  {
    name: 'no call',
    request: {
      ...asked('What is the weather in Paris? Say that you do not know.'),
      tools: [weather],
      toolChoice: { mode: 'none' },
    },
    expects: response =>
      toolCallsOf(response).length > 0 ? 'a call, although none was allowed' : undefined,
  },
  {
    name: 'results',
    request: {
      ...asked(''),
      messages: [
        user(text('What is the weather in Paris and Rome?')),
        {
          role: 'assistant',
          origin: 'message',
          parts: [call('call_1', 'Paris'), call('call_2', 'Rome')],
        },
        { role: 'tool', origin: 'message', parts: [result('call_1', 'rain')] },
        { role: 'tool', origin: 'message', parts: [result('call_2', 'sun')] },
      ],
      tools: [weather],
    },
    expects: anything,
  },
  {
    name: 'JSON',
    request: {
      ...asked('Name a city, as JSON.'),
      output: { format: { type: 'schema', name: 'city', schema: city, strict: true } },
    },
    expects(response) {
      if (response.candidates[0]?.finish?.reason === 'length') return undefined
      try {
        const found: unknown = JSON.parse(textOf(response))
        return typeof (found as { city?: unknown } | null)?.city === 'string'
          ? undefined
          : 'JSON of another form'
      } catch {
        return 'no JSON, although it was demanded'
      }
    },
  },
  {
    name: 'a picture',
    request: {
      ...asked(''),
      messages: [
        user(text('Which color is this?'), {
          type: 'media',
          kind: 'image',
          source: { type: 'base64', mime: 'image/png', data: picture },
        }),
      ],
    },
    expects: words,
    mayRefuse: true,
  },
]
