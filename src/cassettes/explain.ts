import { printable } from '../kit/text/text.ts'
import { noteCatalog } from '../notes.ts'
import type { Cassette, CassetteAttempt } from './format.ts'
import { openingOf, prefixBreakBetween } from './prefix.ts'

/**
 * What happened in exchanges, in plain sentences: the way of each request, what was changed in it
 * and why, how long each phase took, and where the beginning of the prompt, which providers cache,
 * was another one than in the request before.
 * @example
 * import { explain, readCassettes } from 'wireglot/cassettes'
 *
 * const cassettes = await readCassettes(['cassettes']).catch(() => [])
 * for (const line of explain(cassettes)) console.log(line)
 */
export function explain(cassettes: readonly Cassette[]): string[] {
  /** The latest one of each conversation, by how it begins. */
  const latest = new Map<string, Cassette>()
  const lines = cassettes.flatMap((cassette, i) => {
    const opening = openingOf(cassette)
    const before = opening === undefined ? undefined : latest.get(opening)
    if (opening !== undefined) latest.set(opening, cassette)
    return [
      ...(i > 0 ? [''] : []),
      ...explained(cassette),
      ...(before ? prefixOf(before, cassette) : []),
    ]
  })
  // Clients and upstreams have written parts of them.
  return lines.map(printable)
}

function explained(cassette: Cassette): string[] {
  const { id, time, request, response } = cassette
  const asked = `${request.method} ${request.path} in the protocol ${request.protocol}`
  return [
    `${id}, ${time}: a client sent ${asked}.`,
    ...wayOf(cassette),
    ...changesIn(cassette),
    ...timesOf(cassette),
    ...(response ? [] : ['The client left before it got a response.']),
  ]
}

function wayOf({ route, attempts, response }: Cassette): string[] {
  const lines: string[] = []
  const names = route.candidates.map(({ channel }) => channel)
  if (names.length === 0) lines.push('No channel was looked for: the request was refused before.')
  else if (names.length > 1)
    lines.push(`These channels may serve it, in this order: ${[...new Set(names)].join(', ')}.`)
  for (const { channel, reason } of route.skipped)
    lines.push(`The channel ${channel} got no request: ${skipReasons[reason]}.`)
  for (const [i, attempt] of attempts.entries()) lines.push(attemptLine(attempt, i))
  if (response) {
    const { isCut, leftOut } = response.body
    lines.push(
      `The client got the status ${response.status}${isCut ? ', and the response was cut off' : ''}.`,
    )
    if (leftOut) lines.push(`The last ${leftOut} bytes of the response are not in the file.`)
  }
  return lines
}

const skipReasons = {
  resting: 'it had failed too often, and was left alone for a while',
  busy: 'it had as many requests in progress as it may have',
} as const

function attemptLine(attempt: CassetteAttempt, i: number): string {
  const { channel, model, protocol, vendor, ms, failure, response } = attempt
  const by = vendor === undefined ? '' : ` of ${vendor}`
  const asked = `Attempt ${i + 1}: the channel ${channel}${by} was asked for ${model} in ${protocol}`
  if (failure)
    return `${asked}, and failed after ${shown(ms ?? 0)}: ${failure.status} ${failure.kind}, ${failure.message}.`
  if (!response) return `${asked}, and gave no answer.`
  return `${asked}, and answered with the status ${response.status} after ${shown(ms ?? response.atMs)}${response.body.isCut ? '; its response was cut off' : ''}.`
}

/** A sentence for each kind of change, with the fields that it concerns. */
function changesIn({ notes, attempts, request }: Cassette): string[] {
  const all = notes.length > 0 ? notes : (attempts.at(-1)?.notes ?? [])
  if (all.length === 0) {
    const target = attempts.at(-1)?.protocol
    if (target === undefined) return []
    return [
      target === request.protocol
        ? 'Nothing was translated, and nothing was lost.'
        : 'The translation lost nothing.',
    ]
  }
  const byCode = new Map<string, { kind: string; reason: string; paths: string[] }>()
  for (const { code, kind, reason, path } of all) {
    const known = byCode.get(code) ?? { kind, reason, paths: [] }
    known.paths.push(path || '/')
    byCode.set(code, known)
  }
  return [...byCode].flatMap(([code, { kind, reason, paths }]) => {
    const entry = Object.hasOwn(noteCatalog, code)
      ? noteCatalog[code as keyof typeof noteCatalog]
      : undefined
    const where =
      paths.length > mostPaths
        ? [...paths.slice(0, mostPaths), `${paths.length - mostPaths} more`]
        : paths
    return [
      `${words[kind] ?? kind} (${code}): ${where.join(', ')}. ${reason}`,
      ...(entry?.advice === undefined ? [] : [`  What to do: ${entry.advice}`]),
    ]
  })
}

const mostPaths = 5

const words: Record<string, string> = {
  dropped: 'Lost',
  approximated: 'Written in a similar way',
  synthesized: 'Added',
  emulated: 'Done by the gateway',
}

function timesOf({ attempts, response, record }: Cassette): string[] {
  const lines: string[] = []
  const [first] = attempts
  const last = attempts.at(-1)
  const phases = [
    first && `reading and translating the request ${shown(first.atMs)}`,
    first && last && last !== first && `earlier attempts ${shown(last.atMs - first.atMs)}`,
    last?.ms !== undefined && `waiting for the upstream ${shown(last.ms)}`,
    response && last && `until the client got the first byte ${shown(firstOf(response))}`,
    record && `in all ${shown(record.totalMs)}`,
  ].filter(phase => typeof phase === 'string')
  if (phases.length > 0) lines.push(`Times: ${phases.join('; ')}.`)
  const usage = record?.['usage'] as Record<string, number> | undefined
  if (usage) {
    const counts = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning']
      .filter(name => usage[name] !== undefined)
      .map(name => `${usageWords[name]} ${usage[name]}`)
    if (counts.length > 0) lines.push(`Tokens: ${counts.join(', ')}.`)
  }
  return lines
}

const usageWords: Record<string, string> = {
  input: 'in',
  cacheRead: 'read from the cache',
  cacheWrite: 'written to the cache',
  output: 'out',
  reasoning: 'for reasoning',
}

const firstOf = ({ atMs, body }: NonNullable<Cassette['response']>) =>
  body.frames?.[0]?.atMs ?? atMs

const shown = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`

/** `before`: the latest one of its conversation. */
function prefixOf(before: Cassette, cassette: Cassette): string[] {
  const [one, other] = [before.attempts.at(-1), cassette.attempts.at(-1)]
  if (one?.channel !== other?.channel || one?.model !== other?.model)
    return [
      `The request before (${before.id}) went to ${one?.channel} for ${one?.model}: a cache of its prompt is of no use here.`,
    ]
  const broken = prefixBreakBetween(before, cassette)
  if (!broken) return [`The prompt begins with all of that of ${before.id}: a cache of it fits.`]
  const { path, offset, kept, lost } = broken
  return [
    `The prompt differs from that of ${before.id} at ${path}, letter ${offset}: some ${kept} tokens before are the same, and some ${lost} have to be read again.`,
    `  before: ${JSON.stringify(broken.before)}`,
    `  now:    ${JSON.stringify(broken.after)}`,
  ]
}
