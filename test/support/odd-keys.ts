import type { Note } from '../../src/canonical/note.ts'
import { leaves } from '../../src/testing/json.ts'

/** A key that no protocol knows, and what it holds. */
export const odd = 'oddKey'

/** The body with an unknown key, once for each object in it. `path`: the path of the key. */
export function withOddKeys(body: unknown, at = ''): { path: string; body: unknown }[] {
  if (typeof body !== 'object' || body === null) return []
  const own = Array.isArray(body) ? [] : [{ path: `${at}/${odd}`, body: { ...body, [odd]: odd } }]
  const copy = (key: string, value: unknown) =>
    Array.isArray(body)
      ? body.map((item: unknown, i) => (String(i) === key ? value : item))
      : { ...body, [key]: value }
  return [
    ...own,
    ...Object.entries(body).flatMap(([key, value]) =>
      withOddKeys(value, `${at}/${key}`).map(one => ({ ...one, body: copy(key, one.body) })),
    ),
  ]
}

/** The key came through, or a note reports it or its parent. */
export const isReported = (wire: unknown, notes: readonly Note[], path: string) =>
  leaves(wire).some(({ value }) => typeof value === 'string' && value.includes(odd)) ||
  notes.some(note => note.path === path || (note.path !== '' && path.startsWith(`${note.path}/`)))
