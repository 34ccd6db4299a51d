import type { Protocol } from '../protocol.ts'
import { type ChatCompletionsOptions, chatCompletions } from './chat-completions/index.ts'
import { type MessagesOptions, messages } from './messages/index.ts'
import { type ResponsesOptions, responses } from './responses/index.ts'

/** Every protocol this library speaks. A new one is one folder beside these, and one line here. */
export const protocols = { 'chat-completions': chatCompletions, responses, messages } as const satisfies Record<string, Protocol>

export type ProtocolName = keyof typeof protocols

/** The mapping options of all protocols; each is documented where its protocol declares it. */
export type MappingOptions = ChatCompletionsOptions & ResponsesOptions & MessagesOptions

/** In the order of the registry. */
export const protocolNames = Object.keys(protocols) as ProtocolName[]

export function isProtocolName(name: string): name is ProtocolName {
  return Object.hasOwn(protocols, name)
}
