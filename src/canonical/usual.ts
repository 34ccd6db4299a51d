import type { CanonicalRequest } from './request.ts'
import type { JsonSchema } from './tool.ts'

/**
 * A request of the usual kind: text, calls of functions with their results right behind them, and the few settings that most requests
 * have. It is read and written without the canonical model, because nothing in it needs a place, a kept field or a note about the
 * source. Readers and writers give undefined for whatever they do not know, and then the request goes the plain way.
 */
export type UsualRequest = {
  model?: string | undefined
  /** `isMessage`: they came as a message of the conversation. */
  instructions?: { text: string; isMessage: boolean } | undefined
  turns: readonly UsualTurn[]
  tools?: readonly UsualTool[] | undefined
  /** The request says that the model may call tools as it likes. */
  mayCall?: boolean
  maxTokens?: number | undefined
  temperature?: number | undefined
  stream?: boolean | undefined
  /** The request says that the reply is not to be stored. */
  storeless?: boolean
  /** The client of a stream wants its usage. */
  wantsUsage?: boolean
  /** What else the translation of the reply needs, see `Protocol.remembered`. */
  remembered?: Partial<CanonicalRequest> | undefined
}

/** No text is empty. Results stand in a turn of their own, in the order of the calls before them. */
export type UsualTurn =
  | { role: 'user'; texts: readonly string[] }
  | { role: 'assistant'; text: string | undefined; calls: readonly UsualCall[] }
  | { role: 'results'; results: readonly UsualResult[] }

/** `input`: the arguments, as the source has them. */
export type UsualCall = { id: string; name: string; input: string | Record<string, unknown> }

export type UsualResult = { call: UsualCall; text: string }

export type UsualTool = { name: string; description: string | undefined; parameters: JsonSchema; strict: false | undefined }
