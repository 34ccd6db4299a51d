import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  createStreamTranslator,
  type TranslateOptions,
  translateError,
  translateRequest,
  translateResponse,
} from '../../src/api.ts'
import type { Note } from '../../src/canonical/note.ts'
import type { WireError } from '../../src/protocol.ts'
import { isProtocolName, type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { shared, skipReason } from './data.ts'

type Pair = { from: ProtocolName; to: ProtocolName }
type Case = {
  id: string
  area: string
  why: string
  from: string
  to: string
  kind: 'request' | 'response' | 'stream' | 'error'
  input: unknown
  options?: Partial<TranslateOptions>
}
type Evaluator = { runCase(testCase: Case, output: unknown, report: string[]): string[] }

const casesIn = (file: string) =>
  shared ? (JSON.parse(readFileSync(join(shared, file), 'utf8')) as { cases: Case[] }).cases : []
const cases = [...casesIn('failure-cases.json'), ...casesIn('failure-cases-3.json')]
const rows = cases.filter(
  (one): one is Case & Pair => isProtocolName(one.from) && isProtocolName(one.to),
)

/** The contents of the file when this was written: an unknown name must not drop its cases. */
const fewest = 111

/** Cases that fail, and why. One that passes has to leave the list. */
const known: Record<string, string> = {}

/** The evaluator folds streams by a name of its own. */
const foldNames: Record<string, string> = { 'chat-completions': 'chat' }

/** Cases about content that is joined by default with other instructions. */
const options: Record<string, Partial<TranslateOptions>> = {
  PC042: { chatCompletions: { systemPlacement: 'keep' } },
}

describe.skipIf(!shared)(`what goes wrong elsewhere (${skipReason})`, () => {
  test('covers every case', () => {
    expect(rows.length).toBe(cases.length)
    expect(rows.length).toBeGreaterThanOrEqual(fewest)
  })

  test.each(rows.length > 0 ? rows : [undefined])('$id $area: $why', async row => {
    if (!row) return
    const { runCase } = (await import(join(shared ?? '', 'failure-check.mjs'))) as Evaluator
    const report: string[] = []
    let output: unknown
    try {
      const { out, notes } = convert(row)
      output = out
      report.push(...notes.map(({ path, code, reason }) => `${path} ${code} ${reason}`))
    } catch (error) {
      report.push(error instanceof Error ? error.message : String(error))
    }
    const faults = runCase({ ...row, to: foldNames[row.to] ?? row.to }, output, report)
    if (known[row.id] === undefined) expect(faults).toEqual([])
    else expect(faults, `${row.id} passes: take it out of the list`).not.toEqual([])
  })
})

function convert({ id, kind, input, from, to, options: ofCase }: Case & Pair): {
  out: unknown
  notes: Note[]
} {
  const settings = { from, to, ...options[id], ...ofCase }
  switch (kind) {
    case 'request': {
      const { body, notes } = translateRequest(input, settings)
      return { out: body, notes }
    }
    case 'response': {
      const { body, notes } = translateResponse(input, settings)
      return { out: body, notes }
    }
    case 'error': {
      const { notes, ...out } = translateError(input as WireError, settings)
      return { out, notes }
    }
    case 'stream': {
      const translator = createStreamTranslator(settings)
      let text = ''
      for (const chunk of chunksOf(input, from)) text += translator.push(chunk)
      text += translator.end()
      const wires = framesOf(text).map(({ wire }) => wire)
      // A stream of named events is over with its last one; the mark after it is for clients that
      // wait for one.
      return {
        out: protocols[to].frames.named ? wires.filter(wire => wire !== '[DONE]') : wires,
        notes: translator.notes,
      }
    }
  }
}

function chunksOf(input: unknown, from: ProtocolName): (string | Uint8Array)[] {
  if (Array.isArray(input))
    return input.map(wire =>
      wire === '[DONE]' ? 'data: [DONE]\n\n' : protocols[from].frames.write(wire),
    )
  return (input as { rawBase64: string[] }).rawBase64.map(chunk => Buffer.from(chunk, 'base64'))
}
