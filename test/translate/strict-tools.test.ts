import { expect, test } from 'vitest'
import { createReport } from '../../src/kit/notes/report.ts'
import { translateNotes } from '../../src/translate/notes.ts'
import { withStrictTools } from '../../src/translate/passes/strict-tools.ts'

const closed = { type: 'object', properties: {}, required: [], additionalProperties: false }
const of = (schema: unknown, more: object = {}) => ({
  ...closed,
  properties: { q: schema },
  required: ['q'],
  ...more,
})
const open = { type: 'object', properties: {} }

test.each<[string, unknown, boolean]>([
  ['one without properties', closed, true],
  ['one with a text', of({ type: 'string' }), true],
  ['one with a text that may be null', of({ type: ['string', 'null'] }), true],
  [
    'one that refers to a closed definition',
    of({ $ref: '#/$defs/place' }, { $defs: { place: closed } }),
    true,
  ],
  ['one with several closed forms', of({ anyOf: [closed, { type: 'null' }] }), true],
  ['one whose field is left out of `required`', { ...of({ type: 'string' }), required: [] }, false],
  ['one that holds an open object', of(open), false],
  [
    'one that holds an open object or null',
    of({ type: ['object', 'null'], properties: {} }),
    false,
  ],
  ['one that holds an object without properties or null', of({ type: ['object', 'null'] }), false],
  ['one that holds a list of open objects', of({ type: 'array', items: open }), false],
  ['one that holds a list of anything', of({ type: 'array', items: true }), false],
  ['one that holds a list of what has no type', of({ type: 'array', items: {} }), false],
  ['one that holds anything', of({}), false],
  ['one that holds what has only a description', of({ description: 'whatever' }), false],
  ['one with an open form', of({ anyOf: [open, { type: 'null' }] }), false],
  [
    'one that refers to an open definition',
    of({ $ref: '#/$defs/place' }, { $defs: { place: open } }),
    false,
  ],
  [
    'one that refers to an open definition of older name',
    of({ $ref: '#/definitions/place' }, { definitions: { place: open } }),
    false,
  ],
  ['one that is no object', { type: 'string' }, false],
  ['one that says nothing of its type', { additionalProperties: false }, false],
  ['one of several forms', { anyOf: [closed] }, false],
  ['one that may be null', { ...closed, type: ['object', 'null'] }, false],
  ...['allOf', 'oneOf'].map((key): [string, unknown, boolean] => [
    `one with ${key}`,
    of({ [key]: [closed] }),
    false,
  ]),
  ...['not', 'patternProperties'].map((key): [string, unknown, boolean] => [
    `one with ${key}`,
    of({ ...closed, [key]: {} }),
    false,
  ]),
  ['none', undefined, false],
])('a function whose schema is %s is held to it: %#', (_, parameters, strict) => {
  const tool = {
    type: 'function' as const,
    name: 'look',
    ...(parameters !== undefined && { parameters: parameters as Record<string, unknown> }),
  }
  const { tools } = withStrictTools(
    { messages: [], tools: [tool], toolChoice: { mode: 'validated' } },
    createReport('messages', translateNotes),
  )
  expect(tools).toEqual([strict ? { ...tool, strict } : tool])
})
