/**
 * What an encoder writes of a shape: the same, deep, without the keys that only reading lets
 * through. An object literal of this type with a misspelled key does not compile. Of a union, the
 * member for unknown kinds is left out. An object without known keys is any object.
 */
export type Written<T> = T extends readonly (infer Item)[]
  ? Written<Item>[]
  : T extends object
    ? WrittenObject<T>
    : T

type WrittenObject<T> = [keyof Known<T>] extends [never]
  ? T
  : IsOpen<Known<T>> extends true
    ? never
    : Known<T>

type Known<T> = {
  [Key in keyof T as string extends Key ? never : number extends Key ? never : Key]: Written<T[Key]>
}

/** Of any type, with no other known key. */
type IsOpen<T> = T extends { type: infer Type }
  ? string extends Type
    ? [keyof T] extends ['type']
      ? true
      : false
    : false
  : false

/**
 * A node that was read from the same protocol is written as it was, whatever it is: no type knows
 * all that servers send.
 */
export const asRead = <T>(raw: unknown): T => raw as T

/** For values that are still to be passed through `omitUndefined`. */
export type Undefinable<T> = {
  [Key in keyof T]: object extends Pick<T, Key> ? T[Key] | undefined : T[Key]
}
