import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Note } from '../../src/canonical/note.ts'
import { TranslationError, translateRequest } from '../../src/index.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { wiresOf } from '../../src/testing/bodies.ts'
import { leaves } from '../../src/testing/json.ts'
import { type Vendor, type VendorName, vendors } from '../../src/vendors/index.ts'
import { covers } from '../support/cross.ts'
import { runs } from '../support/runs.ts'
import { sampled } from '../support/sampled.ts'
import { simulators } from '../support/vendors/index.ts'

const names = Object.keys(vendors) as VendorName[]
const served = names.flatMap(vendor =>
  (vendors[vendor] as Vendor).endpoints.map(({ protocol }) => ({ vendor, protocol })),
)

/**
 * Values at any path. Texts of one letter mean nothing by themselves, a type only with its object,
 * and these are defaults.
 */
const texts = (body: unknown) =>
  leaves(body)
    .filter(
      (leaf): leaf is { path: string; value: string } =>
        typeof leaf.value === 'string' && leaf.value.length > 2,
    )
    // A word of effort may become a switch.
    .filter(({ path, value }) => !/\/type$|effort$/.test(path) && !isNeutral(path, value, body))

/** A choice that leaves it to the model, or that is among no tools, says nothing. */
const isNeutral = (path: string, value: string, body: unknown) =>
  (path === '/tool_choice' && value === 'auto') || (/^(auto|none)$/i.test(value) && !hasTools(body))

const hasTools = (body: unknown) => leaves(body).some(({ path }) => path.startsWith('/tools/'))

/** The texts as they may stand inside other texts. */
const spoken = (body: unknown) => {
  const all = leaves(body).flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  return `${all.join('\n')}\n${JSON.stringify(body)}`
}

const attempt = (wire: unknown, settings: Parameters<typeof translateRequest>[1]) => {
  try {
    return translateRequest(wire, { onUnresolvable: 'note', ...settings })
  } catch (error) {
    if (TranslationError.is(error)) return undefined
    throw error
  }
}

const modelOf = (vendor: VendorName) => fc.constantFrom(...simulators[vendor].models)

describe.each(sampled(served))('a client of $protocol with $vendor', ({ vendor, protocol }) => {
  const requests = fc.tuple(wiresOf(protocols[protocol]).request, modelOf(vendor))

  test('drops nothing without a note', () => {
    fc.assert(
      fc.property(requests, ([wire, model]) => {
        const met = attempt(wire, { from: protocol, to: protocol, vendor, model })
        if (!met) return
        const received = spoken(met.body)
        const lost = texts(wire).filter(
          ({ path, value }) =>
            path !== '/model' &&
            path !== '/modelId' &&
            !isSent(value, received) &&
            !covers(met.notes, path),
        )
        expect(lost).toEqual([])
      }),
      runs(300),
    )
  })

  test('has notes that lead into its body', () => {
    fc.assert(
      fc.property(requests, ([wire, model]) => {
        const met = attempt(wire, { from: protocol, to: protocol, vendor, model })
        for (const { path, kind } of met?.notes ?? [])
          if (kind !== 'synthesized')
            expect([path, at(wire, path) !== undefined]).toEqual([path, true])
      }),
      runs(300),
    )
  })

  test('is unchanged when adapted a second time', () => {
    fc.assert(
      fc.property(requests, ([wire, model]) => {
        const met = attempt(wire, { from: protocol, to: protocol, vendor, model })
        if (met)
          expect(attempt(met.body, { from: protocol, to: protocol, vendor, model })?.body).toEqual(
            met.body,
          )
      }),
      runs(300),
    )
  })
})

describe.each(
  sampled(
    served.flatMap(one =>
      (Object.keys(protocols) as ProtocolName[])
        .filter(from => from !== one.protocol)
        .map(from => ({ ...one, from })),
    ),
  ),
)('$from → $protocol for $vendor', ({ vendor, protocol, from }) => {
  test('drops no text that other servers receive without a further note', () => {
    fc.assert(
      fc.property(wiresOf(protocols[from]).request, modelOf(vendor), (wire, model) => {
        const settings = { from, to: protocol, model }
        const [plain, met] = [attempt(wire, settings), attempt(wire, { ...settings, vendor })]
        if (!plain || !met) return
        const received = spoken(met.body)
        const others = spoken(plain.body)
        const lost = texts(wire).filter(
          ({ path, value }) =>
            // Servers have words of their own for who speaks.
            !path.endsWith('/role') &&
            isSent(value, others) &&
            !isSent(value, received) &&
            !covers(met.notes, path),
        )
        const before = new Set(plain.notes.map(keyOf))
        if (lost.length > 0 && met.notes.every(note => before.has(keyOf(note))))
          expect(lost).toEqual([])
      }),
      runs(100),
    )
  })
})

const keyOf = ({ code, path }: Note) => `${code} ${path}`

const isSent = (value: string, received: string) =>
  received.includes(value) || received.includes(JSON.stringify(value).slice(1, -1))

function at(body: unknown, path: string): unknown {
  if (path === '') return body
  return path
    .slice(1)
    .split('/')
    .reduce<unknown>(
      (inner, key) =>
        typeof inner === 'object' && inner !== null
          ? Reflect.get(inner, key.replaceAll('~1', '/').replaceAll('~0', '~'))
          : undefined,
      body,
    )
}
