import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

/**
 * Who may import whom: what is allowed, all else is not. A room is a folder of `src` (a protocol's folder is `protocol
 * folder`) or a file directly in it. Every room may import itself, but one protocol folder never another.
 */
const allowed: Record<string, { rooms: string[]; packages: string[] }> = {
  canonical: { rooms: [], packages: [] },
  'errors.ts': { rooms: ['canonical'], packages: [] },
  'protocol.ts': { rooms: ['canonical'], packages: [] },
  kit: { rooms: ['canonical', 'errors.ts', 'protocol.ts'], packages: ['@noble/hashes', 'zod/mini'] },
  sse: { rooms: [], packages: ['eventsource-parser'] },
  'protocol folder': { rooms: ['canonical', 'errors.ts', 'protocol.ts', 'kit', 'sse/write.ts'], packages: ['zod/mini'] },
  'protocols/index.ts': { rooms: ['protocol.ts', 'protocol folder'], packages: [] },
  'schemas.ts': { rooms: ['protocol folder'], packages: [] },
  translate: { rooms: ['canonical', 'errors.ts', 'protocol.ts', 'kit', 'sse'], packages: [] },
  address: { rooms: ['kit', 'protocol.ts', 'protocols/index.ts'], packages: [] },
  'api.ts': { rooms: ['canonical', 'errors.ts', 'protocol.ts', 'protocols/index.ts', 'translate'], packages: [] },
  'index.ts': { rooms: ['address', 'clients', 'api.ts', 'canonical', 'errors.ts', 'protocol.ts', 'protocols/index.ts', 'translate'], packages: [] },
  stores: { rooms: ['canonical', 'errors.ts', 'kit'], packages: ['@redis/client', 'lru-cache', 'rate-limiter-flexible'] },
  transports: { rooms: ['errors.ts'], packages: ['undici', 'node:stream', 'node:zlib'] },
  testing: { rooms: ['canonical', 'kit', 'protocol.ts', 'protocol folder', 'protocols/index.ts', 'sse'], packages: ['fast-check', 'zod'] },
  verify: { rooms: ['address', 'canonical', 'errors.ts', 'kit', 'protocol.ts', 'protocols/index.ts', 'sse', 'testing', 'translate'], packages: [] },
  page: { rooms: ['canonical', 'errors.ts', 'kit', 'protocol.ts', 'protocols/index.ts', 'sse', 'translate'], packages: ['@noble/hashes'] },
  clients: { rooms: ['address', 'canonical', 'protocols/index.ts'], packages: [] },
  gateway: {
    rooms: [
      'address',
      'api.ts',
      'canonical',
      'clients',
      'errors.ts',
      'kit',
      'page',
      'protocol.ts',
      'protocols/index.ts',
      'sse',
      'stores',
      'translate',
      'transports',
    ],
    packages: ['zod', '@noble/hashes', '@opentelemetry/api', 'rate-limiter-flexible'],
  },
  hosts: { rooms: ['gateway', 'transports'], packages: ['node:http', 'node:events', 'node:stream'] },
  cli: {
    rooms: [
      '../package.json',
      'address',
      'api.ts',
      'canonical',
      'clients',
      'errors.ts',
      'gateway',
      'hosts',
      'index.ts',
      'kit',
      'protocol.ts',
      'protocols/index.ts',
      'translate',
      'transports',
      'verify',
    ],
    packages: ['commander', 'node:*'],
  },
}

/** Files that only some protocol folders have, with the reason; every other file name stands in all of them. */
const notInAll: Record<string, string> = {
  'assistant.ts': 'only chat-completions has one message with a slot for each kind of part',
  'messages.ts': 'only chat-completions has a message for each result of a tool',
  'call-queue.ts': 'only readers of chat-completions take a call for whole when another begins',
  'stream-calls.ts': 'only streams of chat-completions leave open which call a delta is of',
  'open-parts.ts': 'only streams of chat-completions announce no parts, so their decoder opens and closes them',
  'part-deltas.ts': 'only chat-completions has one field of a delta for all parts of a kind',
  'enforceable.ts': 'only messages accepts a subset of JSON Schema where it enforces a schema',
  'betas.ts': 'only messages has headers that unlock fields of a body',
  'stream-usage.ts': 'only streams of chat-completions tell counts for those alone that ask',
  'part-queue.ts': 'only streams of chat-completions and messages tell one part after the other, so that others wait for their turn',
  'images.ts': 'only servers of chat-completions put pictures beside the text of an answer',
  'proxy-places.ts': 'only around chat-completions have proxies found places of their own for marks and proofs',
  'stream-failure.ts': 'only servers of chat-completions tell failures of a stream in words that no client hears',
  'stream-content.ts': 'only streams of chat-completions say all kinds of parts in one delta',
  'think-tags.ts': 'only servers of chat-completions leave reasoning between tags in the text',
  'signatures.ts': 'only chat-completions has no place for the signature of a call or a text',
  'stream-signatures.ts': 'only where a signature in a stream comes apart from what it signs',
  'turns.ts': 'only messages and generate-content want all results of a turn together',
  'cache.ts': 'generate-content has no cache marks inside of a conversation',
  'models.ts': 'only messages has models that differ in what they accept',
  'searches.ts': 'only clients of messages get the web searches of another provider as searches of their own',
  'mcp.ts': 'only providers of messages and responses ask servers of tools',
  'items.ts': 'only responses has items instead of messages',
  'open-items.ts': 'only streams of responses announce and end each item',
  'segments.ts': 'only streams of responses announce each segment of reasoning',
  'text-parts.ts': 'only streams of responses announce and end each part of a message item',
  'client-tools.ts': 'only responses has an item of its own for each built-in tool that the client runs',
  'call-items.ts': 'only streams of responses have an item for each call',
  'whole-items.ts': 'only responses has items that a stream tells whole',
  'decoder-state.ts': 'only the stream decoders of chat-completions and responses are in several files, which share their state',
  'item-reader.ts': 'only streams of responses announce and end each item',
  'audio.ts': 'only chat-completions has a slot for the sound of an answer',
  'instructions.ts': 'only chat-completions has both roles, system and developer, as messages anywhere in the conversation',
  'layout.ts': 'only chat-completions has a slot for each kind of part, so that their order has to be told',
  'carriers.ts': 'proofs of reasoning stand in fields of their own in chat-completions, and in items of their own in streams of responses',
  'part-reader.ts': 'only where a stream has several texts at a time, or calls in pieces, is reading a part a thing of its own',
  'part-writer.ts': 'only streams of generate-content have parts without beginning and end',
  'streamed-call.ts': 'only streams of generate-content tell arguments by their paths',
  'carried-thoughts.ts': 'only clients of chat-completions and generate-content forget thoughts and keep the signatures of calls',
  'finish.ts': 'only generate-content tells in two places how a reply ended',
  'json-schema.ts': 'only generate-content has a schema language of its own',
  'logprobs.ts': 'only chat-completions and generate-content tell the odds of tokens apart from the text',
  'spelling.ts': 'only generate-content is written in two spellings',
  'wrapper.ts': 'only bodies of generate-content stand inside of another',
  'ending.ts': 'only streams of responses end in a snapshot of the whole answer',
  'item-head.ts': 'only responses has a status on every item',
  'message-item.ts': 'only responses has messages as one kind of item among others',
  'raw-items.ts': 'only responses has some twenty kinds of items that no other protocol has',
  'history.ts': 'only responses writes a history as items',
  'envelope.ts': 'only responses tells the reply around its items again and again in a stream',
  'echo.ts': 'only responses repeats the request in its answer',
  'format.ts': 'only chat-completions has a field of its own for the format of an answer',
  'conversation.ts': 'only messages and generate-content have instructions beside the conversation, out of which others have to be taken',
  'stream-reasoning.ts': 'only streams of chat-completions say reasoning twice, as plain text and in details',
  'stored-proofs.ts': 'only chat-completions has no opaque field that every client sends back',
  'deltas.ts': 'only messages has a delta for each kind of block',
  'open-block.ts': 'only streams of messages have one open block that all deltas are of',
  'status-events.ts': 'only responses has events that tell of progress alone',
  'stored.ts': 'only providers of responses keep replies that can be asked for again',
  'reading.ts': 'only chat-completions reads what an assistant says in requests and replies alike',
}

const source = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))

type Arrow = { from: string; to: string; file: string; target: string; runs: boolean }

const parsed = new Map(files.map(file => [file, ts.createSourceFile(file, readFileSync(join(source, file), 'utf8'), ts.ScriptTarget.Latest, true)]))
const arrows = files.flatMap(file => arrowsOf(file))
const folders = readdirSync(join(source, 'protocols'), { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => name)

describe('the rooms of the source', () => {
  test('every import goes along an arrow that is written down', () => {
    const faults = arrows.filter(arrow => !isAllowed(arrow)).map(({ file, target }) => `${file} → ${target}`)
    expect(faults).toEqual([])
  })

  test('every room has its arrows written down', () => {
    const rooms = new Set(files.map(roomOf))
    expect([...rooms].filter(room => !Object.hasOwn(allowed, room))).toEqual([])
  })

  test('no import leads back to where it came from', () => {
    const inside = arrows.filter(({ to, runs }) => runs && !to.startsWith('package '))
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

  test('nothing outside the protocol folders names a protocol, but for the registry and the programs that speak one', () => {
    const names = new Set(folders)
    const faults: string[] = []
    for (const [file, tree] of parsed) {
      if (file === 'protocols/index.ts' || /^(?:clients|testing)\//.test(file) || folderOf(file)) continue
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
  const filesOf = (folder: string) => readdirSync(join(source, 'protocols', folder)).filter(file => file.endsWith('.ts'))
  const everyName = [...new Set(folders.flatMap(filesOf))].filter(name => !Object.hasOwn(notInAll, name))

  test.each(folders)('%s has the same files as its siblings', folder => {
    const own = new Set(filesOf(folder))
    expect(
      everyName.filter(name => !own.has(name)),
      'write these, or say in notInAll why only some folders have them',
    ).toEqual([])
  })

  test('what stands in some folders only is there, and not in all', () => {
    const counts = Object.keys(notInAll).map(name => [name, folders.filter(folder => filesOf(folder).includes(name)).length] as const)
    expect(counts.filter(([, count]) => count === 0 || count === folders.length)).toEqual([])
  })

  test('each is in the registry', () => {
    const registered = arrows.filter(({ file }) => file === 'protocols/index.ts').map(({ target }) => folderOf(target))
    expect(folders.filter(folder => !registered.includes(folder))).toEqual([])
  })
})

function arrowsOf(file: string): Arrow[] {
  const tree = parsed.get(file)
  if (!tree) return []
  const found: Arrow[] = []
  const visit = (node: ts.Node) => {
    const named = importOf(node)
    if (named?.specifier.startsWith('.')) {
      const target = relative(source, join(source, dirname(file), named.specifier))
      found.push({ from: roomOf(file), to: roomOf(target), file, target, runs: named.runs })
    } else if (named) found.push({ from: roomOf(file), to: `package ${named.specifier}`, file, target: named.specifier, runs: named.runs })
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** `runs`: something of it is there at run time. */
function importOf(node: ts.Node): { specifier: string; runs: boolean } | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const { importClause: clause } = node
    const names = clause?.namedBindings && ts.isNamedImports(clause.namedBindings) ? clause.namedBindings.elements : []
    const onlyTypes = clause && (clause.isTypeOnly || (!clause.name && names.length > 0 && names.every(({ isTypeOnly }) => isTypeOnly)))
    return { specifier: node.moduleSpecifier.text, runs: !onlyTypes }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier))
    return { specifier: node.moduleSpecifier.text, runs: !node.isTypeOnly }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [specifier] = node.arguments
    return { specifier: specifier && ts.isStringLiteralLike(specifier) ? specifier.text : 'an import whose name is made at run time', runs: true }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal))
    return { specifier: node.argument.literal.text, runs: false }
  return undefined
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
