/** The packages that define each protocol, and which of their types are the bodies on its wire. */
export type Roots = { protocol: string; package: string; module: string; types: string }

export const roots: readonly Roots[] = [
  {
    protocol: 'chat-completions',
    package: 'openai',
    module: 'openai',
    types: `
import type OpenAI from 'openai'
export type Request = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'stream'> & { stream?: boolean }
export type Response = OpenAI.Chat.ChatCompletion
export type Event = OpenAI.Chat.ChatCompletionChunk
export type Failure = { error: OpenAI.ErrorObject }
`,
  },
  {
    protocol: 'responses',
    package: 'openai',
    module: 'openai',
    types: `
import type OpenAI from 'openai'
export type Request = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream' | 'input'> & { stream?: boolean; input: OpenAI.Responses.ResponseInput }
// Of the request's settings, which a response repeats, only what the provider may have chosen. The
// SDK alone computes the text.
type Repeated = Exclude<keyof Request, 'model' | 'service_tier' | 'metadata'>
export type Response = Omit<OpenAI.Responses.Response, 'output_text' | Repeated>
export type Event = OpenAI.Responses.ResponseStreamEvent
// Walked as a response.
export type Known = OpenAI.Responses.Response
export type Failure = { error: OpenAI.ErrorObject }
`,
  },
  {
    protocol: 'messages',
    package: '@anthropic-ai/sdk',
    module: '@anthropic-ai/sdk',
    types: `
import type Anthropic from '@anthropic-ai/sdk'
// The SDK sends this one as a header.
export type Request = Omit<Anthropic.Beta.MessageCreateParamsNonStreaming, 'betas' | 'stream'> & { stream?: boolean }
export type Response = Anthropic.Beta.BetaMessage
export type Event = Anthropic.Beta.BetaRawMessageStreamEvent
// With more types than an \`ErrorObject\` has, and the details that the SDK reads.
interface Fault { message: string; type: Anthropic.ErrorType; details?: Anthropic.ErrorDetails }
export type Failure = Omit<Anthropic.ErrorResponse, 'error'> & { error: Fault }
`,
  },
  {
    protocol: 'generate-content',
    package: '@google/genai',
    module: '@google/genai',
    types: `
import type * as google from '@google/genai'
type Config = google.GenerateContentConfig
// Only the SDK reads these.
type Client = 'httpOptions' | 'abortSignal' | 'automaticFunctionCalling' | 'automaticContinuation'
// On the wire these stand beside the settings, not among them.
type Top = 'systemInstruction' | 'safetySettings' | 'tools' | 'toolConfig' | 'labels' | 'cachedContent' | 'serviceTier' | 'modelArmorConfig' | 'store' | 'continuationToken' | 'generationOutputConfig'
export type Request = {
  contents: google.Content[]
  systemInstruction?: google.Content
  tools?: google.Tool[]
  generationConfig?: Omit<Config, Top | Client | 'responseSchema' | 'speechConfig'> & { responseSchema?: google.Schema; speechConfig?: google.SpeechConfig }
} & Pick<Config, Exclude<Top, 'systemInstruction' | 'tools'>>
// The rest is computed by the SDK.
export type Response = Pick<google.GenerateContentResponse, 'candidates' | 'createTime' | 'modelVersion' | 'promptFeedback' | 'responseId' | 'usageMetadata' | 'modelStatus'>
// Its streams are read by other code than complete responses.
export type Event = Response
`,
  },
  {
    protocol: 'converse',
    package: '@aws-sdk/client-bedrock-runtime',
    module: '@aws-sdk/client-bedrock-runtime',
    types: `
import type * as aws from '@aws-sdk/client-bedrock-runtime'
// The model is in the path.
export type Request = Omit<aws.ConverseRequest, 'modelId'>
export type Response = aws.ConverseResponse
// The classes of errors have fields that only the SDK has.
interface Exception { message: string }
type Exceptions = { internalServerException: Exception } | { modelStreamErrorException: Exception & { originalStatusCode?: number; originalMessage?: string } } | { validationException: Exception } | { throttlingException: Exception } | { serviceUnavailableException: Exception }
type Named<Name extends string> = Extract<aws.ConverseStreamOutput, { [Key in Name]: object }>
export type Event = Named<'messageStart'> | Named<'contentBlockStart'> | Named<'contentBlockDelta'> | Named<'contentBlockStop'> | Named<'messageStop'> | Named<'metadata'> | Exceptions
export type Failure = Exception
`,
  },
]
