import { describe, expect, test } from 'vitest'
import { translateError } from '../../src/index.ts'
import { isOverflowMessage, outputOverflowIn } from '../../src/kit/errors/full-context.ts'

describe('a full context', () => {
  test.each([
    'prompt is too long: 9000 tokens > 8192 maximum',
    'Your input exceeds the context window of this model',
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion)",
    "Requested token count exceeds the model's maximum context length of 8192 tokens",
    "Input length (9000) exceeds model's maximum context length (8192).",
    'The input token count (9000) exceeds the maximum number of tokens allowed (8192)',
    "This model's maximum prompt length is 8192 but the request contains 9000 tokens",
    'Please reduce the length of the messages or completion',
    'Input length 9000 exceeds the maximum allowed input length of 8192 tokens.',
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    'the request exceeds the available context size, try increasing it',
    'tokens to keep from the initial prompt is greater than the context length',
    'prompt token count of 9000 exceeds the limit of 8192',
    'invalid params, context window exceeds limit',
    'Your request exceeded model token limit: 8192 (requested: 9000)',
    'Prompt contains 9000 tokens, too large for model with 8192 maximum context length',
    'prompt too long; exceeded max context length by 808 tokens',
    'The total length of all messages is too long.',
    'Input is too long for requested model',
  ])('is recognized: %s', message => expect(isOverflowMessage(message)).toBe(true))

  test.each([
    'Too many tokens, please wait before trying again.',
    'Rate limit reached for input tokens per minute',
    'model not found',
  ])('is not %s', message => expect(isOverflowMessage(message)).toBe(false))

  const sum =
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion)."
  const vllm =
    "This model's maximum context length is 8192 tokens. However, you requested 1000 output tokens and your prompt contains at least 8000 input tokens, for a total of at least 9000 tokens."

  const sglang =
    "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens: 8000 tokens from the input messages and 1000 tokens for the completion."
  const openRouter = (counts: string) =>
    `This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (${counts}). Please reduce the length of either one.`

  test.each([
    sglang,
    openRouter('8000 of text input, 1000 in the output'),
    openRouter('7000 of text input, 1000 of tool input, 1000 in the output'),
  ])('is recognized for prompt and output together from servers that copy OpenAI: %s', message =>
    expect(outputOverflowIn(message)).toEqual({ input: 8000, output: 1000, limit: 8192 }),
  )

  test.each([sum, vllm, 'input length and `max_tokens` exceed context limit: 8000 + 1000 > 8192'])(
    'is recognized for prompt and output together: %s',
    message =>
      expect(outputOverflowIn(message)).toEqual({ input: 8000, output: 1000, limit: 8192 }),
  )

  test.each([
    "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the messages, 1000 in the completion).",
    'prompt is too long: 9000 tokens > 8192 maximum',
  ])('of the prompt alone is none of both: %s', message =>
    expect(outputOverflowIn(message)).toBeUndefined(),
  )

  const error = (message: string) => ({
    status: 400,
    body: {
      error: {
        message,
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
        param: null,
      },
    },
  })

  test.each([sum, vllm])(
    'of prompt and output has the words of messages, and no untrue ones of generate-content: %s',
    message => {
      const { body } = translateError(error(message), { from: 'chat-completions', to: 'messages' })
      expect(body).toMatchObject({
        error: {
          message:
            'input length and `max_tokens` exceed context limit: 8000 + 1000 > 8192, decrease input length or `max_tokens` and try again',
        },
      })
      expect(
        translateError(error(message), { from: 'chat-completions', to: 'generate-content' }).body,
      ).toMatchObject({ error: { message } })
    },
  )

  test('is written with the code of OpenAI for prompt and output', () => {
    const message = {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'input length and `max_tokens` exceed context limit: 8000 + 1000 > 8192, decrease input length or `max_tokens` and try again',
      },
    }
    for (const to of ['chat-completions', 'responses'] as const)
      expect(
        translateError({ status: 400, body: message }, { from: 'messages', to }).body,
      ).toMatchObject({
        error: {
          code: 'context_length_exceeded',
          message: expect.stringContaining('8000 + 1000 > 8192'),
        },
      })
  })
})
