import { describe, expect, test } from 'vitest'
import type { CanonicalError } from '../../src/canonical/error.ts'
import { errorTable as chatCompletions } from '../../src/protocols/chat-completions/errors.ts'
import { errorTable as converse } from '../../src/protocols/converse/errors.ts'
import { errorTable as generateContent } from '../../src/protocols/generate-content/errors.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { errorTable as messages } from '../../src/protocols/messages/errors.ts'
import { errorTable as responses } from '../../src/protocols/responses/errors.ts'
import { translateError, translateResponse } from '../support/untyped.ts'

const tables = {
  'chat-completions': chatCompletions,
  responses,
  messages,
  'generate-content': generateContent,
  converse,
}
const names = Object.keys(tables) as ProtocolName[]

const detail = (type: string, more: object) => [
  { '@type': `type.googleapis.com/google.rpc.${type}`, ...more },
]

/** What a key holds that is not any text. By field, or by protocol, path and field. */
const samples: Record<string, unknown> = {
  status: 418,
  details: { odd: 1 },
  'messages type status': 'billing_error',
  'messages details/error_code param': 'thread_unsupported_request',
  'generate-content details code': detail('ErrorInfo', { reason: 'odd' }),
  'generate-content details param': detail('BadRequest', {
    fieldViolations: [{ field: 'odd' }],
  }),
  'generate-content details requestId': detail('RequestInfo', { requestId: 'odd' }),
  'generate-content details retryAfterMs': detail('RetryInfo', { retryDelay: '7s' }),
  'converse __type status': 'ModelErrorException',
}

type Field = keyof CanonicalError
type Row = { name: ProtocolName; path: string; field: Field; isAlone: boolean }

const rows: Row[] = names.flatMap(name =>
  Object.entries(tables[name].rows).flatMap(([path, fields]) =>
    fields.map(field => ({ name, path, field, isAlone: fields.length === 1 })),
  ),
)

/** An error, and one with the sample at the path of the row. */
function bodiesOf({ name, path, field }: Row): [plain: object, body: object] {
  const sample = samples[`${name} ${path} ${field}`] ?? samples[field] ?? 'odd'
  const at = path.replace('*', 'odd').split('/')
  const key = at[0] === '..' ? at.pop() : undefined
  const held = (keys: string[]): object =>
    keys.reduceRight<unknown>((inner, one) => ({ [one]: inner }), sample) as object
  const around = name === 'messages' ? { type: 'error' } : {}
  const message = { message: 'm' }
  const error = key === undefined ? held(at) : {}
  const wrapped = (inner: object) => (name === 'converse' ? inner : { ...around, error: inner })
  return [
    wrapped(message),
    {
      ...wrapped(field === 'message' ? error : { ...message, ...error }),
      ...(key !== undefined && { [key]: sample }),
    },
  ]
}

const decode = (name: ProtocolName, body: unknown, status = 0, headers = {}): CanonicalError =>
  protocols[name].decodeError({ status, headers, body }).value

/** Where the note about the row is. */
const placeOf = ({ name, path }: Row): string =>
  `${name === 'converse' ? '' : '/error'}/${path.replace('*', 'odd')}`.replace('/error/..', '')

/** In words of a protocol, so that another one never has the same. */
const isForeign: ReadonlySet<Field> = new Set(['type', 'details'])

/** The sample as it is in the canonical error. */
const ours: Partial<Record<Field, unknown>> = { retryAfterMs: 7000 }

describe('each row of a table of errors', () => {
  test.each(rows)('$name: $path is $field', row => {
    const [plain, body] = bodiesOf(row)
    const value = decode(row.name, body)[row.field]
    expect(value).not.toEqual(decode(row.name, plain)[row.field])
    expect(value).toEqual(ours[row.field] ?? value)
  })

  const toward = rows.flatMap(row =>
    names.filter(to => to !== row.name).map(to => ({ ...row, to })),
  )

  test.each(toward)(
    '$name: $path ($field) is written in $to without a note, or noted',
    ({ to, ...row }) => {
      const [, body] = bodiesOf(row)
      const error = decode(row.name, body)
      const { status } = error
      const bare = translateResponse(body, { from: row.name, to })
      const whole = translateError({ status, headers: {}, body }, { from: row.name, to })
      // The status of a body without an error object may be that of its frame.
      const place = row.path === '__type' && row.field === 'status' ? '/message' : placeOf(row)
      for (const [notes, written, places] of [
        [bare.notes, decode(to, bare.body), [place]],
        [
          whole.notes,
          decode(to, whole.body, whole.status, whole.headers),
          row.field === 'status' ? [place, '/status'] : [place],
        ],
      ] as const) {
        const isLost = isForeign.has(row.field) || written[row.field] !== error[row.field]
        const isNoted = notes.some(({ path }) => path && places.some(one => one.startsWith(path)))
        if (isLost || row.isAlone) expect(isNoted).toBe(isLost)
      }
    },
  )
})
