import { without } from '../kit/json/json.ts'
import { changed } from './call.ts'
import { messagesPath, ownMembers, withError } from './claude.ts'
import { baseBefore, objectOfMembers, takeMembers, type Wrapping } from './wrapping.ts'

/**
 * The version of the body. Source:
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude
 */
const version = 'vertex-2023-10-16'

/**
 * Messages as Vertex AI takes them for Claude: the model in the path, its version in the body.
 * Streams are those of the messages protocol.
 */
export const rawPredict: Wrapping = call => {
  const base = baseBefore(call.url, messagesPath)
  const parts = base === undefined ? undefined : takeMembers(call.body, ownMembers)
  if (base === undefined || !parts) return undefined
  const { taken, others } = parts
  const isCounting = new URL(call.url).pathname.endsWith('/count_tokens')
  const model = String(taken['model'])
  const added = {
    anthropic_version: taken['anthropic_version'] ?? version,
    ...(isCounting && { model }),
    ...(taken['stream'] !== undefined && { stream: taken['stream'] }),
    ...(taken['anthropic_beta'] !== undefined && { anthropic_beta: taken['anthropic_beta'] }),
  }
  const action = taken['stream'] === true ? 'streamRawPredict' : 'rawPredict'
  const named = isCounting ? 'count-tokens' : encodeURIComponent(model).replaceAll('%40', '@')
  const url = `${base}/models/${named}:${action}`
  return {
    call: changed(call, {
      url,
      headers: without(call.headers, ['anthropic-version']),
      body: objectOfMembers(added, others),
    }),
    unwrap: async response => (response.status >= 400 ? withError(response) : response),
  }
}
