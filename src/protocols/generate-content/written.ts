import type { AsSdk } from '../../kit/schema/sdk-types.ts'
import type { Written } from '../../kit/schema/written.ts'
import type * as read from './schema.ts'

type WrittenOf<Key extends read.GenerateContentKind & keyof read.GenerateContentPartOf<Key>> =
  Written<read.GenerateContentPartOf<Key>[Key]>

/** A part of any kind. Its kind is the key that it has, so all are optional. */
export type GenerateContentWrittenPart = {
  text?: string
  functionCall?: WrittenOf<'functionCall'>
  functionResponse?: Omit<WrittenOf<'functionResponse'>, 'parts'> & {
    parts?: GenerateContentWrittenPart[]
  }
  inlineData?: WrittenOf<'inlineData'>
  fileData?: WrittenOf<'fileData'>
  thought?: boolean
  thoughtSignature?: string
  mediaResolution?: { level?: string }
  videoMetadata?: { startOffset?: string; endOffset?: string; fps?: number }
}
export type GenerateContentWrittenContent = { role?: string; parts: GenerateContentWrittenPart[] }

export type GenerateContentWrittenDeclaration = Written<read.GenerateContentDeclaration>
/** Those of the server have the key of their kind. */
export type GenerateContentWrittenTool = {
  functionDeclarations?: GenerateContentWrittenDeclaration[]
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
export type GenerateContentCalling = { mode?: string; allowedFunctionNames?: string[] }
export type GenerateContentWrittenToolConfig = {
  functionCallingConfig?: GenerateContentCalling
  includeServerSideToolInvocations?: boolean
}

export type GenerateContentWrittenConfig = Written<read.GenerateContentGenerationConfig>

/** The body of a request. */
export type GenerateContentBody = Omit<
  Written<read.GenerateContentRequest>,
  'contents' | 'systemInstruction' | 'tools' | 'toolConfig'
> & {
  contents: GenerateContentWrittenContent[]
  systemInstruction?: GenerateContentWrittenContent
  tools?: GenerateContentWrittenTool[] | undefined
  toolConfig?: GenerateContentWrittenToolConfig | undefined
}

export type GenerateContentCount = { modality: string; tokenCount: number }
export type GenerateContentWrittenUsage = Omit<
  Written<read.GenerateContentUsage>,
  'promptTokensDetails' | 'candidatesTokensDetails'
> & {
  promptTokensDetails?: GenerateContentCount[] | undefined
  candidatesTokensDetails?: GenerateContentCount[] | undefined
}

export type GenerateContentToken = { token: string; logProbability: number }
export type GenerateContentLogprobs = {
  chosenCandidates: GenerateContentToken[]
  topCandidates?: { candidates: GenerateContentToken[] }[]
}

export type GenerateContentGroundingChunk = {
  web?: { uri: string; title?: string }
  retrievedContext?: { uri?: string; title?: string; text?: string }
}
export type GenerateContentGroundingSupport = {
  segment: { startIndex?: number; endIndex: number; text?: string }
  groundingChunkIndices: number[]
}
export type GenerateContentGrounding = {
  groundingChunks?: GenerateContentGroundingChunk[]
  groundingSupports?: GenerateContentGroundingSupport[]
}

export type GenerateContentEnd = { finishReason?: string; finishMessage?: string }
export type GenerateContentWrittenCandidate = GenerateContentEnd & {
  index: number
  content?: GenerateContentWrittenContent
  logprobsResult?: GenerateContentLogprobs
  groundingMetadata?: GenerateContentGrounding
}
export type GenerateContentFeedback = { blockReason: string; blockReasonMessage?: string }

/** A response, and each event of a streamed one. */
export type GenerateContentWrittenResponse = {
  candidates?: GenerateContentWrittenCandidate[]
  promptFeedback?: GenerateContentFeedback
  usageMetadata?: GenerateContentWrittenUsage
  modelVersion?: string
  responseId?: string
  createTime?: string
}

/** The body of an error; also a response that failed, and the last event of a failed stream. */
export type GenerateContentErrorBody = {
  error: {
    code: number
    message: string
    status?: string | undefined
    details?: GenerateContentErrorDetail[]
  }
}
export type GenerateContentErrorDetail = {
  '@type': string
  fieldViolations?: { field: string; description: string }[]
  retryDelay?: string
  requestId?: string
}

/** What the encoders of this protocol write. */
export type GenerateContentWire = {
  request: GenerateContentBody
  response: GenerateContentWrittenResponse | GenerateContentErrorBody
  event: GenerateContentWrittenResponse | GenerateContentErrorBody
  error: GenerateContentErrorBody
}

// ---- as the official SDK has it

/** A request of generate-content that wireglot writes. */
export interface GenerateContentRequest extends AsSdk<GenerateContentWire['request']> {}

/** A complete response of generate-content that wireglot writes, or the body of an error. */
export type GenerateContentResponse = AsSdk<GenerateContentWire['response']>

/** The data of an event of generate-content that wireglot writes. */
export type GenerateContentEvent = AsSdk<GenerateContentWire['event']>

/** The body of an error of generate-content. */
export type GenerateContentError = AsSdk<GenerateContentWire['error']>

/**
 * The bodies on the wire. The official SDK arranges requests in another way, and adds getters to
 * responses.
 */
export type GenerateContentSdk = {
  request: GenerateContentRequest
  response: GenerateContentResponse
  event: GenerateContentEvent
  error: GenerateContentError
}
