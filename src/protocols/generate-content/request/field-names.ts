import type { FieldNames } from '../../../protocol.ts'
import { errorTable } from '../errors.ts'
import { usageTable } from '../usage.ts'
import { fields } from './fields.ts'

/** Where this wire has a canonical field. */
export const fieldNames: FieldNames = {
  ...fields.names,
  ...usageTable.names,
  ...errorTable.names,
  turns: 'contents',
  'output.format.strict': 'generationConfig/responseMimeType',
  'reasoning.summary': 'generationConfig/thinkingConfig/includeThoughts',
  'reasoning.mode': 'generationConfig/thinkingConfig',
  toolChoice: 'toolConfig/functionCallingConfig',
  'toolChoice.mode': 'toolConfig/functionCallingConfig/mode',
  'toolChoice.name': 'toolConfig/functionCallingConfig/allowedFunctionNames',
  parameters: 'parametersJsonSchema',
  output: 'responseJsonSchema',
  async: 'behavior',
  blockedDomains: 'excludeDomains',
  signature: 'thoughtSignature',
  phase: '',
  ...inside('functionCall', { input: 'args', signature: '../thoughtSignature' }),
  ...inside('functionCallingConfig', { name: 'allowedFunctionNames' }),
  ...inside('functionResponse', {
    callId: 'id',
    isError: 'response',
    signature: '../thoughtSignature',
  }),
  detail: 'mediaResolution',
  video: 'videoMetadata',
  'finish.reason': 'finishReason',
  'finish.details': 'finishReason',
  'finish.message': 'finishMessage',
  // Fields of the response itself, which may be nested in another body.
  ':id': 'responseId',
  ':model': 'modelVersion',
  'response:id': 'responseId',
  'response:model': 'modelVersion',
  createdAt: 'createTime',
  promptBlocked: 'promptFeedback',
  serviceTier: 'usageMetadata/serviceTier',
  'candidates:logprobs': 'logprobsResult',
  'parts:mime': 'inlineData/mimeType',
  'parts:filename': 'inlineData/displayName',
  'parts:logprobs': '../../logprobsResult',
  'parts:citations': '../../groundingMetadata',
  // Objects whose unknown keys are kept under the object's own name.
  'generationConfig/*': '',
  'thinkingConfig/*': '',
  'speechConfig/*': '',
  'voiceConfig/*': '',
  'prebuiltVoiceConfig/*': '',
  'toolConfig/*': '',
  'functionCallingConfig/*': '',
  'inlineData/*': '',
  'fileData/*': '',
  'videoMetadata/*': '',
  'mediaResolution/*': '',
  // The canonical `code` is the reason in `details`; `code` on the wire is the status.
  '0/*': '',
  'groundingMetadata/*': '',
  'groundingChunks/*': '',
  'web/*': '',
  'maps/*': '',
  'image/*': '',
  'retrievedContext/*': '',
  'groundingSupports/*': '',
  'logprobsResult/*': '',
  'chosenCandidates/*': '',
  'topCandidates/*': '',
  'candidates/*': '',
}

/** Fields of a node nested in `holder`, with the name of the holder in both spellings. */
function inside(holder: string, names: FieldNames): FieldNames {
  const other = holder.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  return Object.fromEntries(
    Object.entries(names).flatMap(([field, written]) =>
      [holder, other].map(key => [`${key}:${field}`, written]),
    ),
  )
}
