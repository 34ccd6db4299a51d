import type { Message, Part } from '../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { FinishReason } from '../../src/canonical/response.ts'

const text = (words: string): Part => ({ type: 'text', text: words })
const user = (...parts: Part[]): Message => ({ role: 'user', origin: 'message', parts })
const assistant = (...parts: Part[]): Message => ({ role: 'assistant', origin: 'message', parts })
const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}
const lookup = {
  type: 'function' as const,
  name: 'lookup',
  description: 'looks up',
  parameters: schema,
  strict: false,
}
const call = (id: string): Part => ({
  type: 'tool-call',
  id,
  kind: 'function',
  name: 'lookup',
  input: '{"a":"b"}',
})
const result = (
  callId: string,
  more: Partial<Extract<Part, { type: 'tool-result' }>> = {},
): Message => ({
  role: 'tool',
  origin: 'message',
  parts: [{ type: 'tool-result', callId, kind: 'function', content: [text('found')], ...more }],
})
const image = (source: Extract<Part, { type: 'media' }>['source']): Part => ({
  type: 'media',
  kind: 'image',
  source,
})
const pdf = { type: 'base64' as const, data: 'JVBERi0=', mime: 'application/pdf' }

/** What every probe adds something to; whatever a target notes of this alone is not the probe's. */
export const plain: CanonicalRequest = {
  model: 'model',
  maxOutputTokens: 1000,
  messages: [user(text('hello'))],
}

const loop = [user(text('go')), assistant(call('c1'), call('c2')), result('c1'), result('c2')]

/** One row of the README's table for each. */
export const probes: Record<string, Partial<CanonicalRequest>> = {
  'system instructions': {
    messages: [
      { role: 'system', origin: 'instructions', parts: [text('be terse')] },
      user(text('hi')),
    ],
  },
  'developer message in front': {
    messages: [
      { role: 'developer', origin: 'message', parts: [text('be terse')] },
      user(text('hi')),
    ],
  },
  'system message in mid-conversation': {
    messages: [
      user(text('hi')),
      assistant(text('yes')),
      user(text('continue')),
      { role: 'system', origin: 'message', parts: [text('be terse')] },
    ],
  },
  'image, base64': {
    messages: [user(text('see'), image({ type: 'base64', data: 'iVBORw0=', mime: 'image/png' }))],
  },
  'image, URL': {
    messages: [user(text('see'), image({ type: 'url', url: 'https://example.org/a.png' }))],
  },
  'PDF, base64': {
    messages: [
      user(text('read'), { type: 'media', kind: 'document', source: pdf, filename: 'a.pdf' }),
    ],
  },
  'PDF, URL': {
    messages: [
      user(text('read'), {
        type: 'media',
        kind: 'document',
        source: { type: 'url', url: 'https://example.org/a.pdf' },
      }),
    ],
  },
  'audio input': {
    messages: [
      user(text('hear'), {
        type: 'media',
        kind: 'audio',
        source: { type: 'base64', data: 'UklGRg==', mime: 'audio/wav' },
      }),
    ],
  },
  'function tools': { tools: [lookup] },
  'freeform tools (grammar)': {
    tools: [
      {
        type: 'freeform',
        name: 'patch',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
      },
    ],
  },
  'parallel tool calls and results': { tools: [lookup], messages: loop },
  'tool result that failed': {
    tools: [lookup],
    messages: [user(text('go')), assistant(call('c1')), result('c1', { isError: true })],
  },
  'image in a tool result': {
    tools: [lookup],
    messages: [
      user(text('go')),
      assistant(call('c1')),
      result('c1', { content: [image({ type: 'base64', data: 'iVBORw0=', mime: 'image/png' })] }),
    ],
  },
  'tool choice: one tool, any, none': {
    tools: [lookup],
    toolChoice: { mode: 'tool', kind: 'function', name: 'lookup' },
  },
  'tool choice: some of the tools': {
    tools: [lookup, { ...lookup, name: 'other' }],
    toolChoice: { mode: 'allowed', require: false, tools: [{ kind: 'function', name: 'lookup' }] },
  },
  'no parallel calls': { tools: [lookup], parallelToolCalls: false },
  'reasoning effort': { reasoning: { effort: 'high' } },
  'reasoning budget': {
    maxOutputTokens: 20_000,
    reasoning: { budgetTokens: 4000, mode: 'enabled' },
  },
  'structured output (JSON Schema)': {
    output: { format: { type: 'schema', schema, name: 'result', strict: true } },
  },
  'JSON without a schema': { output: { format: { type: 'json' } } },
  verbosity: { output: { verbosity: 'low' } },
  'temperature up to 1': { sampling: { temperature: 0.5 } },
  'temperature above 1': { sampling: { temperature: 1.5 } },
  'top-p': { sampling: { topP: 0.9 } },
  'top-k': { sampling: { topK: 40 } },
  'frequency and presence penalty': { sampling: { frequencyPenalty: 0.5, presencePenalty: 0.5 } },
  seed: { sampling: { seed: 7 } },
  'logit bias': { sampling: { logitBias: { '50256': -100 } } },
  'stop sequences': { stop: ['END'] },
  'several candidates': { candidateCount: 2 },
  'log probabilities': { logprobs: { enabled: true, top: 2 } },
  'prompt cache breakpoint': {
    messages: [user({ type: 'text', text: 'long', cache: {} }), user(text('hi'))],
  },
  'prompt cache key': { cache: { key: 'k' } },
  'service tier': { serviceTier: { tier: 'priority' } },
  'end-user id': { user: { safetyId: 'user-1' } },
  metadata: { metadata: { a: 'b' } },
  'reference to a stored response': { state: { previousId: 'resp_1' } },
}

/** The finish reason of a response: one row for each. */
export const finishReasons: FinishReason[] = [
  'stop',
  'stop_sequence',
  'length',
  'context_window',
  'tool_calls',
  'content_filter',
  'refusal',
  'pause',
]
