import fc from 'fast-check'
import type { Note } from '../canonical/note.ts'
import type { Protocol } from '../protocol.ts'
import { type ProtocolName, protocols } from '../protocols/index.ts'
import { attempt, wiresOf } from './bodies.ts'
import { changed, changeOf } from './change.ts'
import { cleanEvents, cutEvents } from './events.ts'
import { wordsOf } from './from-schema.ts'
import { canonicalJson, deepFreeze } from './json.ts'
import { choosesAmongNone, covers, isError, isLossless } from './lossless.ts'
import { brokenStream, encodeStream, framesOf } from './streams.ts'
import { strictOf } from './strict/index.ts'

/** A stream translator: that of `createStreamTranslator`, or your own. */
export type Pushed = { push(chunk: Uint8Array | string): string; end(): string }

/** A conversion of complete bodies, with a note for each loss. */
export type Conversion = (body: unknown) => { body: unknown; notes?: readonly Note[] }

/** Random bodies of a protocol, generated from its schemas. */
export function requestOf(protocol: ProtocolName): fc.Arbitrary<unknown> {
  return wiresOf(protocols[protocol]).request
}

export function responseOf(protocol: ProtocolName): fc.Arbitrary<unknown> {
  return wiresOf(protocols[protocol]).response
}

/** The text of a legal, complete stream. */
export function streamOf(protocol: ProtocolName): fc.Arbitrary<string> {
  return cleanEvents.map(events => encodeStream(protocols[protocol], events).text)
}

/** The same, cut off between two frames before its end. */
export function cutStreamOf(name: ProtocolName): fc.Arbitrary<string> {
  const protocol: Protocol = protocols[name]
  return fc
    .tuple(cleanEvents, fc.nat())
    .map(([events, at]) => {
      const { wires } = encodeStream(protocol, events)
      // If the end of the reply is a frame of its own, everything before it is complete.
      return wires.slice(0, at % (protocol.frames.ending === undefined ? wires.length : wires.length - 1))
    })
    .filter(wires => strictOf(name).outcome(wires) === 'cut')
    .map(wires => wires.map(protocol.frames.write).join(''))
}

/** A stream with frames removed, doubled, swapped, replaced or damaged, and cut off anywhere. */
export function brokenStreamOf(protocol: ProtocolName): fc.Arbitrary<string> {
  return brokenStream(protocols[protocol])
}

/** Any split of the bytes of a stream gives the same output, also within a character, and also for a broken stream. */
export function splitLaw(from: ProtocolName, create: () => Pushed) {
  const legal = fc.oneof(cleanEvents, cutEvents).map(events => encodeStream(protocols[from], events).text)
  const bytes = fc
    .tuple(fc.oneof({ weight: 2, arbitrary: legal }, { weight: 1, arbitrary: brokenStreamOf(from) }), fc.constantFrom('\n', '\r\n'))
    .map(([text, line]) => new TextEncoder().encode(text.replaceAll(/\r?\n/g, line)))
  const translated = (chunks: readonly Uint8Array[]) => {
    const machine = create()
    return chunks.map(chunk => machine.push(chunk)).join('') + machine.end()
  }
  return fc.property(bytes, fc.array(fc.nat(), { maxLength: 12 }), (whole, cuts) => {
    same(translated(pieces(whole, cuts)), translated([whole]), 'another split of the bytes gives another text')
  })
}

/** Whatever the source does, strict clients of `to` accept the output. */
export function legalStreamLaw({ from, to }: { from: ProtocolName; to: ProtocolName }, create: () => Pushed) {
  return fc.property(fc.oneof(streamOf(from), brokenStreamOf(from)), text => {
    const faults = strictOf(to).checkStream(wiresIn(text, create))
    if (faults.length > 0) throw new Error(`no legal stream of ${to}: ${faults.join('; ')}`)
  })
}

/** The output for a source that was cut off never looks complete. */
export function cutLaw({ from, to }: { from: ProtocolName; to: ProtocolName }, create: () => Pushed) {
  return fc.property(cutStreamOf(from), text => {
    if (strictOf(to).outcome(wiresIn(text, create)) === 'success') throw new Error('a stream that was cut off is sold as a whole one')
  })
}

/** A conversion does not change its input and always gives the same output. Rejected bodies are skipped. */
export function purityLaw(bodies: fc.Arbitrary<unknown>, convert: Conversion) {
  return fc.property(bodies, body => {
    const expected = attempt(() => convert(structuredClone(body)))
    if (expected) same(canonicalJson(convert(deepFreeze(body))), canonicalJson(expected), 'the same body is converted in another way')
  })
}

/** After conversion there and back a body is unchanged. Rejected bodies are skipped. */
export function roundTripLaw(bodies: fc.Arbitrary<unknown>, there: (body: unknown) => unknown, back: (body: unknown) => unknown) {
  return fc.property(bodies, body => {
    const once = attempt(() => back(there(structuredClone(body))))
    if (once !== undefined) same(canonicalJson(once), canonicalJson(body), 'there and back is another body')
  })
}

/**
 * Every change of a body changes the converted body, or a note names its path. Rejected bodies and responses that become errors are
 * skipped. Differences without meaning for another protocol are no loss, such as the `object` of a response or a media type in upper case.
 * @param ignore Returns true for the JSON pointer of every further value that may be lost.
 * @example fc.assert(noSilentLossLaw(responseOf('messages'), convert, path => path === '/id'))
 */
export function noSilentLossLaw(bodies: fc.Arbitrary<unknown>, convert: Conversion, ignore: (path: string) => boolean = () => false) {
  return fc.property(bodies, fc.nat(), (body, pick) => {
    const change = changeOf(body, pick, wordsOf)
    if (!change || isLossless(body, change) || ignore(change.path)) return
    const before = attempt(() => convert(structuredClone(body)))
    const after = before && attempt(() => convert(changed(body, change)))
    if (!after || [before, after].some(({ body }) => isError(body)) || choosesAmongNone(before.body, after.body, change)) return
    const isNoted = [before, after].some(({ notes = [] }) => covers([...notes], change.path))
    if (!isNoted && canonicalJson(before) === canonicalJson(after))
      throw new Error(`lost in silence: ${change.path}, which was ${JSON.stringify(change.before)} and became ${JSON.stringify(change.after)}`)
  })
}

function wiresIn(text: string, create: () => Pushed): unknown[] {
  const machine = create()
  return framesOf(machine.push(text) + machine.end()).map(({ wire }) => wire)
}

function pieces(whole: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set([0, ...cuts.map(cut => cut % (whole.length + 1)), whole.length])].sort((a, b) => a - b)
  return places.slice(1).map((end, index) => whole.slice(places[index], end))
}

function same(found: string, expected: string, fault: string): void {
  if (found !== expected) throw new Error(`${fault}:\n${found}\n— instead of —\n${expected}`)
}
