import fc from 'fast-check'
import type { Note } from '../canonical/note.ts'
import { nameFault } from '../kit/text/similar.ts'
import type { Protocol } from '../protocol.ts'
import { type ProtocolName, protocolNames, protocols } from '../protocols/index.ts'
import { unlessRefused, wiresOf } from './bodies.ts'
import { changed, changeOf } from './change.ts'
import { cleanEvents, cutEvents } from './events.ts'
import { canonicalJson, deepFreeze } from './json.ts'
import { choosesAmongNone, covers, isError, isLossless } from './lossless.ts'
import { brokenStream, encodeStream, framesOf } from './streams.ts'
import { strictOf } from './strict/index.ts'
import { wordsOf } from './typical.ts'

/** A stream translator: that of `createStreamTranslator`, or your own. */
export type Pushed = {
  /** Takes a chunk and returns the text to send now. */
  push(chunk: Uint8Array | string): string
  /** Called once when the source has ended. Returns the rest of the text. */
  end(): string
}

/** A conversion of complete bodies, with a note for each loss. */
export type Conversion = (body: unknown) => { body: unknown; notes?: readonly Note[] }

/**
 * Random bodies of a protocol, generated from its schemas.
 * @example
 * import fc from 'fast-check'
 * import { requestOf } from 'wireglot/testing'
 *
 * console.log(fc.sample(requestOf('messages'), 2).length) // 2
 */
export function requestOf(protocol: ProtocolName): fc.Arbitrary<unknown> {
  return wiresOf(named(protocol)).request
}

/**
 * Random complete responses of a protocol, made from its schema.
 * @example
 * import fc from 'fast-check'
 * import { responseOf } from 'wireglot/testing'
 *
 * console.log(fc.sample(responseOf('messages'), 2).length) // 2
 */
export function responseOf(protocol: ProtocolName): fc.Arbitrary<unknown> {
  return wiresOf(named(protocol)).response
}

/**
 * The text of a legal, complete stream.
 * @example
 * import fc from 'fast-check'
 * import { streamOf } from 'wireglot/testing'
 *
 * console.log(fc.sample(streamOf('messages'), 1)[0]) // event: message_start …
 */
export function streamOf(name: ProtocolName): fc.Arbitrary<string> {
  const protocol = named(name)
  return cleanEvents.map(events => encodeStream(protocol, events).text)
}

/**
 * The same, cut off between two frames before its end.
 * @example
 * import fc from 'fast-check'
 * import { cutStreamOf, framesOf, strictOf } from 'wireglot/testing'
 *
 * const events = framesOf(fc.sample(cutStreamOf('messages'), 1)[0] ?? '').map(({ wire }) => wire)
 * console.log(strictOf('messages').outcome(events)) // cut
 */
export function cutStreamOf(name: ProtocolName): fc.Arbitrary<string> {
  const protocol = named(name)
  return fc
    .tuple(cleanEvents, fc.nat())
    .map(([events, at]) => {
      const { wires } = encodeStream(protocol, events)
      // If the end of the response is a frame of its own, everything before it is complete.
      return wires.slice(
        0,
        at % (protocol.frames.ending === undefined ? wires.length : wires.length - 1),
      )
    })
    .filter(wires => strictOf(name).outcome(wires) === 'cut')
    .map(wires => wires.map(protocol.frames.write).join(''))
}

/**
 * A stream with frames removed, doubled, swapped, replaced or damaged, and cut off anywhere.
 * @example
 * import fc from 'fast-check'
 * import { brokenStreamOf } from 'wireglot/testing'
 *
 * console.log(fc.sample(brokenStreamOf('messages'), 2).length) // 2
 */
export function brokenStreamOf(protocol: ProtocolName): fc.Arbitrary<string> {
  return brokenStream(named(protocol))
}

/**
 * Any split of the bytes of a stream gives the same output, also within a character, and also for a
 * broken stream.
 * @example
 * import fc from 'fast-check'
 * import { createStreamTranslator } from 'wireglot'
 * import { splitProperty } from 'wireglot/testing'
 *
 * const pair = { from: 'messages', to: 'chat-completions' } as const
 * fc.assert(splitProperty(pair.from, () => createStreamTranslator(pair)))
 */
export function splitProperty(from: ProtocolName, create: () => Pushed) {
  const legal = fc
    .oneof(cleanEvents, cutEvents)
    .map(events => encodeStream(named(from), events).text)
  const bytes = fc
    .tuple(
      fc.oneof({ weight: 2, arbitrary: legal }, { weight: 1, arbitrary: brokenStreamOf(from) }),
      fc.constantFrom('\n', '\r\n'),
    )
    .map(([text, line]) => new TextEncoder().encode(text.replaceAll(/\r?\n/g, line)))
  const translated = (chunks: readonly Uint8Array[]) => {
    const machine = create()
    return chunks.map(chunk => machine.push(chunk)).join('') + machine.end()
  }
  return fc.property(bytes, fc.array(fc.nat(), { maxLength: 12 }), (whole, cuts) => {
    same(
      translated(cutInto(whole, cuts)),
      translated([whole]),
      'the output depends on how the bytes are split',
    )
  })
}

/**
 * Whatever the source does, strict clients of `to` accept the output.
 * @example
 * import fc from 'fast-check'
 * import { createStreamTranslator } from 'wireglot'
 * import { legalStreamProperty } from 'wireglot/testing'
 *
 * const pair = { from: 'messages', to: 'chat-completions' } as const
 * fc.assert(legalStreamProperty(pair, () => createStreamTranslator(pair)))
 */
export function legalStreamProperty(
  { from, to }: { from: ProtocolName; to: ProtocolName },
  create: () => Pushed,
) {
  return fc.property(fc.oneof(streamOf(from), brokenStreamOf(from)), text => {
    const faults = strictOf(to).checkStream(wiresIn(text, create))
    if (faults.length > 0) throw new Error(`no legal stream of ${to}: ${faults.join('; ')}`)
  })
}

/**
 * The output for a source that was cut off never looks complete.
 * @example
 * import fc from 'fast-check'
 * import { createStreamTranslator } from 'wireglot'
 * import { truncationProperty } from 'wireglot/testing'
 *
 * const pair = { from: 'messages', to: 'chat-completions' } as const
 * fc.assert(truncationProperty(pair, () => createStreamTranslator(pair)))
 */
export function truncationProperty(
  { from, to }: { from: ProtocolName; to: ProtocolName },
  create: () => Pushed,
) {
  return fc.property(cutStreamOf(from), text => {
    if (strictOf(to).outcome(wiresIn(text, create)) === 'success')
      throw new Error('a truncated stream looks complete to a strict client')
  })
}

/**
 * A conversion does not change its input and always gives the same output. Bodies that it refuses
 * with a `TranslationError` are skipped.
 * @example
 * import fc from 'fast-check'
 * import { translateRequest } from 'wireglot'
 * import { purityProperty, requestOf } from 'wireglot/testing'
 *
 * const pair = { from: 'messages', to: 'chat-completions' } as const
 * fc.assert(purityProperty(requestOf(pair.from), body => translateRequest(body, pair)))
 */
export function purityProperty(bodies: fc.Arbitrary<unknown>, convert: Conversion) {
  return fc.property(bodies, body => {
    const expected = unlessRefused(() => convert(structuredClone(body)))
    if (expected)
      same(
        canonicalJson(convert(deepFreeze(body))),
        canonicalJson(expected),
        'the conversion changed its input or is not deterministic',
      )
  })
}

/**
 * After conversion there and back a body is unchanged. Bodies that are refused with a
 * `TranslationError` are skipped.
 * @example
 * import fc from 'fast-check'
 * import { requestOf, roundTripProperty } from 'wireglot/testing'
 *
 * fc.assert(roundTripProperty(requestOf('messages'), JSON.stringify, text => JSON.parse(String(text))))
 */
export function roundTripProperty(
  bodies: fc.Arbitrary<unknown>,
  there: (body: unknown) => unknown,
  back: (body: unknown) => unknown,
) {
  return fc.property(bodies, body => {
    const once = unlessRefused(() => back(there(structuredClone(body))))
    if (once !== undefined)
      same(canonicalJson(once), canonicalJson(body), 'the round trip changed the body')
  })
}

/**
 * Every change of a body changes the converted body, or a note names its path. Bodies that are
 * refused with a `TranslationError`, and responses that become errors, are skipped. Differences
 * without meaning for another protocol are no loss, such as the `object` of a response or a media
 * type in upper case.
 * @param ignore Returns true for the JSON pointer of every further value that may be lost.
 * @example
 * import fc from 'fast-check'
 * import { translateResponse } from 'wireglot'
 * import { noSilentLossProperty, responseOf } from 'wireglot/testing'
 *
 * const pair = { from: 'messages', to: 'chat-completions' } as const
 * fc.assert(noSilentLossProperty(responseOf(pair.from), body => translateResponse(body, pair)))
 */
export function noSilentLossProperty(
  bodies: fc.Arbitrary<unknown>,
  convert: Conversion,
  ignore: (path: string) => boolean = () => false,
) {
  return fc.property(bodies, fc.nat(), (body, pick) => {
    const change = changeOf(body, pick, wordsOf)
    if (!change || isLossless(body, change) || ignore(change.path)) return
    const before = unlessRefused(() => convert(structuredClone(body)))
    const after = before && unlessRefused(() => convert(changed(body, change)))
    if (
      !after ||
      [before, after].some(({ body }) => isError(body)) ||
      choosesAmongNone(before.body, after.body, change)
    )
      return
    const isNoted = [before, after].some(({ notes = [] }) => covers([...notes], change.path))
    if (!isNoted && canonicalJson(before) === canonicalJson(after))
      throw new Error(
        `lost silently: ${change.path}. The output is the same for ${JSON.stringify(change.before)} and ${JSON.stringify(change.after)}, and no note names the path`,
      )
  })
}

/** @throws RangeError for an unknown name */
function named(name: ProtocolName): Protocol {
  const fault = nameFault(name, protocolNames)
  if (fault !== undefined) throw new RangeError(`protocol: ${fault}`)
  return protocols[name]
}

function wiresIn(text: string, create: () => Pushed): unknown[] {
  const machine = create()
  return framesOf(machine.push(text) + machine.end()).map(({ wire }) => wire)
}

function cutInto(whole: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set([0, ...cuts.map(cut => cut % (whole.length + 1)), whole.length])].sort(
    (a, b) => a - b,
  )
  return places.slice(1).map((end, index) => whole.slice(places[index], end))
}

function same(found: string, expected: string, fault: string): void {
  if (found !== expected) throw new Error(`${fault}:\n${found}\n— instead of —\n${expected}`)
}
