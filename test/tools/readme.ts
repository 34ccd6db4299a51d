import { readFileSync, writeFileSync } from 'node:fs'
import type { Note } from '../../src/canonical/note.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { FinishReason } from '../../src/canonical/response.ts'
import { TranslationError } from '../../src/errors.ts'
import type { Protocol } from '../../src/protocol.ts'
import { protocols } from '../../src/protocols/index.ts'
import { productRows } from '../support/matrix/products.ts'
import { written } from '../support/written.ts'
import { modelSections, priceRows } from './models.ts'
import { noteRows } from './notes.ts'
import { optionRows } from './options.ts'
import { finishReasons, plain, probes } from './probes.ts'

/** Every page that holds something generated. */
export const generatedPages = [
  'README.md',
  'docs/guides/cassettes.md',
  'docs/guides/in-process.md',
  'docs/mapping.md',
  'docs/models.md',
  'docs/notes.md',
  'docs/options.md',
] as const

const fileOf = (page: string) => new URL(`../../${page}`, import.meta.url)
const all: Protocol[] = Object.values(protocols)

/**
 * The page with every generated block made anew; blocks stand between `<!-- name -->` and `<!--
 * /name -->`.
 */
export function generated(page: (typeof generatedPages)[number]): string {
  const blocks: Record<string, () => string> = {
    mapping,
    finish,
    models,
    notes,
    options,
    prices,
    vendors,
  }
  return readFileSync(fileOf(page), 'utf8').replace(
    /<!-- ([\w./-]+) -->\n[\s\S]*?<!-- \/\1 -->/g,
    (whole, name: string) => {
      const block = name.endsWith('.ts') ? code(name) : blocks[name]?.()
      return block === undefined ? whole : `<!-- ${name} -->\n${block}\n<!-- /${name} -->`
    },
  )
}

function code(name: string): string {
  const source = readFileSync(new URL(`../examples/${name}`, import.meta.url), 'utf8')
  return `\`\`\`ts\n${source.trimEnd()}\n\`\`\``
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function mapping(): string {
  const rows = Object.entries(probes).map(([title, probe]) => [
    title,
    ...all.map(protocol => outcome(protocol, { ...plain, ...probe })),
  ])
  return table(['a request with', ...all.map(({ name }) => `→ ${name}`)], rows)
}

function models(): string {
  const section = ({ title, head, rows, sources }: (typeof modelSections)[number]) =>
    `## ${title}\n\n${table(head, rows)}\n\n${sources}`
  return `\n${modelSections.map(section).join('\n\n')}\n`
}

function prices(): string {
  return table(['model', 'input', 'output', 'cached', 'written to the cache', 'source'], priceRows)
}

function vendors(): string {
  const { head, rows } = productRows()
  return table(head, rows)
}

function finish(): string {
  const common = new Map(
    all.map(protocol => [protocol, new Set(notesOfEnding(protocol, 'stop').map(keyOf))]),
  )
  const rows = finishReasons.map(reason => [
    reason,
    ...all.map(protocol =>
      describe(
        notesOfEnding(protocol, reason).filter(note => !common.get(protocol)?.has(keyOf(note))),
      ),
    ),
  ])
  return table(['a response that ended by', ...all.map(({ name }) => `→ ${name}`)], rows)
}

function notesOfEnding(protocol: Protocol, reason: FinishReason): Note[] {
  const messages = [
    {
      role: 'assistant' as const,
      origin: 'message' as const,
      parts: [{ type: 'text' as const, text: 'hi' }],
    },
  ]
  const candidates = [{ index: 0, messages, finish: { reason } }]
  return protocol.encodeResponse({
    id: 'id',
    model: 'm',
    createdAt: 1,
    candidates,
    usage: { input: 1, output: 1 },
  }).notes
}

const keyOf = ({ code, path }: Note) => `${code} ${path}`

function notes(): string {
  return sections(['code', 'kind', 'meaning', 'what to do', 'example'], noteRows())
}

function options(): string {
  return sections(['option', 'values', 'meaning'], optionRows())
}

/** Of what belongs to no single protocol. */
const titles: Record<string, string> = {
  all: 'Every protocol',
  several: 'Several protocols',
  any: 'Every target protocol',
  tools: 'Tools',
  translate: 'The translation itself',
  gateway: 'The gateway',
}

/**
 * A heading and a table for each name in the first cell of the rows, in the order in which they
 * come.
 */
function sections(head: string[], rows: string[][]): string {
  const names = [...new Set(rows.map(([name = '']) => name))]
  const section = (name: string) => {
    const cells = rows.filter(([of]) => of === name).map(([, ...rest]) => rest)
    return `## ${titles[name] ?? name}\n\n${table(head, cells)}`
  }
  return `\n${names.map(section).join('\n\n')}\n`
}

function outcome(protocol: Protocol, request: CanonicalRequest): string {
  try {
    const common = new Set(written(plain, protocol).notes.map(keyOf))
    return describe(written(request, protocol).notes.filter(note => !common.has(keyOf(note))))
  } catch (error) {
    if (TranslationError.is(error)) return 'refused'
    throw error
  }
}

function describe(notes: Note[]): string {
  if (notes.length === 0) return 'exact'
  return [...new Set(notes.map(({ kind, code }) => `${kind}: \`${code}\``))].join(', ')
}

if (process.argv[1] === new URL(import.meta.url).pathname)
  for (const page of generatedPages) writeFileSync(fileOf(page), generated(page))
