import type { Reported } from './upstreams/index.ts'

/** A function as the upstream received it. */
export function reportedFunction(name: string, schema: unknown): Reported {
  const [field = ''] = Object.keys(
    (schema as { properties?: object } | undefined)?.properties ?? {},
  )
  return { name, freeform: false, field }
}

/** A tool that takes text, where the wire has such. */
export const reportedText = (name = ''): Reported => ({ name, freeform: true, field: '' })

/** A text in a few chunks, none empty. */
export const chunks = (text: string): string[] => text.match(/[\s\S]{1,6}/g) ?? []
