import { isObject } from '../kit/json/json.ts'
import { similar } from '../kit/text/similar.ts'
import { ConfigError, type ConfigFault } from './options.ts'

/**
 * Checks the names of options. Without types, a misspelled one would do nothing.
 * @throws ConfigError with every unknown option
 */
export function checkOptions(options: unknown, names: readonly string[]): void {
  if (!isObject(options))
    throw new ConfigError('options', `expected an object with ${names.join(', ')}`)
  const [first, ...more] = unknownNames(options, names, 'option')
  if (first) throw new ConfigError(first.path, first.message, more)
}

/** A fault for each key that is none of the names. `kind`: what the names are, in the singular. */
export function unknownNames(
  value: object,
  names: readonly string[],
  kind: 'hook' | 'option',
): ConfigFault[] {
  return Object.keys(value)
    .filter(name => !names.includes(name))
    .map(name => {
      const meant = similar(name, names)
      const suggestion = meant === undefined ? '' : `; did you mean ${meant}?`
      return {
        path: `${kind}s.${name}`,
        message: `there is no such ${kind}; there are ${names.join(', ')}${suggestion}`,
      }
    })
}
