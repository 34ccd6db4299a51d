import { chatServer, fieldsBut, offered, openaiFailure } from './base/chat.ts'
import { responsesServer } from './base/responses.ts'
import { isJson, type Json, listOf, type Refusal, type Simulator } from './base/turn.ts'

/**
 * By family: may reasoning be switched off, is it on by default, and are tools taken in chat while
 * it is on?
 */
const families: {
  models: RegExp
  reasons: boolean
  none: boolean
  toolsInChat: 'yes' | 'off' | 'no'
}[] = [
  { models: /^gpt-4/, reasons: false, none: false, toolsInChat: 'yes' },
  { models: /^gpt-5\.[1-4]$/, reasons: false, none: true, toolsInChat: 'yes' },
  { models: /^gpt-5\.5/, reasons: true, none: true, toolsInChat: 'yes' },
  {
    models: /^gpt-5\.6|^gpt-6-sol|^gpt-6-luna|^gpt-6\.1-terra/,
    reasons: true,
    none: true,
    toolsInChat: 'off',
  },
  { models: /^gpt-6-astra|^gpt-6\.1-sol/, reasons: true, none: false, toolsInChat: 'no' },
  { models: /^o\d|^gpt-5/, reasons: true, none: false, toolsInChat: 'yes' },
]

const familyOf = (model: string) =>
  families.find(({ models }) => models.test(model)) ?? {
    reasons: false,
    none: false,
    toolsInChat: 'yes' as const,
  }

const sampling = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
]

function refuse(body: Json, model: string, effort: unknown): Refusal | undefined {
  const { reasons, none } = familyOf(model)
  if (effort === 'none' && !none)
    return {
      status: 400,
      message: "Unsupported value: 'reasoning_effort' does not support 'none' with this model.",
      param: 'reasoning_effort',
      code: 'unsupported_value',
    }
  if (effort !== undefined && effort !== 'none' && !reasons && !none)
    return {
      status: 400,
      message: 'Unrecognized request argument supplied: reasoning_effort',
      code: 'unknown_parameter',
    }
  const isOn = effort === undefined ? reasons : effort !== 'none'
  const field = isOn ? sampling.find(key => body[key] !== undefined) : undefined
  return field === undefined
    ? undefined
    : {
        status: 400,
        message: `Unsupported parameter: '${field}' is not supported with this model.`,
        param: field,
        code: 'unsupported_parameter',
      }
}

export const openai: Simulator = {
  models: ['gpt-4.1', 'gpt-5-mini', 'gpt-5.2', 'gpt-5.6-sol', 'gpt-6-astra'],
  endpoints: [
    responsesServer({
      urls: ['https://api.openai.com/v1/responses'],
      isStrict: true,
      silent: model => !familyOf(model).reasons,
      refuse(body, model) {
        const deferred = listOf(body['tools']).some(tool => tool['defer_loading'] === true)
        const searches = listOf(body['tools']).some(({ type }) => type === 'tool_search')
        if (deferred && !searches)
          return {
            status: 400,
            message:
              "Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search.",
            param: 'tools',
          }
        const long = listOf(body['input']).find(
          ({ id, call_id: call }) => String(id ?? '').length > 64 || String(call ?? '').length > 64,
        )
        if (long)
          return {
            status: 400,
            message: 'Expected a string with maximum length 64.',
            code: 'string_above_max_length',
          }
        return refuse(
          body,
          model,
          isJson(body['reasoning']) ? (body['reasoning']['effort'] ?? undefined) : undefined,
        )
      },
    }),
    chatServer({
      urls: ['https://api.openai.com/v1/chat/completions'],
      fields: fieldsBut(),
      unknown: field => ({
        status: 400,
        message: `Unknown parameter: '${field}'.`,
        param: field,
        code: 'unknown_parameter',
      }),
      roles: ['developer', 'system', 'user', 'assistant', 'tool', 'function'],
      failure: openaiFailure,
      silent: () => true,
      refuse(body, model) {
        const { reasons, toolsInChat } = familyOf(model)
        const effort = body['reasoning_effort']
        if (reasons && body['max_tokens'] !== undefined)
          return {
            status: 400,
            message:
              "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            param: 'max_tokens',
            code: 'unsupported_parameter',
          }
        if (
          offered(body).length > 0 &&
          toolsInChat !== 'yes' &&
          (toolsInChat === 'no' || effort !== 'none')
        )
          return {
            status: 400,
            message: `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
            param: 'reasoning_effort',
          }
        const ids = listOf(body['messages']).flatMap(({ tool_calls: calls }) =>
          listOf(calls).map(({ id }) => String(id)),
        )
        if (ids.some(id => id.length > 40))
          return {
            status: 400,
            message: 'Expected a string with maximum length 40.',
            code: 'string_above_max_length',
          }
        const odd = listOf(body['messages'])
          .flatMap(message => Object.keys(message))
          .find(key => /^(reasoning|thinking)/.test(key))
        return odd
          ? {
              status: 400,
              message: `Unknown parameter: 'messages[1].${odd}'.`,
              code: 'unknown_parameter',
            }
          : refuse(body, model, effort)
      },
    }),
  ],
}
