import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createFrameParser } from '../../src/sse/parse.ts'
import type { Covered } from '../../test/support/covered.ts'

/**
 * Other packages that convert between these protocols, each called in its cheapest way. Only what
 * they document, or what their own server calls: none is slower or faster here than for its users.
 * One needs a package for its command line that no registry has; a substitute takes its place,
 * which nothing here loads.
 */

type Convert<In, Out> = (given: In) => Out | Promise<Out>
/**
 * Absent: it cannot. Requests are parsed JSON in and out, responses too; a stream is the bytes of
 * its chunks, and text.
 */
export type Ways = {
  request?: Convert<unknown, unknown>
  response?: Convert<unknown, unknown>
  stream?: Convert<readonly Uint8Array[], string>
}
export type Contender = { name: string; version: string; ways(from: Covered, to: Covered): Ways }

type Load = (dir: string) => Promise<Contender['ways']>

const isPair = (from: Covered, to: Covered, pair: readonly [Covered, Covered]) =>
  from === pair[0] && to === pair[1]
const down = ['messages', 'chat-completions'] as const
const up = ['chat-completions', 'messages'] as const

function bodyOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks[at++]
      if (chunk) controller.enqueue(chunk)
      else controller.close()
    },
  })
}

async function textOf(stream: ReadableStream<Uint8Array | string> | null): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  if (stream)
    for await (const chunk of stream)
      text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
  return text
}

const events = (chunks: readonly Uint8Array[]) =>
  new Response(bodyOf(chunks), { headers: { 'content-type': 'text/event-stream' } })

const llmBridge: Load = async dir => {
  type Bridge = {
    translateBetweenProviders(from: string, to: string, body: unknown): unknown
    handleUniversalStreamRequest(stream: ReadableStream, from: string, to: string): ReadableStream
  }
  const { translateBetweenProviders, handleUniversalStreamRequest } = await load<Bridge>(
    dir,
    'llm-bridge',
  )
  const names: Record<Covered, string> = {
    'chat-completions': 'openai',
    responses: 'openai-responses',
    messages: 'anthropic',
    'generate-content': 'google',
  }
  return (from, to) => ({
    request: body => translateBetweenProviders(names[from], names[to], body),
    stream: chunks => textOf(handleUniversalStreamRequest(bodyOf(chunks), names[from], names[to])),
  })
}

const llmRouter: Load = async dir => {
  const formats = { 'chat-completions': 'openai', messages: 'claude' } as Partial<
    Record<Covered, string>
  >
  type Requests = {
    translateRequest(
      from: string,
      to: string,
      model: string,
      body: unknown,
      stream: boolean,
    ): unknown
  }
  type ModelResponses = {
    convertOpenAINonStreamToClaude(body: unknown): unknown
    convertClaudeNonStreamToOpenAIResponses(body: unknown, request: unknown): unknown
    handleOpenAIStreamToClaude(response: Response): Response
    handleClaudeStreamToOpenAI(response: Response): Response
    handleClaudeStreamToOpenAIResponses(response: Response, request: unknown): Response
  }
  const { translateRequest } = await load<Requests>(
    dir,
    '@khanglvm/llm-router',
    'src/translator/index.js',
  )
  const { claudeToOpenAINonStreamResponse } = await load<{
    claudeToOpenAINonStreamResponse(body: unknown): unknown
  }>(dir, '@khanglvm/llm-router', 'src/translator/response/claude-to-openai.js')
  const responses = await load<ModelResponses>(
    dir,
    '@khanglvm/llm-router',
    'src/runtime/handler/provider-translation.js',
  )
  return (from, to) => {
    const source = formats[from]
    const target = formats[to]
    const request =
      source && target
        ? {
            request: (body: unknown) => translateRequest(source, target, 'bench-model', body, true),
          }
        : {}
    if (isPair(from, to, up))
      return {
        ...request,
        response: body => responses.convertOpenAINonStreamToClaude(body),
        stream: chunks => textOf(responses.handleOpenAIStreamToClaude(events(chunks)).body),
      }
    if (isPair(from, to, down))
      return {
        ...request,
        response: claudeToOpenAINonStreamResponse,
        stream: chunks => textOf(responses.handleClaudeStreamToOpenAI(events(chunks)).body),
      }
    if (isPair(from, to, ['messages', 'responses']))
      return {
        response: body => responses.convertClaudeNonStreamToOpenAIResponses(body, {}),
        stream: chunks =>
          textOf(responses.handleClaudeStreamToOpenAIResponses(events(chunks), {}).body),
      }
    return request
  }
}

const musistudio: Load = async dir => {
  type Transformer = {
    logger?: unknown
    transformRequestOut(body: unknown): Promise<unknown>
    transformResponseIn(response: Response, context: unknown): Promise<Response>
  }
  type Services = {
    transformerService: {
      initialize(): Promise<void>
      getTransformer(name: string): Transformer | (new () => Transformer)
    }
  }
  // Its other build asks for `require`, which modules have not.
  const { default: loaded } = await load<{
    default: (new (options: object) => Services) | { default: new (options: object) => Services }
  }>(dir, '@musistudio/llms', 'dist/cjs/server.cjs')
  const Server = 'default' in loaded ? loaded.default : loaded
  const { transformerService } = new Server({
    logger: false,
    useJsonFile: false,
    useEnvFile: false,
    initialConfig: {},
  })
  await transformerService.initialize()
  const found = transformerService.getTransformer('Anthropic')
  const transformer = typeof found === 'function' ? new found() : found
  const silent = () => {}
  transformer.logger = { debug: silent, info: silent, warn: silent, error: silent }
  const context = { req: { id: 'bench' } }
  return (from, to) => {
    if (isPair(from, to, down)) return { request: body => transformer.transformRequestOut(body) }
    if (!isPair(from, to, up)) return {}
    return {
      response: async body =>
        (
          await transformer.transformResponseIn(
            new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } }),
            context,
          )
        ).json(),
      stream: async chunks =>
        textOf((await transformer.transformResponseIn(events(chunks), context)).body),
    }
  }
}

const lingua: Load = async dir => {
  type Transformed = { data: unknown }
  type Wasm = {
    transform_request(text: string, format: string, model?: string): Transformed
    transform_response(text: string, format: string): Transformed
    TransformStreamSession: new (
      format: string,
    ) => { pushSse(text: string): string[]; finishSse(): string[]; free(): void }
  }
  const { getWasm } = await load<{ getWasm(): Wasm }>(dir, '@braintrust/lingua')
  const wasm = getWasm()
  const formats: Record<Covered, string> = {
    'chat-completions': 'openai',
    responses: 'responses',
    messages: 'anthropic',
    'generate-content': 'google',
  }
  return (_from, to) => ({
    request: body => wasm.transform_request(JSON.stringify(body), formats[to], 'bench-model').data,
    response: body => wasm.transform_response(JSON.stringify(body), formats[to]).data,
    stream: chunks => {
      const session = new wasm.TransformStreamSession(formats[to])
      let text = ''
      const parser = createFrameParser(({ data }) => {
        if (data !== '[DONE]') text += session.pushSse(data).join('')
      })
      for (const chunk of chunks) parser.push(chunk)
      parser.end()
      text += session.finishSse().join('')
      session.free()
      return text
    },
  })
}

/** Its only way in is a server of its own, in front of the provider's real address. */
const serverOnly: Load = async () => () => ({})

const loads: Record<string, Load> = {
  'llm-bridge': llmBridge,
  '@khanglvm/llm-router': llmRouter,
  '@musistudio/llms': musistudio,
  '@braintrust/lingua': lingua,
  '@portkey-ai/gateway': serverOnly,
}

export const contenderNames = Object.keys(loads)

/** `dir`: where they are installed. @throws when this one is not */
export async function contender(name: string, dir: string): Promise<Contender> {
  const { version } = settingsOf<{ version: string }>(dir, name)
  const ways = await loads[name]?.(dir)
  if (!ways) throw new RangeError(`no contender ${name}`)
  return { name, version, ways }
}

async function load<Module>(dir: string, name: string, file?: string): Promise<Module> {
  const root = join(dir, 'node_modules', name)
  if (file) return (await import(pathToFileURL(join(root, file)).href)) as Module
  const { exports } = settingsOf<{ exports: { '.': { import: string | { default: string } } } }>(
    dir,
    name,
  )
  const entry = exports['.'].import
  return (await import(
    pathToFileURL(join(root, typeof entry === 'string' ? entry : entry.default)).href
  )) as Module
}

const settingsFile = (dir: string, name: string) => join(dir, 'node_modules', name, 'package.json')
const settingsOf = <Settings>(dir: string, name: string) =>
  JSON.parse(readFileSync(settingsFile(dir, name), 'utf8')) as Settings

export const isInstalled = (dir: string, name: string) => existsSync(settingsFile(dir, name))
