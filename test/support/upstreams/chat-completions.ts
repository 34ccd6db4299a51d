import { chunks, reportedFunction, reportedText } from '../scripted.ts'
import type { Script, Wire } from './index.ts'

const usage = {
  prompt_tokens: 20,
  completion_tokens: 9,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 12 },
  completion_tokens_details: { reasoning_tokens: 4 },
}
const head = { id: 'chatcmpl-1', created: 1_750_000_000, model: 'upstream-model' }

const finishOf = ({ ending, calls }: Script) => {
  if (ending === 'length') return 'length'
  if (ending === 'refusal') return 'stop'
  if (calls) return 'tool_calls'
  return 'stop'
}

export const wire: Wire = {
  path: '/v1/chat/completions',
  response(script) {
    const { text, reasoning, calls, ending } = script
    const message = {
      role: 'assistant',
      content: ending === 'refusal' ? null : (text ?? null),
      refusal: ending === 'refusal' ? text : null,
      ...(reasoning && { reasoning_content: reasoning }),
      ...(calls && {
        tool_calls: calls.map(({ id, name, args, freeform }) =>
          freeform
            ? { id, type: 'custom', custom: { name, input: args } }
            : { id, type: 'function', function: { name, arguments: args } },
        ),
      }),
    }
    return {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(script) }],
      usage,
    }
  },
  stream(script) {
    const { text = '', reasoning = '', calls = [], ending, breaks } = script
    const frame = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }], usage: null })}\n\n`
    const frames = [frame({ role: 'assistant', content: '' })]
    for (const chunk of chunks(reasoning)) frames.push(frame({ reasoning_content: chunk }))
    for (const part of chunks(text))
      frames.push(frame(ending === 'refusal' ? { refusal: part } : { content: part }))
    calls.forEach(({ id, name, freeform }, index) => {
      frames.push(
        frame({
          tool_calls: [
            {
              index,
              id,
              ...(freeform
                ? { type: 'custom', custom: { name, input: '' } }
                : { type: 'function', function: { name, arguments: '' } }),
            },
          ],
        }),
      )
    })
    // Interleaved, as some servers do.
    const rest = calls.map(({ args }) => chunks(args))
    while (rest.some(list => list.length > 0))
      rest.forEach((list, index) => {
        const chunk = list.shift()
        if (chunk !== undefined)
          frames.push(
            frame({
              tool_calls: [
                {
                  index,
                  ...(calls[index]?.freeform
                    ? { custom: { input: chunk } }
                    : { function: { arguments: chunk } }),
                },
              ],
            }),
          )
      })
    if (breaks === 'cut') return frames
    if (breaks === 'error')
      return [
        ...frames,
        `data: ${JSON.stringify({ error: { message: 'Broke down', type: 'server_error', param: null, code: null } })}\n\n`,
      ]
    return [
      ...frames,
      frame({}, finishOf(script)),
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
      'data: [DONE]\n\n',
    ]
  },
  failure: ({ type, message }) => ({ error: { message, type, param: null, code: null } }),
  toolsOf(body) {
    const { tools = [] } = body as {
      tools?: { function?: { name: string; parameters?: unknown }; custom?: { name: string } }[]
    }
    return tools.map(tool =>
      tool.function
        ? reportedFunction(tool.function.name, tool.function.parameters)
        : reportedText(tool.custom?.name),
    )
  },
  echoed: ['id'],
}
