import type { Place } from '../../../canonical/message.ts'
import { type JsonObject, setOwn } from '../../../kit/json/json.ts'
import { refuseTooDeep } from '../../../kit/json/wrong-input.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { FieldNames } from '../../../protocol.ts'
import { protocolName } from '../own.ts'
import { fieldNames } from './fields.ts'

/**
 * Servers of this protocol read field names in camelCase and in snake_case, and clients send
 * either. Codecs know only camelCase: a body is converted before it is read. `snake`: JSON
 * pointers, in camelCase, to the fields that were in snake_case.
 */
export type Spelling = { wire: unknown; snake: string[] }

/** Field names of two or more words, which are read in both spellings. */
const fields = `
  systemInstruction toolConfig safetySettings generationConfig cachedContent serviceTier continuationToken
  functionCall functionResponse inlineData fileData executableCode codeExecutionResult toolCall toolResponse thoughtSignature
  videoMetadata mediaResolution partMetadata audioTranscription mediaProcessing speechMetadata mimeType fileUri displayName
  startOffset endOffset toolType willContinue partialArgs functionDeclarations parametersJsonSchema responseJsonSchema
  googleSearch googleSearchRetrieval enterpriseWebSearch exaAiSearch parallelAiSearch urlContext codeExecution fileSearch googleMaps
  computerUse mcpServers functionCallingConfig allowedFunctionNames retrievalConfig latLng languageCode
  includeServerSideToolInvocations streamFunctionCallArguments topP topK candidateCount maxOutputTokens stopSequences
  presencePenalty frequencyPenalty responseLogprobs responseMimeType responseSchema responseFormat responseModalities speechConfig
  imageConfig thinkingConfig includeThoughts thinkingBudget thinkingLevel anyOf minItems maxItems minLength maxLength minProperties
  maxProperties propertyOrdering voiceConfig prebuiltVoiceConfig voiceName aspectRatio imageSize
  promptFeedback usageMetadata modelVersion responseId createTime blockReason blockReasonMessage safetyRatings finishReason
  finishMessage tokenCount avgLogprobs logprobsResult citationMetadata groundingMetadata urlContextMetadata chosenCandidates
  topCandidates logProbability tokenId webSearchQueries searchEntryPoint groundingChunks groundingSupports groundingChunkIndices
  partIndex startIndex endIndex promptTokenCount cachedContentTokenCount candidatesTokenCount thoughtsTokenCount
  toolUsePromptTokenCount totalTokenCount promptTokensDetails candidatesTokensDetails cacheTokensDetails renderedContent
`
const camel = new Map(
  flatMap(fields.split(/\s+/), field => (field ? [[snakeOf(field), field] as const] : [])),
)

function snakeOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** Names below these keys are the caller's own and stay as they are. */
const ownNames = new Set([
  'args',
  'partMetadata',
  'labels',
  'parametersJsonSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'default',
  'example',
])

/** The keys directly below these are the caller's own, but their values have fields again. */
const ownKeys = new Set(['properties', 'defs', '$defs'])

/** @throws TranslationError `malformed` for a body that is too deep */
export function inCamelCase(wire: unknown): Spelling {
  const snake: string[] = []
  return { wire: respelled(wire, '', { snake, inDeclaration: false, hasOwnKeys: false }, 0), snake }
}

type Walk = { snake: string[]; inDeclaration: boolean; hasOwnKeys: boolean }

/**
 * Copies only objects in which a field is renamed, and those around them: most bodies have none.
 */
function respelled(value: unknown, at: Place, walk: Walk, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  refuseTooDeep(depth, protocolName)
  return Array.isArray(value)
    ? respelledList(value, at, walk, depth)
    : respelledObject(value as JsonObject, at, walk, depth)
}

function respelledList(value: unknown[], at: Place, walk: Walk, depth: number): unknown[] {
  let list: unknown[] | undefined
  for (let i = 0; i < value.length; i++) {
    const inner: unknown = respelled(value[i], below(at, i), walk, depth + 1)
    if (inner === value[i]) continue
    list ??= [...value]
    list[i] = inner
  }
  return list ?? value
}

function respelledObject(from: JsonObject, at: Place, walk: Walk, depth: number): JsonObject {
  let written: JsonObject | undefined
  for (const key in from) {
    const known = walk.hasOwnKeys ? undefined : camel.get(key)
    // If a field is present in both spellings, camelCase counts.
    const field = known !== undefined && !Object.hasOwn(from, known) ? known : key
    if (field !== key) walk.snake.push(pointerOf(below(at, field)))
    const before = from[key]
    const inner =
      typeof before === 'object' && before !== null
        ? respelledField(field, before, at, walk, depth + 1)
        : before
    if (!written && (field !== key || inner !== before)) written = upTo(from, key)
    if (written) setOwn(written, field, inner)
  }
  return written ?? from
}

/** The value of a field, unless it is the caller's own. */
function respelledField(
  field: string,
  value: object,
  at: Place,
  walk: Walk,
  depth: number,
): unknown {
  const inDeclaration = walk.inDeclaration || field === 'functionDeclarations'
  // `response` of a result is the caller's own; `response` of a declaration is a schema.
  if (!walk.hasOwnKeys && (ownNames.has(field) || (field === 'response' && !inDeclaration)))
    return value
  const hasOwnKeys = !walk.hasOwnKeys && ownKeys.has(field)
  const isAlike = inDeclaration === walk.inDeclaration && hasOwnKeys === walk.hasOwnKeys
  return respelled(
    value,
    below(at, field),
    isAlike ? walk : { snake: walk.snake, inDeclaration, hasOwnKeys },
    depth,
  )
}

/** A copy of the fields before this one. */
function upTo(from: JsonObject, end: string): JsonObject {
  const copy: JsonObject = {}
  for (const key in from) {
    if (key === end) break
    setOwn(copy, key, from[key])
  }
  return copy
}

/**
 * Pointers in camelCase → pointers into the body as received. Both begin with `root`, the pointer
 * to the body.
 */
export function placesOf({ snake }: Spelling, root: string): (at: Place) => Place {
  if (snake.length === 0) return at => at
  const known = new Set(snake)
  return at => {
    const pointer = pointerOf(at)
    let place = ''
    let written = root
    for (const key of pointer.slice(root.length).split('/').slice(1)) {
      place += `/${key}`
      written += `/${known.has(place) ? snakeOf(key) : key}`
    }
    return written
  }
}

/** The field names of this body that differ from the table: `names`, and those in snake_case. */
export function inSpelling(names: FieldNames, { snake }: Spelling): FieldNames {
  const changed = { ...names }
  if (snake.length === 0) return changed
  const words = new Set(snake.map(place => place.slice(place.lastIndexOf('/') + 1)))
  for (const word of words)
    for (const field of fieldsWith.get(word) ?? [])
      if (!Object.hasOwn(names, field)) respellField(field, fieldNames[field] ?? '')
  for (const field in names) respellField(field, names[field] ?? '')
  return changed

  function respellField(field: string, written: string): void {
    const place = placeIn(field, written)
    const respelled = place
      .split('/')
      .map(key => (words.has(key) ? snakeOf(key) : key))
      .join('/')
    if (respelled !== place) changed[field] = respelled
  }
}

/** The row of a known object that holds unknown fields is named by the object. */
const placeIn = (field: string, written: string) =>
  field.endsWith('/*') ? field.slice(0, -2) : written

/**
 * By key: the fields of the table whose path contains it. Computed once, because going through the
 * whole table took a twentieth of the time of a request.
 */
const fieldsWith = new Map<string, string[]>()
for (const [field, written] of Object.entries(fieldNames))
  for (const key of placeIn(field, written).split('/'))
    fieldsWith.set(key, [...(fieldsWith.get(key) ?? []), field])
