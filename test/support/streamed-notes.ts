import { createStreamTranslator, translateResponse } from '../../src/api.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { Note } from '../../src/canonical/note.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { translateCounted } from '../../src/translate/response.ts'

/**
 * The codes that streams decide by themselves, because they need the order in which things come,
 * and in which protocols. `only`: the form that notes the fact where the other one does not;
 * absent: both do, each where its own wire has no place.
 */
export const decidedByStreams: {
  code: string
  in: string[]
  only?: 'whole' | 'streamed'
  why: string
}[] = [
  {
    code: 'citation.span',
    in: ['messages', 'converse'],
    only: 'streamed',
    why: 'a complete text is cut where a citation begins and ends; a streamed one has been written',
  },
  {
    code: 'reasoning.trailing-signature',
    in: ['messages'],
    only: 'streamed',
    why: 'before the only text of a complete response its signature has a place; a streamed text has been written when it comes',
  },
  {
    code: 'part.unsupported',
    in: ['converse'],
    only: 'streamed',
    why: 'no event holds a block of this kind',
  },
  {
    code: 'tool-call.input',
    in: ['messages', 'converse'],
    only: 'streamed',
    why: 'a call whose arguments are no object is closed before the limit is known that cut it off',
  },
  {
    code: 'tool-call.cut',
    in: ['messages', 'converse'],
    only: 'whole',
    why: 'and a complete response has the limit',
  },
  {
    code: 'stream.trailing-arguments',
    in: ['chat-completions', 'responses', 'messages', 'generate-content', 'converse'],
    only: 'streamed',
    why: 'only where arguments come in pieces does something come behind them',
  },
  {
    code: 'citation.unsupported',
    in: ['generate-content'],
    only: 'whole',
    why: 'citations inside of a search result in a search result, which no server writes, are not noted in streams',
  },
  {
    code: 'part.unknown',
    in: ['responses'],
    why: 'events name their item by its type; a complete response holds any item',
  },
  {
    code: 'parts.layout-stale',
    in: ['chat-completions'],
    why: 'parts that were passed on can neither be moved nor get a phase',
  },
  {
    code: 'field.unknown',
    in: ['chat-completions', 'generate-content'],
    why: 'a key that comes when its part was passed on, or that no delta can hold, is lost',
  },
]

/**
 * Why a fact may be noted of a response in one form and not in the other. `only`: the form that
 * notes it.
 */
export const differences: { only: 'whole' | 'streamed'; note: RegExp; why: string }[] = [
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
export const facts = (notes: Note[]) =>
  notes
    .filter(({ kind }) => kind !== 'synthesized')
    .map(({ code, path }) => `${code} ${path}`)
    .map((one, i, all) => (all.indexOf(one) < i ? `${one} again` : one))

export const used = new Set<RegExp>()

export const unlisted = (only: 'whole' | 'streamed', reported: string[], other: string[]) =>
  reported.filter(
    one =>
      !other.includes(one) &&
      !differences.some(({ only: form, note }) => {
        const isListed = form === only && note.test(one)
        if (isListed) used.add(note)
        return isListed
      }),
  )

export function notesOf(
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
  })
  translator.push(encodeStream(protocols[from], explode(value)).text)
  translator.end()
  return {
    whole: facts(translateResponse(body, { from, to, now: 1 }).notes),
    streamed: facts(translator.notes),
  }
}
