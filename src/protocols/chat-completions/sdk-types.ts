import type { Any, AsSdk, Named } from '../../kit/schema/sdk-types.ts'
import type {
  ChatBlock,
  ChatBlockOf,
  ChatCallDelta,
  ChatDelta,
  ChatWire,
  ChatWrittenAssistant,
  ChatWrittenTool,
  ChatWrittenUsage,
} from './schema.ts'

type SentRequest = Named<Omit<AsSdk<ChatWire['request']>, 'messages' | 'tools'>> & {
  messages: SentMessage[]
  tools?: AsSdk<ChatWrittenTool>[]
}

type SentPart<Type extends ChatBlock['type']> = AsSdk<ChatBlockOf<Type>>

type SentImage = { type: 'image_url'; image_url: { url: string; detail?: Any } }

type SentAssistant = Omit<AsSdk<ChatWrittenAssistant>, 'content'> & {
  content?: string | SentPart<'text' | 'refusal'>[] | null
}

type SentMessage =
  | SentAssistant
  | { role: 'developer' | 'system'; content: string | SentPart<'text'>[]; name?: string }
  | {
      role: 'user'
      content: string | (SentPart<'text' | 'input_audio' | 'file'> | SentImage)[]
      name?: string
    }
  | { role: 'tool'; tool_call_id: string; content: string | SentPart<'text'>[] }

type ReceivedMessage = Omit<SentAssistant, 'content' | 'refusal' | 'name'> & {
  content: string | null
  refusal: string | null
}

type ReceivedResponse = {
  id: string
  object: 'chat.completion'
  created: number
  model: string
  choices: { index: number; message: ReceivedMessage; finish_reason: Any; logprobs: Any }[]
  usage?: AsSdk<ChatWrittenUsage>
  service_tier?: Any
}

type ReceivedDelta = Omit<AsSdk<ChatDelta>, 'content' | 'refusal' | 'name' | 'tool_calls'> & {
  content?: string | null
  refusal?: string | null
  tool_calls?: (Omit<AsSdk<ChatCallDelta>, 'type'> & { type?: Any })[]
}

type ReceivedChunk = Omit<ReceivedResponse, 'object' | 'choices' | 'usage'> & {
  object: 'chat.completion.chunk'
  choices: { index: number; delta: ReceivedDelta; finish_reason: Any; logprobs?: Any }[]
  usage?: AsSdk<ChatWrittenUsage> | null
}

/** The bodies of this protocol as the official SDK has them. */
export type ChatSdk = {
  request: SentRequest
  response: ReceivedResponse | ChatWire['error']
  event: ReceivedChunk | Exclude<ChatWire['event'], { choices: unknown }>
  error: ChatWire['error']
}
