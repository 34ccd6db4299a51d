import { isObject, type JsonObject } from '../../kit/json/json.ts'
import type { Detection, ProtocolFacts } from '../../protocol.ts'
import { decodeError } from './errors.ts'
import { type GenerateContentOptions, options } from './options.ts'
import { path, protocolName } from './own.ts'
import { fieldNames } from './request/fields.ts'

const ownRequestKeys = [
  'systemInstruction',
  'system_instruction',
  'generationConfig',
  'generation_config',
  'safetySettings',
  'safety_settings',
  'toolConfig',
  'tool_config',
]

/** Signs that a body can only be of this protocol. */
function detect(body: unknown): Detection {
  const only: unknown = Array.isArray(body) ? body[0] : body
  if (!isObject(only)) return { request: [], response: [], event: [] }
  const responseSigns = signsOfResponse(only)
  return {
    request: requestSigns(only),
    response: Array.isArray(body) ? [] : responseSigns,
    event: [],
    ...('contents' in only && { maybe: true }),
  }
}

function requestSigns(body: JsonObject): string[] {
  const { contents, tools } = body
  const signs: string[] = []
  if (
    Array.isArray(contents) &&
    contents.some(content => isObject(content) && Array.isArray(content['parts']))
  )
    signs.push('`contents` have `parts`')
  if (!Array.isArray(contents)) return signs
  for (const key of ownRequestKeys) if (key in body) signs.push(`it has \`${key}\``)
  if (
    Array.isArray(tools) &&
    tools.some(
      tool => isObject(tool) && ('functionDeclarations' in tool || 'function_declarations' in tool),
    )
  )
    signs.push('a tool has `functionDeclarations`')
  return signs
}

/** Signs of a whole response or of a stream event: both look alike. */
function signsOfResponse({ candidates, promptFeedback, usageMetadata }: JsonObject): string[] {
  const signs: string[] = []
  if (Array.isArray(candidates)) signs.push('it has `candidates`')
  if (isObject(promptFeedback)) signs.push('it has `promptFeedback`')
  if (isObject(usageMetadata)) signs.push('it has `usageMetadata`')
  return signs
}

/** What both halves have. */
export const facts: ProtocolFacts<GenerateContentOptions> & { readonly name: typeof protocolName } =
  {
    name: protocolName,
    address: { path },
    optionsKey: 'generateContent',
    options,
    fieldNames,
    detect,
    decodeError,
    resold: { format: 'google-gemini-v1', issuer: protocolName, form: 'thought' },
  }
