/** As `Array.prototype.flatMap`, which takes thirty times as long in V8. */
export function flatMap<T, U>(
  list: readonly T[],
  of: (one: T, index: number) => U | readonly U[],
): U[] {
  // The most common case. The first `push` into an empty list would allocate room for 17.
  if (list.length === 1) {
    const some = of(list[0] as T, 0)
    return isList(some) ? some.slice() : [some]
  }
  const all: U[] = []
  let index = 0
  for (const one of list) {
    const some = of(one, index++)
    if (isList(some)) for (const inner of some) all.push(inner)
    else all.push(some)
  }
  return all
}

const isList = <U>(value: U | readonly U[]): value is readonly U[] => Array.isArray(value)
