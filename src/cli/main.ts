#!/usr/bin/env node
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { version } from '../../package.json'
import {
  collectStream,
  createStreamTranslator,
  type TranslateOptions,
  translateError,
  translateRequest,
  translateResponse,
} from '../api.ts'
import type { Note } from '../canonical/note.ts'
import { TranslationError } from '../errors.ts'
import { parseExact, writeExact } from '../kit/json/digits.ts'
import { placeOfFault } from '../kit/json/fault.ts'
import { isObject } from '../kit/json/json.ts'
import { logFormats } from '../operations/access-log.ts'
import type { TranslationContext } from '../protocol.ts'
import { isProtocolName, type ProtocolName, protocolNames, protocols } from '../protocols/index.ts'
import { explodeResponse } from '../translate/fold.ts'
import { refuseIfStrict, withDigits } from '../translate/settings.ts'
import { addAddress } from './address.ts'
import { addCassettes } from './cassettes.ts'
import { oneOf, withChoices } from './choices.ts'
import { addClientConfig } from './client-config.ts'
import { envFileOption, loadEnvironment } from './env-file.ts'
import { addInit } from './init.ts'
import { readJsonFile, writeJsonFile } from './json-file.ts'
import { addKeys } from './keys.ts'
import { readOption } from './options.ts'
import { addRun } from './run.ts'
import type { ServeOptions } from './serve.ts'
import { addUsage } from './usage.ts'
import { addVendors } from './vendors.ts'
import { addModels, addVerify } from './verify.ts'
import type { WorkerCount } from './workers/primary.ts'

// A subcommand loads what only it needs: loading the gateway takes longer than all else of a start.

const toProtocol = oneOf(protocolNames)

/** More than the cores of any machine. */
const mostWorkers = 1000

const exitCode = { usage: 2, malformed: 3, refused: 4 } as const

type Translate = {
  kind: 'request' | 'response' | 'stream' | 'error'
  from: ProtocolName
  to: ProtocolName
  context?: string
  contextOut?: string
  strict?: true
  option: Record<string, unknown>
}

type Serve = ServeOptions & { envFile?: string; workers: WorkerCount }

const program = new Command('wireglot')
  .description('Lets a client of one LLM wire protocol talk to a model behind another.')
  .version(version)
  .exitOverride()
  .showHelpAfterError('(try --help)')

program
  .command('serve')
  .description(
    'run a gateway from a configuration, from provider keys in the environment, or with the built-in demo model',
  )
  .option(
    '--config <file>',
    'configuration: .json, .jsonc, .yaml, .js or .ts (default: wireglot.config.* in this folder)',
  )
  .option('--host <host>', 'address to listen on', '127.0.0.1')
  .addOption(
    new Option('--port <port>', 'port to listen on, 0 for any')
      .env('WIREGLOT_PORT')
      .default(4000)
      .argParser(toPort),
  )
  .option('--upstream <url>', 'one upstream for every model, instead of a configuration')
  .addOption(
    withChoices(
      new Option('--upstream-protocol <protocol>', 'what the upstream speaks'),
      protocolNames,
    ),
  )
  .option('--upstream-key-env <name>', "environment variable that holds the upstream's key")
  .option(
    '--grace <seconds>',
    'how long requests in progress may take after a stop signal; then they are ended with an error',
    toSeconds,
    10,
  )
  .option(
    '--workers <count>',
    'processes that serve together, or auto for one on each core',
    toWorkers,
    1,
  )
  .option('--no-records', 'keep no usage records')
  .option('--record <folder>', 'write a cassette of each exchange, without secrets')
  .option('--record-media', 'keep images, audio and files in cassettes')
  .option('--examples', 'print a command to try for each protocol, not for one')
  .option(...envFileOption)
  .addOption(
    withChoices(
      new Option(
        '--log <format>',
        'access log on standard output (default: pretty on a terminal, else json)',
      ),
      logFormats,
    ),
  )
  .addHelpText(
    'after',
    `
Example: OPENAI_API_KEY=… wireglot serve
Example: wireglot serve --upstream https://api.example.com --upstream-protocol messages --upstream-key-env EXAMPLE_KEY`,
  )
  .action(async ({ envFile, workers, ...options }: Serve) => {
    loadEnvironment(envFile)
    if (workers === 1) await (await import('./serve.ts')).serve(options)
    else await (await import('./workers/index.ts')).serveByWorkers(workers, options)
  })

program
  .command('translate')
  .description(
    'translate standard input into another protocol; notes go to standard error, one JSON object per line',
  )
  .addOption(
    withChoices(new Option('--kind <kind>', 'what the input is'), [
      'request',
      'response',
      'stream',
      'error',
    ]).makeOptionMandatory(),
  )
  .requiredOption(
    '--from <protocol>',
    `protocol of the input: ${protocolNames.join(', ')}`,
    toProtocol,
  )
  .requiredOption(
    '--to <protocol>',
    `protocol of the output: ${protocolNames.join(', ')}`,
    toProtocol,
  )
  .option('--context <file>', 'what --context-out wrote when the request was translated')
  .option('--context-out <file>', 'where to write what the translation of the response needs')
  .option('--strict', 'refuse instead of dropping or approximating')
  .addOption(
    new Option(
      '--option <k=v>',
      'an option of the translation, listed in docs/options.md; may be repeated',
    )
      .argParser(readOption)
      .default({}, 'none'),
  )
  .addHelpText(
    'after',
    `
Example: wireglot translate --kind request --from chat-completions --to messages < request.json
Exit code 2: the command was called wrongly. 3: the input is malformed or cut off. 4: --strict forbids the translation, or the input refers to something that only another provider keeps.`,
  )
  .action(translate)

program
  .command('collect')
  .description('turn a stream on standard input into the complete response')
  .requiredOption(
    '--protocol <protocol>',
    `protocol of both: ${protocolNames.join(', ')}`,
    toProtocol,
  )
  .addHelpText(
    'after',
    '\nExample: wireglot collect --protocol responses < stream.sse > response.json',
  )
  .action(async ({ protocol }: { protocol: ProtocolName }) => {
    const { body, notes } = await collectStream(process.stdin as AsyncIterable<Uint8Array>, {
      protocol,
    })
    printNotes(notes)
    await print(`${JSON.stringify(body)}\n`)
  })

program
  .command('explode')
  .description('turn a complete response on standard input into a stream')
  .requiredOption(
    '--protocol <protocol>',
    `protocol of both: ${protocolNames.join(', ')}`,
    toProtocol,
  )
  .addHelpText(
    'after',
    '\nExample: wireglot explode --protocol messages < response.json > stream.sse',
  )
  .action(async ({ protocol }: { protocol: ProtocolName }) => {
    const { text, notes } = explodeResponse(
      parse(await readInput(), protocol),
      protocols[protocol],
      {},
    )
    printNotes(notes)
    await print(text)
  })

addRun(program)
addAddress(program)
addClientConfig(program)
addVerify(program)
addModels(program)
addVendors(program)
addInit(program)
addKeys(program)
addUsage(program)
addCassettes(program)

async function translate({
  kind,
  from,
  to,
  context: contextFile,
  contextOut,
  strict,
  option,
}: Translate): Promise<void> {
  const context = contextFile === undefined ? undefined : await readContext(contextFile)
  const options = {
    now: Math.floor(Date.now() / 1000),
    ...option,
    from,
    to,
    ...(strict && { strict }),
    ...(context && { context }),
  }
  if (kind === 'stream') return translateStream(options)
  const input = await readInput()
  if (from === to && !strict && kind !== 'error') {
    if (kind === 'request' && contextOut) await writeJsonFile(contextOut, { from, to })
    parse(input, from)
    return print(input)
  }
  const body = parse(input, from)
  if (kind === 'request') {
    const { body: translated, notes, context: made } = translateRequest(body, options)
    if (contextOut !== undefined) await writeJsonFile(contextOut, made)
    printNotes(withDigits(notes))
    return print(`${writeExact(translated)}\n`)
  }
  if (kind === 'response') {
    const { body: translated, notes } = translateResponse(body, options)
    printNotes(withDigits(notes))
    return print(`${writeExact(translated)}\n`)
  }
  if (!isObject(body) || typeof body['status'] !== 'number')
    throw new TranslationError(
      { code: 'malformed', protocol: from, path: '/status' },
      'an error is {status, headers, body}',
    )
  const headers = isObject(body['headers'])
    ? Object.fromEntries(
        Object.entries(body['headers']).map(([name, value]) => [name, String(value)]),
      )
    : {}
  const { notes, ...error } = translateError(
    { status: body['status'], headers, body: body['body'] },
    options,
  )
  printNotes(notes)
  return print(`${JSON.stringify(error)}\n`)
}

/**
 * @throws TranslationError when the stream cannot be read or is cut off; not when the source itself
 * reports an error
 */
async function translateStream(options: TranslateOptions): Promise<void> {
  const translator = createStreamTranslator(options)
  for await (const chunk of process.stdin as AsyncIterable<Uint8Array>)
    await print(translator.push(chunk))
  await print(translator.end())
  const { finished, error, notes } = translator
  const isReported = finished || error?.protocol !== undefined
  if (!isReported) refuseIfStrict(notes, options.strict, options.to)
  printNotes(notes)
  if (!isReported)
    throw new TranslationError(
      { code: 'truncated', protocol: options.from, path: '' },
      error?.message ?? 'the stream ended before the response was complete',
    )
}

async function readContext(file: string): Promise<TranslationContext> {
  const context = await readJsonFile(file)
  if (!isContext(context))
    throw new Error(`${file} holds no context: give the file that --context-out wrote`)
  return context
}

function isContext(value: unknown): value is TranslationContext {
  return (
    isObject(value) &&
    [value['from'], value['to']].every(name => typeof name === 'string' && isProtocolName(name))
  )
}

function toPort(text: string): number {
  const port = Number(text)
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.')
  return port
}

function toWorkers(text: string): WorkerCount {
  const count = Number(text)
  if (text === 'auto') return text
  if (!/^\d+$/.test(text) || count < 1 || count > mostWorkers)
    throw new InvalidArgumentError(`A number from 1 to ${mostWorkers}, or auto.`)
  return count
}

function toSeconds(text: string): number {
  const seconds = Number(text)
  if (text.trim() === '' || !Number.isFinite(seconds) || seconds < 0)
    throw new InvalidArgumentError('A number of seconds.')
  return seconds
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string, protocol: string): unknown {
  try {
    return parseExact(text)
  } catch (cause) {
    const fault =
      text.trim() === ''
        ? 'the input is empty'
        : `the input is not JSON: ${placeOfFault(text).place}`
    throw new TranslationError({ code: 'malformed', protocol, path: '', cause }, fault)
  }
}

function printNotes(notes: Note[]): void {
  for (const note of notes) process.stderr.write(`${JSON.stringify(note)}\n`)
}

function print(text: string): Promise<void> {
  return text === ''
    ? Promise.resolve()
    : new Promise((resolve, reject) =>
        process.stdout.write(text, error => (error ? reject(error) : resolve())),
      )
}

function fail(error: unknown): void {
  // The reader of the output closed it, as `head` does.
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'EPIPE') return
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCode.usage
  else if (TranslationError.is(error)) {
    if (error.code === 'inexpressible') printNotes(error.notes ?? [])
    process.stderr.write(`wireglot: ${error.message}\n`)
    process.exitCode = error.code === 'inexpressible' ? exitCode.refused : exitCode.malformed
  } else {
    process.stderr.write(`wireglot: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = exitCode.usage
  }
}

// An error of stdout reaches the callback of `print`. An error of stderr has nowhere to go.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
program.parseAsync().catch(fail)
