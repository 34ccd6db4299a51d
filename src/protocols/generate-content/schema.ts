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
import type { Written } from '../../kit/schema/written.ts'

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

const functionCall = z.looseObject({ name: text, args: anyObject, id: text })
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

/** A part of any kind, as it is on the wire. */
export type GeminiPart = {
  [key: string]: unknown
  thought?: boolean | null | undefined
  thoughtSignature?: string | null | undefined
}
export type GeminiPartOf<Key extends keyof Kinds> = Kinds[Key]

/**
 * A part of an unknown kind, or of none. A part of a known kind that does not match its schema is
 * refused.
 */
const other = z
  .looseObject(beside)
  .check(
    others(part => !Object.keys(kinds).some(key => Object.hasOwn(part, key) && part[key] != null)),
  )

export const GeminiPart = z.union([
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

/** Only for parts that `GeminiPart` has checked. */
export function isPartOf<Key extends keyof Kinds>(
  part: GeminiPart,
  key: Key,
): part is GeminiPartOf<Key> & GeminiPart {
  return part[key] != null
}

/** A turn of the conversation. */
export const GeminiContent = z.looseObject({ role: text, parts: z.nullish(z.array(GeminiPart)) })
export type GeminiContent = z.infer<typeof GeminiContent>

const declaration = z.looseObject({
  name: string,
  description: text,
  parameters: anyObject,
  parametersJsonSchema: anything,
  response: anyObject,
  responseJsonSchema: anything,
  behavior: text,
})
export type GeminiDeclaration = z.infer<typeof declaration>

/** One entry may declare several tools. */
export const GeminiTool = z.looseObject({
  functionDeclarations: z.nullish(z.array(declaration)),
  googleSearch: anyObject,
  urlContext: anyObject,
  codeExecution: anyObject,
})
export type GeminiTool = z.infer<typeof GeminiTool>

const toolConfig = z.looseObject({
  functionCallingConfig: z.nullish(z.looseObject({ mode: text, allowedFunctionNames: texts })),
})
export type GeminiToolConfig = z.infer<typeof toolConfig>

const thinkingConfig = z.looseObject({
  includeThoughts: flag,
  thinkingBudget: whole,
  thinkingLevel: text,
})

export const GeminiGenerationConfig = z.looseObject({
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
export type GeminiGenerationConfig = z.infer<typeof GeminiGenerationConfig>

/**
 * Body of POST …:generateContent and …:streamGenerateContent, in camelCase. The model is in the
 * path, and may be here, too.
 */
export const GeminiRequest = z.looseObject({
  model: text,
  contents: z.array(GeminiContent),
  systemInstruction: z.nullish(GeminiContent),
  /** Servers accept a single entry instead of a list. */
  tools: z.nullish(z.union([z.array(GeminiTool), GeminiTool])),
  toolConfig: z.nullish(toolConfig),
  safetySettings: z.nullish(z.array(z.looseObject({ category: text, threshold: text }))),
  generationConfig: z.nullish(GeminiGenerationConfig),
  cachedContent: text,
  serviceTier: text,
  store: flag,
  labels: z.nullish(z.record(string, string)),
  continuationToken: text,
})
export type GeminiRequest = z.infer<typeof GeminiRequest>

// ---- responses

const details = z.nullish(z.array(z.looseObject({ tokenCount: count })))

export const GeminiUsage = z.looseObject({
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
export type GeminiUsage = z.infer<typeof GeminiUsage>

const logprob = z.looseObject({
  token: z.optional(string),
  tokenId: count,
  logProbability: z.optional(number),
})
export type GeminiLogprob = z.infer<typeof logprob>

export const GeminiCandidate = z.looseObject({
  content: z.nullish(GeminiContent),
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
export type GeminiCandidate = z.infer<typeof GeminiCandidate>

/** A whole response, and each event of a streamed one. */
export const GeminiResponse = z.looseObject({
  candidates: z.nullish(z.array(GeminiCandidate)),
  promptFeedback: z.nullish(
    z.looseObject({
      blockReason: text,
      blockReasonMessage: text,
      safetyRatings: z.nullish(z.array(z.looseObject({}))),
    }),
  ),
  usageMetadata: z.nullish(GeminiUsage),
  modelVersion: text,
  responseId: text,
  createTime: text,
})
export type GeminiResponse = z.infer<typeof GeminiResponse>

// ---- what is written

type WrittenOf<Key extends keyof Kinds & keyof GeminiPartOf<Key>> = Written<GeminiPartOf<Key>[Key]>

/** A part of any kind. Its kind is the key that it has, so all are optional. */
export type GeminiWrittenPart = {
  text?: string
  functionCall?: WrittenOf<'functionCall'>
  functionResponse?: Omit<WrittenOf<'functionResponse'>, 'parts'> & { parts?: GeminiWrittenPart[] }
  inlineData?: WrittenOf<'inlineData'>
  fileData?: WrittenOf<'fileData'>
  thought?: boolean
  thoughtSignature?: string
  mediaResolution?: { level?: string }
  videoMetadata?: { startOffset?: string; endOffset?: string; fps?: number }
}
export type GeminiWrittenContent = { role?: string; parts: GeminiWrittenPart[] }

export type GeminiWrittenDeclaration = Written<GeminiDeclaration>
/** Those of the server have the key of their kind. */
export type GeminiWrittenTool = {
  functionDeclarations?: GeminiWrittenDeclaration[]
  googleSearch?: { excludeDomains?: string[] }
  urlContext?: object
  codeExecution?: object
  fileSearch?: object
  googleMaps?: object
  computerUse?: object
  mcpServers?: {
    name: string
    streamableHttpTransport: { url: string; headers?: Record<string, string> }
  }[]
}
export type GeminiCalling = { mode?: string; allowedFunctionNames?: string[] }
export type GeminiWrittenToolConfig = {
  functionCallingConfig?: GeminiCalling
  includeServerSideToolInvocations?: boolean
}

export type GeminiWrittenConfig = Written<GeminiGenerationConfig>

/** The body of a request. */
export type GeminiBody = Omit<
  Written<GeminiRequest>,
  'contents' | 'systemInstruction' | 'tools' | 'toolConfig'
> & {
  contents: GeminiWrittenContent[]
  systemInstruction?: GeminiWrittenContent
  tools?: GeminiWrittenTool[] | undefined
  toolConfig?: GeminiWrittenToolConfig | undefined
}

export type GeminiCount = { modality: string; tokenCount: number }
export type GeminiWrittenUsage = Omit<
  Written<GeminiUsage>,
  'promptTokensDetails' | 'candidatesTokensDetails'
> & {
  promptTokensDetails?: GeminiCount[] | undefined
  candidatesTokensDetails?: GeminiCount[] | undefined
}

export type GeminiToken = { token: string; logProbability: number }
export type GeminiLogprobs = {
  chosenCandidates: GeminiToken[]
  topCandidates?: { candidates: GeminiToken[] }[]
}

export type GeminiGroundingChunk = {
  web?: { uri: string; title?: string }
  retrievedContext?: { uri?: string; title?: string; text?: string }
}
export type GeminiGroundingSupport = {
  segment: { startIndex?: number; endIndex: number; text?: string }
  groundingChunkIndices: number[]
}
export type GeminiGrounding = {
  groundingChunks?: GeminiGroundingChunk[]
  groundingSupports?: GeminiGroundingSupport[]
}

export type GeminiEnd = { finishReason?: string; finishMessage?: string }
export type GeminiWrittenCandidate = GeminiEnd & {
  index: number
  content?: GeminiWrittenContent
  logprobsResult?: GeminiLogprobs
  groundingMetadata?: GeminiGrounding
}
export type GeminiFeedback = { blockReason: string; blockReasonMessage?: string }

/** A response, and each event of a streamed one. */
export type GeminiWrittenResponse = {
  candidates?: GeminiWrittenCandidate[]
  promptFeedback?: GeminiFeedback
  usageMetadata?: GeminiWrittenUsage
  modelVersion?: string
  responseId?: string
  createTime?: string
}

/** The body of an error; also a response that failed, and the last event of a failed stream. */
export type GeminiErrorBody = {
  error: {
    code: number
    message: string
    status?: string | undefined
    details?: GeminiErrorDetail[]
  }
}
export type GeminiErrorDetail = {
  '@type': string
  fieldViolations?: { field: string; description: string }[]
  retryDelay?: string
  requestId?: string
}

/** What the encoders of this protocol write. */
export type GeminiWire = {
  request: GeminiBody
  response: GeminiWrittenResponse | GeminiErrorBody
  event: GeminiWrittenResponse | GeminiErrorBody
  error: GeminiErrorBody
}
