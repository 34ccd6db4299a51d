import { shortId } from '../../../kit/conversation/ids.ts'
import { asSystemParts, asSystemText, partsOf } from '../../../kit/conversation/system-text.ts'
import { isObject, type JsonObject, without } from '../../../kit/json/json.ts'
import { append } from '../../../kit/text/append.ts'
import { objectText } from '../../../kit/tools/object-input.ts'
import { textField } from '../content/carriers.ts'
import { withPlaceholder } from '../content/signatures.ts'
import { type ChatCompletionsOptions, defaults } from '../options.ts'
import type { ChatCompletionsReport } from '../own.ts'

type Change = (
  messages: readonly JsonObject[],
  options: ChatCompletionsOptions,
  report: ChatCompletionsReport,
) => readonly JsonObject[]

/**
 * The messages as their server takes them. The encoder reads five of these options, too:
 * `systemPlacement`, `instructionsRole`, `reasoningInHistory`, `reasoningField` and `shortIds`.
 * Toward requests of other protocols it is stricter without them than own requests are treated
 * here, so it must know what a server takes besides; and only it knows the path of a part in the
 * caller's body, which notes need. What it has written needs no change here.
 */
export function fitMessages(
  body: JsonObject,
  options: ChatCompletionsOptions,
  report: ChatCompletionsReport,
): JsonObject {
  const before = body['messages']
  if (!Array.isArray(before) || !before.every(isObject)) return body
  let messages: readonly JsonObject[] = before
  for (const change of changes) messages = change(messages, options, report)
  messages = withEnding(messages, options.assistantAtEnd, { body, report })
  return messages === before ? body : { ...body, messages }
}

/** Each message by itself; the same list if none changes. */
const each =
  (
    change: (
      message: JsonObject,
      options: ChatCompletionsOptions,
      note: (code: Parameters<ChatCompletionsReport['add']>[0], field?: string) => void,
    ) => JsonObject,
  ): Change =>
  (messages, options, report) => {
    const changed = messages.map((message, i) =>
      change(message, options, (code, field = '') => report.add(code, `/messages/${i}${field}`)),
    )
    return changed.every((message, i) => message === messages[i]) ? messages : changed
  }

const isInstruction = ({ role }: JsonObject) => role === 'system' || role === 'developer'

const roles = each((message, { instructionsRole: role }, note) => {
  if (role !== 'system' || message['role'] !== 'developer') return message
  note('system.developer-role', '/role')
  return { ...message, role: 'system' }
})

/**
 * Leading instructions become one message; later ones become text of the user, or move to the
 * front.
 */
const placement: Change = (messages, { systemPlacement: where }, report) => {
  if (where === undefined || where === 'keep') return messages
  const begin = messages.findIndex(message => !isInstruction(message))
  const leading = begin < 0 ? messages.length : begin
  const late = messages.some((message, i) => i >= leading && isInstruction(message))
  if (leading < 2 && !late) return messages
  const head: JsonObject[] = []
  const rest: JsonObject[] = []
  for (const [i, message] of messages.entries()) {
    if (!isInstruction(message)) rest.push(message)
    else if (i < leading || where === 'hoist') {
      if (i > 0) report.add(i < leading ? 'system.joined' : 'system.hoisted', `/messages/${i}`)
      head.push(message)
    } else {
      report.add('system.mid-conversation-as-user', `/messages/${i}`)
      rest.push({ role: 'user', content: tagged(message['content']) })
    }
  }
  const [first] = head
  const joined =
    first &&
    (head.length === 1
      ? first
      : { ...first, content: joinedContent(head.map(({ content }) => content)) })
  return [...(joined ? [joined] : []), ...mergedUsers(afterResults(rest))]
}

const tagged = (content: unknown): unknown =>
  typeof content === 'string' ? asSystemText(content) : asSystemParts(content)

function joinedContent(contents: readonly unknown[]): unknown {
  return contents.every(content => typeof content === 'string')
    ? contents.join('\n\n')
    : contents.flatMap(partsOf)
}

/** Text of the user between a call and its results waits until they are complete. */
function afterResults(messages: readonly JsonObject[]): JsonObject[] {
  const placed: JsonObject[] = []
  let waiting: JsonObject[] = []
  let open = 0
  for (const message of messages) {
    if (message['role'] === 'assistant')
      open = Array.isArray(message['tool_calls']) ? message['tool_calls'].length : 0
    else if (message['role'] === 'tool') open--
    if (message['role'] === 'user' && open > 0) {
      waiting.push(message)
      continue
    }
    placed.push(message)
    if (open <= 0) {
      append(placed, waiting)
      waiting = []
    }
  }
  return [...placed, ...waiting]
}

/** Chat templates want user and assistant to alternate. */
function mergedUsers(messages: readonly JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = []
  // The messages of the user that follow each other, which become one.
  let run: JsonObject[] = []
  const flush = () => {
    const [first, ...others] = run
    if (first)
      merged.push(
        others.length === 0
          ? first
          : { ...first, content: joinedContent(run.map(({ content }) => content)) },
      )
    run = []
  }
  for (const message of messages)
    if (message['role'] === 'user') run.push(message)
    else {
      flush()
      merged.push(message)
    }
  flush()
  return merged
}

const textFields = ['reasoning_content', 'reasoning'] as const

/** Reasoning of the history goes into the one field that the server reads, or into the content. */
const reasoning = each(
  (
    message,
    {
      reasoningField,
      historyReasoning: place = defaults.historyReasoning,
      reasoningInHistory: wanted,
    },
    note,
  ) => {
    if (message['role'] !== 'assistant') return message
    const field = textFields.find(key => typeof message[key] === 'string')
    if (field === undefined) return message
    const text = String(message[field])
    if (wanted === 'never') {
      note('reasoning.dropped', `/${field}`)
      return without(message, [...textFields])
    }
    if (place === 'field') {
      const read =
        reasoningField === 'reasoning' || reasoningField === 'reasoning_content'
          ? reasoningField
          : field
      return read === field ? message : { ...without(message, [...textFields]), [read]: text }
    }
    const rest = without(message, [...textFields, 'reasoning_details'])
    const { content } = rest
    if (place === 'tags')
      return typeof content === 'string' || content == null
        ? { ...rest, content: `<think>${text}</think>${content ?? ''}` }
        : message
    return {
      ...rest,
      content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }, ...partsOf(content)],
    }
  },
)

const reasoningFields = [...textFields, 'reasoning_details', 'thinking_blocks', 'reasoning_items']

/**
 * Blank reasoning: some servers refuse calls without the reasoning that led to them, and not every
 * client keeps it.
 */
const placeholders = each((message, { missingReasoning: missing, reasoningField }, note) => {
  if (
    missing !== 'blank' ||
    message['role'] !== 'assistant' ||
    !Array.isArray(message['tool_calls']) ||
    reasoningFields.some(key => message[key])
  )
    return message
  const field = textField({ reasoningField })
  note('reasoning.placeholder', `/${field}`)
  return { ...message, [field]: ' ' }
})

const shortIds: Change = (messages, { shortIds: wanted }, report) => {
  if (!wanted) return messages
  const short = (id: unknown) => (typeof id === 'string' ? shortId(id) : id)
  return each((message, _, note) => {
    const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'].filter(isObject) : []
    const named = message['tool_call_id']
    if (calls.every(({ id }) => short(id) === id) && short(named) === named) return message
    note('tool-call.id')
    return {
      ...message,
      ...(calls.length > 0 && {
        tool_calls: calls.map(call => ({ ...call, id: short(call['id']) })),
      }),
      ...(named !== undefined && { tool_call_id: short(named) }),
    }
  })(messages, {}, report)
}

/** A server that parses the arguments of earlier calls gets objects. */
const wholeArguments = each((message, { brokenArguments: taken }, note) => {
  const { tool_calls: calls } = message
  if (taken !== 'wrap' || !Array.isArray(calls)) return message
  const whole = calls.map((call: unknown, i) => {
    const called = isObject(call) && isObject(call['function']) ? call['function'] : undefined
    const input = called?.['arguments']
    if (!isObject(call) || typeof input !== 'string') return call
    const text = /\S/.test(input) ? objectText(input) : '{}'
    if (text === input) return call
    note('tool-call.input', `/tool_calls/${i}/function/arguments`)
    return { ...call, function: { ...called, arguments: text } }
  })
  return whole.every((call, i) => call === calls[i]) ? message : { ...message, tool_calls: whole }
})

/** The same for servers that expect a text. */
const texts = each((message, { nullContent: taken }) =>
  taken === 'text' && message['content'] === null ? { ...message, content: '' } : message,
)

/** Servers that copy the structure of a list into the response get one text. */
const strings = each((message, { textContent: form }, note) => {
  const { content } = message
  if (
    form !== 'string' ||
    !Array.isArray(content) ||
    !content.every((part: unknown) => isObject(part) && typeof part['text'] === 'string')
  )
    return message
  const texts = content.map((part: JsonObject, i) => {
    for (const key of Object.keys(part))
      if (key !== 'type' && key !== 'text') note('field.unsupported', `/content/${i}/${key}`)
    return part['text']
  })
  return { ...message, content: texts.join('\n\n') }
})

/** An image that the server cannot fetch is named by its address. */
const images = each((message, { imageUrls: taken }, note) => {
  const { content } = message
  if (taken !== 'text' || !Array.isArray(content)) return message
  const replaced = content.map((part: unknown, i) => {
    const image =
      isObject(part) && part['type'] === 'image_url' && isObject(part['image_url'])
        ? part['image_url']
        : undefined
    const url = image?.['url']
    if (typeof url !== 'string' || !/^https?:/.test(url)) return part
    note('media.url-as-text', `/content/${i}`)
    return { type: 'text', text: `[image: ${url}]` }
  })
  return replaced.every((part, i) => part === content[i])
    ? message
    : { ...message, content: replaced }
})

/**
 * A server that refuses text of the user straight after a result gets a word of the assistant
 * between them.
 */
const between: Change = (messages, { afterResults: wanted }, report) => {
  if (wanted !== 'assistant' || !messages.some((message, i) => isAfterResult(messages, message, i)))
    return messages
  return messages.flatMap((message, i) => {
    if (!isAfterResult(messages, message, i)) return [message]
    report.add('message.assistant-between', `/messages/${i}`)
    return [{ role: 'assistant', content: 'Understood.' }, message]
  })
}

const isAfterResult = (messages: readonly JsonObject[], { role }: JsonObject, i: number) =>
  role === 'user' && messages[i - 1]?.['role'] === 'tool'

/** The first call of a step needs a signature. */
const signatures = each((message, { missingSignature: wanted }, note) => {
  const { tool_calls: calls } = message
  if (wanted !== 'placeholder' || !Array.isArray(calls) || !isObject(calls[0])) return message
  const first = withPlaceholder(calls[0])
  if (first === calls[0]) return message
  note('reasoning.placeholder-signature', '/tool_calls/0/extra_content')
  return { ...message, tool_calls: [first, ...(calls.slice(1) as unknown[])] }
})

// Those that name a message by its place come before those that move messages.
const changes: readonly Change[] = [
  roles,
  reasoning,
  placeholders,
  shortIds,
  wholeArguments,
  signatures,
  texts,
  images,
  strings,
  placement,
  strings,
  between,
]

/** A server that takes no text of the assistant at the end is asked to go on. */
function withEnding(
  messages: readonly JsonObject[],
  wanted: ChatCompletionsOptions['assistantAtEnd'] = 'keep',
  { body, report }: { body: JsonObject; report: ChatCompletionsReport },
): readonly JsonObject[] {
  const last = messages.at(-1)
  const isText = last?.['role'] === 'assistant' && !last['tool_calls'] && last['prefix'] !== true
  const template = body['chat_template_kwargs']
  const isOff = isObject(template) && template['enable_thinking'] === false
  if (!isText || wanted === 'keep' || (wanted === 'unthinking' && isOff)) return messages
  report.add('message.trailing-user', `/messages/${messages.length}`)
  return [...messages, { role: 'user', content: 'Continue.' }]
}
