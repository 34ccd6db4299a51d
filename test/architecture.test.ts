import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { vendorNames } from '../src/vendors/index.ts'

/**
 * Who may import whom: what is allowed, all else is not. A room is a folder of `src` (a protocol's
 * folder is `protocol folder`) or a file directly in it. Every room may import itself, but one
 * protocol folder never another.
 */
const allowed: Record<string, { rooms: string[]; packages: string[] }> = {
  canonical: { rooms: [], packages: [] },
  'errors.ts': { rooms: ['canonical'], packages: [] },
  'protocol.ts': { rooms: ['canonical'], packages: [] },
  kit: {
    rooms: ['canonical', 'errors.ts', 'protocol.ts'],
    packages: ['@noble/hashes', 'zod/mini'],
  },
  sse: {
    rooms: ['kit/json/digits.ts', 'kit/json/scan.ts', 'protocol.ts'],
    packages: ['eventsource-parser'],
  },
  eventstream: { rooms: ['kit', 'protocol.ts', 'sse'], packages: [] },
  'protocol folder': {
    rooms: [
      'canonical',
      'errors.ts',
      'protocol.ts',
      'kit',
      'models',
      'sse/write.ts',
      'eventstream',
    ],
    packages: ['zod/mini'],
  },
  'protocols/index.ts': { rooms: ['protocol.ts', 'protocol folder'], packages: [] },
  'protocols/sockets.ts': {
    rooms: ['protocol.ts', 'protocol folder', 'protocols/index.ts'],
    packages: [],
  },
  'protocols/wire.ts': { rooms: ['kit', 'protocol folder', 'protocols/index.ts'], packages: [] },
  'protocols/check-options.ts': {
    rooms: ['kit', 'protocol.ts', 'protocols/index.ts'],
    packages: [],
  },
  'schemas.ts': { rooms: ['protocol folder'], packages: [] },
  'notes.ts': {
    rooms: ['canonical', 'kit', 'protocol.ts', 'protocol folder', 'translate'],
    packages: [],
  },
  translate: { rooms: ['canonical', 'errors.ts', 'protocol.ts', 'kit', 'sse'], packages: [] },
  address: { rooms: ['kit', 'protocol.ts', 'protocols/index.ts'], packages: [] },
  models: { rooms: ['kit', 'protocols/index.ts'], packages: [] },
  vendors: { rooms: ['kit', 'models', 'protocols/index.ts'], packages: [] },
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
  'between.ts': {
    rooms: [
      'canonical',
      'kit',
      'protocol.ts',
      'protocols/index.ts',
      'protocols/wire.ts',
      'translate',
    ],
    packages: [],
  },
  bridge: {
    rooms: [
      'canonical',
      'kit',
      'models',
      'protocol.ts',
      'protocols/index.ts',
      'translate',
      'vendors',
    ],
    packages: [],
  },
  'clients.ts': { rooms: ['address', 'clients', 'protocols/index.ts'], packages: [] },
  'models.ts': { rooms: ['models'], packages: [] },
  'protocols.ts': { rooms: ['canonical', 'protocol.ts', 'protocols/index.ts'], packages: [] },
  'index.ts': {
    rooms: [
      'notes.ts',
      'protocols/wire.ts',
      'api.ts',
      'canonical',
      'errors.ts',
      'protocol.ts',
      'protocols/index.ts',
      'translate',
      'vendors',
    ],
    packages: [],
  },
  stores: {
    rooms: ['canonical', 'errors.ts', 'kit'],
    packages: ['@redis/client', 'lru-cache'],
  },
  transports: {
    rooms: ['errors.ts'],
    packages: ['undici', 'fetch-socks', 'ws', 'node:http', 'node:net', 'node:stream', 'node:zlib'],
  },
  sockets: {
    rooms: ['gateway', 'kit', 'protocol.ts', 'protocols/sockets.ts', 'sse', 'transports'],
    packages: ['ws', 'node:http', 'node:stream'],
  },
  testing: {
    rooms: [
      'canonical',
      'cassettes',
      'errors.ts',
      'kit',
      'protocol.ts',
      'protocol folder',
      'protocols/index.ts',
      'schemas.ts',
      'sse',
      'translate',
    ],
    packages: ['fast-check', 'zod'],
  },
  verify: {
    rooms: [
      'address',
      'canonical',
      'errors.ts',
      'kit',
      'protocol.ts',
      'protocols/index.ts',
      'sse',
      'testing',
      'translate',
    ],
    packages: [],
  },
  clients: {
    rooms: ['address', 'canonical', 'kit', 'protocols/index.ts', 'translate'],
    packages: [],
  },
  clouds: {
    rooms: [
      'canonical',
      'eventstream',
      'gateway/body/outline.ts',
      'kit',
      'sse',
      'transports',
      'vendors',
    ],
    packages: [
      '@aws-sdk/credential-providers',
      '@azure/identity',
      'aws4fetch',
      'google-auth-library',
    ],
  },
  gateway: {
    rooms: [
      'address',
      'api.ts',
      'bridge',
      'canonical',
      'clients',
      'clouds',
      'errors.ts',
      'kit',
      'models',
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
    packages: ['@cfworker/json-schema', 'zod', '@noble/hashes', '@opentelemetry/api', 'zstddec'],
  },
  operations: { rooms: ['gateway'], packages: ['node:http', 'prom-client'] },
  records: {
    rooms: ['canonical', 'gateway', 'kit', 'models', 'stores'],
    packages: [
      'node:fs',
      'node:module',
      'node:worker_threads',
      'kysely',
      'libsql',
      'pg',
      'zod',
      'node:crypto',
      'node:http',
    ],
  },
  cassettes: {
    rooms: [
      'canonical',
      'eventstream',
      'gateway',
      'hosts/fetch.ts',
      'kit',
      'notes.ts',
      'protocol.ts',
      'protocols/index.ts',
      'sse',
      'transports',
      'vendors',
    ],
    // The last one is made of `thread/` when the package is built.
    packages: [
      'zod',
      'node:fs',
      'node:os',
      'node:path',
      'node:worker_threads',
      'wireglot-recorder-thread',
    ],
  },
  console: {
    rooms: [
      'canonical',
      'clients',
      'errors.ts',
      'gateway',
      'kit',
      'notes.ts',
      'protocol.ts',
      'protocols/index.ts',
      'records',
      'sse',
      'translate',
      'verify',
    ],
    // The last one is made of `browser/` when the package is built.
    packages: ['@noble/hashes', 'node:http', 'uplot', 'zod', 'wireglot-console-bundle'],
  },
  hosts: {
    rooms: ['gateway', 'kit', 'sockets', 'transports'],
    packages: ['node:http', 'node:http2', 'node:net', 'node:events', 'node:stream'],
  },
  cli: {
    rooms: [
      '../package.json',
      'address',
      'api.ts',
      'canonical',
      'cassettes',
      'clients',
      'console',
      'errors.ts',
      'gateway',
      'hosts',
      'index.ts',
      'kit',
      'models',
      'operations',
      'records',
      'protocol.ts',
      'protocols/check-options.ts',
      'protocols/index.ts',
      'stores',
      'translate',
      'transports',
      'vendors',
      'verify',
    ],
    // A configuration may be a module.
    packages: [
      'commander',
      'jiti',
      'jsonc-parser',
      'yaml',
      'node:*',
      'an import whose name is made at run time',
    ],
  },
}

const source = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(file =>
  file.endsWith('.ts'),
)

type Arrow = { from: string; to: string; file: string; target: string }

const parsed = new Map(
  files.map(file => [
    file,
    ts.createSourceFile(
      file,
      readFileSync(join(source, file), 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    ),
  ]),
)
const arrows = files.flatMap(file => arrowsOf(file))
const folders = readdirSync(join(source, 'protocols'), { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => name)

describe('imports between the areas of the source', () => {
  test('every import follows an allowed arrow', () => {
    const faults = arrows
      .filter(arrow => !isAllowed(arrow))
      .map(({ file, target }) => `${file} → ${target}`)
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
        for (const { target } of inside.filter(arrow => arrow.file === file))
          visit(target, [...above, file])
        done.add(file)
      }
    }
    for (const file of files) visit(file, [])
    expect(cycles).toEqual([])
  })

  /** Keys that stand on the wire, and names that a package exports. */
  const wireKeys = new Set([
    'x_groq',
    'anthropic_beta',
    'anthropic_version',
    'DefaultAzureCredential',
  ])

  test('only profiles, models, client settings and rules of hosts are named after a vendor', () => {
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
      if (/^(?:vendors|models|clients|testing\/hosts)\//.test(file)) continue
      if (named.test(file.replaceAll('-', ''))) faults.push(file)
      const visit = (node: ts.Node) => {
        if (
          ts.isIdentifier(node) &&
          named.test(node.text.replaceAll('_', '')) &&
          !wireKeys.has(node.text)
        )
          faults.push(`${file}: ${node.text}`)
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
      if (
        ['protocols/index.ts', 'protocols/wire.ts', 'notes.ts'].includes(file) ||
        /^(?:clients|models|testing|vendors)\//.test(file) ||
        folderOf(file)
      )
        continue
      const visit = (node: ts.Node) => {
        if (
          ts.isStringLiteralLike(node) &&
          names.has(node.text) &&
          !ts.isImportDeclaration(node.parent)
        )
          faults.push(
            `${file}:${tree.getLineAndCharacterOfPosition(node.pos).line + 1} says '${node.text}'`,
          )
        ts.forEachChild(node, visit)
      }
      visit(tree)
    }
    expect(faults).toEqual([])
  })
})

describe('the protocol folders', () => {
  /**
   * A newcomer reads a folder from the bottom: each of its files and folders needs only those of
   * lower levels.
   */
  const mostLevels = 8

  /** By file or folder directly in this one, what it needs of the others. */
  function needsIn(folder: string): Map<string, Set<string>> {
    const childOf = (file: string) =>
      file.startsWith(folder) ? file.slice(folder.length).split('/')[0] : undefined
    const needs = new Map<string, Set<string>>()
    for (const { file, target } of arrows) {
      const [child, other] = [childOf(file), childOf(target)]
      if (child && other && child !== other)
        needs.set(child, (needs.get(child) ?? new Set()).add(other))
    }
    return needs
  }

  /** 1: it needs none of the others. Infinity: it needs itself. */
  function levelOf(
    child: string,
    needs: Map<string, Set<string>>,
    above: readonly string[] = [],
  ): number {
    if (above.includes(child)) return Infinity
    return (
      1 +
      Math.max(
        0,
        ...[...(needs.get(child) ?? [])].map(other => levelOf(other, needs, [...above, child])),
      )
    )
  }

  test.each(
    folders.flatMap(name =>
      ['', 'request/', 'content/', 'response/', 'stream/'].map(room => `${name}/${room}`),
    ),
  )('%s has no import cycle and at most the allowed levels of imports', folder => {
    const needs = needsIn(`protocols/${folder}`)
    for (const child of needs.keys())
      expect(levelOf(child, needs), child).toBeLessThanOrEqual(mostLevels)
  })

  const mostFiles = 35

  test.each(folders)(`%s has at most ${mostFiles} files`, folder => {
    expect(files.filter(file => folderOf(file) === folder).length).toBeLessThanOrEqual(mostFiles)
  })

  test('every protocol folder is in the registry', () => {
    const registered = arrows
      .filter(({ file }) => file === 'protocols/index.ts')
      .map(({ target }) => folderOf(target))
    expect(folders.filter(folder => !registered.includes(folder))).toEqual([])
  })
})

describe('functions', () => {
  const mostBranches = 35

  test(`no function has more than ${mostBranches} branches, cases of a switch aside`, () => {
    const faults: string[] = []
    for (const [file, tree] of parsed) {
      const visit = (node: ts.Node) => {
        const branches = ts.isFunctionLike(node) ? branchesIn(node) : 0
        if (branches > mostBranches) {
          const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree))
          faults.push(`${file}:${line + 1} has ${branches} branches`)
        }
        ts.forEachChild(node, visit)
      }
      visit(tree)
    }
    expect(faults).toEqual([])
  })
})

const branching = new Set([
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.ConditionalExpression,
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.ForInStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
  ts.SyntaxKind.CatchClause,
])
const shortCircuits = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
])

/** Without those of functions inside. */
function branchesIn(body: ts.Node): number {
  let count = 0
  const visit = (node: ts.Node) => {
    if (node !== body && ts.isFunctionLike(node)) return
    if (
      branching.has(node.kind) ||
      (ts.isBinaryExpression(node) && shortCircuits.has(node.operatorToken.kind))
    )
      count++
    ts.forEachChild(node, visit)
  }
  visit(body)
  return count
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
    } else if (named)
      found.push({ from: roomOf(file), to: `package ${named}`, file, target: named })
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** The specifier of an import, also of one of types alone. */
function importOf(node: ts.Node): string | undefined {
  if (
    (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
    node.moduleSpecifier &&
    ts.isStringLiteral(node.moduleSpecifier)
  )
    return node.moduleSpecifier.text
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [specifier] = node.arguments
    return specifier && ts.isStringLiteralLike(specifier)
      ? specifier.text
      : 'an import whose name is made at run time'
  }
  return ts.isImportTypeNode(node) &&
    ts.isLiteralTypeNode(node.argument) &&
    ts.isStringLiteral(node.argument.literal)
    ? node.argument.literal.text
    : undefined
}

function isAllowed({ from, to, file, target }: Arrow): boolean {
  const { rooms, packages } = allowed[from] ?? { rooms: [], packages: [] }
  if (to.startsWith('package '))
    return packages.some(
      name =>
        target === name || target.startsWith(name.endsWith('*') ? name.slice(0, -1) : `${name}/`),
    )
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
