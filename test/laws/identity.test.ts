import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { all, attempt, wiresOf } from '../../src/testing/bodies.ts'
import { cleanEvents, cutEvents } from '../../src/testing/events.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { decodeStream, encodeStream, framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { runs } from '../support/runs.ts'

describe.each(all)('$name, read and written again', protocol => {
  const { decodeRequest, encodeRequest, decodeResponse, encodeResponse, decodeError, encodeError } =
    protocol
  const wires = wiresOf(protocol)

  test('a request is the same JSON, and nothing is noted', () => {
    fc.assert(
      fc.property(wires.request, wire => {
        const decoded = attempt(() => decodeRequest(wire))
        fc.pre(decoded !== undefined)
        const encoded = encodeRequest(decoded.value, { fieldNames: protocol.fieldNames })
        expect(canonicalJson(encoded.wire)).toBe(canonicalJson(wire))
        expect(encoded.notes).toEqual([])
      }),
      runs(1000),
    )
  })

  test('a response is the same JSON, without notes', () => {
    fc.assert(
      fc.property(wires.response, wire => {
        const decoded = attempt(() => decodeResponse(wire))
        fc.pre(decoded !== undefined && !decoded.value.error)
        const encoded = attempt(() =>
          encodeResponse(decoded.value, { fieldNames: protocol.fieldNames }),
        )
        fc.pre(encoded !== undefined) // one without a finish reason may be refused
        expect(canonicalJson(encoded.wire)).toBe(canonicalJson(wire))
        expect(encoded.notes).toEqual([])
      }),
      runs(1000),
    )
  })

  test('an error body stays as it is', () => {
    const body = fc.record({
      error: fc.record(
        { message: fc.string(), type: fc.constantFrom('rate_limit_error', 'server_error', 'odd') },
        { requiredKeys: ['message'] },
      ),
    })
    fc.assert(
      fc.property(body, fc.constantFrom(400, 401, 404, 429, 500, 503), (wire, status) => {
        const again = encodeError(decodeError({ status, headers: {}, body: wire }).value)
        expect(again.wire.status).toBe(status)
        expect(canonicalJson(again.wire.body)).toBe(canonicalJson(wire))
      }),
      runs(1000),
    )
  })

  test('changes only the model name of a stream, and fails alike', () => {
    fc.assert(
      fc.property(fc.oneof(cleanEvents, cutEvents), fc.boolean(), (events, isWhole) => {
        const frames = encodeStream(protocol, events).wires.map(wire => protocol.frames.write(wire))
        const received = (model?: string) => {
          const translator = createStreamTranslator(
            protocol,
            protocol,
            model === undefined ? {} : { model },
          )
          const text =
            (isWhole ? [frames.join('')] : frames).map(frame => translator.push(frame)).join('') +
            translator.end()
          const wires = framesOf(text).map(({ wire }) => wire)
          const { response, ...reported } = collect(decodeStream(protocol, wires))
          return {
            ...reported,
            response: { ...response, model: response.model && 'some' },
            outcome: strictOf(protocol.name).outcome(wires),
          }
        }
        expect(received('other')).toEqual(received())
      }),
      runs(500),
    )
  })

  test('decodes most values of the schemas, so that the properties check enough', () => {
    const share = (wire: typeof wires.request, read: (wire: unknown) => unknown) =>
      fc.sample(wire, 200).filter(one => attempt(() => read(one)) !== undefined).length / 200
    expect(share(wires.request, decodeRequest)).toBeGreaterThan(0.5)
    expect(share(wires.response, decodeResponse)).toBeGreaterThan(0.5)
  })
})
