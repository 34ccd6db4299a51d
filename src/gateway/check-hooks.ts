import { isObject } from '../kit/json/json.ts'
import { unknownNames } from './check-options.ts'
import { callbackNames, type Hooks } from './hooks.ts'
import { ConfigError } from './options.ts'

/** The methods that the other hooks must have. */
const methods = {
  logger: ['info', 'warn', 'error'],
  transport: ['send'],
  store: ['get', 'set', 'delete'],
  peers: ['count', 'send', 'listen'],
  serverTools: [],
} as const satisfies Partial<Record<keyof Hooks, readonly string[]>>

const names: readonly string[] = [...callbackNames, ...Object.keys(methods)]

/**
 * A misspelled guardrail would otherwise never run. Instances of classes may have further fields.
 * @throws ConfigError with every unknown hook, and every value that is none
 */
export function checkHooks(hooks: unknown): void {
  if (!isObject(hooks))
    throw new ConfigError('hooks', `expected an object with ${names.join(', ')}`)
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(hooks) as object | null)
  const faults = [
    ...(isPlain ? unknownNames(hooks, names, 'hook') : []),
    ...names.flatMap(name => {
      const message = faultOf(name, hooks[name])
      return message === undefined ? [] : [{ path: `hooks.${name}`, message }]
    }),
  ]
  const [first, ...more] = faults
  if (first) throw new ConfigError(first.path, first.message, more)
}

function faultOf(name: string, hook: unknown): string | undefined {
  if (hook === undefined || (name === 'logger' && hook === false)) return undefined
  const needed = Object.entries(methods).find(([key]) => key === name)?.[1]
  if (!needed) return typeof hook === 'function' ? undefined : 'expected a function'
  if (needed.length === 0)
    return isObject(hook) && Object.values(hook).every(one => typeof one === 'function')
      ? undefined
      : 'expected an object with functions'
  const isComplete = needed.every(
    method => typeof (Object(hook) as Record<string, unknown>)[method] === 'function',
  )
  return isComplete
    ? undefined
    : `expected an object with the method${needed.length > 1 ? 's' : ''} ${needed.join(', ')}${name === 'logger' ? ', or false' : ''}`
}
