import { isObject } from '../../kit/json/json.ts'
import { reject } from '../error.ts'
import type { ReadBody } from './body.ts'
import { namesTwoModels } from './outline.ts'

const longest = 256

/** Some protocols have the model in the path of the call: the name must not change the path. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const isPath = /(?:^|[/\\])\.{1,2}(?:[/\\]|$)|[\u0000-\u001f\u007f]/

/** What is wrong with a model's id, in words. */
export function faultOfName(name: string): string | undefined {
  if (name.length > longest) return `the model id is longer than ${longest} characters`
  return isPath.test(name)
    ? 'the model id must hold neither `.` nor `..` as a step of a path, nor control characters'
    : undefined
}

/** The model of a request. `inPath`: the one in its path. @throws GatewayError 400 */
export function namedIn({ outline, bytes, members }: ReadBody, inPath: string | undefined): string {
  if (!isObject(outline)) throw reject(400, 'invalid_request', 'the body must be a JSON object')
  const named = checkedName(inPath ?? outline['model'])
  // With two names, access would be checked for the first one, and the upstream might use the
  // second. Some upstreams also accept `Model`.
  const names = Object.keys(outline).filter(key => key.toLowerCase() === 'model')
  if (names.length > 1 || (bytes && namesTwoModels(bytes, members)))
    throw wrong('the model is named more than once')
  return named
}

/** @throws GatewayError 400 */
export function checkedName(named: unknown): string {
  if (typeof named !== 'string' || named === '')
    throw wrong('the model is missing: expected its id, a string')
  const fault = faultOfName(named)
  if (fault) throw wrong(fault)
  return named
}

const wrong = (message: string) => reject(400, 'invalid_request', message, { param: 'model' })
