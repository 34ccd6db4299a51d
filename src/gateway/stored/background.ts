import type { Usage } from '../../canonical/response.ts'

type Counts = Pick<Usage, 'input' | 'output'>

/**
 * What was counted of responses, by their ids. A provider may go on after the request for a
 * response has ended: a later call then shows more. In this process only.
 */
export type Background = {
  /** So much was counted with the request for a response. */
  counted(id: string, usage: Counts): void
  /**
   * What a response has used beyond that. `isNew`: count it as a whole if it is not known here.
   * Undefined: nothing.
   */
  more(id: string, usage: Usage, isNew: boolean): Usage | undefined
}

/** The number of responses that are remembered; then the oldest is forgotten. */
const most = 10_000

export function createBackground(): Background {
  const known = new Map<string, Required<Counts>>()
  function counted(id: string, { input = 0, output = 0 }: Counts): void {
    const oldest = known.size >= most ? known.keys().next().value : undefined
    if (oldest !== undefined) known.delete(oldest)
    known.set(id, { input, output })
  }
  return {
    counted,
    more(id, usage, isNew) {
      const before = known.get(id)
      if (!before && !isNew) return undefined
      const { input, output } = before ?? { input: 0, output: 0 }
      const more = {
        input: Math.max(0, (usage.input ?? 0) - input),
        output: Math.max(0, (usage.output ?? 0) - output),
      }
      if (more.input === 0 && more.output === 0) return undefined
      counted(id, { input: input + more.input, output: output + more.output })
      return before ? more : usage
    },
  }
}
