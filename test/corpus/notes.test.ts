import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createStreamTranslator, translateResponse } from '../../src/api.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { Note } from '../../src/canonical/note.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { attempt } from '../../src/testing/bodies.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { translateCounted } from '../../src/translate/response.ts'
import { corpusFiles, recordedResponses, shared, skipReason } from './data.ts'

/**
 * Why a fact may be noted of a response in one form and not in the other. `only`: the form that
 * notes it.
 */
const differences: { only: 'whole' | 'streamed'; note: RegExp; why: string }[] = [
  {
    only: 'streamed',
    note: /^citation\.span /,
    why: 'a complete text is cut where a citation begins and ends; a streamed one has been emitted when its citation comes',
  },
  {
    only: 'streamed',
    note: /^reasoning\.kind \/choices\/\d+\/message$/,
    why: 'reasoning is under several names in the chunks of a stream',
  },
  {
    only: 'whole',
    note: /^reasoning\.kind \/choices\/\d+\/message\//,
    why: 'and under one of them in a whole message',
  },
  {
    only: 'whole',
    note: /^message\.(ids|envelope) .*\/status$/,
    why: 'an item of a complete response may be in progress still; in a stream it has ended',
  },
  {
    only: 'whole',
    note: /^citation\.\S+ .*\/citationsContent\/citations$/,
    why: 'a streamed block is a text until its first citation comes',
  },
  {
    only: 'streamed',
    note: /^citation\.\S+ \/output\/message\/content\/\d+\/citations$/,
    why: 'and so its path is that of a text',
  },
  {
    only: 'streamed',
    note: /^field\.unsupported \/serviceTier\/type$/,
    why: 'the tier is in the last event, and messages has it in the first',
  },
  {
    only: 'whole',
    note: /^tier\.nearest \/serviceTier\/type$/,
    why: 'and a complete response has it anywhere',
  },
  {
    only: 'whole',
    note: /^field\.unknown \/output\/message\/content\/\d+\/type$/,
    why: 'a streamed text has no start that could hold an unknown key',
  },
  {
    only: 'whole',
    note: /^finish\.(missing|approximated) .*\/finish_reason$/,
    why: 'a response without a finish reason is streamed with one, since a stream without it was cut off',
  },
  { only: 'whole', note: /^usage\.repaired /, why: 'a stream is written with counts that add up' },
  {
    only: 'whole',
    note: /^media\.(transcript|unsupported) .*\/audio$/,
    why: 'audio of nothing has no delta',
  },
  {
    only: 'whole',
    note: /^field\.unknown .*\/message\/function_call$/,
    why: 'a call of nothing beside a text is no call in a stream, by rule of reading it',
  },
  {
    only: 'whole',
    note: /^field\.unknown .*\/tool_calls\/\d+\/custom\/(name|input)$/,
    why: 'nor is the custom half of a function',
  },
  {
    only: 'whole',
    note: /^field\.unknown .*\/(message\/(executed_tools|thought_signature|extra_content|parsed)|delta)$/,
    why: 'what a server invents beside the text of a whole message has no known place in its chunks',
  },
  {
    only: 'streamed',
    note: /^response\.unnamed \/id$/,
    why: 'these streams have an id, also where the response had none',
  },
]

/** Reported a second time, a fact is another one: that is a fault. */
const facts = (notes: Note[]) =>
  notes
    .filter(({ kind }) => kind !== 'synthesized')
    .map(({ code, path }) => `${code} ${path}`)
    .map((one, i, all) => (all.indexOf(one) < i ? `${one} again` : one))

const used = new Set<RegExp>()

const unlisted = (only: 'whole' | 'streamed', reported: string[], other: string[]) =>
  reported.filter(
    one =>
      !other.includes(one) &&
      !differences.some(({ only: form, note }) => {
        const isListed = form === only && note.test(one)
        if (isListed) used.add(note)
        return isListed
      }),
  )

function notesOf(
  body: unknown,
  from: ProtocolName,
  to: ProtocolName,
): { whole: string[]; streamed: string[] } | undefined {
  const { value } = protocols[from].decodeResponse(body)
  if (value.error || value.candidates.some(({ finish }) => !finish)) return undefined
  // Of a failed response only the error is written.
  if (translateCounted(body, protocols[from], protocols[to], {}).error) return undefined
  const translator = createStreamTranslator({
    from,
    to,
    now: 1,
    chatCompletions: { alwaysUsage: true },
  })
  translator.push(encodeStream(protocols[from], explode(value)).text)
  translator.end()
  return {
    whole: facts(translateResponse(body, { from, to, now: 1 }).notes),
    streamed: facts(translator.notes),
  }
}

const strictness = [true, ['dropped'], ['approximated']] as const

/** Does `strict` refuse the response, complete and as a stream? */
function refusalsOf(
  body: unknown,
  from: ProtocolName,
  to: ProtocolName,
  strict: (typeof strictness)[number],
): { whole: boolean; streamed: boolean } {
  const translator = createStreamTranslator({
    from,
    to,
    now: 1,
    strict,
    chatCompletions: { alwaysUsage: true },
  })
  translator.push(
    encodeStream(protocols[from], explode(protocols[from].decodeResponse(body).value)).text,
  )
  translator.end()
  return {
    whole: attempt(() => translateResponse(body, { from, to, now: 1, strict })) === undefined,
    streamed: translator.error !== undefined,
  }
}

const responsesOf = (from: ProtocolName) => [
  ...corpusFiles(from, 'responses').map(({ file, text }) => ({
    name: file,
    body: JSON.parse(text) as unknown,
  })),
  ...recordedResponses(from),
]

const pairs = protocolNames.flatMap(from =>
  protocolNames.filter(to => to !== from).map(to => ({ from, to })),
)

describe.skipIf(!shared)(`notes on responses of real servers (${skipReason})`, () => {
  test.each(pairs)('$from → $to: a streamed response is noted as the whole one', ({ from, to }) => {
    const faults: unknown[] = []
    let tried = 0
    for (const { name, body } of responsesOf(from)) {
      const reported = notesOf(body, from, to)
      if (!reported) continue
      tried++
      const only = {
        whole: unlisted('whole', reported.whole, reported.streamed),
        streamed: unlisted('streamed', reported.streamed, reported.whole),
      }
      if (only.whole.length + only.streamed.length > 0) faults.push({ name, only })
    }
    expect(tried, 'there is something to try').toBeGreaterThan(from === 'converse' ? 200 : 300)
    expect(faults).toEqual([])
  })

  test.each(pairs)(
    '$from → $to: strict refuses a stream and its whole response alike',
    ({ from, to }) => {
      const tried = { refused: 0, taken: 0 }
      const unlike: unknown[] = []
      for (const { name, body } of responsesOf(from))
        for (const strict of strictness) {
          const reported = notesOf(body, from, to)
          // Where only one form notes a fact, by the list, only one can be refused for it.
          if (!reported || !isDeepStrictEqual(reported.whole, reported.streamed)) continue
          const refusals = refusalsOf(body, from, to, strict)
          if (refusals.whole !== refusals.streamed) unlike.push({ name, strict, refusals })
          tried[refusals.whole ? 'refused' : 'taken']++
        }
      expect(unlike).toEqual([])
      expect(tried.refused, 'there is something to try').toBeGreaterThan(10)
    },
  )

  test('every listed difference is there', () => {
    expect(differences.filter(({ note }) => !used.has(note)).map(({ why }) => why)).toEqual([])
  })
})
