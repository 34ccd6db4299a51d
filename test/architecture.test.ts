import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { vendorNames } from '../src/vendors/index.ts'

/**
 * Who may import whom: what is allowed, all else is not. A room is a folder of `src` (a protocol's folder is `protocol
 * folder`) or a file directly in it. Every room may import itself, but one protocol folder never another.
 */
const allowed: Record<string, { rooms: string[]; packages: string[] }> = {
  canonical: { rooms: [], packages: [] },
  'errors.ts': { rooms: ['canonical'], packages: [] },
  'protocol.ts': { rooms: ['canonical'], packages: [] },
  kit: { rooms: ['canonical', 'errors.ts', 'protocol.ts'], packages: ['@noble/hashes', 'zod/mini'] },
  sse: { rooms: ['kit/json/scan.ts', 'protocol.ts'], packages: ['eventsource-parser'] },
  eventstream: { rooms: ['kit', 'protocol.ts', 'sse'], packages: [] },
  'protocol folder': { rooms: ['canonical', 'errors.ts', 'protocol.ts', 'kit', 'sse/write.ts', 'eventstream'], packages: ['zod/mini'] },
  'protocols/index.ts': { rooms: ['protocol.ts', 'protocol folder'], packages: [] },
  'protocols/sockets.ts': { rooms: ['protocol.ts', 'protocol folder', 'protocols/index.ts'], packages: [] },
  'protocols/wire.ts': { rooms: ['kit', 'protocol folder', 'protocols/index.ts'], packages: [] },
  'protocols/check-options.ts': { rooms: ['kit', 'protocol.ts', 'protocols/index.ts'], packages: [] },
  'schemas.ts': { rooms: ['protocol folder'], packages: [] },
  'notes.ts': { rooms: ['canonical', 'kit', 'protocol.ts', 'protocol folder', 'translate'], packages: [] },
  translate: { rooms: ['canonical', 'errors.ts', 'protocol.ts', 'kit', 'sse'], packages: [] },
  address: { rooms: ['kit', 'protocol.ts', 'protocols/index.ts'], packages: [] },
  vendors: { rooms: ['kit', 'protocols/index.ts'], packages: [] },
  'api.ts': {
    rooms: [
      'canonical',
      'errors.ts',
      'kit',
      'notes.ts',
      'protocol.ts',
      'protocols/check-options.ts',
      'protocols/index.ts',
      'protocols/wire.ts',
      'translate',
      'vendors',
    ],
    packages: [],
  },
  'between.ts': { rooms: ['canonical', 'kit', 'protocol.ts', 'protocols/index.ts', 'protocols/wire.ts', 'translate'], packages: [] },
  'clients.ts': { rooms: ['address', 'clients', 'protocols/index.ts'], packages: [] },
  'protocols.ts': { rooms: ['canonical', 'protocol.ts', 'protocols/index.ts'], packages: [] },
  'index.ts': {
    rooms: ['notes.ts', 'protocols/wire.ts', 'api.ts', 'canonical', 'errors.ts', 'protocol.ts', 'protocols/index.ts', 'translate', 'vendors'],
    packages: [],
  },
  stores: { rooms: ['canonical', 'errors.ts', 'kit'], packages: ['@redis/client', 'lru-cache', 'rate-limiter-flexible'] },
  transports: { rooms: ['errors.ts'], packages: ['undici', 'fetch-socks', 'ws', 'node:http', 'node:net', 'node:stream', 'node:zlib'] },
  sockets: { rooms: ['gateway', 'kit', 'protocol.ts', 'protocols/sockets.ts', 'sse', 'transports'], packages: ['ws', 'node:http', 'node:stream'] },
  testing: {
    rooms: ['canonical', 'errors.ts', 'kit', 'protocol.ts', 'protocol folder', 'protocols/index.ts', 'schemas.ts', 'sse', 'translate'],
    packages: ['fast-check', 'zod'],
  },
  verify: { rooms: ['address', 'canonical', 'errors.ts', 'kit', 'protocol.ts', 'protocols/index.ts', 'sse', 'testing', 'translate'], packages: [] },
  clients: { rooms: ['address', 'canonical', 'kit', 'protocols/index.ts', 'translate'], packages: [] },
  clouds: {
    rooms: ['canonical', 'eventstream', 'gateway/body/outline.ts', 'kit', 'sse', 'transports', 'vendors'],
    packages: ['@aws-sdk/credential-providers', '@azure/identity', 'aws4fetch', 'google-auth-library'],
  },
  gateway: {
    rooms: [
      'address',
      'api.ts',
      'canonical',
      'clients',
      'clouds',
      'errors.ts',
      'kit',
      'notes.ts',
      'protocol.ts',
      'protocols/check-options.ts',
      'protocols/index.ts',
      'protocols/sockets.ts',
      'sse',
      'stores',
      'translate',
      'transports',
      'vendors',
    ],
    packages: ['zod', '@noble/hashes', '@opentelemetry/api', 'rate-limiter-flexible', 'zstddec'],
  },
  operations: { rooms: ['gateway'], packages: ['node:http', 'prom-client'] },
  records: {
    rooms: ['canonical', 'gateway', 'kit'],
    packages: ['node:module', 'node:worker_threads', 'kysely', 'libsql', 'pg', 'zod', 'node:crypto', 'node:http'],
  },
  console: {
    rooms: ['canonical', 'clients', 'errors.ts', 'gateway', 'kit', 'notes.ts', 'protocol.ts', 'protocols/index.ts', 'records', 'sse', 'translate', 'verify'],
    // The last one is made of `browser/` when the package is built.
    packages: ['@noble/hashes', 'node:http', 'uplot', 'zod', 'wireglot-console-bundle'],
  },
  hosts: { rooms: ['gateway', 'kit', 'sockets', 'transports'], packages: ['node:http', 'node:http2', 'node:net', 'node:events', 'node:stream'] },
  cli: {
    rooms: [
      '../package.json',
      'address',
      'api.ts',
      'canonical',
      'clients',
      'console',
      'errors.ts',
      'gateway',
      'hosts',
      'index.ts',
      'kit',
      'operations',
      'records',
      'protocol.ts',
      'protocols/check-options.ts',
      'protocols/index.ts',
      'translate',
      'transports',
      'vendors',
      'verify',
    ],
    // A configuration may be a module.
    packages: ['commander', 'jiti', 'jsonc-parser', 'yaml', 'node:*', 'an import whose name is made at run time'],
  },
}

/**
 * A protocol folder has these files, and in `request/`, `content/`, `response/` and `stream/` further ones of its own: one sentence
 * for each protocol says why.
 */
const inAll = [
  'address.ts',
  'client.ts',
  'detect.ts',
  'errors.ts',
  'event-schema.ts',
  'facts.ts',
  'index.ts',
  'notes.ts',
  'options.ts',
  'own.ts',
  'schema.ts',
  'sdk-types.ts',
  'upstream.ts',
  'vocabulary.ts',
  'content/calls.ts',
  'content/citations.ts',
  'content/content.ts',
  'content/media.ts',
  'content/reasoning.ts',
  'content/tools.ts',
  'content/writing.ts',
  'request/conversation.ts',
  'request/demands.ts',
  'request/effort.ts',
  'request/field-names.ts',
  'request/fields.ts',
  'request/request.ts',
  'request/settings.ts',
  'request/tool-choice.ts',
  'response/response.ts',
  'response/usage.ts',
  'stream/decoder.ts',
  'stream/encoder-state.ts',
  'stream/encoder.ts',
  'stream/frames.ts',
]

const ownFiles: Record<string, { why: string; files: string[] }> = {
  'chat-completions': {
    why: 'its messages have one field for all parts of a kind, and its many servers and clients have found many places for what it has no field for',
    files: [
      'content/assistant.ts',
      'content/audio.ts',
      'content/cache.ts',
      'content/carried-reasoning.ts',
      'content/carriers.ts',
      'content/images.ts',
      'content/layout.ts',
      'content/proxy-places.ts',
      'content/reading.ts',
      'content/signatures.ts',
      'content/stored-signatures.ts',
      'content/think-tags.ts',
      'request/fitting-messages.ts',
      'request/fitting-reasoning.ts',
      'request/fitting.ts',
      'request/format.ts',
      'response/logprobs.ts',
      'stream/call-writer.ts',
      'stream/calls.ts',
      'stream/content.ts',
      'stream/decoder-state.ts',
      'stream/failure.ts',
      'stream/open-parts.ts',
      'stream/part-writer.ts',
      'stream/reasoning.ts',
      'stream/shortcut.ts',
      'stream/signatures.ts',
      'stream/usage.ts',
    ],
  },
  responses: {
    why: 'it writes items instead of messages, of some twenty kinds, and its streams announce and end each item and each part of it',
    files: [
      'content/cache.ts',
      'content/client-tools.ts',
      'content/item-head.ts',
      'content/items.ts',
      'content/mcp.ts',
      'content/message-item.ts',
      'content/raw-items.ts',
      'request/fitting.ts',
      'response/echo.ts',
      'response/envelope.ts',
      'response/stored.ts',
      'socket.ts',
      'stream/call-items.ts',
      'stream/carriers.ts',
      'stream/decoder-state.ts',
      'stream/ending.ts',
      'stream/item-reader.ts',
      'stream/open-items.ts',
      'stream/part-reader.ts',
      'stream/segments.ts',
      'stream/shortcut.ts',
      'stream/status-events.ts',
      'stream/text-parts.ts',
      'stream/whole-items.ts',
    ],
  },
  messages: {
    why: 'its models differ in what they accept, headers unlock fields of its body, and its streams have one open block',
    files: [
      'content/cache.ts',
      'content/enforceable.ts',
      'content/mcp.ts',
      'content/searches.ts',
      'models.ts',
      'request/betas.ts',
      'request/fitting.ts',
      'request/turns.ts',
      'stream/deltas.ts',
      'stream/open-block.ts',
      'stream/part-writer.ts',
      'stream/shortcut.ts',
    ],
  },
  'generate-content': {
    why: 'its bodies have two spellings, a wrapper and a schema language of their own, and parts in its streams have no beginning and no end',
    files: [
      'content/carried-reasoning.ts',
      'content/json-schema.ts',
      'content/wrapper.ts',
      'request/fitting.ts',
      'request/spelling.ts',
      'request/turns.ts',
      'response/finish.ts',
      'response/logprobs.ts',
      'stream/part-reader.ts',
      'stream/part-writer.ts',
      'stream/shortcut.ts',
      'stream/streamed-call.ts',
    ],
  },
  converse: {
    why: 'its models differ in what they accept, documents need names, and its streams have one open block in binary frames',
    files: ['content/cache.ts', 'content/document-names.ts', 'models.ts', 'stream/blocks.ts', 'stream/open-block.ts', 'stream/part-writer.ts'],
  },
}

const source = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))

type Arrow = { from: string; to: string; file: string; target: string }

const parsed = new Map(files.map(file => [file, ts.createSourceFile(file, readFileSync(join(source, file), 'utf8'), ts.ScriptTarget.Latest, true)]))
const arrows = files.flatMap(file => arrowsOf(file))
const folders = readdirSync(join(source, 'protocols'), { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => name)

describe('imports between the areas of the source', () => {
  test('every import follows an allowed arrow', () => {
    const faults = arrows.filter(arrow => !isAllowed(arrow)).map(({ file, target }) => `${file} → ${target}`)
    expect(faults).toEqual([])
  })

  test('every area has a list of allowed arrows', () => {
    const rooms = new Set(files.map(roomOf))
    expect([...rooms].filter(room => !Object.hasOwn(allowed, room))).toEqual([])
  })

  test('there are no import cycles', () => {
    const inside = arrows.filter(({ to }) => !to.startsWith('package '))
    const done = new Set<string>()
    const cycles: string[] = []
    const visit = (file: string, above: string[]) => {
      if (above.includes(file)) cycles.push([...above.slice(above.indexOf(file)), file].join(' → '))
      else if (!done.has(file)) {
        for (const { target } of inside.filter(arrow => arrow.file === file)) visit(target, [...above, file])
        done.add(file)
      }
    }
    for (const file of files) visit(file, [])
    expect(cycles).toEqual([])
  })

  /** Keys that stand on the wire, and names that a package exports. */
  const wireKeys = new Set(['x_groq', 'anthropic_beta', 'anthropic_version', 'DefaultAzureCredential'])

  test('only profiles and client settings are named after a vendor', () => {
    // One protocol is known by the name of its first vendor's models.
    const named = new RegExp(
      vendorNames
        .filter(name => name !== 'gemini')
        .join('|')
        .replaceAll('-', ''),
      'i',
    )
    const faults: string[] = []
    for (const [file, tree] of parsed) {
      if (/^(?:vendors|clients)\//.test(file)) continue
      if (named.test(file.replaceAll('-', ''))) faults.push(file)
      const visit = (node: ts.Node) => {
        if (ts.isIdentifier(node) && named.test(node.text.replaceAll('_', '')) && !wireKeys.has(node.text)) faults.push(`${file}: ${node.text}`)
        ts.forEachChild(node, visit)
      }
      visit(tree)
    }
    expect([...new Set(faults)]).toEqual([])
  })

  test('only protocol folders, the registry and the programs that use a protocol name one', () => {
    const names = new Set(folders)
    const faults: string[] = []
    for (const [file, tree] of parsed) {
      if (['protocols/index.ts', 'protocols/wire.ts', 'notes.ts'].includes(file) || /^(?:clients|testing|vendors)\//.test(file) || folderOf(file)) continue
      const visit = (node: ts.Node) => {
        if (ts.isStringLiteralLike(node) && names.has(node.text) && !ts.isImportDeclaration(node.parent))
          faults.push(`${file}:${tree.getLineAndCharacterOfPosition(node.pos).line + 1} says '${node.text}'`)
        ts.forEachChild(node, visit)
      }
      visit(tree)
    }
    expect(faults).toEqual([])
  })
})

describe('the protocol folders', () => {
  const filesOf = (folder: string) => readdirSync(join(source, 'protocols', folder), { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))

  test.each(folders)('%s has the files that all protocols have, and its listed own files', folder => {
    expect(filesOf(folder).toSorted()).toEqual([...inAll, ...(ownFiles[folder]?.files ?? [])].toSorted())
  })

  test('lists a file that all folders have once, for all of them', () => {
    const own = folders.map(folder => ownFiles[folder]?.files ?? [])
    expect(own[0]?.filter(file => own.every(files => files.includes(file)))).toEqual([])
  })

  /** A newcomer reads a folder from the bottom: each of its files and folders needs only those of lower levels. */
  const mostLevels = 8

  /** By file or folder directly in this one, what it needs of the others. */
  function needsIn(folder: string): Map<string, Set<string>> {
    const childOf = (file: string) => (file.startsWith(folder) ? file.slice(folder.length).split('/')[0] : undefined)
    const needs = new Map<string, Set<string>>()
    for (const { file, target } of arrows) {
      const [child, other] = [childOf(file), childOf(target)]
      if (child && other && child !== other) needs.set(child, (needs.get(child) ?? new Set()).add(other))
    }
    return needs
  }

  /** 1: it needs none of the others. Infinity: it needs itself. */
  function levelOf(child: string, needs: Map<string, Set<string>>, above: readonly string[] = []): number {
    if (above.includes(child)) return Infinity
    return 1 + Math.max(0, ...[...(needs.get(child) ?? [])].map(other => levelOf(other, needs, [...above, child])))
  }

  test.each(folders.flatMap(name => ['', 'request/', 'content/', 'response/', 'stream/'].map(room => `${name}/${room}`)))(
    '%s has no import cycle and at most the allowed levels of imports',
    folder => {
      const needs = needsIn(`protocols/${folder}`)
      for (const child of needs.keys()) expect(levelOf(child, needs), child).toBeLessThanOrEqual(mostLevels)
    },
  )

  test('every protocol folder is in the registry', () => {
    const registered = arrows.filter(({ file }) => file === 'protocols/index.ts').map(({ target }) => folderOf(target))
    expect(folders.filter(folder => !registered.includes(folder))).toEqual([])
  })
})

describe('functions', () => {
  const mostLines = 60
  const mostBranches = 25

  test('a long function gives the reason in its comment', () => {
    const faults: string[] = []
    for (const [file, tree] of parsed) {
      if (file.endsWith('.generated.ts')) continue
      const visit = (node: ts.Node, above: readonly ts.Node[]) => {
        if (ts.isFunctionLike(node)) {
          const lineOf = (at: number) => tree.getLineAndCharacterOfPosition(at).line
          const lines = lineOf(node.end) - lineOf(node.getStart(tree)) + 1
          const branches = branchesIn(node)
          if ((lines > mostLines || branches > mostBranches) && !hasReason(node, above, tree))
            faults.push(`${file}:${lineOf(node.getStart(tree)) + 1} has ${lines} lines and ${branches} branches`)
        }
        ts.forEachChild(node, child => visit(child, [node, ...above]))
      }
      visit(tree, [])
    }
    expect(faults).toEqual([])
  })
})

const branching = new Set([
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.ConditionalExpression,
  ts.SyntaxKind.CaseClause,
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.ForInStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
  ts.SyntaxKind.CatchClause,
])
const shortCircuits = new Set([ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.QuestionQuestionToken])

/** Without those of functions inside. */
function branchesIn(body: ts.Node): number {
  let count = 0
  const visit = (node: ts.Node) => {
    if (node !== body && ts.isFunctionLike(node)) return
    if (branching.has(node.kind) || (ts.isBinaryExpression(node) && shortCircuits.has(node.operatorToken.kind))) count++
    ts.forEachChild(node, visit)
  }
  visit(body)
  return count
}

/** The comment is that of the function, or of the statement or property that it is the value of. */
function hasReason(node: ts.Node, above: readonly ts.Node[], tree: ts.SourceFile): boolean {
  return [node, ...above.slice(0, 4)].some(one =>
    (ts.getLeadingCommentRanges(tree.text, one.getFullStart()) ?? []).some(({ pos, end }) => /\bLong because\b/.test(tree.text.slice(pos, end))),
  )
}

function arrowsOf(file: string): Arrow[] {
  const tree = parsed.get(file)
  if (!tree) return []
  const found: Arrow[] = []
  const visit = (node: ts.Node) => {
    const named = importOf(node)
    if (named?.startsWith('.')) {
      const target = relative(source, join(source, dirname(file), named))
      found.push({ from: roomOf(file), to: roomOf(target), file, target })
    } else if (named) found.push({ from: roomOf(file), to: `package ${named}`, file, target: named })
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** The specifier of an import, also of one of types alone. */
function importOf(node: ts.Node): string | undefined {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier))
    return node.moduleSpecifier.text
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [specifier] = node.arguments
    return specifier && ts.isStringLiteralLike(specifier) ? specifier.text : 'an import whose name is made at run time'
  }
  return ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal) ? node.argument.literal.text : undefined
}

function isAllowed({ from, to, file, target }: Arrow): boolean {
  const { rooms, packages } = allowed[from] ?? { rooms: [], packages: [] }
  if (to.startsWith('package ')) return packages.some(name => target === name || target.startsWith(name.endsWith('*') ? name.slice(0, -1) : `${name}/`))
  if (from === 'protocol folder' && to === from) return folderOf(file) === folderOf(target)
  return from === to || rooms.includes(to) || rooms.includes(target)
}

function roomOf(file: string): string {
  if (folderOf(file)) return 'protocol folder'
  if (file.startsWith('protocols/')) return file
  return file.split('/')[0] ?? file
}

function folderOf(file: string): string | undefined {
  const [room, folder, rest] = file.split('/')
  return room === 'protocols' && rest !== undefined ? folder : undefined
}
