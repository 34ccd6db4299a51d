import { chatServer, fieldsBut } from './base/chat.ts'
import { googleServer } from './base/generate-content.ts'
import { isJson, type Json, listOf, type Simulator } from './base/turn.ts'

/** What a generation of Gemini refuses. */
export function refusedByGemini(body: Json, model: string): string | undefined {
  const isOld = /^gemini-2/.test(model)
  const config = isJson(body['generationConfig']) ? body['generationConfig'] : {}
  const thinking = isJson(config['thinkingConfig']) ? config['thinkingConfig'] : {}
  if (thinking['thinkingBudget'] !== undefined && thinking['thinkingLevel'] !== undefined)
    return 'You can only set only one of thinking budget and thinking level.'
  if (isOld && thinking['thinkingLevel'] !== undefined)
    return 'Thinking level is not supported for this model.'
  if (model.includes('2.5-pro') && thinking['thinkingBudget'] === 0)
    return 'Budget 0 is invalid. This model only works in thinking mode.'
  if (/3(\.\d)?-pro/.test(model) && String(thinking['thinkingLevel']).toLowerCase() === 'minimal')
    return 'Thinking level MINIMAL is not supported for this model.'
  const responses = listOf(body['contents']).flatMap(({ parts }) =>
    listOf(parts).flatMap(({ functionResponse: one }) => (isJson(one) ? [one] : [])),
  )
  if (isOld && responses.some(one => one['parts'] !== undefined))
    return 'Multimodal function responses are not supported for this model.'
  const tools = listOf(body['tools'])
  const functions = tools.flatMap(({ functionDeclarations: list }) => listOf(list))
  if (functions.length > 512) return 'at most 512 function declarations'
  const isForced = isJson(body['toolConfig']) && isJson(body['toolConfig']['functionCallingConfig'])
  if (isForced && functions.length === 0)
    return 'Function calling config is set without function_declarations.'
  const runsTools = tools.some(tool =>
    Object.keys(tool).some(key => key !== 'functionDeclarations'),
  )
  return isOld && runsTools && functions.length > 0
    ? 'Tool use with function calling is unsupported'
    : undefined
}

export const gemini: Simulator = {
  models: ['gemini-3-pro-preview', 'gemini-3.5-flash', 'gemini-2.5-pro', 'gemini-2.5-flash'],
  endpoints: [
    googleServer({
      base: /^https:\/\/generativelanguage\.googleapis\.com\/v1(beta|alpha)?$/,
      auth: 'google',
      refuse: refusedByGemini,
      signs: model => !/^gemini-2/.test(model),
    }),
    chatServer({
      urls: ['https://generativelanguage.googleapis.com/v1beta/openai/chat/completions'],
      fields: fieldsBut(
        'store',
        'metadata',
        'safety_identifier',
        'prompt_cache_key',
        'prompt_cache_retention',
        'prompt_cache_options',
        'logit_bias',
        'moderation',
      ).concat('extra_body'),
      unknown: field =>
        `Invalid JSON payload received. Unknown name "${field}": Cannot find field.`,
      failure: ({ status, message }) => [
        { error: { code: status, message, status: 'INVALID_ARGUMENT' } },
      ],
      silent: () => true,
      callFrames: ({ nth, calls }, frame) =>
        calls.map(({ name, args }, index) =>
          frame({
            tool_calls: [
              {
                index,
                id: '',
                type: 'function',
                function: { name, arguments: args },
                ...(index === 0 && {
                  extra_content: { google: { thought_signature: `c2ln${nth}` } },
                }),
              },
            ],
          }),
        ),
    }),
  ],
}
