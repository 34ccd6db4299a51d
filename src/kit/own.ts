import type { ExtMap, Node } from '../canonical/message.ts'
import { isObject, type JsonObject } from './json.ts'

type WithExt = Pick<Node, 'ext'>

/**
 * Writes and reads what a node keeps in `ext` for one protocol alone. `fields`: keys that the model does not know.
 * `form.nothing`: known keys whose value says nothing (an empty list; `null` under any key), as they were spelled. The rest of
 * `form`: which of several spellings was used.
 */
export function ownOf(protocol: string) {
  function keep(fields: JsonObject, nothing: JsonObject, form: JsonObject = {}): { ext?: ExtMap } {
    const unsaid = nulls(fields)
    const silent = hasKeys(unsaid) ? Object.assign({}, nothing, unsaid) : nothing
    const spelled = hasKeys(silent) ? { nothing: silent, ...form } : form
    const telling = silent === nothing ? fields : Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
    const hasFields = hasKeys(telling)
    if (hasKeys(spelled)) return { ext: { [protocol]: hasFields ? { fields: telling, form: spelled } : { form: spelled } } }
    return hasFields ? { ext: { [protocol]: { fields: telling } } } : {}
  }

  /** The keys to write before the known ones. */
  function ownKeys({ ext }: WithExt): JsonObject {
    const own = ext?.[protocol]
    if (!own) return {}
    const nothing = own.form?.['nothing']
    return { ...(isObject(nothing) && nothing), ...own.fields }
  }

  const ownForm = ({ ext }: WithExt): JsonObject | undefined => ext?.[protocol]?.form

  /** What is kept of an object inside a node, under that object's key. Undefined: nothing. */
  function ownUnder({ ext }: WithExt, key: string): JsonObject | undefined {
    const own = ext?.[protocol]
    const nothing = own?.form?.['nothing']
    const spelled = isObject(nothing) ? nothing[key] : undefined
    const unknown = own?.fields?.[key]
    if (!isObject(spelled) && !isObject(unknown)) return undefined
    return merged(isObject(spelled) ? spelled : {}, isObject(unknown) ? unknown : {})
  }

  return { keep, ownKeys, ownForm, ownUnder }
}

function hasKeys(object: JsonObject): boolean {
  for (const _ in object) return true
  return false
}

/** `{ key: value }`, or `{}` where the value holds nothing. */
export function under(key: string, value: JsonObject | undefined): JsonObject {
  return value && hasKeys(value) ? { [key]: value } : {}
}

/** Those of these keys that are spelled out as `null`. */
export function nulls(values: JsonObject): JsonObject {
  const kept: JsonObject = {}
  for (const key in values) if (values[key] === null) kept[key] = null
  return kept
}

/** Objects inside are merged in their turn. */
function merged(one: JsonObject, other: JsonObject): JsonObject {
  const all = { ...one, ...other }
  for (const key in other) {
    const [before, after] = [one[key], other[key]]
    if (isObject(before) && isObject(after)) all[key] = merged(before, after)
  }
  return all
}
