import { chunks, reportedFunction } from '../scripted.ts'
import type { Script, Wire } from './index.ts'

const counts = {
  promptTokenCount: 20,
  cachedContentTokenCount: 12,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 4,
  totalTokenCount: 29,
}
const head = { modelVersion: 'upstream-model', responseId: 'k0yW' }

const signature = 'c2lnbmF0dXJl'

const finishOf = ({ ending }: Script) => {
  if (ending === 'length') return 'MAX_TOKENS'
  if (ending === 'refusal') return 'SAFETY'
  return 'STOP'
}

const callPart = ({ id, name, args }: NonNullable<Script['calls']>[number], index: number) => ({
  functionCall: { id, name, ...(args && { args: JSON.parse(args) as unknown }) },
  ...(index === 0 && { thoughtSignature: signature }),
})

const statusOf: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

export const wire: Wire = {
  path(url) {
    const { pathname, searchParams } = new URL(url, 'http://upstream')
    const [, action] =
      /^\/v1(?:beta|alpha)?\/models\/[^/:]+:(generateContent|streamGenerateContent)$/.exec(
        pathname,
      ) ?? []
    if (action === undefined) return undefined
    return { stream: action === 'streamGenerateContent' && searchParams.get('alt') === 'sse' }
  },
  response(script) {
    const { text, reasoning, calls = [] } = script
    const parts = [
      ...(reasoning ? [{ text: reasoning, thought: true }] : []),
      ...(text ? [{ text }] : []),
      ...calls.map(callPart),
    ]
    return {
      candidates: [{ content: { role: 'model', parts }, finishReason: finishOf(script), index: 0 }],
      usageMetadata: counts,
      ...head,
    }
  },
  stream(script) {
    const { text = '', reasoning = '', calls = [], breaks } = script
    const frame = (
      parts: object[],
      more: object = {},
      usageMetadata: object = { promptTokenCount: 20, totalTokenCount: 20 },
    ) =>
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, ...more, index: 0 }], usageMetadata, ...head })}\r\n\r\n`
    const frames = [
      ...chunks(reasoning).map(chunk => frame([{ text: chunk, thought: true }])),
      ...chunks(text).map(chunk => frame([{ text: chunk }])),
      ...calls.map((call, index) => frame([callPart(call, index)])),
    ]
    if (breaks === 'cut') return frames
    if (breaks === 'error')
      return [
        ...frames,
        `data: ${JSON.stringify({ error: { code: 500, message: 'Broke down', status: 'INTERNAL' } })}\r\n\r\n`,
      ]
    return [...frames, frame([{ text: '' }], { finishReason: finishOf(script) }, counts)]
  },
  failure: ({ status, message }) => ({
    error: {
      code: status,
      message,
      status: statusOf[status] ?? 'INTERNAL',
      ...(status === 429 && {
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3s' }],
      }),
    },
  }),
  toolsOf(body) {
    const { tools = [] } = body as {
      tools?: { functionDeclarations?: { name: string; parametersJsonSchema?: unknown }[] }[]
    }
    return tools.flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(one => reportedFunction(one.name, one.parametersJsonSchema)),
    )
  },
  signature,
  echoed: ['id', 'thoughtSignature'],
}
