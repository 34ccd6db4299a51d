import type ts from 'typescript'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import { judge, type Kind, type Verdict } from './judge.ts'
import { neither } from './neither.ts'
import type { Roots } from './roots.ts'
import { openDefinitions, sitesOf } from './walk.ts'

/** `trail`: see `Site`. `verdicts`: one for each of `targetsOf`. */
export type Row = {
  kind: Kind
  name: string
  trail: readonly string[]
  path: string
  verdicts: Verdict[]
  reason?: string
}

/** The types of a body that its definitions file may export. */
const bodies: [Kind, string][] = [
  ['request', 'Request'],
  ['response', 'Response'],
  ['event', 'Event'],
  ['error', 'Failure'],
]

export const targetsOf = (protocol: string): ProtocolName[] =>
  protocolNames.filter(name => name !== protocol)

/** Everything that the definitions in this file allow, and what becomes of it. */
export function rowsOf(
  { protocol, types }: Pick<Roots, 'protocol' | 'types'>,
  file: string,
): Row[] {
  const definitions = openDefinitions([file])
  const exports = (name: string) => new RegExp(`export (type|interface) ${name}\\b`).test(types)
  let seen = new Set<ts.Type>()
  return bodies.flatMap(([kind, name]) => {
    if (!exports(name)) return []
    // What a response holds, an event may hold as well: it is walked once, unless each event is
    // such a response.
    const isChunk = kind === 'event' && definitions.typeOf(name) === definitions.typeOf('Response')
    if (kind !== 'event' || isChunk) seen = new Set()
    else if (exports('Known')) seen.add(definitions.typeOf('Known'))
    return sitesOf(definitions, definitions.typeOf(name), seen).map(site => {
      const verdicts = targetsOf(protocol).map(to =>
        judge(kind, site, { from: protocol as ProtocolName, to }),
      )
      const reason = verdicts.some(isFault)
        ? neither.find(
            one => one.protocol === protocol && one.kind === kind && one.name.test(site.name),
          )?.reason
        : undefined
      return {
        kind,
        name: site.name,
        trail: site.trail,
        path: site.path,
        verdicts,
        ...(reason !== undefined && { reason }),
      }
    })
  })
}

const isFault = (verdict: Verdict) => verdict === 'lost' || verdict === 'unreadable'

/** What the tool fails for. */
export const faultsOf = (rows: readonly Row[]): Row[] =>
  rows.filter(({ verdicts, reason }) => reason === undefined && verdicts.some(isFault))

/** Words for the reader. */
const words: Record<Verdict, string> = {
  mapped: 'mapped',
  noted: 'note',
  unknown: 'note: unknown field or type',
  refused: 'refused',
  unreadable: '**not readable**',
  lost: '**lost**',
}

/**
 * One protocol's part of docs/drift.md. Rows inside of something that is noted as a whole are left
 * out.
 */
export function sectionOf(
  { protocol, module }: Roots,
  version: string,
  rows: readonly Row[],
): string[] {
  const targets = targetsOf(protocol)
  const whole = new Set(
    rows
      .filter(({ verdicts }) =>
        verdicts.every(verdict => verdict === 'noted' || verdict === 'unknown'),
      )
      .map(({ kind, name }) => `${kind} ${name}`),
  )
  const shown = rows.filter(
    ({ kind, trail, verdicts, reason }) =>
      reason === undefined &&
      verdicts.some(verdict => verdict !== 'mapped') &&
      !trail.some(name => whole.has(`${kind} ${name}`)),
  )
  const sum = (...wanted: Verdict[]) =>
    rows.reduce(
      (total, { verdicts, reason }) =>
        total + (reason === undefined ? verdicts.filter(one => wanted.includes(one)).length : 0),
      0,
    )
  const total = sum('mapped', 'noted', 'unknown', 'refused', 'lost', 'unreadable')
  return [
    `## ${protocol}: \`${module}\` ${version}`,
    '',
    `${rows.length} fields, words and types, each toward ${targets.length} protocols: ${sum('mapped')} of ${total} are mapped, ${sum('noted')} are reported by a note, ${sum('unknown')} by a note that says wireglot does not know them, ${sum('refused')} make wireglot refuse the body, ${sum('lost', 'unreadable')} would be lost.`,
    '',
    `| in a | field, word or type | ${targets.map(target => `to ${target}`).join(' | ')} |`,
    `| --- | --- | ${targets.map(() => '---').join(' | ')} |`,
    ...shown.map(
      ({ kind, name, verdicts }) =>
        `| ${kind} | \`${name.replaceAll('|', '\\|')}\` | ${verdicts.map(verdict => words[verdict]).join(' | ')} |`,
    ),
    '',
    ...reasonsOf(rows),
  ]
}

function reasonsOf(rows: readonly Row[]): string[] {
  const reasons = new Map<string, string[]>()
  for (const { name, reason } of rows)
    if (reason !== undefined) reasons.set(reason, [...(reasons.get(reason) ?? []), name])
  if (reasons.size === 0) return []
  return [
    'Neither mapped nor noted, because there is nothing to keep:',
    '',
    ...[...reasons].map(([reason, names]) => `- ${reason}: ${named(names)}`),
    '',
  ]
}

const named = (names: readonly string[]) =>
  names.length > 6
    ? `${names.slice(0, 4).map(code).join(', ')} and ${names.length - 4} more`
    : names.map(code).join(', ')
const code = (name: string) => `\`${name}\``
