import { describe, expect, test } from 'vitest'
import { translateError, translateRequest, translateResponse } from '../../src/api.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { echoKeys } from '../../src/protocols/responses/response/envelope.ts'
import { collectStream } from '../../src/translate/fold.ts'
import {
  recordedProtocols,
  recordedRequests,
  recordedResponses,
  recordedStreams,
  shared,
  skipReason,
} from './data.ts'
import { unreported } from './leaves.ts'
import { tally } from './tally.ts'

/**
 * Counts by modality that add up to the count next to them add no information (2.18); any other
 * list of them is noted.
 */
const addsUp = (fault: string) =>
  /^\/usageMetadata\/\w+TokensDetails\/\*\/(modality|tokenCount) /.test(fault)

/** By target: what has no note by rule of the map (2.9). */
/** What generate-content says in more ways than others. */
const spelled = [
  // The role of instructions is ignored.
  /^\/systemInstruction\/role /,
  // The same words in large and in small letters.
  /^\/generationConfig\/thinkingConfig\/thinkingLevel (minimal|low|medium|high)$/,
  /^\/generationConfig\/responseJsonSchema\/(.*\/)?type [A-Z]+$/,
  // The default.
  /^\/generationConfig\/temperature 1$/,
  // A schema that is JSON Schema already comes back under the newer name for one.
  /^\/tools\/\*\/functionDeclarations\/\*\/parameters\//,
  // A result that is an object is the text of that object.
  /\/functionResponse\/response\//,
]

const exceptions: Record<ProtocolName, RegExp[]> = {
  'chat-completions': spelled,
  responses: spelled,
  messages: [
    ...spelled,
    // The name of a schema is a label, which only one of the wires demands.
    /^\/(response_format\/json_schema|text\/format)\/name /,
    // A schema is always enforced there, so the word for it is not needed; its absence is noted.
    /^\/(response_format\/json_schema|text\/format)\/strict true$/,
  ],
  'generate-content': [
    // As there: a label, and a schema that is enforced in any case.
    /^\/(response_format\/json_schema|text\/format)\/name /,
    /^\/(response_format\/json_schema|text\/format)\/strict true$/,
    // A budget says that there is thinking.
    /^\/thinking\/type enabled$/,
  ],
  converse: [
    ...spelled,
    // As there: a schema is always enforced.
    /^\/(response_format\/json_schema|text\/format)\/strict true$/,
    // A response has its id in a header, and its model in the path of the request.
    /^\/(id|model|responseId|modelVersion) /,
  ],
}

describe.skipIf(!shared)(`what real clients sent and got, leaf by leaf (${skipReason})`, () => {
  const requests = recordedRequests()
  for (const from of recordedProtocols())
    for (const to of protocolNames.filter(name => name !== from)) {
      const there = { from, to, onUnresolvable: 'note' as const, now: 1_750_000_000 }
      const back = { from: to, to: from, onUnresolvable: 'note' as const, now: 1_750_000_000 }

      test(`all of a recorded ${from} request comes back from ${to}, or a note names it`, async () => {
        const cases = requests.filter(({ protocol }) => protocol === from)
        await tally(`leaves of requests ${from} → ${to}`, cases, {}, ({ body, path }) => {
          const crossed = translateRequest(body, { ...there, path })
          const { path: sentTo } = crossed.context
          const returned = translateRequest(crossed.body, {
            ...back,
            ...(sentTo !== undefined && { path: sentTo }),
          })
          expect(unreported(body, crossed, returned, exceptions[to]).join('\n')).toBe('')
        })
      })

      test(`all of a recorded ${from} response comes back from ${to}, or a note names it`, async () => {
        const streams = await Promise.all(
          recordedStreams(from).map(async ({ file, text }) => ({
            name: file,
            body: await whole(text, from),
            status: 200,
          })),
        )
        const responses = [
          ...recordedResponses(from),
          ...streams.filter(({ body }) => body !== undefined),
        ]
        const isError = ({ body, status }: { body: unknown; status: number }) =>
          status >= 400 || protocols[from].decodeResponse(body).value.error !== undefined
        await tally(
          `leaves of responses ${from} → ${to}`,
          responses.filter(response => !isError(response)),
          {},
          ({ body }) => {
            const crossed = translateResponse(body, there)
            const lost = unreported(
              body,
              crossed,
              translateResponse(crossed.body, back),
              exceptions[to],
            )
            expect(
              lost
                .filter(fault => (from !== 'responses' || !isEcho(fault)) && !addsUp(fault))
                .join('\n'),
            ).toBe('')
          },
        )
        await tally(
          `leaves of errors ${from} → ${to}`,
          responses.filter(isError),
          {},
          ({ body, status }) => {
            const error = { status, headers: {}, body }
            const crossed = translateError(error, there)
            const returned = translateError(crossed, back)
            const kinds = [error, returned].map(one => protocols[from].decodeError(one).value.kind)
            expect(kinds[1]).toBe(kinds[0])
            const lost = unreported(body, crossed, returned).filter(fault => !isWordOfKind(fault))
            // The id of a request travels in a header.
            expect(
              lost
                .filter(
                  fault =>
                    !Object.values(crossed.headers).some(value =>
                      fault.includes(JSON.stringify(value)),
                    ),
                )
                .join('\n'),
            ).toBe('')
          },
        )
      })
    }
})

test('lists a value that is missing, changed or moved, unless a note names it', () => {
  const body = {
    messages: [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
    ],
    seed: 7,
  }
  const back = {
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'one' }] },
      { role: 'user', content: 'two' },
    ],
    seed: 8,
  }
  const note = {
    kind: 'dropped' as const,
    path: '/seed',
    code: 'field.unsupported',
    reason: '',
    target: 'messages',
  }
  const lost = (notes: (typeof note)[]) =>
    unreported(body, { body: {}, notes }, { body: back, notes: [] })
  expect(lost([])).toEqual([expect.stringContaining('"two"'), expect.stringContaining('(/seed)')])
  expect(lost([note])).toEqual([expect.stringContaining('"two"')])
  expect(unreported(body, { body: {}, notes: [] }, { body, notes: [] })).toEqual([])
})

/** A response of responses repeats the request, which adds no information. */
const isEcho = (fault: string) => echoKeys.has(/\(\/(\w+)/.exec(fault)?.[1] ?? '')

/** Providers have words of their own for a kind of error. */
const isWordOfKind = (fault: string) => fault.startsWith('/error/type ')

/** A stream as one response; undefined: it was cut off. */
async function whole(text: string, protocol: ProtocolName): Promise<unknown> {
  try {
    return (await collectStream([text], protocols[protocol], {})).body
  } catch {
    return undefined
  }
}
