import type { GatewayConfig } from '../gateway/gateway.ts'
import { isObject } from '../kit/json/json.ts'
import type { Environment } from './environment.ts'

/** How other tools write a variable: `$NAME`, `${NAME}`, `os.environ/NAME`, `{env:NAME}`. */
const reference = /^(?:\$\{?|os\.environ\/|\{env:)(\w*)\}?$/

/**
 * Keys of a configuration that look like references to environment variables, but are taken as the
 * keys themselves. One sentence each.
 */
export function keyHints(config: GatewayConfig, environment: Environment): string[] {
  if (!isObject(config)) return []
  return [
    ...hintsIn(config.channels, 'channels', 'apiKey', environment),
    ...hintsIn(config.keys, 'keys', 'key', environment),
  ]
}

function hintsIn(entries: unknown, list: string, field: string, environment: Environment) {
  return (Array.isArray(entries) ? entries : []).flatMap((entry: unknown, index) => {
    const value = isObject(entry) ? entry[field] : undefined
    const variable = typeof value === 'string' ? variableIn(value, environment) : undefined
    if (variable === undefined) return []
    return `${list}[${index}].${field} is taken as the key itself. For an environment variable, write "env:${variable}".`
  })
}

/**
 * The variable that a value seems to mean. Undefined: it is a key, or a reference that the gateway
 * resolves.
 */
export function variableIn(value: string, environment: Environment): string | undefined {
  if (/^[A-Za-z_]\w*$/.test(value) && environment[value] !== undefined) return value
  const [isReference, name] = reference.exec(value) ?? []
  if (isReference !== undefined) return name || 'NAME'
  return value.startsWith('$') ? 'NAME' : undefined
}
