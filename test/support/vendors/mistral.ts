import { chatServer } from './base/chat.ts'
import { counted, isJson, listOf, type Refusal, type Simulator } from './base/turn.ts'

const fields = [
  'model', 'messages', 'tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'stream', 'temperature', 'top_p', 'n', 'stop', 'random_seed',
  'max_tokens', 'presence_penalty', 'frequency_penalty', 'prediction', 'prompt_mode', 'reasoning_effort', 'safe_prompt',
] // biome-ignore format: one list

const extra = (field: string): Refusal => ({ status: 422, message: `extra ${field}`, param: field })

export const mistral: Simulator = {
  models: ['mistral-medium-3.5', 'magistral-medium-latest', 'codestral-latest'],
  endpoints: [
    chatServer({
      urls: ['https://api.mistral.ai/v1/chat/completions'],
      fields,
      unknown: extra,
      roles: ['system', 'user', 'assistant', 'tool'],
      parts: ['text', 'image_url', 'document_url', 'input_audio', 'thinking'],
      badRole: role => ({ status: 422, message: `role ${role}`, param: 'role' }),
      failure: ({ status, message, param }) =>
        status === 422
          ? {
              detail: [
                {
                  type: 'extra_forbidden',
                  loc: ['body', param],
                  msg: 'Extra inputs are not permitted',
                  input: message,
                },
              ],
            }
          : { object: 'error', message, type: 'invalid_request_error', param: null, code: '3051' },
      refuse(body, model) {
        const messages = listOf(body['messages'])
        const ids = messages.flatMap(({ tool_calls: calls, tool_call_id: id }) => [
          ...listOf(calls).map(call => call['id']),
          ...(id === undefined ? [] : [id]),
        ])
        const bad = ids.find(id => !/^[A-Za-z0-9]{9}$/.test(String(id)))
        if (bad !== undefined)
          return `Tool call id was ${String(bad)} but must be a-z, A-Z, 0-9, with a length of 9.`
        if (
          messages.some(
            (message, at) => message['role'] === 'user' && messages[at - 1]?.['role'] === 'tool',
          )
        )
          return "Unexpected role 'user' after role 'tool'"
        const keys = messages
          .flatMap(message => Object.keys(message))
          .find(
            key =>
              !['role', 'content', 'tool_calls', 'tool_call_id', 'name', 'prefix'].includes(key),
          )
        if (keys) return extra(keys)
        const effort = body['reasoning_effort']
        if (
          effort !== undefined &&
          (model !== 'mistral-medium-3.5' || (effort !== 'none' && effort !== 'high'))
        )
          return { ...extra('reasoning_effort') }
        if (isJson(body['tool_choice'])) return { ...extra('tool_choice') }
        return undefined
      },
      idOf: nth => `abcdefg${nth}`,
      silent: model => model.startsWith('codestral'),
      reason: text => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }),
      reasonOf: ({ content }) =>
        listOf(content)
          .flatMap(({ type, thinking }) =>
            type === 'thinking' ? listOf(thinking).map(({ text }) => String(text)) : [],
          )
          .join(''),
      usageIn: 'finish-chunk',
      usage: () => ({
        prompt_tokens: counted.input,
        completion_tokens: counted.output,
        total_tokens: counted.input + counted.output,
        num_cached_tokens: counted.cached,
      }),
      wholeCall: ({ type: _, ...call }) => call,
      // Whole calls without index and type, no role in a delta, and padding at the top of each
      // chunk.
      callFrames: ({ calls }, frame) =>
        [
          frame({
            tool_calls: calls.map(({ id, name, args }) => ({
              id,
              function: { name, arguments: args },
            })),
          }),
        ].filter(() => calls.length > 0),
      quirks: frames =>
        frames.map(frame =>
          frame.replace('"role":"assistant",', '').replace('"object"', '"p":"abc","object"'),
        ),
    }),
  ],
}
