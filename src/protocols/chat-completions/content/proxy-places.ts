import type { Message, Part, Place } from '../../../canonical/message.ts'
import type { Tool } from '../../../canonical/tool.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import type { FieldNames } from '../../../protocol.ts'
import { carriedIssuer, pathIn, readCarried } from './signatures.ts'

/**
 * Field names for this request where the general table does not fit: proxies and their clients use
 * other fields for cache marks and signatures. `body`: as the client sent it.
 */
export function placesOf(
  messages: readonly Message[],
  tools: readonly Tool[] = [],
  body: JsonObject,
): FieldNames {
  const places: FieldNames = {}
  for (const tool of tools) if (tool.type === 'function') placeMark(tool, body, places)
  for (const { parts, at: messageAt } of messages) {
    for (const part of parts) {
      placeFields(part, body, places)
      if (part.type === 'tool-result')
        for (const inner of part.content) placeFields(inner, body, places)
      if (part.signature) placeSignature(part, messageAt, { body, places })
    }
    const last = parts.at(-1)
    if (
      !last?.cache ||
      nodeAt(body, messageAt)['cache_control'] === undefined ||
      isMarked(nodeAt(body, last.at))
    )
      continue
    placeCache(last.at, last.at === messageAt ? 'cache_control' : '../cache_control', places)
  }
  return places
}

/** The object at a place. An empty one if there is none. */
function nodeAt(body: JsonObject, at: Place | undefined): JsonObject {
  let node: unknown = body
  for (const key of pointerOf(at ?? '')
    .split('/')
    .slice(1))
    node = isObject(node) || Array.isArray(node) ? node[key as never] : undefined
  return isObject(node) ? node : {}
}

const isMarked = ({ prompt_cache_breakpoint: breakpoint, cache_control: control }: JsonObject) =>
  isObject(breakpoint ?? control)

function placeFields(part: Part, body: JsonObject, places: FieldNames): void {
  placeMark(part, body, places)
  if (part.type !== 'media') return
  const { type } = nodeAt(body, part.at)
  if (type === 'input_image' || type === 'input_file')
    for (const field of ['detail', 'filename'])
      places[`${pointerOf(part.at ?? '')}:${field}`] = field
}

function placeMark(
  { at, cache }: Pick<Part, 'at' | 'cache'>,
  body: JsonObject,
  places: FieldNames,
): void {
  if (!cache) return
  const {
    prompt_cache_breakpoint: breakpoint,
    cache_control: control,
    function: fn,
  } = nodeAt(body, at)
  const inner = control === undefined && isObject(fn) ? 'function/cache_control' : 'cache_control'
  placeCache(at, isObject(breakpoint) ? 'prompt_cache_breakpoint' : inner, places)
}

function placeCache(at: Place | undefined, name: string, places: FieldNames): void {
  places[`${pointerOf(at ?? '')}:cache`] = name
  places[`${pointerOf(at ?? '')}:cache.ttl`] = `${name}/ttl`
}

function placeSignature(
  { at, type }: Part,
  messageAt: Place | undefined,
  { body, places }: { body: JsonObject; places: FieldNames },
): void {
  const carriedAt = (place: Place | undefined) =>
    readCarried(nodeAt(body, place), carriedIssuer.client).original
  if (type === 'tool-call')
    places[`${pointerOf(at ?? '')}:signature`] = pathIn(carriedAt(at)) || 'id'
  else if (type === 'text') {
    const { extra_content } = carriedAt(messageAt)
    if (isObject(extra_content))
      places[`${pointerOf(at ?? '')}:signature`] = `../${pathIn({ extra_content })}`
  }
}
