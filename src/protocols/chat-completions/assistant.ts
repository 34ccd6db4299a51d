import type { Message, Part, Place, ReasoningPart, TextPart } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject, merge, same } from '../../kit/json.ts'
import { below } from '../../kit/path.ts'
import { serverToolText } from '../../kit/server-tools.ts'
import { decodeAudioAnswer, encodeAudioAnswer, isAudible } from './audio.ts'
import { decodeCall, encodeCall, encodeLegacyCall, readInput, takesOneCall } from './calls.ts'
import { carriersIn, carriesThoughts, carryThoughts, giveBack } from './carried-thoughts.ts'
import { encodeCarriers, splitCarriers, unknownOfCarriers, withoutRemains } from './carriers.ts'
import { attachCitations, decodeAnnotation, encodeCitations, noteLostBoundaries, unknownOfAnnotations } from './citations.ts'
import { decodeContent, encodeParts } from './content.ts'
import { decodeImages, encodeImage } from './images.ts'
import { arrange } from './layout.ts'
import { keep, ownForm, ownOf, protocolName, splitNulls, wireOf } from './own.ts'
import type { Reading } from './reading.ts'
import { decodeReasoning, emptyProof, withoutEmptyProof } from './reasoning.ts'
import type { ChatAssistantMessage, ChatChoice } from './schema.ts'
import { extractTags } from './think-tags.ts'
import { type AssistantToWrite, opensEnvelopes, type Writing } from './writing.ts'

/** In a reply the role may be missing. */
type ChatAnswer = NonNullable<ChatChoice['message']> | ChatAssistantMessage

type Read = Pick<Message, 'parts' | 'ext'> & { name?: string }

/**
 * An assistant message of a conversation or a reply. The wire has a field for each kind of part, so their order is not known. The
 * default is reasoning, text, refusal, media, calls; a recorded layout overrides it.
 */
export function decodeAssistant(wire: ChatAnswer, at: Place, reading: Reading): Read {
  const { present: message, nothing } = splitNulls(wire)
  const { role: _, content, name, refusal, audio, tool_calls, function_call, annotations, ...extra } = message
  const { carriers, rest } = splitCarriers(extra)
  const reasoning = decodeReasoning(carriers, at, reading.from)
  const images = decodeImages(rest['images'], at)
  if (images) delete rest['images']

  const calls: Part[] = (tool_calls ?? []).map((call, i) => decodeCall(call, { at: below(below(at, 'tool_calls'), i), ordinal: i, reading }))
  // Some servers send an empty call with every text.
  if (function_call?.name === '') rest['function_call'] = function_call
  else if (function_call) {
    const { name: called, arguments: input, ...unknown } = function_call
    calls.push({
      type: 'tool-call',
      id: reading.legacyId(),
      idOrigin: 'synthesized',
      name: called,
      kind: 'function',
      ...readInput(input),
      at: below(at, 'function_call'),
      ...keep(unknown, {}, { legacy: true, input, inputless: input === undefined || undefined }),
    })
  }
  const others: Part[] = []
  if (refusal) others.push({ type: 'refusal', text: refusal, at: below(at, 'refusal') })
  others.push(...(images ?? []))
  if (audio) others.push(decodeAudioAnswer(audio, at))
  const onlyEmpty = content === '' && (calls.length > 0 || others.length > 0 || reasoning.parts.length > 0)
  const said = onlyEmpty ? [] : decodeContent(content, at, reading.report)
  const taken = reading.thinkTags ? extractTags(said) : said
  const body = [...taken]
  if (taken !== said) reading.report.once('reasoning.think-tags', at, 'content')
  const cited = attachCitations(body, annotations ?? [])
  const carried = reading.from === 'client' ? carriersIn(tool_calls, carriers, at) : undefined
  // LiteLLM lists the signatures of calls again in the message.
  const { provider_specific_fields: ofProxy } = carriers
  const listed = isObject(ofProxy) && 'thought_signatures' in ofProxy ? new Set(calls.map(({ signature }) => signature?.value)) : undefined
  const textSignatures = reasoning.textSignatures.filter(({ signature }) => !listed?.has(signature.value))
  const slots = { reasoning: reasoning.parts, body, others, calls }
  const parts = carried ? giveBack(slots, carried, reading.report) : arrange(slots, { ...reasoning, textSignatures }, { report: reading.report, at })
  if (reading.seals) for (const part of parts) if (part.type === 'reasoning' && part.segments.length > 0) part.signature ??= emptyProof
  const form = {
    content: content === undefined ? ('content' in nothing ? undefined : 'absent') : typeof content === 'string' ? 'string' : 'array',
    refusal: refusal === '' ? '' : undefined,
    tool_calls: tool_calls?.length === 0 ? [] : undefined,
    carriers: Object.keys(carriers).length > 0 ? carriers : undefined,
    annotations,
  }
  const unknown = defined({ ...merge(rest, unknownOfCarriers(carriers)), annotations: cited ? unknownOfAnnotations(annotations ?? []) : annotations })
  return { ...(name !== undefined && { name }), parts, ...keep(unknown, nothing, cited ? form : { ...form, annotations: undefined }) }
}

/** Writes an assistant message. Undefined: none of its parts could be written. */
export function encodeAssistant(from: AssistantToWrite, writing: Writing): JsonObject | undefined {
  const { parts, name, ext, at, towards } = from
  const kept = ownOf(ext)
  const form = kept?.form ?? {}
  writing.report.ext(ext, at)

  const single = towards === 'client' && takesOneCall(writing.options.context)
  const known: JsonObject = { role: 'assistant', content: undefined, name }
  const slots: Slots = { known, calls: [], images: [], body: [], texts: [], reasoning: [] }
  const filling: Filling = { towards, single, isOwn: kept !== undefined, listsContent: form['content'] === 'array', writing }
  const carries = towards === 'client' && !single && !writing.native && carriesThoughts(writing.options)
  let since: Part[] = []
  for (const read of parts) {
    const part = withoutEmptyProof(read)
    fill(slots, part, filling)
    if (!carries) continue
    if (part.type !== 'tool-call') since.push(part)
    else {
      Object.assign(slots.calls.at(-1) ?? {}, carryThoughts(since, part))
      since = []
    }
  }
  const { calls, images } = slots
  if (known['refusal'] === undefined && form['refusal'] === '') known['refusal'] = ''
  if (images.length > 0) known['images'] = images
  if (calls.length > 0) known['tool_calls'] = calls
  else if (Array.isArray(form['tool_calls'])) known['tool_calls'] = []

  Object.assign(known, encodeBody(slots, form, { writing, towards }))
  const carried = encodeCarriers(slots.reasoning, from, { form, writing })
  Object.assign(known, carried)
  const empty = known['content'] === undefined && Object.keys(defined(known)).length === 1
  if (!kept) {
    if (empty && towards === 'server') return undefined
    const silent =
      calls.length > 0 || known['function_call'] !== undefined || known['refusal'] !== undefined || known['audio'] !== undefined || images.length > 0
    known['content'] ??= silent || towards === 'client' ? null : ''
    if (towards === 'client') known['refusal'] ??= null
  }
  const message = withoutRemains(wireOf(known, ext), form['carriers'], carried)
  if (towards === 'server' && calls.length > 0) standIn(message, writing)
  return message
}

/** Adds blank reasoning: some servers refuse calls without the reasoning that led to them, and not every client keeps it. */
function standIn(message: JsonObject, { options, report }: Writing): void {
  if (options.ccMissingReasoning !== 'blank' || reasoningFields.some(field => message[field])) return
  const field = options.ccReasoning === 'reasoning' ? 'reasoning' : 'reasoning_content'
  message[field] = ' '
  report.addMade('reasoning.placeholder', message, `/${field}`)
}

const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks', 'reasoning_items']

/** Where the parts of a message go. `known`: message fields as they are written; `texts`: the text parts of `body`. */
type Slots = { known: JsonObject; calls: JsonObject[]; images: JsonObject[]; body: Part[]; texts: TextPart[]; reasoning: ReasoningPart[] }

/** `isOwn`: the message was read from this protocol; `listsContent`: its content was a list; `single`: the client knows only `function_call`. */
type Filling = { towards: 'client' | 'server'; single: boolean; isOwn: boolean; listsContent: boolean; writing: Writing }

/** Puts a part into its slot. Makes a note for a part that has none. */
function fill(slots: Slots, part: Part, { towards, single, isOwn, listsContent, writing }: Filling): void {
  const { known, calls, images, body, texts, reasoning } = slots
  const { report } = writing
  const { place, block } = ownForm(part.ext) ?? {}
  switch (part.type) {
    case 'text':
      texts.push(part)
      body.push(part)
      break
    case 'reasoning':
      if (block !== undefined && listsContent) body.push(part)
      else reasoning.push(part)
      break
    case 'refusal':
      if (place === 'content' && listsContent) body.push(part)
      else {
        report.ext(part.ext, part.at)
        known['refusal'] = joined(known['refusal'], part.text)
      }
      break
    case 'tool-call':
      if (ownForm(part.ext)?.['legacy'] === true || (single && known['function_call'] === undefined)) known['function_call'] = encodeLegacyCall(part, writing)
      else if (single) report.add('tool-call.single', part.at)
      else calls.push(encodeCall(part, towards, writing))
      break
    case 'media':
      // A message has one field for audio.
      if (known['audio'] !== undefined && part.kind === 'audio') report.add('part.unsupported', part.at)
      else if (place === 'audio' || (isAudible(part) && towards === 'client' && !isOwn)) known['audio'] = encodeAudioAnswer(part, writing)
      else if (place === 'images' || (towards === 'client' && !isOwn)) images.push(...encodeImage(part, writing))
      else if (isOwn) body.push(part)
      else report.add('part.unsupported', part.at)
      break
    case 'opaque':
      if (part.protocol === protocolName && place === 'tool_calls' && isObject(part.raw)) calls.push(part.raw)
      else if (part.protocol === protocolName) body.push(part)
      else report.add('part.unknown', part.at)
      break
    case 'server-tool':
      if (towards === 'server' && writing.options.serverToolHistory === 'text') {
        report.add('server-tool.as-text', part.at)
        const line: TextPart = { type: 'text', text: `${texts.at(-1)?.text.endsWith('\n') === false ? '\n' : ''}${serverToolText(part)}\n` }
        texts.push(line)
        body.push(line)
      } else report.add('part.unsupported', part.at)
      break
    case 'search-result':
    case 'tool-result':
    case 'control':
      report.add('part.unsupported', part.at)
      break
    default:
      part satisfies never
  }
}

const joined = (before: unknown, text: string) => (typeof before === 'string' ? before + text : text)

/** Writes `content`, and towards clients `annotations`. */
function encodeBody(
  { body, texts }: Pick<Slots, 'body' | 'texts'>,
  form: JsonObject,
  { writing, towards }: { writing: Writing; towards: 'client' | 'server' },
): JsonObject {
  const { report } = writing
  const cited = flatMap(texts, ({ citations }) => citations ?? [])
  const came = form['annotations']
  const verbatim = Array.isArray(came) && same(came.map(decodeAnnotation), cited)
  const annotations = verbatim ? came : towards === 'client' ? encodeCitations(texts, report) : undefined
  if (!opensEnvelopes(towards, writing.options)) for (const { phase, at } of texts) if (phase) report.add('message.phase', at)
  if (!verbatim && towards === 'server') for (const { citations, at } of texts) if (citations?.length) report.add('citation.unsupported', at, 'citations')
  const listed = annotations && (annotations.length > 0 || verbatim) ? { annotations } : {}

  if (form['content'] === 'array') {
    const blocks = encodeParts(body.map(bare), writing)
    return { content: blocks, ...listed }
  }
  for (const { at, ext, cache, logprobs, type: _type, text: _text, citations: _citations, signature: _signature, phase: _phase, ...rest } of texts) {
    if (cache) report.add('cache.place', at, 'cache')
    report.rest(rest, at)
    if (towards === 'server') report.rest({ logprobs }, at)
    report.ext(ext, at)
  }
  for (const part of body) if (part.type !== 'text') report.add('part.unsupported', part.at)
  if (!writing.native) noteLostBoundaries(texts, report)
  const content = texts.length > 0 ? texts.map(({ text }) => text).join('') : undefined
  if (content === undefined || (content === '' && form['content'] !== 'string' && texts.every(({ signature }) => signature)))
    return { ...(form['content'] === 'string' && { content: '' }), ...listed }
  return { content, ...listed }
}

/** The part without the fields that are written elsewhere: citations, log probabilities, signatures and phases. */
function bare(part: Part): Part {
  if (part.type !== 'text') return part
  const { citations: _citations, logprobs: _logprobs, signature: _signature, phase: _phase, ...rest } = part
  return rest
}
