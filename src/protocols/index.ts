import type {
  CodecOptions,
  Protocol,
  SharedOptions,
  ToolOptions,
  WrittenOnly,
} from '../protocol.ts'
import { type ChatCompletionsOptions, chatCompletions } from './chat-completions/index.ts'
import { type ConverseFamily, type ConverseOptions, converse } from './converse/index.ts'
import { type GenerateContentOptions, generateContent } from './generate-content/index.ts'
import { type MessagesOptions, messages } from './messages/index.ts'
import { type ResponsesOptions, responses } from './responses/index.ts'

export type {
  ChatCompletionsOptions,
  ConverseFamily,
  ConverseOptions,
  GenerateContentOptions,
  MessagesOptions,
  ResponsesOptions,
}

/** Every protocol this library speaks. A new one is one folder next to these, and one line here. */
export const protocols = {
  'chat-completions': chatCompletions,
  responses,
  messages,
  'generate-content': generateContent,
  converse,
} as const satisfies Record<string, Protocol>

/** The name of a protocol. */
export type ProtocolName = keyof typeof protocols

/** Options for one protocol, as source or target, and for tools in every protocol. */
export type MappingOptions = {
  /** For chat-completions. */
  chatCompletions?: ChatCompletionsOptions
  /** For responses. */
  responses?: ResponsesOptions
  /** For messages. */
  messages?: MessagesOptions
  /** For generate-content. */
  generateContent?: GenerateContentOptions
  /** For converse. */
  converse?: ConverseOptions
  /** For tools, tool calls and tool results of every protocol. */
  tools?: ToolOptions
}

/** Those of them that can be written down in a configuration: all but functions. */
export type WrittenOptions = {
  [Group in keyof MappingOptions]: WrittenOnly<NonNullable<MappingOptions[Group]>>
} & WrittenOnly<SharedOptions> &
  Pick<CodecOptions, 'foreignSignatures'>

/** In the order of the registry. */
export const protocolNames = Object.keys(protocols) as ProtocolName[]

export function isProtocolName(name: string): name is ProtocolName {
  return Object.hasOwn(protocols, name)
}
