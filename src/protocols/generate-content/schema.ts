import { z } from 'zod'

/** Shapes as in the public reference of the API, in camelCase (`spelling.ts` reads the other one); loose, because a new field must never break an old client. */

const object = z.record(z.string(), z.unknown())
const word = z.string().nullish()
const count = z.number().nullish()
const flag = z.boolean().nullish()

const blob = z.looseObject({ mimeType: word, data: z.string(), displayName: word })
const file = z.looseObject({ fileUri: z.string(), mimeType: word, displayName: word })

/** What any part may say beside its content. */
const beside = {
  thought: flag,
  thoughtSignature: word,
}

const functionCall = z.looseObject({ name: word, args: object.nullish(), id: word })
const functionResponse = z.looseObject({
  name: word,
  response: object.nullish(),
  id: word,
  parts: z.array(z.union([z.looseObject({ inlineData: blob }), z.looseObject({ fileData: file }), z.looseObject({})])).nullish(),
})

const text = z.looseObject({ ...beside, text: z.string() })
const call = z.looseObject({ ...beside, functionCall })
const result = z.looseObject({ ...beside, functionResponse })
const media = {
  videoMetadata: z.looseObject({ startOffset: word, endOffset: word, fps: count }).nullish(),
  mediaResolution: z.looseObject({ level: word }).nullish(),
}
const inline = z.looseObject({ ...beside, ...media, inlineData: blob })
const stored = z.looseObject({ ...beside, ...media, fileData: file })
const code = z.looseObject({ ...beside, executableCode: z.looseObject({ language: word, code: word, id: word }) })
const output = z.looseObject({ ...beside, codeExecutionResult: z.looseObject({ outcome: word, output: word, id: word }) })
const toolCall = z.looseObject({ ...beside, toolCall: z.looseObject({ id: word, toolType: word, args: object.nullish() }) })
const toolResponse = z.looseObject({ ...beside, toolResponse: z.looseObject({ id: word, toolType: word, response: object.nullish() }) })

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
type Kinds = { [Key in keyof typeof kinds]: z.infer<(typeof kinds)[Key]> }

/** A part of any kind, as it stands on the wire. */
export type GeminiPart = { [key: string]: unknown; thought?: boolean | null | undefined; thoughtSignature?: string | null | undefined }
export type GeminiPartOf<Key extends keyof Kinds> = Kinds[Key]

/** Of a kind that nobody modelled, or of none: a known kind with a fault in it is refused. */
const other = z
  .looseObject(beside)
  .refine(part => !Object.keys(kinds).some(key => Object.hasOwn(part, key) && part[key] != null), { abort: true, params: { known: true } })

export const GeminiPart = z.union([text, call, result, inline, stored, code, output, toolCall, toolResponse, other])

/** Only for parts that `GeminiPart` has checked. */
export function isPartOf<Key extends keyof Kinds>(part: GeminiPart, key: Key): part is GeminiPartOf<Key> & GeminiPart {
  return part[key] != null
}

export const GeminiContent = z.looseObject({ role: word, parts: z.array(GeminiPart).nullish() })
export type GeminiContent = z.infer<typeof GeminiContent>

const declaration = z.looseObject({
  name: z.string(),
  description: word,
  parameters: object.nullish(),
  parametersJsonSchema: z.unknown().optional(),
  response: object.nullish(),
  responseJsonSchema: z.unknown().optional(),
  behavior: word,
})
export type GeminiDeclaration = z.infer<typeof declaration>

/** One entry may name several tools. */
export const GeminiTool = z.looseObject({
  functionDeclarations: z.array(declaration).nullish(),
  googleSearch: object.nullish(),
  urlContext: object.nullish(),
  codeExecution: object.nullish(),
})
export type GeminiTool = z.infer<typeof GeminiTool>

const toolConfig = z.looseObject({
  functionCallingConfig: z.looseObject({ mode: word, allowedFunctionNames: z.array(z.string()).nullish() }).nullish(),
})
export type GeminiToolConfig = z.infer<typeof toolConfig>

const thinkingConfig = z.looseObject({ includeThoughts: flag, thinkingBudget: count, thinkingLevel: word })
export type GeminiThinkingConfig = z.infer<typeof thinkingConfig>

export const GeminiGenerationConfig = z.looseObject({
  temperature: count,
  topP: count,
  topK: count,
  candidateCount: count,
  maxOutputTokens: count,
  stopSequences: z.array(z.string()).nullish(),
  presencePenalty: count,
  frequencyPenalty: count,
  seed: count,
  responseLogprobs: flag,
  logprobs: count,
  responseMimeType: word,
  responseSchema: object.nullish(),
  responseJsonSchema: z.unknown().optional(),
  responseModalities: z.array(z.string()).nullish(),
  mediaResolution: word,
  speechConfig: object.nullish(),
  thinkingConfig: thinkingConfig.nullish(),
})
export type GeminiGenerationConfig = z.infer<typeof GeminiGenerationConfig>

/** Body of POST …:generateContent; the model stands in the path and may stand here too. */
export const GeminiRequest = z.looseObject({
  model: word,
  contents: z.array(GeminiContent),
  systemInstruction: GeminiContent.nullish(),
  /** Servers read a lone entry as a list of it. */
  tools: z.union([z.array(GeminiTool), GeminiTool]).nullish(),
  toolConfig: toolConfig.nullish(),
  safetySettings: z.array(z.looseObject({ category: word, threshold: word })).nullish(),
  generationConfig: GeminiGenerationConfig.nullish(),
  cachedContent: word,
  serviceTier: word,
  store: flag,
  labels: z.record(z.string(), z.string()).nullish(),
  continuationToken: word,
})
export type GeminiRequest = z.infer<typeof GeminiRequest>

// ---- replies

const details = z.array(z.looseObject({ tokenCount: count })).nullish()

export const GeminiUsage = z.looseObject({
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
export type GeminiUsage = z.infer<typeof GeminiUsage>

const logprob = z.looseObject({ token: z.string().optional(), tokenId: count, logProbability: z.number().optional() })

export const GeminiCandidate = z.looseObject({
  content: GeminiContent.nullish(),
  /** Some hosts write words as their numbers when asked to. */
  finishReason: z.union([z.string(), z.number()]).nullish(),
  finishMessage: word,
  index: count,
  tokenCount: count,
  avgLogprobs: count,
  logprobsResult: z
    .looseObject({ chosenCandidates: z.array(logprob).nullish(), topCandidates: z.array(z.looseObject({ candidates: z.array(logprob).nullish() })).nullish() })
    .nullish(),
  safetyRatings: z.array(z.looseObject({})).nullish(),
  citationMetadata: z.looseObject({}).nullish(),
  groundingMetadata: z
    .looseObject({
      webSearchQueries: z.array(z.string()).nullish(),
      groundingChunks: z.array(z.looseObject({ web: z.looseObject({ uri: word, title: word }).nullish() })).nullish(),
      groundingSupports: z
        .array(
          z.looseObject({
            segment: z.looseObject({ partIndex: count, startIndex: count, endIndex: count, text: word }).nullish(),
            groundingChunkIndices: z.array(z.number()).nullish(),
          }),
        )
        .nullish(),
    })
    .nullish(),
  urlContextMetadata: z.looseObject({}).nullish(),
  continuationToken: word,
})
export type GeminiCandidate = z.infer<typeof GeminiCandidate>

/** A whole reply, and each event of a streamed one. */
export const GeminiResponse = z.looseObject({
  candidates: z.array(GeminiCandidate).nullish(),
  promptFeedback: z.looseObject({ blockReason: word, blockReasonMessage: word, safetyRatings: z.array(z.looseObject({})).nullish() }).nullish(),
  usageMetadata: GeminiUsage.nullish(),
  modelVersion: word,
  responseId: word,
  createTime: word,
})
export type GeminiResponse = z.infer<typeof GeminiResponse>
