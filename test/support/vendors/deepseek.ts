import { chatServer, isThinkingTurn, openaiFailure } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { counted, isJson, type Json, listOf, type Refusal, type Simulator } from './base/turn.ts'

const thinks = (body: Json) =>
  !(isJson(body['thinking']) && body['thinking']['type'] === 'disabled')

/** Another item between a call and its result, or between two calls of a turn. */
function apart(body: Json): string | undefined {
  let open: unknown[] = []
  for (const { type = 'message', call_id: id } of listOf(body['input'])) {
    if (type === 'function_call') open.push(id)
    else if (type === 'function_call_output') open = open.filter(one => one !== id)
    else if (open.length > 0) return 'An item is between a function call and its output'
  }
  return undefined
}

export const deepseek: Simulator = {
  models: ['deepseek-v4-pro'],
  endpoints: [
    chatServer({
      urls: [
        'https://api.deepseek.com/chat/completions',
        'https://api.deepseek.com/v1/chat/completions',
      ],
      roles: ['system', 'user', 'assistant', 'tool'],
      badRole: (role, at) =>
        `Failed to deserialize the JSON body into the target type: messages[${at}].role: unknown variant \`${role}\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\``,
      parts: ['text'],
      failure: (refusal: Refusal) => openaiFailure({ ...refusal, code: 'invalid_request_error' }),
      refuse(body) {
        // A limit that is not read is as good as none.
        if (body['max_completion_tokens'] !== undefined)
          return 'max_completion_tokens is not read here: the limit is max_tokens'
        if (isJson(body['response_format']) && body['response_format']['type'] === 'json_schema')
          return 'This response_format type is unavailable now'
        const efforts = ['low', 'medium', 'high', 'xhigh', 'max']
        if (
          body['reasoning_effort'] !== undefined &&
          !efforts.includes(String(body['reasoning_effort']))
        )
          return 'reasoning_effort: unknown variant'
        if (!thinks(body)) return undefined
        if (body['tool_choice'] === 'required' || isJson(body['tool_choice']))
          return 'deepseek-reasoner does not support this tool_choice'
        const forgotten = listOf(body['messages']).some(
          message => isThinkingTurn(message) && !message['reasoning_content'],
        )
        return forgotten
          ? 'The `reasoning_content` in the thinking mode must be passed back to the API.'
          : undefined
      },
      idOf: nth => `call_00_${nth}`,
      wholeCall: call => ({ index: 0, ...call }),
      usageIn: 'finish-chunk',
      usage: () => ({
        prompt_tokens: counted.input,
        completion_tokens: counted.output,
        total_tokens: counted.input + counted.output,
        prompt_cache_hit_tokens: counted.cached,
        prompt_cache_miss_tokens: counted.input - counted.cached,
        completion_tokens_details: { reasoning_tokens: counted.reasoning },
      }),
      quirks: frames => [': keep-alive\n\n', ...frames],
    }),
    responsesServer({
      urls: ['https://api.deepseek.com/responses'],
      refuse: apart,
      seals: false,
      itemId: (_, nth) => `00000000-0000-4000-8000-00000000000${nth}`,
    }),
    messagesServer({
      urls: ['https://api.deepseek.com/anthropic/v1/messages'],
      blocks: ['text', 'thinking', 'tool_use', 'tool_result'],
      signs: false,
      midSystem: () => true,
    }),
  ],
}
