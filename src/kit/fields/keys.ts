import { type JsonObject, setOwn } from '../json/json.ts'

/**
 * A set of keys. An object without a prototype, because looking a key up in it takes half the time
 * of a `Set` in V8.
 */
export type Keys = Readonly<Record<string, true | undefined>>

/**
 * The keys of a type that a codec handles, in words; anything else is no key of the type and does
 * not compile.
 * @example const handled = keysOf<TextPart>()('type text at ext')
 */
export function keysOf<T extends object>(): <const Lines extends readonly string[]>(
  ...lines: { [Line in keyof Lines]: WordsIn<Lines[Line], KeyOf<T>> }
) => Keys {
  return (...lines) => keysIn(wordsIn(lines), {})
}

/** The text, if it consists of these words; else the first word that is none of them. */
type WordsIn<Text, Word extends string, All = Text> = Text extends `${infer First} ${infer Rest}`
  ? First extends Word
    ? WordsIn<Rest, Word, All>
    : { unknown: First }
  : Text extends Word
    ? All
    : { unknown: Text }

/**
 * What becomes of the keys of a canonical node: `true` for those that its encoder writes, or notes
 * itself; else the code of the note that they get. Any other is unsupported.
 */
export type Book<Code extends string> = Readonly<Record<string, true | Code | undefined>>

/**
 * The book of a type. `noted`: the keys that are never written, in words, by the code of their note.
 * @example const book = bookOf<ToolCallPart>()({ 'message.envelope': 'itemId status' }, 'type id at ext')
 */
export function bookOf<T extends object>(): <
  const Noted extends Readonly<Record<string, string>>,
  const Lines extends readonly string[],
>(
  noted: { [Code in keyof Noted]: WordsIn<Noted[Code], KeyOf<T>> },
  ...lines: { [Line in keyof Lines]: WordsIn<Lines[Line], KeyOf<T>> }
) => Book<keyof Noted & string> {
  return (noted, ...lines) => {
    const book = Object.create(null)
    for (const key of wordsIn(lines)) book[key] = true
    for (const code in noted) for (const key of wordsIn([noted[code]])) book[key] = code
    return book
  }
}

const wordsIn = (lines: readonly unknown[]): string[] =>
  (lines as readonly string[]).flatMap(line => line.split(' '))

/** These keys, and more. */
export const keysIn = (more: readonly string[], keys: Keys): Keys =>
  Object.assign(Object.create(null), keys, Object.fromEntries(more.map(key => [key, true])))

/**
 * Also of a union, whose members have different keys, and of a loose object, without its index
 * signature.
 */
type KeyOf<T> = T extends unknown
  ? keyof { [K in keyof T as string extends K ? never : number extends K ? never : K]: true } &
      string
  : never

/**
 * The keys of a wire object that are not known, with their values. Null means absence, so such a
 * key holds nothing. Undefined: there are none.
 */
export function unknownOf(wire: object, known: Keys): JsonObject | undefined {
  let unknown: JsonObject | undefined
  for (const key in wire) {
    if (known[key] || wire[key as never] === null) continue
    unknown ??= {}
    setOwn(unknown, key, wire[key as never])
  }
  return unknown
}

/** The unknown keys of the entries of a list, each in its place. Undefined: there are none. */
export function unknownInList<Entry>(
  list: readonly Entry[] | null | undefined,
  unknownIn: (entry: Entry) => JsonObject | undefined,
): JsonObject[] | undefined {
  const found = list?.map(unknownIn)
  return found?.some(fields => fields) ? found.map(fields => fields ?? {}) : undefined
}
