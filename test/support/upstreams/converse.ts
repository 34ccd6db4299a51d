import { protocols } from '../../../src/protocols/index.ts'
import { chunks, reportedFunction } from '../scripted.ts'
import type { Script, Wire } from './index.ts'

const usage = {
  inputTokens: 8,
  outputTokens: 9,
  totalTokens: 29,
  cacheReadInputTokens: 12,
  cacheWriteInputTokens: 0,
}
const metrics = { latencyMs: 100 }

const signature = 'c2lnbmF0dXJl'

const stopOf = ({ ending, calls }: Script) => {
  if (ending === 'length') return 'max_tokens'
  if (ending === 'refusal') return 'content_filtered'
  if (calls) return 'tool_use'
  return 'end_turn'
}

const exceptions: Record<number, string> = {
  400: 'ValidationException',
  404: 'ResourceNotFoundException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
}

export const wire: Wire = {
  path(url) {
    const { pathname } = new URL(url, 'http://upstream')
    const [, action] = /^\/model\/[^/]+\/(converse|converse-stream)$/.exec(pathname) ?? []
    return action === undefined ? undefined : { stream: action === 'converse-stream' }
  },
  response(script) {
    const { text, reasoning, calls = [] } = script
    const content = [
      ...(reasoning
        ? [{ reasoningContent: { reasoningText: { text: reasoning, signature } } }]
        : []),
      ...(text ? [{ text }] : []),
      ...calls.map(({ id, name, args }) => ({
        toolUse: { toolUseId: id, name, input: JSON.parse(args || '{}') as unknown },
      })),
    ]
    return {
      output: { message: { role: 'assistant', content } },
      stopReason: stopOf(script),
      usage,
      metrics,
    }
  },
  stream(script) {
    const { text = '', reasoning = '', calls = [], breaks } = script
    const frame = (event: object) => protocols.converse.frames.write(event)
    const frames = [frame({ messageStart: { role: 'assistant' } })]
    let index = 0
    const block = (start: object | undefined, deltas: object[]) => {
      if (start) frames.push(frame({ contentBlockStart: { contentBlockIndex: index, start } }))
      for (const delta of deltas)
        frames.push(frame({ contentBlockDelta: { contentBlockIndex: index, delta } }))
      if (!breaks) frames.push(frame({ contentBlockStop: { contentBlockIndex: index } }))
      index++
    }
    if (reasoning)
      block(undefined, [
        ...chunks(reasoning).map(chunk => ({ reasoningContent: { text: chunk } })),
        { reasoningContent: { signature } },
      ])
    if (text)
      block(
        undefined,
        chunks(text).map(chunk => ({ text: chunk })),
      )
    for (const { id, name, args } of calls)
      block(
        { toolUse: { toolUseId: id, name } },
        ['', ...chunks(args)].map(input => ({ toolUse: { input } })),
      )
    if (breaks === 'cut') return frames
    if (breaks === 'error')
      return [...frames, frame({ internalServerException: { message: 'Broke down' } })]
    return [
      ...frames,
      frame({ messageStop: { stopReason: stopOf(script) } }),
      frame({ metadata: { usage, metrics } }),
    ]
  },
  failure: ({ message }) => ({ message }),
  failureHeaders: ({ status }) => ({
    'x-amzn-errortype': `${exceptions[status] ?? 'InternalServerException'}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  }),
  toolsOf(body) {
    const { toolConfig } = body as {
      toolConfig?: { tools: { toolSpec?: { name: string; inputSchema: { json: unknown } } }[] }
    }
    return (toolConfig?.tools ?? []).flatMap(({ toolSpec }) =>
      toolSpec ? [reportedFunction(toolSpec.name, toolSpec.inputSchema.json)] : [],
    )
  },
  signature,
  echoed: ['signature'],
}
