import type { Maker, Model } from './model.ts'

/**
 * Is it the name of such a model? `vendor/` and the like in front of a name say who serves it, not
 * which one it is, and so does a word with a dot or a colon, as `us.anthropic.` and `ft:`.
 */
export function isNamed(model: string, pattern: string): boolean {
  if (model.length > longestName) return false
  const { form, least } = compiled(pattern)
  const found = form.exec(model.slice(model.lastIndexOf('/') + 1).toLowerCase())
  if (!found) return false
  if (least === undefined) return true
  const [, major, minor] = found
  return asNumber(major, minor) >= least
}

/** No model has a longer one, and the patterns take time with the square of the length. */
const longestName = 512

type Compiled = { form: RegExp; least?: number }

const forms = new Map<string, Compiled>()

/** The patterns are data of this package, so they are few. */
function compiled(pattern: string): Compiled {
  const known = forms.get(pattern)
  if (known) return known
  const version = /(?<!\d)(\d+)(?:\.(\d+))?\+/.exec(pattern)
  const escaped = (text: string) =>
    text
      .toLowerCase()
      .replaceAll(/[.?()[\]]/g, '\\$&')
      .replaceAll('*', '.*')
  const [before = '', after = ''] = version ? pattern.split(version[0]) : [pattern]
  const made = {
    form: new RegExp(
      `^(?:[\\w.:-]*[.:])?${escaped(before)}${version ? anyVersion : ''}${escaped(after)}$`,
    ),
    ...(version && { least: asNumber(version[1], version[2]) }),
  }
  forms.set(pattern, made)
  return made
}

/** One or two numbers of at most two digits: more are a date, and `-32b` is a size. */
const anyVersion = '(\\d{1,2})(?!\\d)(?:[.-](\\d{1,2})(?![\\da-z]))?'

const asNumber = (major = '0', minor = '0') => Number(major) * 100 + Number(minor)

const mostNames = 1000
const lookups = new WeakMap<Maker, Map<string, Model | undefined>>()

/** The first model of the maker with this name. Each name is searched once. */
export function modelOf(name: string | undefined, maker: Maker): Model | undefined {
  if (name === undefined || name.length > longestName) return undefined
  const known = lookups.get(maker) ?? new Map<string, Model | undefined>()
  if (known.has(name)) return known.get(name)
  if (known.size >= mostNames) known.clear()
  const found = maker.models.find(({ names }) => names.some(pattern => isNamed(name, pattern)))
  lookups.set(maker, known.set(name, found))
  return found
}

/** It thinks, and cannot be told not to. */
export const isAlwaysThinking = ({ thinking = [] }: Pick<Model, 'thinking'> = {}): boolean =>
  thinking.length > 0 && !thinking.includes('off')
