import * as s from '../../kit/schema.ts'

/** Shapes as in the public API reference, in camelCase (`spelling.ts` converts snake_case). Loose: a new field must never break an old client. */

const object = s.record(s.unknown())
const word = s.string().nullish()
const count = s.number().nullish()
const whole = s.int().nullish()
const flag = s.boolean().nullish()

const blob = s.object({ mimeType: word, data: s.string(), displayName: word })
const file = s.object({ fileUri: s.string(), mimeType: word, displayName: word })

/** Fields that a part of any kind may have. */
const beside = {
  thought: flag,
  thoughtSignature: word,
}

const functionCall = s.object({ name: word, args: object.nullish(), id: word })
const functionResponse = s.object({
  name: word,
  response: object.nullish(),
  id: word,
  parts: s.array(s.union([s.object({ inlineData: blob }), s.object({ fileData: file }), s.object({})])).nullish(),
})

const text = s.object({ ...beside, text: s.string() })
const call = s.object({ ...beside, functionCall })
const result = s.object({ ...beside, functionResponse })
const media = {
  videoMetadata: s.object({ startOffset: word, endOffset: word, fps: count }).nullish(),
  mediaResolution: s.object({ level: word }).nullish(),
}
const inline = s.object({ ...beside, ...media, inlineData: blob })
const stored = s.object({ ...beside, ...media, fileData: file })
const code = s.object({ ...beside, executableCode: s.object({ language: word, code: word, id: word }) })
const output = s.object({ ...beside, codeExecutionResult: s.object({ outcome: word, output: word, id: word }) })
const toolCall = s.object({ ...beside, toolCall: s.object({ id: word, toolType: word, args: object.nullish() }) })
const toolResponse = s.object({ ...beside, toolResponse: s.object({ id: word, toolType: word, response: object.nullish() }) })

const kinds = {
  text,
  functionCall: call,
  functionResponse: result,
  inlineData: inline,
  fileData: stored,
  executableCode: code,
  codeExecutionResult: output,
  toolCall,
  toolResponse,
}
type Kinds = { [Key in keyof typeof kinds]: s.Infer<(typeof kinds)[Key]> }

/** A part of any kind, as it is on the wire. */
export type GeminiPart = { [key: string]: unknown; thought?: boolean | null | undefined; thoughtSignature?: string | null | undefined }
export type GeminiPartOf<Key extends keyof Kinds> = Kinds[Key]

/** A part of an unknown kind, or of none. A part of a known kind that does not match its schema is refused. */
const other = s.object(beside).forOthers(part => !Object.keys(kinds).some(key => Object.hasOwn(part, key) && part[key] != null))

export const GeminiPart = s.union([text, call, result, inline, stored, code, output, toolCall, toolResponse, other])

/** Only for parts that `GeminiPart` has checked. */
export function isPartOf<Key extends keyof Kinds>(part: GeminiPart, key: Key): part is GeminiPartOf<Key> & GeminiPart {
  return part[key] != null
}

export const GeminiContent = s.object({ role: word, parts: s.array(GeminiPart).nullish() })
export type GeminiContent = s.Infer<typeof GeminiContent>

const declaration = s.object({
  name: s.string(),
  description: word,
  parameters: object.nullish(),
  parametersJsonSchema: s.unknown().optional(),
  response: object.nullish(),
  responseJsonSchema: s.unknown().optional(),
  behavior: word,
})
export type GeminiDeclaration = s.Infer<typeof declaration>

/** One entry may declare several tools. */
export const GeminiTool = s.object({
  functionDeclarations: s.array(declaration).nullish(),
  googleSearch: object.nullish(),
  urlContext: object.nullish(),
  codeExecution: object.nullish(),
})
export type GeminiTool = s.Infer<typeof GeminiTool>

const toolConfig = s.object({
  functionCallingConfig: s.object({ mode: word, allowedFunctionNames: s.array(s.string()).nullish() }).nullish(),
})
export type GeminiToolConfig = s.Infer<typeof toolConfig>

const thinkingConfig = s.object({ includeThoughts: flag, thinkingBudget: whole, thinkingLevel: word })
export type GeminiThinkingConfig = s.Infer<typeof thinkingConfig>

export const GeminiGenerationConfig = s.object({
  temperature: count,
  topP: count,
  topK: count,
  candidateCount: whole,
  maxOutputTokens: whole,
  stopSequences: s.array(s.string()).nullish(),
  presencePenalty: count,
  frequencyPenalty: count,
  seed: whole,
  responseLogprobs: flag,
  logprobs: whole,
  responseMimeType: word,
  responseSchema: object.nullish(),
  responseJsonSchema: s.unknown().optional(),
  responseModalities: s.array(s.string()).nullish(),
  mediaResolution: word,
  speechConfig: object.nullish(),
  thinkingConfig: thinkingConfig.nullish(),
})
export type GeminiGenerationConfig = s.Infer<typeof GeminiGenerationConfig>

/** Body of POST …:generateContent. The model is in the path, and may be here, too. */
export const GeminiRequest = s.object({
  model: word,
  contents: s.array(GeminiContent),
  systemInstruction: GeminiContent.nullish(),
  /** Servers accept a single entry instead of a list. */
  tools: s.union([s.array(GeminiTool), GeminiTool]).nullish(),
  toolConfig: toolConfig.nullish(),
  safetySettings: s.array(s.object({ category: word, threshold: word })).nullish(),
  generationConfig: GeminiGenerationConfig.nullish(),
  cachedContent: word,
  serviceTier: word,
  store: flag,
  labels: s.record(s.string()).nullish(),
  continuationToken: word,
})
export type GeminiRequest = s.Infer<typeof GeminiRequest>

// ---- replies

const details = s.array(s.object({ tokenCount: count })).nullish()

export const GeminiUsage = s.object({
  promptTokenCount: count,
  cachedContentTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: count,
  toolUsePromptTokenCount: count,
  totalTokenCount: count,
  promptTokensDetails: details,
  candidatesTokensDetails: details,
  serviceTier: word,
})
export type GeminiUsage = s.Infer<typeof GeminiUsage>

const logprob = s.object({ token: s.string().optional(), tokenId: count, logProbability: s.number().optional() })

export const GeminiCandidate = s.object({
  content: GeminiContent.nullish(),
  /** Some hosts write enum values as numbers when asked to. */
  finishReason: s.union([s.string(), s.number()]).nullish(),
  finishMessage: word,
  index: count,
  tokenCount: count,
  avgLogprobs: count,
  logprobsResult: s
    .object({ chosenCandidates: s.array(logprob).nullish(), topCandidates: s.array(s.object({ candidates: s.array(logprob).nullish() })).nullish() })
    .nullish(),
  safetyRatings: s.array(s.object({})).nullish(),
  citationMetadata: s.object({}).nullish(),
  groundingMetadata: s
    .object({
      webSearchQueries: s.array(s.string()).nullish(),
      groundingChunks: s.array(s.object({ web: s.object({ uri: word, title: word }).nullish() })).nullish(),
      groundingSupports: s
        .array(
          s.object({
            segment: s.object({ partIndex: count, startIndex: count, endIndex: count, text: word }).nullish(),
            groundingChunkIndices: s.array(s.number()).nullish(),
          }),
        )
        .nullish(),
    })
    .nullish(),
  urlContextMetadata: s.object({}).nullish(),
  continuationToken: word,
})
export type GeminiCandidate = s.Infer<typeof GeminiCandidate>

/** A whole reply, and each event of a streamed one. */
export const GeminiResponse = s.object({
  candidates: s.array(GeminiCandidate).nullish(),
  promptFeedback: s.object({ blockReason: word, blockReasonMessage: word, safetyRatings: s.array(s.object({})).nullish() }).nullish(),
  usageMetadata: GeminiUsage.nullish(),
  modelVersion: word,
  responseId: word,
  createTime: word,
})
export type GeminiResponse = s.Infer<typeof GeminiResponse>
