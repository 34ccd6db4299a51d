import type { Any, AsSdk, Named } from '../../kit/schema/sdk-types.ts'
import type { Written } from '../../kit/schema/written.ts'
import type {
  ResponsesClientCall,
  ResponsesClientResult,
  ResponsesContentOf,
  ResponsesFunctionTool,
  ResponsesHosted,
  ResponsesItemOf,
  ResponsesSegment,
  ResponsesWire,
  ResponsesWrittenContent,
  ResponsesWrittenCustom,
  ResponsesWrittenItem,
} from './schema.ts'

/** A request of responses that wireglot writes. */
export type ResponsesRequest = Named<Omit<AsSdk<ResponsesWire['request']>, 'input' | 'tools'>> & {
  input: SentItem[]
  tools?: SentTool[]
}

type SentPart<Type extends ResponsesWrittenContent['type']> = AsSdk<ResponsesContentOf<Type>>

type SentOf<Type extends ResponsesWrittenItem['type'], Key extends PropertyKey = never> = Omit<
  AsSdk<ResponsesItemOf<Type>>,
  Key
>

type Status = 'in_progress' | 'completed' | 'incomplete'

type SentItem =
  | {
      type: 'message'
      role: 'user' | 'system' | 'developer'
      content: string | SentPart<'input_text' | 'input_image' | 'input_file'>[]
      id?: string
    }
  | {
      type: 'message'
      role: 'assistant'
      content: (SentText | SentPart<'refusal'>)[]
      id: string
      status: Status
      phase?: 'commentary' | 'final_answer' | null
    }
  | (SentOf<'reasoning', 'id'> & { id: string })
  | SentOf<'function_call'>
  | SentOf<'custom_tool_call'>
  | {
      type: 'function_call_output'
      call_id: string
      output: SentOutput
      id?: string
      status?: Status
    }
  | { type: 'custom_tool_call_output'; call_id: string; output: SentOutput; id?: string }
  | ClientItem<(ResponsesClientCall | ResponsesClientResult)['type']>

type SentCallable =
  | (Omit<AsSdk<Written<ResponsesFunctionTool>>, 'parameters' | 'strict'> & {
      parameters: { [key: string]: unknown } | null
      strict: boolean | null
    })
  | AsSdk<ResponsesWrittenCustom>

/** Tools that the provider runs have settings that only the SDK lists. */
type SentTool =
  | SentCallable
  | { type: 'namespace'; name: string; description: string; tools: SentCallable[] }
  | ({ type: ResponsesHosted['type'] } & Record<'container' | 'server_label' | 'server_url', Any>)

type SentText = Omit<SentPart<'output_text'>, 'logprobs'>

type SentOutput = string | SentPart<'input_text' | 'input_image' | 'input_file'>[]

/** A call of a tool that the client runs, or its result. Each type has some of these fields. */
type ClientItem<Type> = { type: Type; call_id: string } & Record<
  | 'action'
  | 'arguments'
  | 'environment'
  | 'execution'
  | 'id'
  | 'operation'
  | 'output'
  | 'status'
  | 'tools',
  Any
>

type ReceivedItem =
  | {
      type: 'message'
      role: 'assistant'
      content: ReceivedPart[]
      id: string
      status: Status
      phase?: 'commentary' | 'final_answer' | null
    }
  | (SentOf<'reasoning', 'id'> & { id: string })
  | SentOf<'function_call'>
  | SentOf<'custom_tool_call'>
  | ClientItem<ResponsesClientCall['type']>
  | {
      type: 'image_generation_call'
      id: string
      status: 'in_progress' | 'generating' | 'completed' | 'failed'
      result: string
      output_format?: string
    }

type ReceivedText = Omit<SentPart<'output_text'>, 'annotations' | 'logprobs'> & {
  annotations: Any[]
  logprobs?: Any
}

/** A complete response, without `output_text`, which the SDK computes. */
type ReceivedResponse = Omit<
  ResponsesWire['response'],
  'incomplete_details' | 'error' | 'output' | 'service_tier' | 'status' | 'usage'
> & {
  output: ReceivedItem[]
  /** Null until the response is complete, which the type of the SDK leaves out. */
  usage?: Any
  error: { code: Any; message: string } | null
  incomplete_details: { reason?: 'max_output_tokens' | 'content_filter' } | null
  metadata: { [key: string]: string } | null
  parallel_tool_calls: boolean
  service_tier: 'auto' | 'default' | 'flex' | 'scale' | 'priority' | null
  status: Status | 'failed' | 'cancelled' | 'queued'
  temperature: number | null
  top_p: number | null
  /** As in the request. */
  instructions: Any
  tool_choice: Any
  tools: Any
}

type ReceivedPart = ReceivedText | SentPart<'refusal'>

type NamedPart<Event> = Event extends { type: `response.reasoning_summary_part.${string}` }
  ? ResponsesSegment<'summary_text'>
  : ReceivedPart | ResponsesSegment<'reasoning_text'>

/** The snapshots in events have `output_text` only in the types of the SDK. */
type ReceivedField<Event, Key extends keyof Event> = Key extends 'response'
  ? ReceivedResponse & { output_text: string }
  : Key extends 'item'
    ? ReceivedItem
    : Key extends 'part'
      ? NamedPart<Event>
      : Key extends keyof Indexed
        ? Indexed[Key]
        : Event[Key]

/** Each event counts in its own list: of a summary, or of the content. */
type Misplaced =
  | { type: `response.${'content_part' | 'reasoning_text'}.${string}`; summary_index: number }
  | { type: `response.reasoning_summary_${string}`; content_index: number }

type Indexed = { item_id: string; output_index: number; logprobs: Any }

type ReceivedOf<Event> = Event extends Misplaced
  ? never
  : Event extends { type: string }
    ? { [Key in keyof Event]: ReceivedField<Event, Key> }
    : Event

type ReceivedEvent = ReceivedOf<ResponsesWire['event']>

/** A complete response of responses that wireglot writes, or the body of an error. */
export type ResponsesResponse = ReceivedResponse | ResponsesWire['error']

/** The data of an event of responses that wireglot writes. */
export type ResponsesEvent = ReceivedEvent

/** The body of an error of responses. */
export type ResponsesError = ResponsesWire['error']

/**
 * The bodies of this protocol as the official SDK has them, but for the event `error`, whose fields
 * it expects outside of `error`.
 */
export type ResponsesSdk = {
  request: ResponsesRequest
  response: ResponsesResponse
  event: ResponsesEvent
  error: ResponsesError
}
