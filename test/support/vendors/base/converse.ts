import { strictOf } from '../../../../src/testing/strict/index.ts'
import { eventFrame } from './frames.ts'
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
  turnAfter,
} from './turn.ts'

/** What models of one family take and send, where they differ. */
export type ConverseFamily = {
  models: RegExp
  /** The forms of `toolChoice` that it takes. Default: all. `tools: false`: it takes no tools. */
  choices?: readonly string[]
  tools?: false
  /** A message with tool results has nothing else. */
  loneResults?: true
  /** Does it take a conversation that begins with the assistant? */
  leadingAssistant?: true
  /** Does it take a system message inside the conversation? */
  midSystem?: (model: string) => boolean
  /** The fields that it takes in `additionalModelRequestFields`. Default: none. */
  fields?: readonly string[]
  /** Where it takes cache points. Default: nowhere. */
  caches?: readonly ('tools' | 'system' | 'messages')[]
  /** Kinds of media in tool results. Default: none. */
  resultMedia?: readonly string[]
  /**
   * `signed`: its reasoning has signatures, and needs them in the history. `sealed`: it is
   * encrypted, and taken in that form alone. `plain`: it is text. Default: it has none.
   */
  reasoning?: 'signed' | 'sealed' | 'plain'
  /** Its reasoning comes after the text. */
  lateReasoning?: true
  /** Is there no reasoning in the response to this request? */
  silent?: (body: Json, model: string) => boolean
  refuse?: (body: Json, model: string) => string | undefined
  idOf?: (nth: number) => string
  /** Ids of calls that it takes in the history. */
  callIds?: RegExp
}

const signatureOf = (nth: number) => Buffer.from(`signed by this vendor: ${nth}`).toString('base64')

const sealOf = (nth: number) => Buffer.from(`rsn sealed by this vendor: ${nth}`).toString('base64')

/** Reasoning as its family sends it. */
function reasoned(text: string, nth: number, kind: ConverseFamily['reasoning']): Json {
  if (kind === 'sealed') return { redactedContent: sealOf(nth) }
  return { reasoningText: { text, ...(kind === 'signed' && { signature: signatureOf(nth) }) } }
}

const uniqueId = (nth: number) => `tooluse_${String(nth).padStart(22, 'A')}`

/** The Converse API of Amazon Bedrock. The first family whose `models` match applies. */
export function converseServer({
  base,
  families,
}: {
  base: RegExp
  families: readonly ConverseFamily[]
}): Endpoint {
  const familyOf = (model: string) => families.find(({ models }) => models.test(model))
  const turnOf = (body: Json, model: string) =>
    turnAfter(
      blocksOf(body).filter(({ toolResult }) => toolResult).length,
      toolsOf(body),
      familyOf(model)?.idOf ?? uniqueId,
    )
  const contentOf = ({ nth, reasoning, text, calls }: Turn, body: Json, model: string): Json[] => {
    const {
      reasoning: kind,
      lateReasoning,
      silent,
    } = familyOf(model) ?? ({} as Partial<ConverseFamily>)
    const thought =
      kind && !silent?.(body, model) ? [{ reasoningContent: reasoned(reasoning, nth, kind) }] : []
    return [
      ...(lateReasoning ? [] : thought),
      ...(text ? [{ text }] : []),
      ...(lateReasoning ? thought : []),
      ...calls.map(({ id, name, args }) => ({
        toolUse: { toolUseId: id, name, input: JSON.parse(args) as unknown, type: 'tool_use' },
      })),
    ]
  }
  const stopOf = ({ calls }: Turn) => (calls.length > 0 ? 'tool_use' : 'end_turn')
  const usage = {
    inputTokens: counted.input - counted.cached,
    outputTokens: counted.output,
    totalTokens: counted.input + counted.output,
    cacheReadInputTokens: counted.cached,
    cacheWriteInputTokens: 0,
    serverToolUsage: {},
  }
  const metrics = { latencyMs: 1180 }
  return {
    protocol: 'converse',
    match(url) {
      // A slash in the id is escaped, so the model is one segment.
      const [, origin = '', name, action] =
        /^(.*)\/model\/([^/]+)\/(converse|converse-stream)$/.exec(url.origin + url.pathname) ?? []
      return base.test(origin) && name !== undefined
        ? { model: decodeURIComponent(name), stream: action === 'converse-stream' }
        : undefined
    },
    authorize: keyed.bearer,
    streamType: 'application/vnd.amazon.eventstream',
    failure: ({ message }) => ({ message }),
    failureHeaders: ({ status, type }) => ({
      'x-amzn-errortype': `${type ?? exceptionOf[status] ?? 'InternalServerException'}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
    }),
    refuse(body, model) {
      const family = familyOf(model)
      if (!family) return { status: 400, message: 'The provided model identifier is invalid.' }
      const found = firstOf(
        strictOf('converse').checkRequest(body)[0],
        shape(body, model, family),
        family.refuse?.(body, model),
      )
      return typeof found === 'string' ? { status: 400, message: found } : found
    },
    whole(body, model) {
      const turn = turnOf(body, model)
      return {
        output: { message: { role: 'assistant', content: contentOf(turn, body, model) } },
        stopReason: stopOf(turn),
        usage,
        metrics,
      }
    },
    stream(body, model) {
      const turn = turnOf(body, model)
      // The padding hides the length of the payload.
      const frame = (type: string, payload: object) =>
        eventFrame(type, {
          ...payload,
          p: 'abcdefghijklmnopqrstuvwxyz'.slice(JSON.stringify(payload).length % 26),
        })
      const frames = [frame('messageStart', { role: 'assistant' })]
      for (const [contentBlockIndex, block] of contentOf(turn, body, model).entries()) {
        const { start, deltas } = streamed(block)
        if (start) frames.push(frame('contentBlockStart', { contentBlockIndex, start }))
        for (const delta of deltas)
          frames.push(frame('contentBlockDelta', { contentBlockIndex, delta }))
        frames.push(frame('contentBlockStop', { contentBlockIndex }))
      }
      return [
        ...frames,
        frame('messageStop', { stopReason: stopOf(turn) }),
        frame('metadata', { usage, metrics }),
      ]
    },
    wantsReasoning: model => /^(?:signed|sealed)$/.test(familyOf(model)?.reasoning ?? ''),
    returned: body =>
      listOf(body['messages'])
        .filter(({ role }) => role === 'assistant')
        .flatMap(({ content }) =>
          listOf(content).flatMap(({ reasoningContent }) =>
            isJson(reasoningContent) ? [thought(reasoningContent)] : [],
          ),
        ),
  }
}

const exceptionOf: Record<number, string> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
}

/** The thought of a signature or seal, as its issuer can read it. */
function thought({ reasoningText, redactedContent }: Json): string {
  const { text, signature } = isJson(reasoningText) ? reasoningText : {}
  const nth = /: (\d)$/.exec(
    Buffer.from(String(signature ?? redactedContent), 'base64').toString(),
  )?.[1]
  return nth === undefined ? String(text) : `Thought ${nth}`
}

/** Only blocks with a call have a start. */
function streamed({ text, reasoningContent, toolUse }: Json): { start?: Json; deltas: Json[] } {
  if (typeof text === 'string') return { deltas: chunks(text).map(chunk => ({ text: chunk })) }
  if (isJson(toolUse)) {
    const { input, ...start } = toolUse
    return {
      start: { toolUse: start },
      deltas: ['', ...chunks(JSON.stringify(input))].map(chunk => ({ toolUse: { input: chunk } })),
    }
  }
  if (isJson(reasoningContent) && typeof reasoningContent['redactedContent'] === 'string')
    return {
      deltas: [{ reasoningContent: { redactedContent: reasoningContent['redactedContent'] } }],
    }
  const { text: all, signature } = (
    isJson(reasoningContent) && isJson(reasoningContent['reasoningText'])
      ? reasoningContent['reasoningText']
      : {}
  ) as Json
  const deltas = chunks(String(all)).map(chunk => ({ reasoningContent: { text: chunk } }))
  return {
    deltas: [...deltas, ...(signature === undefined ? [] : [{ reasoningContent: { signature } }])],
  }
}

export const blocksOf = (body: Json): Json[] =>
  listOf(body['messages']).flatMap(({ content }) => listOf(content))

const configOf = (body: Json): Json => (isJson(body['toolConfig']) ? body['toolConfig'] : {})

/** What `toolSpec` and the like hold, in a list of tools or blocks. */
export const within = (list: unknown, kind: string): Json[] =>
  listOf(list).flatMap(entry => (isJson(entry[kind]) ? [entry[kind]] : []))

export const toolsOf = (body: Json): Offered[] =>
  within(configOf(body)['tools'], 'toolSpec').map(({ name, inputSchema }) => ({
    name: String(name),
    schema: isJson(inputSchema) ? inputSchema['json'] : {},
  }))

/** What some families refuse. */
function shape(body: Json, model: string, family: ConverseFamily): Refusal | string | undefined {
  const { choices, fields = [], caches = [], tools } = family
  const config = configOf(body)
  if (tools === false && body['toolConfig'] !== undefined)
    return "This model doesn't support tool use."
  const [choice] = Object.keys(isJson(config['toolChoice']) ? config['toolChoice'] : {})
  if (choice !== undefined && choices && !choices.includes(choice))
    return `This model doesn't support the toolConfig.toolChoice.${choice} field. Remove toolConfig.toolChoice.${choice} and try again.`
  const unknown = Object.keys(
    isJson(body['additionalModelRequestFields']) ? body['additionalModelRequestFields'] : {},
  ).find(key => !fields.includes(key))
  if (unknown !== undefined)
    return `Malformed input request: #: extraneous key [${unknown}] is not permitted, please reformat your input and try again.`
  const points = {
    tools: within(config['tools'], 'cachePoint'),
    system: within(body['system'], 'cachePoint'),
    messages: within(blocksOf(body), 'cachePoint'),
  }
  if (
    Object.entries(points).some(
      ([where, found]) => found.length > 0 && !caches.includes(where as 'tools'),
    )
  )
    return {
      status: 403,
      message: 'You invoked an unsupported model or your request did not allow prompt caching.',
    }
  return firstOf(turnFault(body, model, family), blockFault(body, family)) as string | undefined
}

function turnFault(
  body: Json,
  model: string,
  { leadingAssistant, loneResults, midSystem }: ConverseFamily,
): string | undefined {
  const messages = listOf(body['messages'])
  if (messages.some(({ role }) => role === 'system') && !midSystem?.(model))
    return "messages: This model doesn't support the role system."
  if (messages[0]?.['role'] !== 'user' && !leadingAssistant)
    return 'A conversation must start with a user message. Try again with a conversation that starts with a user message.'
  const mixed = messages.findIndex(
    ({ content }) =>
      listOf(content).some(({ toolResult }) => toolResult) &&
      listOf(content).some(block => !block['toolResult']),
  )
  return loneResults && mixed >= 0
    ? `messages.${mixed}: tool results and other content cannot be in one turn`
    : undefined
}

function blockFault(
  body: Json,
  { reasoning, resultMedia = [], callIds }: ConverseFamily,
): string | undefined {
  const results = within(blocksOf(body), 'toolResult')
  const media = results
    .flatMap(({ content }) => listOf(content).flatMap(Object.keys))
    .find(kind => /^(image|document|video)$/.test(kind) && !resultMedia.includes(kind))
  if (media)
    return `This model doesn't support the ${media} field in toolResult. Remove ${media} and try again.`
  const ids = [...within(blocksOf(body), 'toolUse'), ...results].map(({ toolUseId }) =>
    String(toolUseId),
  )
  const odd = callIds && ids.find(id => !callIds.test(id))
  if (odd) return `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`
  const earlier = within(blocksOf(body), 'reasoningContent')
  if (earlier.length > 0 && !reasoning)
    return "This model doesn't support the reasoningContent field. Remove reasoningContent and try again."
  if (reasoning === 'sealed' && earlier.some(({ reasoningText }) => reasoningText))
    return "This model doesn't support the reasoningContent.reasoningText.text field for assistant messages"
  if (reasoning === 'sealed' && earlier.some(({ redactedContent }) => !isOwn(redactedContent)))
    return 'The encrypted content could not be verified.'
  return reasoning === 'signed' &&
    earlier.some(
      ({ reasoningText }) => !isOwn(isJson(reasoningText) ? reasoningText['signature'] : ''),
    )
    ? 'messages: Invalid `signature` in `thinking` block'
    : undefined
}

const isOwn = (signature: unknown): boolean =>
  /^(?:signed|rsn sealed) by this vendor: \d$/.test(
    Buffer.from(String(signature), 'base64').toString(),
  )
