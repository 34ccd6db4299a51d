import { chatServer, has } from './base/chat.ts'
import type { Simulator } from './base/turn.ts'

export const perplexity: Simulator = {
  models: ['sonar-pro'],
  endpoints: [
    chatServer({
      urls: ['https://api.perplexity.ai/chat/completions'],
      failure: ({ message, status }) => ({ error: { message, type: 'bad_request', code: status } }),
      refuse(body) {
        const foreign = has(
          body,
          'tools',
          'tool_choice',
          'parallel_tool_calls',
          'max_completion_tokens',
          'seed',
          'stop',
          'top_k',
        )
        return foreign && `${foreign} is not supported`
      },
      silent: () => true,
      usageIn: 'every-chunk',
      // A whole message next to the delta, an object of its own at the end, and no [DONE].
      quirks: frames =>
        frames
          .slice(0, -1)
          .map((frame, at, all) =>
            (at === all.length - 1
              ? frame.replace('chat.completion.chunk', 'chat.completion.done')
              : frame
            ).replace(
              '"finish_reason"',
              '"message":{"role":"assistant","content":"All"},"finish_reason"',
            ),
          ),
    }),
  ],
}
