/**
 * The bodies of the four protocols as schemas of zod, each with a type of the same name: to validate, to extend and to infer from,
 * together with the zod that you have installed. wireglot checks bodies against them itself. All objects are loose: a new field breaks
 * nothing.
 * @module wireglot/schemas
 */
import type * as z from 'zod/mini'
import { toZod } from './kit/schema/to-zod.ts'
import * as chat from './protocols/chat-completions/schema.ts'
import * as gemini from './protocols/generate-content/schema.ts'
import * as messages from './protocols/messages/schema.ts'
import * as responses from './protocols/responses/schema.ts'

/** A message of a request. */
export const ChatCompletionsMessage = toZod(chat.ChatMessage)
export type ChatCompletionsMessage = z.infer<typeof ChatCompletionsMessage>

/** The body of `POST /v1/chat/completions`. */
export const ChatCompletionsRequest = toZod(chat.ChatRequest)
export type ChatCompletionsRequest = z.infer<typeof ChatCompletionsRequest>

/** A complete response. */
export const ChatCompletionsResponse = toZod(chat.ChatResponse)
export type ChatCompletionsResponse = z.infer<typeof ChatCompletionsResponse>

/** A tool of a request. */
export const ChatCompletionsTool = toZod(chat.ChatTool)
export type ChatCompletionsTool = z.infer<typeof ChatCompletionsTool>

/** An item of `input` or `output`. */
export const ResponsesItem = toZod(responses.ResponsesItem)
export type ResponsesItem = z.infer<typeof ResponsesItem>

/** The body of `POST /v1/responses`. */
export const ResponsesRequest = toZod(responses.ResponsesRequest)
export type ResponsesRequest = z.infer<typeof ResponsesRequest>

/** A complete response. */
export const ResponsesResponse = toZod(responses.ResponsesResponse)
export type ResponsesResponse = z.infer<typeof ResponsesResponse>

/** A tool of a request. */
export const ResponsesTool = toZod(responses.ResponsesTool)
export type ResponsesTool = z.infer<typeof ResponsesTool>

/** A message of a request. */
export const MessagesMessage = toZod(messages.MessagesMessage)
export type MessagesMessage = z.infer<typeof MessagesMessage>

/** The body of `POST /v1/messages`. */
export const MessagesRequest = toZod(messages.MessagesRequest)
export type MessagesRequest = z.infer<typeof MessagesRequest>

/** A complete response. */
export const MessagesResponse = toZod(messages.MessagesResponse)
export type MessagesResponse = z.infer<typeof MessagesResponse>

/** A tool of a request. */
export const MessagesTool = toZod(messages.MessagesTool)
export type MessagesTool = z.infer<typeof MessagesTool>

/** A turn of the conversation. */
export const GeminiContent = toZod(gemini.GeminiContent)
export type GeminiContent = z.infer<typeof GeminiContent>

/** The body of `:generateContent` and `:streamGenerateContent`. */
export const GeminiRequest = toZod(gemini.GeminiRequest)
export type GeminiRequest = z.infer<typeof GeminiRequest>

/** A complete response, and an event of a stream. */
export const GeminiResponse = toZod(gemini.GeminiResponse)
export type GeminiResponse = z.infer<typeof GeminiResponse>

/** An entry of the tools, which may declare several. */
export const GeminiTool = toZod(gemini.GeminiTool)
export type GeminiTool = z.infer<typeof GeminiTool>
