import type * as google from '@google/genai'
import { describe } from 'vitest'
import type * as ours from '../../src/protocols/generate-content/schema.ts'
import { accepts, type Beyond, read, reasonsHold, type Undeclared } from './support.ts'

// The SDK's types are those of a client; on the wire half of its `config` is in `generationConfig`,
// and enums are texts.
accepts<
  Pick<ours.GenerateContentCandidate, 'tokenCount' | 'avgLogprobs' | 'index' | 'finishMessage'>,
  google.Candidate
>()
accepts<
  Omit<
    ours.GenerateContentUsage,
    'serviceTier' | 'promptTokensDetails' | 'candidatesTokensDetails'
  >,
  google.GenerateContentResponseUsageMetadata
>()

const kept = 'unknown to the codec: kept within the protocol, noted elsewhere'
const client = 'only the client has it, the wire has not'

/**
 * The SDK's fields, and where they are read. A new field or value does not compile until it is
 * listed here.
 */
const words = {
  finishReasons: {
    FINISH_REASON_UNSPECIFIED: read,
    STOP: read,
    MAX_TOKENS: read,
    SAFETY: read,
    RECITATION: read,
    LANGUAGE: 'read as any other ending, with its word',
    OTHER: read,
    BLOCKLIST: read,
    PROHIBITED_CONTENT: read,
    SPII: read,
    MALFORMED_FUNCTION_CALL: read,
    IMAGE_SAFETY: read,
    UNEXPECTED_TOOL_CALL: read,
    TOO_MANY_TOOL_CALLS: read,
    IMAGE_PROHIBITED_CONTENT: read,
    NO_IMAGE: 'read as any other ending, with its word',
    IMAGE_RECITATION: read,
    IMAGE_OTHER: 'read as any other ending, with its word',
    CONTINUATION: read,
  } satisfies Record<`${google.FinishReason}`, string>,
  callingModes: {
    MODE_UNSPECIFIED: 'means nothing, and is kept',
    AUTO: read,
    ANY: read,
    NONE: read,
    VALIDATED: read,
  } satisfies Record<`${google.FunctionCallingConfigMode}`, string>,
  thinkingLevels: {
    THINKING_LEVEL_UNSPECIFIED: 'means nothing, and is kept',
    LOW: read,
    MEDIUM: read,
    HIGH: read,
    MINIMAL: read,
  } satisfies Record<`${google.ThinkingLevel}`, string>,
  part: {
    mediaResolution: read,
    toolCall: read,
    toolResponse: read,
    audioTranscription: kept,
    codeExecutionResult: read,
    executableCode: read,
    fileData: read,
    functionCall: read,
    functionResponse: read,
    inlineData: read,
    text: read,
    thought: read,
    thoughtSignature: read,
    videoMetadata: read,
    partMetadata: kept,
    mediaProcessing: kept,
    speechMetadata: kept,
  } satisfies Record<keyof google.Part, string>,
  functionCall: {
    args: read,
    id: read,
    name: read,
    partialArgs: read,
    willContinue: read,
  } satisfies Record<keyof google.FunctionCall, string>,
  partialArg: {
    boolValue: read,
    jsonPath: read,
    nullValue: read,
    numberValue: read,
    stringValue: read,
    willContinue: read,
  } satisfies Record<keyof google.PartialArg, string>,
  segment: { startIndex: read, endIndex: read, partIndex: read, text: read } satisfies Record<
    keyof google.Segment,
    string
  >,
  grounding: {
    groundingChunks: read,
    groundingSupports: read,
    retrievalMetadata: kept,
    searchEntryPoint: kept,
    webSearchQueries: kept,
    googleMapsWidgetContextToken: kept,
    imageSearchQueries: kept,
    retrievalQueries: kept,
    sourceFlaggingUris: kept,
  } satisfies Record<keyof google.GroundingMetadata, string>,
  groundingChunk: { image: read, maps: read, retrievedContext: read, web: read } satisfies Record<
    keyof google.GroundingChunk,
    string
  >,
  groundingSupport: {
    confidenceScores: kept,
    groundingChunkIndices: read,
    segment: read,
    renderedParts: kept,
  } satisfies Record<keyof google.GroundingSupport, string>,
  logprobs: {
    chosenCandidates: read,
    topCandidates: read,
    logProbabilitySum: kept,
  } satisfies Record<keyof google.LogprobsResult, string>,
  token: { logProbability: read, token: read, tokenId: kept } satisfies Record<
    keyof google.LogprobsResultCandidate,
    string
  >,
}

/** Fields that only the SDK has. */
const undeclared = {
  response: {
    sdkHttpResponse: client,
    automaticFunctionCallingHistory: client,
    text: client,
    data: client,
    functionCalls: client,
    executableCode: client,
    codeExecutionResult: client,
    initialPromptTokenCount: kept,
    modelStatus: kept,
  } satisfies Undeclared<google.GenerateContentResponse, ours.GenerateContentResponse>,
  candidate: {} satisfies Undeclared<google.Candidate, ours.GenerateContentCandidate>,
  content: {} satisfies Undeclared<google.Content, ours.GenerateContentContent>,
  usage: {
    cacheTokensDetails: read,
    toolUsePromptTokensDetails: read,
    trafficType: kept,
    initialPromptTokenCount: kept,
  } satisfies Undeclared<google.GenerateContentResponseUsageMetadata, ours.GenerateContentUsage>,
}

/** Fields that only our schema has. */
const beyond = {
  response: {} satisfies Beyond<google.GenerateContentResponse, ours.GenerateContentResponse>,
  candidate: {} satisfies Beyond<google.Candidate, ours.GenerateContentCandidate>,
  content: {} satisfies Beyond<google.Content, ours.GenerateContentContent>,
  usage: { serviceTier: 'servers send it here' } satisfies Beyond<
    google.GenerateContentResponseUsageMetadata,
    ours.GenerateContentUsage
  >,
}

describe('generate-content and the official SDK', () =>
  reasonsHold('generate-content', { ...words, ...undeclared }, beyond))
