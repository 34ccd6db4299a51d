import { chunks } from '../scripted.ts'
import { type Shape, signature, type Thinker } from './index.ts'

type Detail = { type: string; [key: string]: unknown }
type Call = {
  id: string
  type: string
  function: { name: string; arguments: string }
  [key: string]: unknown
}
type Message = {
  role: string
  content: string | null
  reasoning_details?: Detail[]
  reasoning_content?: string
  tool_calls?: Call[]
}

const call = (turn: number, nth = 1): Call => ({
  id: `call_${turn}_${nth}`,
  type: 'function',
  function: { name: 'lookup', arguments: `{"turn":${turn},"nth":${nth}}` },
})

const shape = (
  name: string,
  message: (turn: number) => Omit<Message, 'role'>,
  model = 'thinker/one',
): Shape => ({
  name,
  response: turn => {
    const sent = { role: 'assistant', ...message(turn) }
    return {
      id: `chatcmpl-${turn}`,
      object: 'chat.completion',
      created: 1_750_000_000,
      model,
      choices: [
        {
          index: 0,
          message: sent,
          logprobs: null,
          finish_reason: sent.tool_calls ? 'tool_calls' : 'stop',
        },
      ],
      usage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 },
    }
  },
})

/**
 * Its reasoning is in a plain field, and all signatures come at the end, as in a gateway like this
 * one.
 */
const late = 'thinker/late'

/** Text comes in chunks, a signature in an entry of its own. */
function detailDeltas(detail: Detail): Detail[] {
  const { text, signature, ...rest } = detail
  if (typeof text !== 'string') return [detail]
  return [
    ...chunks(text).map(chunk => ({ ...rest, text: chunk })),
    ...(signature === undefined ? [] : [{ ...rest, signature }]),
  ]
}

const messageOf = (response: unknown) =>
  (response as { choices: { message: Message }[] }).choices[0]?.message as Message

/** How a server reads it: reasoning, text and calls. */
function bare({
  content,
  reasoning_details,
  reasoning_content,
  tool_calls = [],
}: Message): unknown {
  return {
    content: content || null,
    ...(reasoning_details
      ? { reasoning_details }
      : reasoning_content !== undefined && { reasoning_content }),
    tool_calls: tool_calls.map(({ function: { name, arguments: input }, id, extra_content }) => ({
      id,
      name,
      input: JSON.parse(input) as unknown,
      extra_content,
    })),
  }
}

export const thinker: Thinker = {
  shapes: [
    shape('signed details, then a call', turn => ({
      content: null,
      reasoning_details: [
        {
          type: 'reasoning.text',
          text: `Thought ${turn}\n\n`,
          signature: signature('text', turn),
          format: 'anthropic-claude-v1',
          index: 0,
        },
      ],
      tool_calls: [call(turn)],
    })),
    shape('an encrypted detail with an id', turn => ({
      content: `Wrote ${turn}`,
      reasoning_details: [
        {
          type: 'reasoning.summary',
          summary: `Summary ${turn}`,
          format: 'openai-responses-v1',
          index: 0,
        },
        {
          type: 'reasoning.encrypted',
          data: signature('data', turn),
          id: `rs_${turn}`,
          format: 'openai-responses-v1',
          index: 0,
        },
      ],
      tool_calls: [call(turn, 1), call(turn, 2)],
    })),
    shape('two signed details', turn => ({
      content: null,
      reasoning_details: [0, 1].map(index => ({
        type: 'reasoning.text',
        text: `Thought ${turn}/${index}`,
        signature: signature(`text ${index}`, turn),
        format: 'anthropic-claude-v1',
        index,
      })),
      tool_calls: [call(turn)],
    })),
    shape(
      'signed details whose signatures come last',
      turn => ({
        content: `Wrote ${turn}`,
        reasoning_details: [
          {
            type: 'reasoning.text',
            text: `Thought ${turn}\n\n`,
            signature: signature('text', turn),
            format: 'anthropic-claude-v1',
            index: 0,
          },
        ],
        tool_calls: [call(turn)],
      }),
      late,
    ),
    shape(
      'an encrypted detail with an id that comes last',
      turn => ({
        content: `Wrote ${turn}`,
        reasoning_details: [
          {
            type: 'reasoning.summary',
            summary: `Summary ${turn}`,
            format: 'openai-responses-v1',
            index: 0,
          },
          {
            type: 'reasoning.encrypted',
            data: signature('data', turn),
            id: `rs_${turn}`,
            format: 'openai-responses-v1',
            index: 0,
          },
        ],
      }),
      late,
    ),
    shape('plain reasoning', turn => ({
      content: null,
      reasoning_content: `Thought ${turn}\n\nlong`,
      tool_calls: [call(turn)],
    })),
  ],
  stream(response) {
    const { choices, usage, ...head } = response as {
      choices: { finish_reason: string }[]
      usage: object
      model: string
    }
    const {
      content,
      reasoning_details = [],
      reasoning_content = '',
      tool_calls = [],
    } = messageOf(response)
    const frames: string[] = []
    const send = (delta: object, finish_reason: string | null = null) =>
      frames.push(
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
      )
    send({ role: 'assistant', content: '' })
    for (const chunk of chunks(reasoning_content)) send({ reasoning_content: chunk })
    const isLate = head.model === late
    if (isLate)
      for (const part of reasoning_details.flatMap(({ text, summary }) =>
        chunks(String(text ?? summary ?? '')),
      ))
        send({ reasoning_content: part })
    else
      for (const detail of reasoning_details.flatMap(detailDeltas))
        send({ reasoning_details: [detail] })
    for (const slice of chunks(content ?? '')) send({ content: slice })
    for (const [
      index,
      {
        function: { name, arguments: input },
        ...one
      },
    ] of tool_calls.entries()) {
      send({ tool_calls: [{ index, ...one, function: { name, arguments: '' } }] })
      for (const chunk of chunks(input))
        send({ tool_calls: [{ index, function: { arguments: chunk } }] })
    }
    if (isLate) send({ reasoning_details })
    send({}, choices[0]?.finish_reason)
    frames.push(
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
      'data: [DONE]\n\n',
    )
    return frames.join('')
  },
  essence: response => bare(messageOf(response)),
  echoed: request =>
    (request as { messages: Message[] }).messages
      .filter(({ role }) => role === 'assistant')
      .map(bare),
  signatures: request =>
    (request as { messages: Message[] }).messages.flatMap(
      ({ reasoning_details = [], tool_calls = [] }) => [
        ...reasoning_details.flatMap(({ signature, data }) =>
          [signature, data].filter(value => typeof value === 'string'),
        ),
        ...tool_calls.flatMap(({ extra_content: extra }) =>
          extra === undefined ? [] : [JSON.stringify(extra)],
        ),
      ],
    ),
}
