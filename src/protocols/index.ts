import type { OptionTable, OptionWords, Protocol } from '../protocol.ts'
import { type ChatCompletionsOptions, chatCompletions } from './chat-completions/index.ts'
import { type GeminiLevel, type GeminiOptions, generateContent } from './generate-content/index.ts'
import { type MessagesOptions, messages } from './messages/index.ts'
import { type ResponsesOptions, responses } from './responses/index.ts'

export type { ChatCompletionsOptions, GeminiLevel, GeminiOptions, MessagesOptions, ResponsesOptions }

/** Every protocol this library speaks. A new one is one folder beside these, and one line here. */
export const protocols = { 'chat-completions': chatCompletions, responses, messages, 'generate-content': generateContent } as const satisfies Record<
  string,
  Protocol
>

export type ProtocolName = keyof typeof protocols

/** The mapping options of all protocols; each is documented where its protocol declares it. */
export type MappingOptions = ChatCompletionsOptions & ResponsesOptions & MessagesOptions & GeminiOptions

/** Those of them that can be written down in a configuration. */
export type WrittenOptions = Pick<MappingOptions, keyof OptionTable<MappingOptions>>

/** In the order of the registry. */
export const protocolNames = Object.keys(protocols) as ProtocolName[]

export function isProtocolName(name: string): name is ProtocolName {
  return Object.hasOwn(protocols, name)
}

/** The mapping options that can be written down, of all protocols. */
export function mappingOptionWords(): Record<string, OptionWords> {
  return Object.assign(Object.create(null), ...Object.values(protocols).map(({ options }) => options))
}
