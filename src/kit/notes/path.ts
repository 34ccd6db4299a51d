import { step } from '../../canonical/place.ts'

export { below, pointerOf, step } from '../../canonical/place.ts'

/** Keys from the root → JSON pointer; the root itself is `''`. */
export function pointer(keys: Iterable<PropertyKey>): string {
  let path = ''
  for (const key of keys) path += step(typeof key === 'symbol' ? String(key) : key)
  return path
}

/**
 * `name`: the last key of a pointer that is not an index. `inside`: the pointer to the object that
 * has this key.
 */
export function containerOf(path: string): { name: string; inside: string } {
  let end = path.length
  let cut = path.lastIndexOf('/')
  while (cut >= 0 && isIndex(path, cut + 1, end)) {
    end = cut
    cut = path.slice(0, end).lastIndexOf('/')
  }
  return cut < 0
    ? { name: '', inside: '' }
    : { name: path.slice(cut + 1, end), inside: path.slice(0, cut) }
}

function isIndex(path: string, begin: number, end: number): boolean {
  for (let i = begin; i < end; i++)
    if (path.charCodeAt(i) < 0x30 || path.charCodeAt(i) > 0x39) return false
  return begin < end
}

/** A pointer in the notation of JavaScript: `messages[1].content`. */
export function dotted(path: string): string {
  return path
    .slice(1)
    .split('/')
    .map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((whole, key) => {
      if (/^\d+$/.test(key)) return `${whole}[${key}]`
      if (whole === '') return key
      return `${whole}.${key}`
    }, '')
}
