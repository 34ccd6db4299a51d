import { isObject, type JsonObject } from '../json/json.ts'

/** An instruction as text of the user, for servers that take none where it stands. */
export const asSystemText = (text: string): string => `<system>${text}</system>`

/** The same for the content of a wire message: a text, or a list of parts with texts. */
export const asSystemParts = (content: unknown): JsonObject[] =>
  partsOf(content).map(part =>
    typeof part['text'] === 'string' ? { ...part, text: asSystemText(part['text']) } : part,
  )

/** The content of a wire message as a list. Empty: there is none. */
export const partsOf = (content: unknown): JsonObject[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}
