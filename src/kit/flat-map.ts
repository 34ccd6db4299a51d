/** As the method of lists, which takes thirty times as long in V8. */
export function flatMap<T, U>(list: readonly T[], of: (one: T, index: number) => U | readonly U[]): U[] {
  // Most lists hold one thing: whatever is pushed into an empty list gets room for 17.
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
