import { strictOf } from '../../../../src/testing/strict/index.ts'
import {
  chunks,
  counted,
  type Endpoint,
  firstOf,
  isJson,
  type Json,
  keyed,
  listOf,
  type Offered,
  type Refusal,
  type Turn,
  thoughtOf,
  turnAfter,
} from './turn.ts'

export type GoogleServer = {
  /** Origin and path before `/models/…`. */
  base: RegExp
  auth: keyof typeof keyed
  refuse?: (body: Json, model: string) => string | Refusal | undefined
  silent?: (model: string) => boolean
  /** Models whose calls have ids and signatures. */
  signs?: (model: string) => boolean
}

const signatureOf = (nth: number) => Buffer.from(`signed by this vendor: ${nth}`).toString('base64')

export function googleServer(server: GoogleServer): Endpoint {
  const { signs = () => true } = server
  const partsOf = (body: Json) => listOf(body['contents']).flatMap(({ parts }) => listOf(parts))
  const turnOf = (body: Json) =>
    turnAfter(
      partsOf(body).filter(({ functionResponse: one }) => one).length,
      offered(body),
      nth => `fc-${nth}`,
    )
  const usageMetadata = {
    promptTokenCount: counted.input,
    cachedContentTokenCount: counted.cached,
    candidatesTokenCount: counted.output - counted.reasoning,
    thoughtsTokenCount: counted.reasoning,
    totalTokenCount: counted.input + counted.output,
  }
  const wanted = (body: Json) =>
    isJson(body['generationConfig']) &&
    isJson(body['generationConfig']['thinkingConfig']) &&
    body['generationConfig']['thinkingConfig']['includeThoughts'] === true
  const callsOf = ({ nth, calls }: Turn, model: string) =>
    calls.map(({ id, name, args }, i) => ({
      functionCall: { ...(signs(model) && { id }), name, args: JSON.parse(args) as unknown },
      ...(signs(model) && i === 0 && { thoughtSignature: signatureOf(nth) }),
    }))
  const head = (body: Json, model: string) => ({
    modelVersion: model,
    responseId: `r${partsOf(body).length}`,
  })
  return {
    protocol: 'generate-content',
    match(url) {
      const [, base = '', model, method] =
        /^(.*)\/models\/([^/:]+):(\w+)$/.exec(url.origin + url.pathname) ?? []
      if (
        !server.base.test(base) ||
        !model ||
        (method !== 'generateContent' && method !== 'streamGenerateContent')
      )
        return undefined
      return { model, stream: method === 'streamGenerateContent' }
    },
    authorize: keyed[server.auth],
    failure: ({ status, message }) => ({
      error: { code: status, message, status: 'INVALID_ARGUMENT' },
    }),
    refuse(body, model) {
      const found = firstOf(
        strictOf('generate-content').checkRequest(body).find(isMeant),
        signs(model) && unsigned(body),
        server.refuse?.(body, model),
      )
      return typeof found === 'string' ? { status: 400, message: found } : found
    },
    whole(body, model) {
      const turn = turnOf(body)
      const shown =
        wanted(body) && !server.silent?.(model) ? [{ text: turn.reasoning, thought: true }] : []
      const parts = [...shown, ...(turn.text ? [{ text: turn.text }] : []), ...callsOf(turn, model)]
      return {
        candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
        usageMetadata,
        ...head(body, model),
      }
    },
    stream(body, model) {
      const turn = turnOf(body)
      const frame = (parts: unknown[], more: object = {}) =>
        `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, ...more, index: 0 }], usageMetadata, ...head(body, model) })}\r\n\r\n`
      const shown =
        wanted(body) && !server.silent?.(model)
          ? chunks(turn.reasoning).map(text => frame([{ text, thought: true }]))
          : []
      return [
        ...shown,
        ...chunks(turn.text).map(text => frame([{ text }])),
        ...callsOf(turn, model).map(part => frame([part])),
        frame([{ text: '' }], { finishReason: 'STOP' }),
      ]
    },
    // Signatures are optional where there are any.
    wantsReasoning: signs,
    // The signature of a call contains the reasoning before it.
    returned: body =>
      listOf(body['contents'])
        .filter(({ role }) => role === 'model')
        .flatMap(({ parts }) =>
          listOf(parts).flatMap(part => {
            const nth = /: (\d)$/.exec(
              Buffer.from(String(part['thoughtSignature'] ?? ''), 'base64').toString(),
            )?.[1]
            if (nth !== undefined) return [thoughtOf(Number(nth))]
            return part['thought'] === true ? [String(part['text'])] : []
          }),
        ),
  }
}

function offered(body: Json): Offered[] {
  return listOf(body['tools'])
    .flatMap(({ functionDeclarations: list }) => listOf(list))
    .map(({ name, parameters, parametersJsonSchema: schema }) => ({
      name: String(name),
      schema: schema ?? parameters,
    }))
}

/** Recorded clients write levels in lower case, and get a response. */
const isMeant = (fault: string) => !fault.includes('/thinkingLevel')

/**
 * In the current turn the first call of each step needs its signature. A placeholder is accepted
 * where there is none.
 */
function unsigned(body: Json): string | undefined {
  const contents = joined(listOf(body['contents']))
  const begin = contents.findLastIndex(
    ({ role, parts }) =>
      role === 'user' && listOf(parts).some(({ text }) => typeof text === 'string'),
  )
  for (const { role, parts } of contents.slice(begin + 1)) {
    if (role !== 'model') continue
    const first = listOf(parts).find(({ functionCall: call }) => call)
    if (!first) continue
    const signature = String(first['thoughtSignature'] ?? '')
    const isOwn = /^signed by this vendor: \d$/.test(Buffer.from(signature, 'base64').toString())
    if (!isOwn && signature !== 'skip_thought_signature_validator')
      return 'Function call is missing a thought_signature in functionCall parts.'
  }
  return undefined
}

/** The official client keeps each frame of a stream as a content of its own. */
function joined(contents: readonly Json[]): Json[] {
  const all: Json[] = []
  for (const content of contents) {
    const last = all.at(-1)
    if (last && last['role'] === 'model' && content['role'] === 'model')
      all[all.length - 1] = {
        ...last,
        parts: [...listOf(last['parts']), ...listOf(content['parts'])],
      }
    else all.push(content)
  }
  return all
}
