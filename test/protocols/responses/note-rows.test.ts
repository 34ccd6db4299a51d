import { expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { FunctionTool } from '../../../src/canonical/tool.ts'
import { responses } from '../../../src/protocols/responses/index.ts'

/** What is written, and where the note on it points: rarer notes, one row each. */

const parameters = { type: 'object', properties: {} }
const find: FunctionTool = {
  type: 'function',
  name: 'find',
  namespace: 'n',
  parameters,
  strict: false,
}
const plain: FunctionTool = { type: 'function', name: 'look', parameters, strict: false }
const namespace = {
  type: 'namespace',
  name: 'n',
  description: '',
  tools: [{ type: 'function', name: 'find', parameters, strict: false }],
}

function write(parts: Part[], more: Partial<CanonicalRequest> = {}) {
  const { wire, notes } = responses.encodeRequest({
    model: 'm',
    messages: [{ role: 'user', origin: 'message', parts }],
    ...more,
  })
  const reported = (code: string) =>
    notes.filter(note => note.code === code).map(({ kind, path }) => `${kind} ${path}`)
  return { wire: wire as Record<string, unknown>, reported }
}

const hi: Part = { type: 'text', text: 'hi' }
const at = '/messages/0/parts/1'

test.each<[string, Part, object]>([
  [
    'an image',
    { type: 'media', kind: 'image', source: { type: 'url', url: 'https://u/a.png' }, at },
    { type: 'input_image', image_url: 'https://u/a.png', detail: 'auto' },
  ],
  [
    'a document',
    {
      type: 'media',
      kind: 'document',
      source: { type: 'base64', mime: 'application/pdf', data: 'JVBERi0=' },
      at,
    },
    { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'file.pdf' },
  ],
])('signature.unplaced: %s goes without its signature', (_, part, written) => {
  const { wire, reported } = write([
    hi,
    { ...part, signature: { value: 'SEAL', issuer: 'generate-content' } },
  ])
  expect(wire['input']).toEqual([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }, written] },
  ])
  expect(reported('signature.unplaced')).toEqual([`dropped ${at}/signature`])
})

test.each<[string, Part, object, string]>([
  [
    'a document',
    { type: 'media', kind: 'document', source: { type: 'base64', data: 'JVBERi0=' }, at },
    { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'file.pdf' },
    'file_data',
  ],
  [
    'an image',
    { type: 'media', kind: 'image', source: { type: 'base64', data: 'iVBORw0KGgo=' }, at },
    { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' },
    'image_url',
  ],
])('media.mime: adds a type to %s of unknown type', (_, part, written, key) => {
  const { wire, reported } = write([hi, part])
  expect(wire['input']).toEqual([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }, written] },
  ])
  expect(reported('media.mime')).toEqual([`synthesized /input/0/content/1/${key}`])
})

test('tool.namespace-description: adds a description to a namespace without one', () => {
  const { wire, reported } = write([hi], { tools: [plain, find] })
  expect(wire['tools']).toEqual([
    { type: 'function', name: 'look', parameters, strict: false },
    namespace,
  ])
  expect(reported('tool.namespace-description')).toEqual(['synthesized /tools/1/description'])
})

test('tool.namespace-description: of tools that join in mid-conversation, it is noted where they stand', () => {
  const addition: Part = {
    type: 'control',
    control: 'tool-addition',
    protocol: 'messages',
    raw: {},
    tools: [find],
    at,
  }
  const { wire, reported } = write([hi, addition])
  expect(wire['input']).toMatchObject([
    { type: 'message' },
    { type: 'additional_tools', tools: [namespace] },
  ])
  expect(reported('tool.namespace-description')).toEqual([
    'synthesized /input/1/tools/0/description',
  ])
})

test('tool.namespace-description: what it says of itself is written as it is', () => {
  const { wire, reported } = write([hi], {
    tools: [{ ...find, namespaceDescription: 'all of them' }],
  })
  expect(wire['tools']).toEqual([{ ...namespace, description: 'all of them' }])
  expect(reported('tool.namespace-description')).toEqual([])
})

test('cache.unsupported: drops the mark of an empty text without counting it', () => {
  const marked = ['a', 'b', 'c', 'd'].map(
    (text, i): Part => ({ type: 'text', text, cache: {}, at: `/messages/0/parts/${i}` }),
  )
  const { wire, reported } = write([
    ...marked,
    { type: 'text', text: '', cache: { ttl: '5m' }, at: '/messages/0/parts/4' },
  ])
  const content = ['a', 'b', 'c', 'd'].map(text => ({
    type: 'input_text',
    text,
    prompt_cache_breakpoint: { mode: 'explicit' },
  }))
  expect(wire['input']).toEqual([{ type: 'message', role: 'user', content }])
  expect(reported('cache.unsupported')).toEqual(['dropped /messages/0/parts/4/cache'])
  expect(reported('cache.too-many')).toEqual([])
})
