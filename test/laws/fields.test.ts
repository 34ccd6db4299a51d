import { describe, expect, test } from 'vitest'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { translateRequest } from '../../src/index.ts'
import { isObject, type JsonObject } from '../../src/kit/json/json.ts'
import { fields as chat } from '../../src/protocols/chat-completions/request/fields.ts'
import { ChatCompletionsRequest } from '../../src/protocols/chat-completions/schema.ts'
import { fields as converse } from '../../src/protocols/converse/request/fields.ts'
import { ConverseRequest } from '../../src/protocols/converse/schema.ts'
import { fields as generateContent } from '../../src/protocols/generate-content/request/fields.ts'
import { GenerateContentRequest } from '../../src/protocols/generate-content/schema.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { fields as messages } from '../../src/protocols/messages/request/fields.ts'
import { MessagesRequest } from '../../src/protocols/messages/schema.ts'
import { fields as responses } from '../../src/protocols/responses/request/fields.ts'
import { ResponsesRequest } from '../../src/protocols/responses/schema.ts'

/**
 * Each row of the tables of requests, alone: it reaches another protocol that has the field, and
 * then without a note; or it is noted at its path.
 */

const tables = {
  'chat-completions': { ...chat, schema: ChatCompletionsRequest },
  responses: { ...responses, schema: ResponsesRequest },
  messages: { ...messages, schema: MessagesRequest },
  'generate-content': { ...generateContent, schema: GenerateContentRequest },
  converse: { ...converse, schema: ConverseRequest },
} satisfies Record<ProtocolName, { schema: object }>

const path = 'model/us.anthropic.claude-sonnet-4-5/converse'
/** The smallest request with a tool. */
const bases: Record<ProtocolName, { body: JsonObject; path?: string }> = {
  'chat-completions': {
    body: {
      model: 'm',
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ type: 'function', function: { name: 'run', parameters: { type: 'object' } } }],
    },
  },
  responses: {
    body: {
      model: 'm',
      input: 'Hello',
      tools: [{ type: 'function', name: 'run', parameters: { type: 'object' } }],
    },
  },
  messages: {
    body: {
      model: 'm',
      max_tokens: 4096,
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ name: 'run', input_schema: { type: 'object' } }],
    },
  },
  'generate-content': {
    body: {
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      tools: [{ functionDeclarations: [{ name: 'run', parameters: { type: 'OBJECT' } }] }],
    },
    path: '/v1beta/models/m:generateContent',
  },
  converse: {
    body: {
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      toolConfig: {
        tools: [{ toolSpec: { name: 'run', inputSchema: { json: { type: 'object' } } } }],
      },
    },
    path: `/${path}`,
  },
}

/** A value on the wire that means something, by canonical field or by place. */
const samples: Record<string, unknown> = {
  model: 'other-model',
  parallelToolCalls: false,
  'messages tool_choice/disable_parallel_tool_use': true,
  maxOutputTokens: 5000,
  stop: ['END'],
  candidateCount: 2,
  metadata: { key: 'value' },
  'output.verbosity': 'low',
  'output.modalities': ['text', 'audio'],
  'generate-content generationConfig/responseModalities': ['TEXT', 'AUDIO'],
  'output.audio': { voice: 'alloy', format: 'mp3' },
  'generate-content generationConfig/speechConfig/voiceConfig/prebuiltVoiceConfig/voiceName':
    'Kore',
  'sampling.temperature': 0.5,
  'sampling.topP': 0.5,
  'sampling.topK': 7,
  'sampling.minP': 0.1,
  'sampling.repetitionPenalty': 1.1,
  'sampling.frequencyPenalty': 0.5,
  'sampling.presencePenalty': 0.5,
  'sampling.seed': 7,
  'sampling.logitBias': { 50256: -100 },
  'logprobs.enabled': true,
  'logprobs.top': 3,
  'reasoning.effort': 'high',
  'generate-content generationConfig/thinkingConfig/thinkingLevel': 'HIGH',
  'reasoning.budgetTokens': 2048,
  'reasoning.mode': 'disabled',
  'reasoning.summary': 'detailed',
  'reasoning.display': 'summarized',
  'generate-content generationConfig/thinkingConfig/includeThoughts': true,
  'reasoning.context': 'none',
  'reasoning.execution': 'pro',
  'cache.key': 'key',
  'cache.mode': 'explicit',
  'cache.ttl': '30m',
  'cache.retention': '24h',
  'cache.contentRef': 'cachedContents/1',
  'cache.diagnostics': { previous_message_id: 'msg_1' },
  'serviceTier.tier': 'priority',
  'messages service_tier': 'standard_only',
  'serviceTier.speed': 'fast',
  'user.safetyId': 'user-1',
  'user.user': 'user-1',
  'safety.moderation': 'auto',
  'safety.settings': [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  'state.store': true,
  'state.previousId': 'resp_1',
  'state.conversation': 'conv_1',
  'state.background': true,
  'state.prompt': { id: 'pmpt_1' },
  'state.truncation': 'auto',
  'state.contextManagement': [{ type: 'compaction', compact_threshold: 1000 }],
  'messages context_management': { edits: [{ type: 'clear_tool_uses_20250919' }] },
  'state.maxToolCalls': 3,
  'state.container': 'container_1',
  'state.thread': { id: 'thread_1' },
  'state.compaction': { type: 'auto' },
  'state.continuationToken': 'token',
  'stream.enabled': true,
  'stream.includeUsage': true,
  'stream.obfuscation': true,
}

/** Objects that code reads as a whole have tests of their own. */
const byRows = protocolNames.flatMap(from =>
  tables[from].rows
    .filter(({ read, field }) => read !== 'never' && (read !== false || field in samples))
    .map(({ field, inside, key }) => ({
      from,
      field,
      wire: inside === undefined ? key : `${inside}/${key}`,
    })),
)

/** What a field needs beside it. */
const around: Record<string, JsonObject> = {
  'chat-completions top_logprobs': { logprobs: true },
  'chat-completions audio': { modalities: ['text', 'audio'] },
  'chat-completions stream_options/include_usage': { stream: true },
  'chat-completions stream_options/include_obfuscation': { stream: true },
  'responses stream_options/include_obfuscation': { stream: true },
  'messages tool_choice/disable_parallel_tool_use': { tool_choice: { type: 'auto' } },
  'messages thinking/budget_tokens': { thinking: { type: 'enabled' } },
  'messages thinking/display': { thinking: { type: 'adaptive' } },
  'generate-content generationConfig/logprobs': { generationConfig: { responseLogprobs: true } },
}

function bodyWith(from: ProtocolName, wire: string, value: unknown): JsonObject {
  const body = structuredClone({ ...bases[from].body, ...around[`${from} ${wire}`] })
  const keys = wire.split('/')
  const last = keys.pop() as string
  let at: JsonObject = body
  for (const key of keys) {
    at[key] ??= {}
    at = at[key] as JsonObject
  }
  at[last] = value
  return body
}

const valueAt = (request: CanonicalRequest, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), request as JsonObject)

const sampleOf = (from: ProtocolName, wire: string, field: string) =>
  samples[`${from} ${wire}`] ?? samples[field]

test.each(byRows)('$from $wire has a sample, which its row reads', ({ from, wire, field }) => {
  const body = bodyWith(from, wire, sampleOf(from, wire, field))
  const { path } = bases[from]
  const { value } = protocols[from].decodeRequest(body, { ...(path && { path }) })
  if (wire === 'model' || wire === 'modelId') return
  expect(valueAt(value, field), field).toBeDefined()
})

describe.each(byRows)('$from $wire', ({ from, wire, field }) => {
  test.each(protocolNames.filter(to => to !== from))('toward %s', to => {
    const { path } = bases[from]
    const body = bodyWith(from, wire, sampleOf(from, wire, field))
    const given = protocols[from].decodeRequest(body, { ...(path && { path }) })
    const at = `/${given.fieldNames?.[field] ?? wire}`
    const translated = translateRequest(
      body as never,
      { from, to, onUnresolvable: 'note', ...(path && { path }) } as never,
    )
    const { path: called } = translated.context
    const { value } = protocols[to].decodeRequest(translated.body, {
      ...(called !== undefined && { path: called }),
    })
    const isKept =
      JSON.stringify(valueAt(value, field)) === JSON.stringify(valueAt(given.value, field))
    const noted = translated.notes.filter(
      ({ path }) => path === at || path.startsWith(`${at}/`) || at.startsWith(`${path}/`),
    )
    const lost = noted.filter(({ kind }) => kind === 'dropped')
    if (isKept || elsewhere.some(([one, targets]) => one === field && targets.includes(to)))
      expect(lost).toEqual([])
    else expect(noted.length).toBeGreaterThan(0)
  })
})

/** Fields whose meaning a target has in another way, so that nothing is noted. */
const elsewhere: [field: string, targets: readonly ProtocolName[]][] = [
  // They have cache marks and no mode.
  ['cache.mode', ['messages', 'converse']],
  // The id of the user, which is one field.
  ['user.user', ['messages']],
  // Off is an effort.
  ['reasoning.mode', ['chat-completions', 'responses']],
  // Every stream has usage.
  ['stream.includeUsage', ['responses', 'messages', 'generate-content', 'converse']],
  // Padding has no content.
  ['stream.obfuscation', ['messages', 'generate-content', 'converse']],
]

type Shaped = { shape?: Record<string, Shaped>; unwrap?(): Shaped }
const unwrapped = (schema: Shaped): Shaped => (schema.unwrap ? unwrapped(schema.unwrap()) : schema)

function pathsOf(schema: Shaped, inside: string, known: ReadonlySet<string>): string[] {
  const { shape = {} } = unwrapped(schema)
  return Object.entries(shape).flatMap(([key, inner]) => {
    const path = inside ? `${inside}/${key}` : key
    // Code reads all that is inside of what is in no path of a row.
    return [...known].some(one => one.startsWith(`${path}/`)) ? pathsOf(inner, path, known) : [path]
  })
}

/** Settings of one provider, of which only the form is checked. They are kept as unknown keys are. */
const onlyChecked: Partial<Record<ProtocolName, string[]>> = {
  converse: [
    'additionalModelResponseFieldPaths',
    'guardrailConfig',
    'performanceConfig',
    'promptVariables',
  ],
}

test.each(protocolNames)('each key of the schema of %s is in its table', name => {
  const { rows, inCode, schema } = tables[name]
  const known = new Set([
    ...rows.map(({ inside, key }) => (inside === undefined ? key : `${inside}/${key}`)),
    ...inCode.wire,
  ])
  expect(
    pathsOf(schema as Shaped, '', known)
      .filter(path => !known.has(path))
      .sort(),
  ).toEqual(onlyChecked[name] ?? [])
})
