import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** A loose object without its looseness. */
type Named<T> = { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] }
/** Keys of every member of a union. */
export type Keys<T> = T extends unknown ? Extract<keyof Named<T>, string> : never
type Literal<Word> = Word extends string ? (string extends Word ? never : Word) : never
/** The discriminator of the members of a union. */
export type Words<T, Key extends string = 'type'> = T extends { [K in Key]?: infer Word }
  ? Literal<Word>
  : never

/**
 * Fields that only the SDK has: a table of them with the reasons. A field that a newer SDK brings
 * does not compile until it has one.
 */
export type Undeclared<Sdk, Ours> = Record<Exclude<Keys<Sdk>, Keys<Ours>>, string>
/** Fields that only our schema has. */
export type Beyond<Sdk, Ours> = Record<Exclude<Keys<Ours>, Keys<Sdk>>, string>
/** Members with a discriminator that only our schema has. */
export type BeyondWords<Sdk, Ours> = Record<Exclude<Words<Ours>, Words<Sdk>>, string>

/**
 * A loose shape without its looseness, all the way down: the SDK's interfaces have no index
 * signature.
 */
export type Closed<T> = T extends readonly (infer Item)[]
  ? Closed<Item>[]
  : T extends object
    ? { [K in keyof Named<T>]: Closed<Named<T>[K]> }
    : T
/** Does not compile when a value of the SDK's type is none of ours. */
export const accepts = <Ours, _Sdk extends Closed<Ours>>() => {}

/**
 * A shape whose `type` may be several things or missing, as one shape for each: the compiler does
 * not split it by itself.
 */
export type Apart<T> = T extends { type?: infer Word }
  ?
      | (Word extends string | null ? Omit<T, 'type'> & { type: Word } : never)
      | (undefined extends T['type'] ? Omit<T, 'type'> : never)
  : T

/** Without the branch for unknown kinds, which would accept anything. */
export type Shaped<T> = T extends { type: infer Word } ? (string extends Word ? never : T) : T

/** The members of a union that our schema models field by field, as the SDK has them. */
export type Modelled<Sdk, Ours> = Extract<Sdk, { type: Words<Ours> }>

/** Of a union, the members with the same discriminator; all of them if there are none. */
type Peers<Ours, Sdk> = Ours extends { type: infer Word }
  ? [Extract<Sdk, { type: Word }>] extends [never]
    ? Sdk
    : Extract<Sdk, { type: Word }>
  : Ours extends { role: infer Word }
    ? [Extract<Sdk, { role: Word }>] extends [never]
      ? Sdk
      : Extract<Sdk, { role: Word }>
    : Sdk
type Field<T, Key> = T extends unknown ? (Key extends keyof T ? T[Key] : never) : never
type Inside = readonly [unknown, unknown, unknown]

/**
 * Whether our schema accepts more than the SDK has, and where. Null is absence with us; items of a
 * list have a table of their own.
 */
type Place<Ours, Sdk, Path extends string, Left extends readonly unknown[]> = unknown extends Ours
  ? unknown extends Sdk
    ? never
    : Path
  : unknown extends Sdk
    ? never
    : Ours extends null | undefined
      ? never
      : Ours extends readonly (infer Item)[]
        ? Item extends object
          ? Extract<Sdk, readonly unknown[]> extends never
            ? Path
            : never
          : Item[] extends Sdk
            ? never
            : Path
        : Ours extends object
          ? Left extends readonly [unknown, ...infer Fewer]
            ? `${Path}.${Places<Ours, Extract<Sdk, object>, Fewer>}`
            : never
          : Ours extends Sdk
            ? never
            : Path
type Places<Ours, Sdk, Left extends readonly unknown[]> = Ours extends object
  ? {
      [K in Keys<Ours> & Keys<Peers<Ours, Sdk>>]: Place<
        Field<Ours, K>,
        Field<Peers<Ours, Sdk>, K>,
        K,
        Left
      >
    }[Keys<Ours> & Keys<Peers<Ours, Sdk>>]
  : never
/**
 * What the schema takes that the SDK would not: a table with the reasons. What a newer SDK admits
 * does not compile until its row is gone.
 */
export type Wider<Ours, Sdk> = Record<Places<Ours, Sdk, Inside>, string>

type Tables = Record<string, Record<string, string>>

/** Whatever a table says is read by name has its name in the code of the protocol. */
export const read = 'the codec reads it by name'

export function reasonsHold(protocol: string, known: Tables, ...exceptions: Tables[]): void {
  const code = [`protocols/${protocol}`, 'kit'].flatMap(textsOf).join('\n')
  test.each(Object.entries(known))(
    '%s: what is documented as read by name is named in the code',
    (_, table) => {
      const words = Object.keys(table).filter(word => table[word] === read)
      expect(
        words.filter(
          word => !new RegExp(`(?<![\\w.])${word.replaceAll('.', '\\.')}\\b`).test(code),
        ),
      ).toEqual([])
    },
  )

  test('every exception has a reason', () => {
    for (const table of [known, ...exceptions].flatMap(tables => Object.values(tables)))
      for (const [word, reason] of Object.entries(table)) expect(reason, word).toMatch(/\w+ \w+/)
  })
}

function textsOf(folder: string): string[] {
  const place = new URL(`../../src/${folder}/`, import.meta.url)
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => readFileSync(new URL(file, place), 'utf8'))
}
