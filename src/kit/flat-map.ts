/** As the method of lists, which takes thirty times as long in V8. */
export function flatMap<T, U>(list: readonly T[], of: (one: T, index: number) => U | readonly U[]): U[] {
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
