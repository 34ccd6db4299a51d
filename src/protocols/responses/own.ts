import type { Ext, ExtMap } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'

/** The name that this protocol has everywhere. */
export const protocol = 'responses'

export type OwnForm = Record<string, unknown>

/** What this protocol alone has to say of a node, or nothing. */
export function keep(fields: JsonObject, form?: OwnForm): { ext?: ExtMap } {
  const ext: Ext = {}
  if (Object.keys(fields).length > 0) ext.fields = fields
  if (form) ext.form = form
  return ext.fields || ext.form ? { ext: { [protocol]: ext } } : {}
}

/** How the keys of a wire object were spelled, where more than one way means the same: null, and left out. */
export function spelling(wire: JsonObject, usual: readonly string[] = []): OwnForm {
  const nulls: string[] = []
  const absent: string[] = []
  for (const key in wire) if (wire[key] === null) nulls.push(key)
  for (const key of usual) if (wire[key] === undefined) absent.push(key)
  return { ...(nulls.length > 0 && { nulls }), ...(absent.length > 0 && { absent }) }
}

/** As `spelling`, for nodes that need no form when there is nothing unusual. */
export function keepSpelling(fields: JsonObject, form: OwnForm): { ext?: ExtMap } {
  return keep(fields, Object.keys(form).length > 0 ? form : undefined)
}

type WithExt = { ext?: ExtMap } | undefined

export function ownForm(node: WithExt): OwnForm | undefined {
  return node?.ext?.[protocol]?.form
}

export function ownFields(node: WithExt): JsonObject {
  return node?.ext?.[protocol]?.fields ?? {}
}

/** A wire object: what is known, under it what nobody modelled, spelled as it was. */
export function wireOf(known: JsonObject, node?: WithExt): JsonObject {
  const own = node?.ext?.[protocol]
  if (!own) return defined(known)
  const { form } = own
  const out: JsonObject = { ...own.fields, ...defined(known) }
  if (!form) return out
  for (const key of words(form['absent'])) if (isEmpty(out[key])) delete out[key]
  for (const key of words(form['nulls'])) if (isEmpty(out[key])) out[key] = null
  return out
}

/** The strings of a list; nothing for anything else. */
export function words(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}
