import { Readable } from 'node:stream'
import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  type ConverseCommandOutput,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  type Message,
  type Tool,
  type ToolUseBlock,
} from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { eventStream } from '../../../src/eventstream/framing.ts'
import { parse } from '../responding.ts'
import type { Body, Client, Received, WireResponse } from './index.ts'

/**
 * A response as a program holds it: the SDK hands out the events of a stream, and the program adds
 * them up.
 */
type Accumulated = Pick<ConverseCommandOutput, 'stopReason' | 'usage'> & { message: Message }

function received({ message, stopReason, usage }: Accumulated): Received {
  let text = ''
  let reasoning = ''
  const cited: string[] = []
  const calls: Received['calls'] = []
  for (const { text: own, citationsContent, reasoningContent, toolUse } of message.content ?? []) {
    text += own ?? ''
    for (const { text: part } of citationsContent?.content ?? []) text += part ?? ''
    for (const { location } of citationsContent?.citations ?? [])
      if (location?.web?.url !== undefined) cited.push(location.web.url)
    reasoning += reasoningContent?.reasoningText?.text ?? ''
    if (toolUse)
      calls.push({ id: toolUse.toolUseId ?? '', name: toolUse.name ?? '', input: toolUse.input })
  }
  const {
    inputTokens,
    outputTokens,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: written,
  } = usage ?? {}
  const counts = {
    input: inputTokens === undefined ? undefined : inputTokens + (cacheRead ?? 0) + (written ?? 0),
    output: outputTokens,
    cacheRead,
  }
  const refused = stopReason === 'content_filtered' || stopReason === 'guardrail_intervened'
  return { text, calls, stop: stopReason, refused, refusal: '', reasoning, cited, counts }
}

const connect = (base: string, more: BedrockRuntimeClientConfig = {}) =>
  new BedrockRuntimeClient({
    endpoint: base,
    region: 'us-east-1',
    token: { token: 'test' },
    authSchemePreference: ['httpBearerAuth'],
    maxAttempts: 1,
    ...more,
  })

/** A client whose server always sends this response. */
function responding(body: Uint8Array, type: string): BedrockRuntimeClient {
  const handle = async () => ({
    response: {
      statusCode: 200,
      headers: { 'content-type': type, 'x-amzn-requestid': 'r1' },
      body: Readable.from([body]),
    },
  })
  return connect('http://test', { requestHandler: { handle } as unknown as NodeHttpHandler })
}

const smallest = { modelId: 'm', messages: [] }

async function read(response: WireResponse): Promise<Accumulated> {
  if ('text' in response) {
    const { stream } = await responding(
      eventStream.encode()(response.text),
      eventStream.contentType,
    ).send(new ConverseStreamCommand(smallest))
    return added(stream)
  }
  return accumulate(
    await responding(Buffer.from(JSON.stringify(response.body)), 'application/json').send(
      new ConverseCommand(smallest),
    ),
  )
}

function accumulate({ output, stopReason, usage }: ConverseCommandOutput): Accumulated {
  return { message: output?.message ?? { role: 'assistant', content: [] }, stopReason, usage }
}

type Building = { block: ContentBlock; json: string }

/** As the handbook of the service says: deltas with one index belong to one block. */
async function added(
  stream: AsyncIterable<ConverseStreamOutput> | undefined,
): Promise<Accumulated> {
  const blocks: Building[] = []
  let stopReason: Accumulated['stopReason']
  let usage: Accumulated['usage']
  for await (const event of stream ?? []) {
    const { contentBlockStart: start, contentBlockDelta: delta, messageStop, metadata } = event
    if (start?.start?.toolUse)
      blocks[start.contentBlockIndex ?? 0] = {
        block: { toolUse: { ...start.start.toolUse, input: {} } as ToolUseBlock },
        json: '',
      }
    if (start?.start?.toolResult)
      blocks[start.contentBlockIndex ?? 0] = {
        block: {
          toolResult: { ...start.start.toolResult, content: [] },
        } as unknown as ContentBlock,
        json: '',
      }
    if (start?.start?.image)
      blocks[start.contentBlockIndex ?? 0] = {
        block: { image: { ...start.start.image, source: undefined } } as unknown as ContentBlock,
        json: '',
      }
    if (delta) {
      const index = delta.contentBlockIndex ?? 0
      blocks[index] = addedDelta(blocks[index], delta.delta ?? ({} as never))
    }
    stopReason = messageStop?.stopReason ?? stopReason
    usage = metadata?.usage ?? usage
  }
  const content = blocks
    .filter(building => building !== undefined)
    .map(({ block, json }) => (json ? withInput(block, json) : block))
  return { message: { role: 'assistant', content }, stopReason, usage }
}

function withInput(block: ContentBlock, json: string): ContentBlock {
  return block.toolUse ? { toolUse: { ...block.toolUse, input: parse(json) as never } } : block
}

type DeltaEvent = NonNullable<NonNullable<ConverseStreamOutput['contentBlockDelta']>['delta']>

function addedDelta(
  before: Building | undefined,
  { text, toolUse, reasoningContent, citation, image, toolResult }: DeltaEvent,
): Building {
  const { block, json } = before ?? { block: {} as ContentBlock, json: '' }
  if (toolUse) return { block, json: json + (toolUse.input ?? '') }
  if (citation) {
    const { content, citations } = block.citationsContent ?? {}
    const whole = content ?? (block.text === undefined ? [] : [{ text: block.text }])
    return {
      block: {
        citationsContent: { content: whole, citations: [...(citations ?? []), citation as never] },
      },
      json,
    }
  }
  if (text !== undefined && block.citationsContent) {
    const [{ text: first = '' } = { text: '' }] = block.citationsContent.content ?? []
    return {
      block: { citationsContent: { ...block.citationsContent, content: [{ text: first + text }] } },
      json,
    }
  }
  if (text !== undefined) return { block: { text: (block.text ?? '') + text }, json }
  if (reasoningContent)
    return {
      block: { reasoningContent: addedReasoning(block.reasoningContent, reasoningContent) },
      json,
    }
  if (image) return { block: { image: { ...block.image, ...image } } as ContentBlock, json }
  if (toolResult)
    return {
      block: { toolResult: { ...block.toolResult, content: toolResult } } as ContentBlock,
      json,
    }
  return { block, json }
}

function addedReasoning(
  before: ContentBlock['reasoningContent'],
  { text, signature, redactedContent }: NonNullable<DeltaEvent['reasoningContent']>,
) {
  const earlier = before?.reasoningText
  if (redactedContent)
    return {
      redactedContent: Buffer.concat([
        before?.redactedContent ?? new Uint8Array(),
        redactedContent,
      ]),
    } as never
  return {
    reasoningText: {
      ...earlier,
      text: (earlier?.text ?? '') + (text ?? ''),
      ...(signature !== undefined && { signature }),
    },
  }
}

const toolsOf = (tools: { name: string; schema: Record<string, unknown> }[]): Tool[] =>
  tools.map(({ name, schema }) => ({
    toolSpec: { name, inputSchema: { json: { type: 'object', ...schema } as never } },
  }))

/** As the SDK writes it. */
const wire = (value: unknown): Body =>
  JSON.parse(
    JSON.stringify(value, function (this: Record<string, unknown>, key: string, given: unknown) {
      const own = this[key]
      return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : given
    }),
  ) as Body

export const client: Client = {
  async converse(base, { model, ask, tools, schema, stream }, runTool) {
    const bedrock = connect(base, { requestHandler: new NodeHttpHandler() })
    const messages: Message[] = [{ role: 'user', content: [{ text: ask }] }]
    for (let rounds = 1; ; rounds++) {
      const input: ConverseCommandInput = {
        modelId: model,
        messages,
        ...(tools && { toolConfig: { tools: toolsOf(tools) } }),
        ...(schema && {
          outputConfig: {
            textFormat: {
              type: 'json_schema',
              structure: { jsonSchema: { schema: JSON.stringify(schema), name: 'result' } },
            },
          },
        }),
      }
      const got = stream
        ? await added((await bedrock.send(new ConverseStreamCommand(input))).stream)
        : accumulate(await bedrock.send(new ConverseCommand(input)))
      const sent = received(got)
      if (sent.calls.length === 0 || !runTool) return { ...sent, rounds }
      const results = sent.calls.map(({ id, name, input: given }) => ({
        toolResult: { toolUseId: id, content: [{ text: runTool(name, given) }] },
      }))
      messages.push(got.message, { role: 'user', content: results })
    }
  },
  readStream: async text => received(await read({ text })),
  async foldStream(text) {
    const { message, stopReason, usage } = await read({ text })
    return wire({ output: { message }, stopReason, usage, metrics: { latencyMs: 0 } })
  },
  refusalsAreText: true,
  statusOf: error =>
    (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode,
  retryAfterOf: error =>
    (error as { $response?: { headers: Record<string, string> } }).$response?.headers[
      'retry-after'
    ],
  readResponse: async body => received(await read({ body })),
  open: ({ model, ask, tools = [] }) => ({
    modelId: model,
    messages: [{ role: 'user', content: [{ text: ask }] }],
    ...(tools.length > 0 && { toolConfig: wire({ tools: toolsOf(tools) }) }),
  }),
  receive: read,
  continueWith({ messages, ...rest }, got, { runTool, ask, echo }) {
    const { message } = got as Accumulated
    const all = message.content ?? []
    const content =
      echo === 'thoughtless'
        ? all.filter(
            ({ reasoningContent }) =>
              !reasoningContent ||
              reasoningContent.reasoningText?.signature !== undefined ||
              reasoningContent.redactedContent,
          )
        : all
    const results = content.flatMap(({ toolUse }) =>
      toolUse
        ? [
            {
              toolResult: {
                toolUseId: toolUse.toolUseId,
                content: [{ text: runTool(toolUse.name ?? '') }],
              },
            },
          ]
        : [],
    )
    const next = [
      { role: 'assistant', content },
      { role: 'user', content: results.length > 0 ? results : [{ text: ask }] },
    ]
    return wire({ ...rest, messages: [...(messages as unknown[]), ...next] })
  },
}
