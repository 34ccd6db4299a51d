import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Note } from '../../src/canonical/note.ts'
import type { TranslateOptions } from '../../src/index.ts'
import type { TranslationContext } from '../../src/protocol.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import { strictToolsOf } from '../../src/testing/hosts/index.ts'
import { anyArguments, parameters, type Schema, validatorOf } from '../support/json-schemas.ts'
import { runs } from '../support/runs.ts'
import { declaredIn, requests } from '../support/tool-requests.ts'
import { translateRequest } from '../support/untyped.ts'

/** Each host, for models of which some take less. `vendor` absent: an unknown server. */
type Vendor = NonNullable<TranslateOptions['vendor']>
const targets: readonly { host: string; vendor?: Vendor; model: string }[] = [
  { host: 'openai', model: 'some-model' },
  { host: 'openai', vendor: 'openai', model: 'gpt-5.2' },
  { host: 'openai', vendor: 'openai', model: 'gpt-4o' },
  { host: 'openai', vendor: 'azure', model: 'gpt-4.1' },
  { host: 'anthropic', model: 'claude-sonnet-4-5' },
  { host: 'anthropic', vendor: 'anthropic', model: 'claude-opus-5' },
  { host: 'bedrock', vendor: 'bedrock', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
  { host: 'bedrock', vendor: 'bedrock', model: 'us.amazon.nova-lite-v1:0' },
  { host: 'bedrock', vendor: 'bedrock', model: 'mistral.mistral-large-2407-v1:0' },
  { host: 'gemini', model: 'gemini-3-pro' },
  { host: 'gemini', vendor: 'gemini', model: 'gemini-2.5-flash' },
  { host: 'mistral', vendor: 'mistral', model: 'mistral-large-latest' },
  { host: 'deepseek', vendor: 'deepseek', model: 'deepseek-chat' },
  { host: 'moonshot', vendor: 'moonshot', model: 'kimi-k2.5' },
  { host: 'groq', vendor: 'groq', model: 'openai/gpt-oss-120b' },
  { host: 'cerebras', vendor: 'cerebras', model: 'qwen-3-coder-480b' },
  { host: 'xai', vendor: 'xai', model: 'grok-4.6' },
]

const ways = targets.flatMap(target =>
  protocolNames
    .filter(to => strictToolsOf(target.host).protocols.includes(to))
    .flatMap(to =>
      protocolNames
        .filter(from => from !== to || target.vendor !== undefined)
        .map(from => ({
          ...target,
          from,
          to,
          title: `${from} → ${to} of ${target.vendor ?? 'any server'}, ${target.model}`,
        })),
    ),
)

type Way = (typeof ways)[number]

const tool = fc.record({
  name: fc.constantFrom('find', '21st_magic', 'mcp.find/all', 'x'.repeat(70), 'é'),
  schema: parameters,
  strict: fc.constantFrom(undefined, undefined, true),
  instance: fc.array(anyArguments, { maxLength: 20 }),
})

/** Between equal protocols names and strictness are the caller's, whatever the vendor is. */
function translated(
  { from, to, vendor, model }: Way,
  given: Schema,
  name: string,
  strict: boolean,
) {
  const declared = from === to ? { name: 'find' } : { name, ...(strict && { strict }) }
  const { body, notes, context } = translateRequest(
    { ...requests[from]([{ ...declared, schema: given }]), model },
    { from, to, model, ...(vendor !== undefined && { vendor }) },
  )
  return { body, notes, context }
}

/** What says that arguments may be other ones than before. */
const isLoss = ({ code }: Note) => /^(schema\.|tool\.schema|tool\.strict|output\.closed)/.test(code)

/** The arguments with the names of properties as they are sent. */
function spelled(value: unknown, context: TranslationContext): unknown {
  const [{ properties = {} } = {}] = Object.values(context.tools ?? {})
  const written = new Map(Object.entries(properties).map(([sent, given]) => [given, sent]))
  const visit = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(visit)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(
      Object.entries(one).map(([key, inner]) => [written.get(key) ?? key, visit(inner)]),
    )
  }
  return visit(value)
}

describe.each(ways)('$title', way => {
  test('the host takes every tool, and its arguments mean the same', () => {
    fc.assert(
      fc.property(tool, ({ name, schema: { draft, schema }, strict, instance }) => {
        const before = validatorOf(schema, draft)
        const { body, notes, context } = translated(way, schema, name, strict === true)
        const faults = strictToolsOf(way.host)
          .checkTools(body, way.model)
          // Between equal protocols responses pass unchanged, so names could not be restored.
          .filter(fault => way.from !== way.to || !fault.includes('/properties: '))
        const [written] = declaredIn(way.to, body)
        if (faults.length > 0)
          throw new Error(`refused: ${faults.join('; ')}\n${JSON.stringify(written?.schema)}`)
        if (!before || notes.some(isLoss)) return
        const after = written && validatorOf(written.schema, '2020-12')
        if (!after) throw new Error(`no schema: ${JSON.stringify(written?.schema)}`)
        for (const value of instance)
          if (before(value) && !after(spelled(value, context)))
            throw new Error(
              `${JSON.stringify(value)} is refused by ${JSON.stringify(written.schema)}`,
            )
      }),
      runs(1000),
    )
  })
})
