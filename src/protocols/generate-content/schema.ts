import * as z from 'zod/mini'
import {
  anyObject,
  anything,
  count,
  flag,
  number,
  others,
  string,
  text,
  texts,
  whole,
} from '../../kit/schema/wire.ts'

/**
 * Shapes as in the public API reference, in camelCase (`spelling.ts` converts snake_case). Loose: a
 * new field must never break an old client.
 */

const blob = z.looseObject({ mimeType: text, data: string, displayName: text })
const file = z.looseObject({ fileUri: string, mimeType: text, displayName: text })

/** Fields that a part of any kind may have. */
const beside = {
  thought: flag,
  thoughtSignature: text,
}

const functionCall = z.looseObject({
  name: text,
  // Some servers write the text of the object.
  args: z.union([anyObject, string]),
  id: text,
})
const functionResponse = z.looseObject({
  name: text,
  response: anyObject,
  id: text,
  parts: z.nullish(
    z.array(
      z.union([
        z.looseObject({ inlineData: blob }),
        z.looseObject({ fileData: file }),
        z.looseObject({}),
      ]),
    ),
  ),
})

const textPart = z.looseObject({ ...beside, text: string })
const call = z.looseObject({ ...beside, functionCall })
const result = z.looseObject({ ...beside, functionResponse })
const media = {
  videoMetadata: z.nullish(z.looseObject({ startOffset: text, endOffset: text, fps: count })),
  mediaResolution: z.nullish(z.looseObject({ level: text })),
}
const inline = z.looseObject({ ...beside, ...media, inlineData: blob })
const stored = z.looseObject({ ...beside, ...media, fileData: file })
const code = z.looseObject({
  ...beside,
  executableCode: z.looseObject({ language: text, code: text, id: text }),
})
const output = z.looseObject({
  ...beside,
  codeExecutionResult: z.looseObject({ outcome: text, output: text, id: text }),
})
const toolCall = z.looseObject({
  ...beside,
  toolCall: z.looseObject({ id: text, toolType: text, args: anyObject }),
})
const toolResponse = z.looseObject({
  ...beside,
  toolResponse: z.looseObject({ id: text, toolType: text, response: anyObject }),
})

const kinds = {
  text: textPart,
  functionCall: call,
  functionResponse: result,
  inlineData: inline,
  fileData: stored,
  executableCode: code,
  codeExecutionResult: output,
  toolCall,
  toolResponse,
}
type Kinds = { [Key in keyof typeof kinds]: z.infer<(typeof kinds)[Key]> }
export type GenerateContentKind = keyof Kinds

/** A part of any kind, as it is on the wire. */
export type GenerateContentPart = {
  [key: string]: unknown
  thought?: boolean | null | undefined
  thoughtSignature?: string | null | undefined
}
export type GenerateContentPartOf<Key extends GenerateContentKind> = Kinds[Key]

/**
 * A part of an unknown kind, or of none. A part of a known kind that does not match its schema is
 * refused.
 */
const other = z
  .looseObject(beside)
  .check(
    others(part => !Object.keys(kinds).some(key => Object.hasOwn(part, key) && part[key] != null)),
  )

export const GenerateContentPart = z.union([
  textPart,
  call,
  result,
  inline,
  stored,
  code,
  output,
  toolCall,
  toolResponse,
  other,
])

/** Only for parts that `GenerateContentPart` has checked. */
export function isPartOf<Key extends GenerateContentKind>(
  part: GenerateContentPart,
  key: Key,
): part is GenerateContentPartOf<Key> & GenerateContentPart {
  return part[key] != null
}

/** A turn of the conversation. */
export const GenerateContentContent = z.looseObject({
  role: text,
  parts: z.nullish(z.array(GenerateContentPart)),
})
export type GenerateContentContent = z.infer<typeof GenerateContentContent>

const declaration = z.looseObject({
  name: string,
  description: text,
  parameters: anyObject,
  parametersJsonSchema: anything,
  response: anyObject,
  responseJsonSchema: anything,
  behavior: text,
})
export type GenerateContentDeclaration = z.infer<typeof declaration>

/** One entry may declare several tools. */
export const GenerateContentTool = z.looseObject({
  functionDeclarations: z.nullish(z.array(declaration)),
  googleSearch: anyObject,
  urlContext: anyObject,
  codeExecution: anyObject,
})
export type GenerateContentTool = z.infer<typeof GenerateContentTool>

const toolConfig = z.looseObject({
  functionCallingConfig: z.nullish(z.looseObject({ mode: text, allowedFunctionNames: texts })),
})
export type GenerateContentToolConfig = z.infer<typeof toolConfig>

const thinkingConfig = z.looseObject({
  includeThoughts: flag,
  thinkingBudget: whole,
  thinkingLevel: text,
})

export const GenerateContentGenerationConfig = z.looseObject({
  temperature: count,
  topP: count,
  topK: count,
  candidateCount: whole,
  maxOutputTokens: whole,
  stopSequences: texts,
  presencePenalty: count,
  frequencyPenalty: count,
  seed: whole,
  responseLogprobs: flag,
  logprobs: whole,
  responseMimeType: text,
  responseSchema: anyObject,
  responseJsonSchema: anything,
  responseModalities: texts,
  mediaResolution: text,
  speechConfig: anyObject,
  thinkingConfig: z.nullish(thinkingConfig),
})
export type GenerateContentGenerationConfig = z.infer<typeof GenerateContentGenerationConfig>

/**
 * Body of POST …:generateContent and …:streamGenerateContent, in camelCase. The model is in the
 * path, and may be here, too.
 */
export const GenerateContentRequest = z.looseObject({
  model: text,
  contents: z.array(GenerateContentContent),
  systemInstruction: z.nullish(GenerateContentContent),
  /** Servers accept a single entry instead of a list. */
  tools: z.nullish(z.union([z.array(GenerateContentTool), GenerateContentTool])),
  toolConfig: z.nullish(toolConfig),
  safetySettings: z.nullish(z.array(z.looseObject({ category: text, threshold: text }))),
  generationConfig: z.nullish(GenerateContentGenerationConfig),
  cachedContent: text,
  serviceTier: text,
  store: flag,
  labels: z.nullish(z.record(string, string)),
  continuationToken: text,
})
export type GenerateContentRequest = z.infer<typeof GenerateContentRequest>

// ---- responses

const details = z.nullish(z.array(z.looseObject({ tokenCount: count })))

export const GenerateContentUsage = z.looseObject({
  promptTokenCount: count,
  cachedContentTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: count,
  toolUsePromptTokenCount: count,
  totalTokenCount: count,
  promptTokensDetails: details,
  candidatesTokensDetails: details,
  serviceTier: text,
})
export type GenerateContentUsage = z.infer<typeof GenerateContentUsage>

const logprob = z.looseObject({
  token: z.optional(string),
  tokenId: count,
  logProbability: z.optional(number),
})
export type GenerateContentLogprob = z.infer<typeof logprob>

export const GenerateContentCandidate = z.looseObject({
  content: z.nullish(GenerateContentContent),
  /** Some hosts write enum values as numbers on request. */
  finishReason: z.nullish(z.union([string, number])),
  finishMessage: text,
  index: count,
  tokenCount: count,
  avgLogprobs: count,
  logprobsResult: z.nullish(
    z.looseObject({
      chosenCandidates: z.nullish(z.array(logprob)),
      topCandidates: z.nullish(z.array(z.looseObject({ candidates: z.nullish(z.array(logprob)) }))),
    }),
  ),
  safetyRatings: z.nullish(z.array(z.looseObject({}))),
  citationMetadata: z.nullish(z.looseObject({})),
  groundingMetadata: z.nullish(
    z.looseObject({
      webSearchQueries: texts,
      groundingChunks: z.nullish(
        z.array(z.looseObject({ web: z.nullish(z.looseObject({ uri: text, title: text })) })),
      ),
      groundingSupports: z.nullish(
        z.array(
          z.looseObject({
            segment: z.nullish(
              z.looseObject({ partIndex: count, startIndex: count, endIndex: count, text: text }),
            ),
            groundingChunkIndices: z.nullish(z.array(number)),
          }),
        ),
      ),
    }),
  ),
  urlContextMetadata: z.nullish(z.looseObject({})),
  continuationToken: text,
})
export type GenerateContentCandidate = z.infer<typeof GenerateContentCandidate>

/** A whole response, and each event of a streamed one. */
export const GenerateContentResponse = z.looseObject({
  candidates: z.nullish(z.array(GenerateContentCandidate)),
  promptFeedback: z.nullish(
    z.looseObject({
      blockReason: text,
      blockReasonMessage: text,
      safetyRatings: z.nullish(z.array(z.looseObject({}))),
    }),
  ),
  usageMetadata: z.nullish(GenerateContentUsage),
  modelVersion: text,
  responseId: text,
  createTime: text,
})
export type GenerateContentResponse = z.infer<typeof GenerateContentResponse>

// ---- errors and events

// Only for users of the schemas: the decoder checks each event by hand, because it reports or
// repairs what these schemas refuse.

/** The body of an error response, and the last event of a failed stream. */
export const GenerateContentErrorResponse = z.looseObject({
  error: z.looseObject({
    code: count,
    message: text,
    status: text,
    details: z.nullish(z.array(z.looseObject({}))),
  }),
})
export type GenerateContentErrorResponse = z.infer<typeof GenerateContentErrorResponse>

/** The data of one event of a stream: a response with what is new, or an error. */
export const GenerateContentStreamEvent = z.union([
  GenerateContentErrorResponse,
  GenerateContentResponse.check(others(event => event['error'] == null)),
])
export type GenerateContentStreamEvent = z.infer<typeof GenerateContentStreamEvent>
