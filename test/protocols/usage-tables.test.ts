import { describe, expect, test } from 'vitest'
import type { Usage } from '../../src/canonical/response.ts'
import { usageTable as chatCompletions } from '../../src/protocols/chat-completions/usage.ts'
import { ConverseUsage } from '../../src/protocols/converse/schema.ts'
import { usageTable as converse } from '../../src/protocols/converse/usage.ts'
import { GenerateContentUsage } from '../../src/protocols/generate-content/schema.ts'
import { usageTable as generateContent } from '../../src/protocols/generate-content/usage.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { MessagesResponse } from '../../src/protocols/messages/schema.ts'
import { usageTable as messages } from '../../src/protocols/messages/usage.ts'
import { ResponsesUsage } from '../../src/protocols/responses/schema.ts'
import { usageTable as responses } from '../../src/protocols/responses/usage.ts'
import { translateResponse } from '../support/untyped.ts'

const tables = {
  'chat-completions': chatCompletions,
  responses,
  messages,
  'generate-content': generateContent,
  converse,
}
const names = Object.keys(tables) as ProtocolName[]

/** The usage in the response of each protocol, and around it what a response needs. */
const bodies: Record<ProtocolName, (usage: object) => object> = {
  'chat-completions': usage => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    ...usage,
  }),
  responses: usage => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'hi', annotations: [] }],
      },
    ],
    ...usage,
  }),
  messages: usage => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    ...usage,
  }),
  'generate-content': usage => ({
    responseId: 'r',
    modelVersion: 'm',
    candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
    ...usage,
  }),
  converse: usage => ({
    output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
    stopReason: 'end_turn',
    metrics: { latencyMs: 1 },
    ...usage,
  }),
}

/** What the rows hold that are not one count, and the total that some are a part of. */
const held: Record<string, object> = {
  'chat-completions usage/prompt_tokens_details/audio_tokens': {
    prompt_tokens: 7,
    prompt_tokens_details: { audio_tokens: 7 },
  },
  'chat-completions usage/prompt_tokens_details/image_tokens': {
    prompt_tokens: 7,
    prompt_tokens_details: { image_tokens: 7 },
  },
  'chat-completions usage/completion_tokens_details/audio_tokens': {
    completion_tokens: 7,
    completion_tokens_details: { audio_tokens: 7 },
  },
  'messages usage/server_tool_use': { server_tool_use: { web_search_requests: 7 } },
  'converse usage/cacheDetails': { cacheDetails: [{ ttl: '5m', inputTokens: 7 }] },
  'converse usage/serverToolUsage': { serverToolUsage: { web_search: 7 } },
  'generate-content usageMetadata/promptTokensDetails': {
    promptTokenCount: 14,
    promptTokensDetails: [
      { modality: 'AUDIO', tokenCount: 7 },
      { modality: 'IMAGE', tokenCount: 7 },
    ],
  },
  'generate-content usageMetadata/candidatesTokensDetails': {
    candidatesTokenCount: 7,
    candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 7 }],
  },
}

/** A total repeats the sum, and a tier is that of the response: neither is a count. */
const isCount = (field: string) => field !== 'total' && field !== 'serviceTier'

const rows = names.flatMap(name =>
  Object.entries(tables[name].rows).flatMap(([path, fields]) =>
    fields.filter(isCount).map(field => ({ name, path, field })),
  ),
)

type Row = (typeof rows)[number]

/** The count 7 at the path of the row. */
function bodyOf({ name, path }: Row): object {
  const [top = '', ...keys] = path.split('/')
  const usage =
    held[`${name} ${path}`] ?? keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), 7)
  return bodies[name]({ [top]: usage })
}

function countIn(usage: Usage | undefined, field: string): unknown {
  const [name = '', key] = field.split('.')
  const value: unknown = usage?.[name as keyof Usage]
  const [first] =
    typeof value === 'object'
      ? Object.entries(value ?? {}).filter(([one]) => one === (key ?? one))
      : []
  return first ? first[1] : value
}

describe('each row of a table of token counts', () => {
  test.each(rows)('$name: $path is $field', row => {
    const { value, notes } = protocols[row.name].decodeResponse(bodyOf(row))
    expect(countIn(value.usage, row.field)).toBeGreaterThanOrEqual(7)
    expect(value.usage?.ext).toBeUndefined()
    expect(notes).toEqual([])
  })

  test.each(rows.flatMap(row => names.filter(to => to !== row.name).map(to => ({ ...row, to }))))(
    '$name: $path is written in $to without a note, or noted',
    ({ to, ...row }) => {
      const { body, notes } = translateResponse(bodyOf(row), { from: row.name, to, now: 1 })
      const before = countIn(protocols[row.name].decodeResponse(bodyOf(row)).value.usage, row.field)
      const after = countIn(protocols[to].decodeResponse(body).value.usage, row.field)
      const [name = ''] = row.field.split('.')
      const isNoted = notes.some(
        ({ code, path }) =>
          /^(usage\.(merged|unsupported|ttl)|cache\.ttl|field\.unsupported)$/.test(code) &&
          `/${row.path}`.startsWith(path),
      )
      expect(isNoted).toBe(after !== before)
      // The keys of a map differ between protocols.
      const isMap = name === 'cacheWriteByTtl'
      expect(isMap || isNoted).toBe(isMap || !tables[to].names[`usage.${name}`])
    },
  )
})

describe('each key of the schema of token counts', () => {
  const schemas = [
    ['responses', 'usage', ResponsesUsage],
    ['messages', 'usage', MessagesResponse.shape.usage],
    ['generate-content', 'usageMetadata', GenerateContentUsage],
    ['converse', 'usage', ConverseUsage],
  ] as const

  /** Paths of the keys, but for those of objects with known keys. */
  function leavesOf(schema: unknown, path: string): string[] {
    const { def } = (schema as { _zod: { def: Record<string, unknown> } })._zod
    if (def['innerType']) return leavesOf(def['innerType'], path)
    const shape = Object.entries(def['shape'] ?? {})
    const options = def['options'] as unknown[] | undefined
    if (options) return options.flatMap(option => leavesOf(option, path)).slice(0, 1)
    return shape.length > 0
      ? shape.flatMap(([key, inner]) => leavesOf(inner, `${path}/${key}`))
      : [path]
  }

  test.each(schemas)('of %s has a row', (name, key, schema) => {
    const leaves = leavesOf(schema, key)
    expect(leaves.length).toBeGreaterThan(5)
    expect(leaves.filter(path => !tables[name].rows[path])).toEqual([])
  })
})
