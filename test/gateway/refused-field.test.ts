import { describe, expect, test } from 'vitest'
import { refusedField } from '../../src/gateway/upstream/refused-field.ts'

const error = { status: 400, kind: 'invalid_request' as const }

/** The field that a message refuses of a request with this field. */
const fieldIn = (message: string, sent: object, more: object = {}) =>
  refusedField({ ...error, message, ...more }, () => sent)

/** A body with a value at a path such as `a.b`. */
const bodyWith = (path: string): object =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), 1) as object

describe('finds the field', () => {
  test.each([
    ["Unsupported parameter: 'temperature' is not supported with this model.", 'temperature'],
    [
      "Unsupported parameter: 'reasoning_effort'. In the Responses API, this parameter has moved to 'reasoning.effort'. Try again with the new parameter. See the API documentation for more information: https://platform.openai.com/docs/api-reference/responses/create.",
      'reasoning_effort',
    ],
    ["Unknown parameter: 'safety_identifier'.", 'safety_identifier'],
    ['Unrecognized request argument supplied: store', 'store'],
    ['Unrecognized request arguments supplied: store, metadata', 'store'],
    [
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
      'temperature',
    ],
    ['context_management: Extra inputs are not permitted', 'context_management'],
    [
      '[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted"}]',
      'store',
    ],
    [
      "[{'type': 'extra_forbidden', 'loc': ('body', 'store'), 'msg': 'Extra inputs are not permitted', 'input': True}]",
      'store',
    ],
    ["property 'store' is unsupported", 'store'],
    ["property 'body.store' is unsupported", 'store'],
    ["body.store: property 'body.store' is unsupported", 'store'],
    ['Invalid JSON payload received. Unknown name "store": Cannot find field.', 'store'],
    ['`temperature` is deprecated for this model.', 'temperature'],
    ['Model grok-4-1-fast does not support parameter seed.', 'seed'],
    [
      'Failed to deserialize the JSON body: unknown field `store`, expected one of `model`',
      'store',
    ],
    [
      'Failed to deserialize the JSON body into the target type: store: unknown field `store`, expected one of `model`, `messages` at line 1 column 20',
      'store',
    ],
    ['json: unknown field "store"', 'store'],
    ['Unsupported param: logprobs', 'logprobs'],
    [
      "litellm.UnsupportedParamsError: openai does not support parameters: ['verbosity'], for model=tiny. To drop these, set `litellm.drop_params=True` or for proxy:\n\n`litellm_settings:\n drop_params: true`\n. \n If you want to use these params dynamically send allowed_openai_params=['verbosity'] in your request.",
      'verbosity',
    ],
    ["litellm.UnsupportedParamsError: anthropic does not support parameters: ['store']", 'store'],
    [
      "litellm.UnsupportedParamsError: ollama_chat does not support parameters: ['parallel_tool_calls', 'n'], for model=tiny. To drop these, set `litellm.drop_params=True` or for proxy:\n\n`litellm_settings:\n drop_params: true`\n. \n If you want to use these params dynamically send allowed_openai_params=['parallel_tool_calls', 'n'] in your request.. Received Model Group=tiny\nAvailable Model Group Fallbacks=None LiteLLM Retried: 1 times, LiteLLM Max Retries: 2",
      'parallel_tool_calls',
    ],
    [
      "litellm.UnsupportedParamsError: tiny doesn't support `reasoning.effort` (its model cost map entry lacks `supports_reasoning`). To drop unsupported params set `litellm.drop_params = True`",
      'reasoning.effort',
    ],
    [
      "tiny doesn't support `reasoning.effort` (its model cost map entry lacks `supports_reasoning`)",
      'reasoning.effort',
    ],
    [
      'litellm.UnsupportedParamsError: reasoning_effort=xhigh is not supported for this model.',
      'reasoning_effort',
    ],
    [
      "This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again.",
      'toolConfig.toolChoice.any',
    ],
    [
      "This model doesn't support the inferenceConfig.topP field. Remove inferenceConfig.topP and try again.",
      'inferenceConfig.topP',
    ],
  ])('in: %s', (message, field) => {
    expect(fieldIn(message, bodyWith(field))).toEqual({ field })
    expect(fieldIn(message, { model: 'm' }), 'not if it was not sent').toBeUndefined()
  })

  test('in another spelling', () => {
    const message = 'Argument not supported on this model: presencePenalty'
    expect(fieldIn(message, { presence_penalty: 1 })).toEqual({ field: 'presencePenalty' })
  })

  test.each([
    '"tiny" does not support thinking',
    'think value "medium" is not supported for this model',
  ])('that a server means without naming it: %s', message => {
    for (const [field, value] of Object.entries({
      reasoning_effort: 'medium',
      reasoning: { effort: 'medium' },
      think: 'medium',
      thinking: { type: 'enabled', budget_tokens: 1024 },
    }))
      expect(fieldIn(message, { model: 'tiny', [field]: value })).toEqual({ field })
  })

  test.each([
    ['FastAPI', (detail: object) => ({ detail })],
    ['Mistral', (detail: object) => ({ object: 'error', message: { detail } })],
  ])('in the list of faults of %s, whatever the value was', (_, raw) => {
    const fault = (...loc: (string | number)[]) => ({
      type: 'extra_forbidden',
      loc: ['body', ...loc],
      msg: 'Extra inputs are not permitted',
      input: 'Hi there',
    })
    const sent = { store: true, user: 'Hi there', messages: [] }
    const find = (...faults: object[]) => fieldIn('any', sent, { status: 422, raw: raw(faults) })
    expect(find(fault('store'))).toEqual({ field: 'store' })
    expect(find(fault('store'), fault('user'))).toEqual({ field: 'store' })
    expect(find(fault('messages', 0, 'store'))).toBeUndefined()
    expect(find(fault('store'), { ...fault('user'), msg: 'Field required' })).toBeUndefined()
  })
})

describe('finds no field', () => {
  test.each([
    "role 'system' is not supported on this model",
    "Unsupported parameter: 'messages'",
    'Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions.',
    'the model is overloaded',
    "Unsupported parameter: 'previous_response_id'",
    "Unknown parameter: 'response_format'.",
    "Unknown parameter: 'a; drop'",
    // These are in the conversation.
    "This model doesn't support the status field. Remove status and try again.",
    "This model doesn't support the reasoningContent.reasoningText.text field for assistant messages",
    'Unknown name "store" at \'tools[0]\': Cannot find field.',
    'Invalid JSON payload received. Unknown name "store" at \'tools[0]\': Cannot find field.',
    // Without them a request may cost more than its client wants.
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    'max_output_tokens: Extra inputs are not permitted',
    "This model doesn't support the inferenceConfig.maxTokens field. Remove inferenceConfig.maxTokens and try again.",
  ])('in: %s', message => {
    const names = 'messages previous_response_id response_format status store max_tokens'
    const sent = Object.fromEntries(names.split(' ').map(name => [name, 1]))
    expect(
      fieldIn(message, { ...sent, max_output_tokens: 5, inferenceConfig: { maxTokens: 5 } }),
    ).toBeUndefined()
  })

  test('for another status', () => {
    const message = "Unknown parameter: 'store'."
    expect(fieldIn(message, { store: true }, { status: 500 })).toBeUndefined()
  })

  test('when `param` names another field of the request', () => {
    const message = "Unknown parameter: 'store'."
    const sent = { store: true, messages: [] }
    expect(fieldIn(message, sent, { param: 'messages[0].role' })).toBeUndefined()
    expect(fieldIn(message, sent, { param: 'validation_error' })).toEqual({ field: 'store' })
  })
})

describe('does not remember a field', () => {
  const message = "Unknown parameter: 'store'."

  test.each<[string, object]>([
    ['the whole message is a text of the request', { messages: [{ content: message }] }],
    ['the message is a part of a text of the request', { messages: [{ role: `x ${message}` }] }],
    ['its name is a value of the request', { tool_choice: 'store' }],
    ['the message is a key of the request', { metadata: { [message]: 1 } }],
  ])('when %s', (_, more) => {
    expect(fieldIn(message, { store: true, ...more })).toEqual({ field: 'store', once: true })
  })

  test('when only its value is refused', () => {
    const rejection =
      "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'low', 'medium', and 'high'."
    expect(fieldIn(rejection, { reasoning_effort: 'none' })).toEqual({
      field: 'reasoning_effort',
      once: true,
    })
  })

  test('that budgets need', () => {
    const rejection = 'Unrecognized request argument supplied: stream_options'
    expect(fieldIn(rejection, { stream_options: {} })).toEqual({
      field: 'stream_options',
      once: true,
    })
  })

  test('but the name of the model, which all its messages may have, does not matter', () => {
    const rejection = 'Model grok-4 does not support parameter seed.'
    expect(fieldIn(rejection, { model: 'grok-4', seed: 1 })).toEqual({ field: 'seed' })
  })
})
