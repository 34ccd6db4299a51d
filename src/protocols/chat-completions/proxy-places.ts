import type { Message, Part } from '../../canonical/message.ts'
import type { Tool } from '../../canonical/tool.ts'
import { isObject } from '../../kit/json.ts'
import { pointerOf } from '../../kit/path.ts'
import type { FieldNames } from '../../protocol.ts'
import { ownForm } from './own.ts'
import { pathIn } from './signatures.ts'

/** Field names for this request where the general table does not fit: proxies and their clients use other fields for cache marks and signatures. */
export function placesOf(messages: readonly Message[], tools: readonly Tool[] = []): FieldNames {
  const places: FieldNames = {}
  for (const tool of tools) if (tool.type === 'function') placeMark(tool, places)
  for (const { parts, ext, at: messageAt } of messages) {
    for (const part of parts) {
      placeFields(part, places)
      if (part.type === 'tool-result') for (const inner of part.content) placeFields(inner, places)
      if (part.signature) placeSignature(part, ownForm(ext)?.['carriers'], places)
    }
    const last = parts.at(-1)
    if (!last?.cache || !isObject(ownForm(ext)?.['mark'])) continue
    const name = last.at === messageAt ? 'cache_control' : '../cache_control'
    places[`${pointerOf(last.at ?? '')}:cache`] = name
    places[`${pointerOf(last.at ?? '')}:cache.ttl`] = `${name}/ttl`
  }
  return places
}

function placeFields(part: Part, places: FieldNames): void {
  placeMark(part, places)
  if (part.type === 'media' && isObject(ownForm(part.ext)?.['foreign']))
    for (const field of ['detail', 'filename']) places[`${pointerOf(part.at ?? '')}:${field}`] = field
}

function placeMark({ at, cache, ext }: Pick<Part, 'at' | 'cache' | 'ext'>, places: FieldNames): void {
  if (!cache) return
  const { mark, marksFunction } = ownForm(ext) ?? {}
  const inner = marksFunction === true ? 'function/cache_control' : 'cache_control'
  const key = isObject(mark) && mark['prompt_cache_breakpoint'] == null ? inner : 'prompt_cache_breakpoint'
  places[`${pointerOf(at ?? '')}:cache`] = key
  places[`${pointerOf(at ?? '')}:cache.ttl`] = `${key}/ttl`
}

function placeSignature({ at, type, ext }: Part, carriers: unknown, places: FieldNames): void {
  const { extra } = ownForm(ext) ?? {}
  if (type === 'tool-call') places[`${pointerOf(at ?? '')}:signature`] = isObject(extra) ? pathIn(extra) : 'id'
  else if (type === 'text' && isObject(carriers) && isObject(carriers['extra_content']))
    places[`${pointerOf(at ?? '')}:signature`] = `../${pathIn({ extra_content: carriers['extra_content'] })}`
}
