import { nameFault } from '../../kit/text/similar.ts'
import { isObject, type JsonObject } from '../strict/faults.ts'
import { anthropic } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import { cerebras, deepseek, groq, mistral, xai } from './compatible.ts'
import { gemini } from './gemini.ts'
import type { Declared, Host } from './host.ts'
import { moonshot } from './moonshot.ts'
import { openai } from './openai.ts'
import { checkSchema, listIn } from './schema-rules.ts'

/** An independent validator of the tools that one host takes. */
export type StrictTools = {
  /** The protocols that the host serves. */
  protocols: readonly string[]
  /**
   * Faults of the functions in a request body. Empty: the host would accept them. `model`: which
   * one is asked, where the body does not say; some hosts take less for some models.
   */
  checkTools(body: unknown, model?: string): string[]
}

const hosts: Readonly<Record<string, Host>> = {
  openai,
  anthropic,
  bedrock,
  gemini,
  mistral,
  deepseek,
  moonshot,
  groq,
  cerebras,
  xai,
}

/**
 * A validator of the tools that a host takes: names, numbers, and the schemas of parameters. The
 * rules come from documentation and from public refusals, and use nothing of the codecs.
 * @param host One of `openai`, `anthropic`, `bedrock`, `gemini`, `mistral`, `deepseek`, `moonshot`,
 * `groq`, `cerebras` and `xai`.
 * @throws RangeError for a host without a validator
 * @example
 * import { strictToolsOf } from 'wireglot/testing'
 *
 * const tools = [{ name: 'find', input_schema: { type: 'object', properties: { $top: {} } } }]
 * console.log(strictToolsOf('anthropic').checkTools({ tools }).length) // 1
 */
export function strictToolsOf(host: string): StrictTools {
  const found = Object.hasOwn(hosts, host) ? hosts[host] : undefined
  if (!found) throw new RangeError(`host: ${nameFault(host, Object.keys(hosts))}`)
  const { protocols } = found
  return { protocols, checkTools: (body, model) => checkTools(found, body, model) }
}

/** The names that `strictToolsOf` knows. */
export const strictHosts: readonly string[] = Object.keys(hosts)

function checkTools(host: Host, body: unknown, model?: string): string[] {
  if (!isObject(body)) return ['expected an object']
  const all = declaredIn(body)
  const asked = model ?? (typeof body['model'] === 'string' ? body['model'] : '')
  const faults: string[] = []
  if (host.most !== undefined && all.length > host.most)
    faults.push(`/tools: more than ${host.most}`)
  const seen = new Set<string>()
  for (const declared of all) {
    const { at, name, schema } = declared
    const pattern = host.name(declared)
    if (typeof name !== 'string' || !pattern.test(name))
      faults.push(`${at}/name: does not match ${pattern.source}`)
    const key = JSON.stringify([declared.namespace, name])
    if (seen.has(key)) faults.push(`${at}/name: used twice`)
    seen.add(key)
    // Functions without parameters may leave them out, except where a schema is a required field.
    if (schema == null && declared.form !== 'messages' && declared.form !== 'converse') continue
    if (isObject(schema)) faults.push(...checkSchema(schema, host.rules(declared, asked), at))
    else faults.push(`${at}: the schema must be an object`)
  }
  host.more?.(all, faults, asked)
  return faults
}

/** The functions of a request, recognized by how each protocol declares them. */
function declaredIn(body: JsonObject): Declared[] {
  const config = body['toolConfig']
  const tools = [...listIn(body['tools']), ...listIn(isObject(config) ? config['tools'] : [])]
  return tools.flatMap((tool, i) => (isObject(tool) ? declarations(tool, `/tools/${i}`) : []))
}

function declarations(tool: JsonObject, at: string): Declared[] {
  const { function: fn, functionDeclarations: list, toolSpec: spec } = tool
  const base = ({ name, description, strict }: JsonObject) => ({ at, name, description, strict })
  if (isObject(fn)) return [{ ...base(fn), form: 'chat', schema: fn['parameters'] }]
  if (Array.isArray(list))
    return list.filter(isObject).map((one, i) => ({
      ...base(one),
      at: `${at}/functionDeclarations/${i}`,
      form: 'gemini',
      schema: one['parametersJsonSchema'],
    }))
  if (isObject(spec)) {
    const input = spec['inputSchema']
    const schema = isObject(input) ? input['json'] : undefined
    return [{ ...base(spec), form: 'converse', schema }]
  }
  if (Array.isArray(tool['tools']))
    return tool['tools']
      .filter(isObject)
      .flatMap((one, i) => declarations(one, `${at}/tools/${i}`))
      .map(one => ({ ...one, namespace: tool['name'] }))
  if ('input_schema' in tool)
    return [{ ...base(tool), form: 'messages', schema: tool['input_schema'] }]
  return tool['type'] === 'function'
    ? [{ ...base(tool), form: 'responses', schema: tool['parameters'] }]
    : []
}
