import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** A loose object without its looseness. */
type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] }
/** Keys of every member of a union. */
export type Keys<T> = T extends unknown ? Extract<keyof Named<T>, string> : never
type Literal<Word> = Word extends string ? (string extends Word ? never : Word) : never
/** What the members of a union are told apart by. */
export type Words<T, Key extends string = 'type'> = T extends { [K in Key]?: infer Word } ? Literal<Word> : never

/** Fields that only the SDK has: a table of them with the reasons. A field that a newer SDK brings does not compile until it has one. */
export type Undeclared<Sdk, Ours> = Record<Exclude<Keys<Sdk>, Keys<Ours>>, string>
/** Fields that only our schema has. */
export type Beyond<Sdk, Ours> = Record<Exclude<Keys<Ours>, Keys<Sdk>>, string>
/** What is told apart by a word that only our schema has. */
export type BeyondWords<Sdk, Ours> = Record<Exclude<Words<Ours>, Words<Sdk>>, string>

/** A loose shape without its looseness, all the way down: the SDK's interfaces have no index signature. */
export type Closed<T> = T extends readonly (infer Item)[] ? Closed<Item>[] : T extends object ? { [K in keyof Named<T>]: Closed<Named<T>[K]> } : T
/** Does not compile when a value of the SDK's type is none of ours. */
export const accepts = <Ours, _Sdk extends Closed<Ours>>() => {}

/** A shape whose `type` may be several things or missing, as one shape for each: the compiler does not split it by itself. */
export type Apart<T> = T extends { type?: infer Word }
  ? (Word extends string | null ? Omit<T, 'type'> & { type: Word } : never) | (undefined extends T['type'] ? Omit<T, 'type'> : never)
  : T

/** Without the branch for kinds that nobody knows, which would take anything. */
export type Shaped<T> = T extends { type: infer Word } ? (string extends Word ? never : T) : T

/** The members of a union that our schema models field by field, as the SDK has them. */
export type Modelled<Sdk, Ours> = Extract<Sdk, { type: Words<Ours> }>

type Tables = Record<string, Record<string, string>>

/** Whatever a table says is read by name has its name in the code of the protocol. */
export const read = 'the codec reads it by name'

export function reasonsHold(protocol: string, known: Tables, beyond: Tables): void {
  const code = [`protocols/${protocol}`, 'kit'].flatMap(textsOf).join('\n')
  test.each(Object.entries(known))('%s: what is said to be read by name is named in the code', (_, table) => {
    const words = Object.keys(table).filter(word => table[word] === read)
    expect(words.filter(word => !new RegExp(`(?<![\\w.])${word.replaceAll('.', '\\.')}\\b`).test(code))).toEqual([])
  })

  test('every exception has a reason', () => {
    for (const table of Object.values({ ...known, ...beyond })) for (const [word, reason] of Object.entries(table)) expect(reason, word).toMatch(/\w+ \w+/)
  })
}

function textsOf(folder: string): string[] {
  const place = new URL(`../../src/${folder}/`, import.meta.url)
  return readdirSync(place).map(file => readFileSync(new URL(file, place), 'utf8'))
}
