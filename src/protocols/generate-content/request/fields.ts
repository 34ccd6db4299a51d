import { fieldTable, type InCode, rowFor } from '../../../kit/fields/fields.ts'
import type { FieldNames } from '../../../protocol.ts'
import type { RequestWriting } from '../content/writing.ts'
import { errorTable } from '../errors.ts'
import { usageTable } from '../usage.ts'
import { modalityOf, thinkingLevel, tierWords } from '../vocabulary.ts'
import type { GenerateContentBody } from '../written.ts'
import {
  encodeLimit,
  encodeModalities,
  encodePenalty,
  encodeSeed,
  encodeStop,
  encodeTier,
  encodeTopK,
  encodeVoice,
  onlyOwn,
  reference,
} from './settings.ts'

const code = { read: false, write: false } as const
const row = rowFor<RequestWriting, GenerateContentBody>()

const empty = (value: unknown) => (value as string | unknown[]).length === 0
/** An empty string or list means absence. */
const filled = <T>(value: unknown) => (empty(value) ? null : (value as T))

const inCode: InCode = {
  wire: [
    'contents',
    'systemInstruction',
    'tools',
    ...['responseSchema', 'responseJsonSchema', '_responseJsonSchema', 'responseFormat'].map(
      key => `generationConfig/${key}`,
    ),
  ],
  fields: ['tools', 'parallelToolCalls', 'reasoning.mode', 'reasoning.summary', 'state', 'stream'],
}

/** The request fields that hold one value. */
export const fields = fieldTable<RequestWriting>(inCode, [
  // In most requests only the path names it.
  row('model', 'model', {
    read: name => filled((name as string).replace(/^models\//, '')),
    write: false,
  }),
  row('toolConfig', 'toolChoice', code),
  row('generationConfig/responseMimeType', 'output.format', code),
  row('safetySettings', 'safety.settings', { read: filled, write: onlyOwn }),
  row('generationConfig/temperature', 'sampling.temperature'),
  row('generationConfig/topP', 'sampling.topP'),
  // Vertex AI accepts a fraction; the other protocols refuse one.
  row('generationConfig/topK', 'sampling.topK', {
    read: value => (Number.isInteger(value) ? (value as number) : undefined),
    write: encodeTopK,
  }),
  row('generationConfig/frequencyPenalty', 'sampling.frequencyPenalty', { write: encodePenalty }),
  row('generationConfig/presencePenalty', 'sampling.presencePenalty', { write: encodePenalty }),
  row('generationConfig/seed', 'sampling.seed', { write: encodeSeed }),
  row('generationConfig/maxOutputTokens', 'maxOutputTokens', { write: encodeLimit }),
  row('generationConfig/stopSequences', 'stop', { read: filled, write: encodeStop }),
  row('generationConfig/candidateCount', 'candidateCount'),
  row('generationConfig/responseLogprobs', 'logprobs.enabled'),
  row('generationConfig/logprobs', 'logprobs.top', {
    read: (top, config) => (config['responseLogprobs'] == null ? undefined : (top as number)),
  }),
  row('generationConfig/responseModalities', 'output.modalities', {
    read: words => (empty(words) ? null : (words as string[]).map(modalityOf)),
    write: encodeModalities,
  }),
  row('generationConfig/speechConfig/voiceConfig/prebuiltVoiceConfig/voiceName', 'output.audio', {
    read: voice => (typeof voice === 'string' && voice ? { voice } : undefined),
    write: encodeVoice,
  }),
  row('generationConfig/thinkingConfig/includeThoughts', 'reasoning.display', {
    read: isShown => (isShown ? 'summarized' : 'omitted'),
    write: display => display === 'summarized',
  }),
  row('generationConfig/thinkingConfig/thinkingBudget', 'reasoning.budgetTokens'),
  row('generationConfig/thinkingConfig/thinkingLevel', 'reasoning.effort', {
    read: level => thinkingLevel.toOurs((level as string).toUpperCase()),
    write: effort => thinkingLevel.toWire(effort) ?? effort,
  }),
  row('cachedContent', 'cache.contentRef', { read: filled, write: reference }),
  row('serviceTier', 'serviceTier.tier', {
    read: word => filled(tierWords.toOurs(word as string) ?? (word as string)),
    write: encodeTier,
  }),
  row('labels', 'metadata', {
    write: (labels, writing, field) =>
      writing.options.labels ? labels : onlyOwn(labels, writing, field),
  }),
  row('store', 'state.store'),
  row('continuationToken', 'state.continuationToken', { read: filled, write: reference }),
])

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
