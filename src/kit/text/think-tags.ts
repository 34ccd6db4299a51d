import type { Part } from '../../canonical/message.ts'
import { flatMap } from './flat-map.ts'

/**
 * State of reading reasoning between tags in text, as raw templates of open models write it.
 * `held`: text that may be the start of a tag; `found`: there was a tag.
 */
export type Tags = { inside: boolean; held: string; found: boolean }

export const noTags = (): Tags => ({ inside: false, held: '', found: false })

export type TaggedText = { kind: 'text' | 'reasoning'; text: string }

const opening = ['<think>', '<thinking>', '<thought>']
const closing = ['</think>', '</thinking>', '</thought>']

/**
 * One of the tags. To look for each of them by itself would go through the whole text for each that
 * is not in it.
 */
const anOpening = /<(?:think|thinking|thought)>/g
const aClosing = /<\/(?:think|thinking|thought)>/g

/** Splits the next text at its tags and removes them. Changes `tags`. */
export function splitTags(tags: Tags, text: string): TaggedText[] {
  const spans: TaggedText[] = []
  const put = (span: string) => {
    if (span) spans.push({ kind: tags.inside ? 'reasoning' : 'text', text: span })
  }
  const all = tags.held + text
  let from = 0
  for (;;) {
    const pattern = tags.inside ? aClosing : anOpening
    pattern.lastIndex = from
    const next = pattern.exec(all)
    if (!next) break
    put(all.slice(from, next.index))
    tags.inside = !tags.inside
    tags.found = true
    from = next.index + next[0].length
  }
  const rest = all.slice(from)
  const half = rest.lastIndexOf('<')
  const wanted = tags.inside ? closing : opening
  const begun = half >= 0 && wanted.some(tag => tag.startsWith(rest.slice(half)))
  tags.held = begun ? rest.slice(half) : ''
  put(begun ? rest.slice(0, half) : rest)
  return spans
}

/** Returns the held text, which is no tag after all. */
export function flushTags(tags: Tags): TaggedText[] {
  const { held, inside } = tags
  tags.held = ''
  return held ? [{ kind: inside ? 'reasoning' : 'text', text: held }] : []
}

/**
 * The parts of a complete response, with reasoning between tags as parts of its own. The same list
 * if there is none.
 */
export function extractTags(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(part => part.type === 'text' && opening.some(tag => part.text.includes(tag))))
    return parts
  return flatMap(parts, (part): Part[] => {
    if (part.type !== 'text') return [part]
    const tags = noTags()
    const spans = [...splitTags(tags, part.text), ...flushTags(tags)]
    const { at } = part
    const last = spans.findLastIndex(({ kind }) => kind === 'text')
    const where = at === undefined ? {} : { at }
    // The other fields of the text stay with its last chunk.
    return spans.map(({ kind, text }, i) => {
      if (kind === 'reasoning')
        return { type: 'reasoning', segments: [{ kind: 'raw', text }], ...where }
      return i === last ? { ...part, text } : { type: 'text', text, ...where }
    })
  })
}
