import type { Message, Part, ReasoningPart, Signature, TextPart } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { holdsEnvelope } from '../../kit/envelope.ts'
import { mapCallId } from '../../kit/ids.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { serverToolText } from '../../kit/server-tools.ts'
import { decodeCall, encodeCall, encodeLegacyCall, readInput, takesOneCall, validCallId } from './calls.ts'
import { attachCitations, decodeAnnotation, encodeCitations, noteJoins, unknownOfAnnotations } from './citations.ts'
import { decodeContent, encodeParts, type Writing } from './content.ts'
import { decodeImages, encodeImage } from './images.ts'
import type { ChatReport } from './notes.ts'
import { formOf, kept, own, protocolName, same, spell, told } from './own.ts'
import { decodeReasoning, encodeDetails, isOwnIssuer, needsDetails, reasoningText, splitCarriers, unknownOfCarriers } from './reasoning.ts'
import type { ChatAssistantMessage, ChatChoice } from './schema.ts'
import { carriedIssuer, encodeCarried } from './signatures.ts'
import { extractTags } from './think-tags.ts'

/** What a decoder of assistant messages needs to know around the message. */
export type Reading = {
  /** Who said it. */
  from: 'client' | 'server'
  /** Reasoning between tags in the text is taken out of it. */
  thinkTags?: boolean | undefined
  report: ChatReport
  /** For calls without an id: `ordinal` counts the calls of the message. */
  idOf(ordinal: number): string
  /** The same for the older single function call. */
  legacyId(): string
}

/** In an answer the role may be missing. */
type ChatAnswer = NonNullable<ChatChoice['message']> | ChatAssistantMessage

type Read = Pick<Message, 'parts' | 'ext'> & { name?: string }

/**
 * An assistant message of a conversation or an answer. The wire has a field for each kind of part and tells no order:
 * reasoning, text, refusal, media, calls, unless a recorded layout says otherwise.
 */
export function decodeAssistant(wire: ChatAnswer, at: string, reading: Reading): Read {
  const { told: message, nulls } = told(wire)
  const { role: _, content, name, refusal, audio, tool_calls, function_call, annotations, ...extra } = message
  const { carriers, rest } = splitCarriers(extra)
  const reasoning = decodeReasoning(carriers, at, carriedIssuer[reading.from])
  const images = decodeImages(rest['images'], at)
  if (images) delete rest['images']

  const calls: Part[] = (tool_calls ?? []).map((call, i) => decodeCall(call, { at: `${at}/tool_calls/${i}`, ordinal: i, reading }))
  // Some servers put an empty call beside every text.
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
      at: `${at}/function_call`,
      ...kept(unknown, { legacy: true, input, inputless: input === undefined || undefined }),
    })
  }
  const others: Part[] = []
  if (refusal) others.push({ type: 'refusal', text: refusal, at: `${at}/refusal` })
  others.push(...(images ?? []))
  if (audio) others.push(decodeAudioAnswer(audio, at))
  const onlyEmpty = content === '' && (calls.length > 0 || others.length > 0 || reasoning.parts.length > 0)
  const said = onlyEmpty ? [] : decodeContent(content, at)
  const taken = reading.thinkTags ? extractTags(said) : said
  const body = [...taken]
  if (taken !== said) reading.report.once('reasoning.think-tags', at, 'content')
  const cited = attachCitations(body, annotations ?? [])
  const { textSignature } = reasoning
  const text = textSignature?.attach === 'prev' ? body.findLast(part => part.type === 'text') : undefined
  if (text && textSignature) text.signature = textSignature.signature

  const parts = arrange({ reasoning: reasoning.parts, body, others, calls }, reasoning.layout, { report: reading.report, at })
  if (textSignature && !text) addSignedText(parts, textSignature.signature, at)
  const form = {
    nulls,
    content: content === undefined ? (nulls.includes('content') ? undefined : 'absent') : typeof content === 'string' ? 'string' : 'array',
    refusal: refusal === '' ? '' : undefined,
    tool_calls: tool_calls?.length === 0 ? [] : undefined,
    carriers: Object.keys(carriers).length > 0 ? carriers : undefined,
    annotations,
  }
  const unknown = defined({ ...rest, ...unknownOfCarriers(carriers), annotations: cited ? unknownOfAnnotations(annotations ?? []) : annotations })
  return { ...(name !== undefined && { name }), parts, ...kept(unknown, cited ? form : { ...form, annotations: undefined }) }
}

function decodeAudioAnswer(wire: NonNullable<ChatAssistantMessage['audio']>, at: string): Part {
  const { told: audio, nulls } = told(wire)
  const { id, data, transcript, expires_at, ...unknown } = audio
  return defined({
    type: 'media' as const,
    kind: 'audio' as const,
    source: data !== undefined ? { type: 'base64' as const, data } : { type: 'reference' as const, id: id ?? '' },
    transcript,
    expiresAt: expires_at,
    at: `${at}/audio`,
    ...kept(unknown, { nulls: nulls.length > 0 ? nulls : undefined, id, place: 'audio' }),
  })
}

/** A text without a word, after the others. */
function addSignedText(parts: Part[], signature: Signature, at: string): void {
  const calls = parts.findIndex(({ type }) => type === 'tool-call')
  const place = parts.findLastIndex(({ type }) => type === 'text') + 1 || (calls < 0 ? parts.length : calls)
  parts.splice(place, 0, { type: 'text', text: '', signature, at: `${at}/content` })
}

type Slots = { reasoning: ReasoningPart[]; body: Part[]; others: Part[]; calls: Part[] }

/** Puts the parts in the recorded order, if it fits them. */
function arrange({ reasoning, body, others, calls }: Slots, layout: string[] | undefined, { report, at }: { report: ChatReport; at: string }): Part[] {
  const usual = [...reasoning, ...body, ...others, ...calls]
  if (!layout) return usual
  const text = body.length === 1 ? body[0] : undefined
  const whole = text?.type === 'text' ? text.text : ''
  const ordered: Part[] = []
  let cut = 0
  for (const token of layout) {
    const rest = token.slice(1)
    if (token.startsWith('r')) ordered.push(...reasoning.slice(Number(rest), Number(rest) + 1))
    else if (token.startsWith('x') && text?.type === 'text') {
      const length = Number(rest)
      const { citations: _citations, signature: _signature, ...bare } = text
      ordered.push({ ...(cut + length === whole.length ? text : bare), text: whole.slice(cut, cut + length) })
      cut += length
    } else if (token.startsWith('c'))
      ordered.push(...calls.filter(call => call.type === 'tool-call' && (call.id === rest || formOf(call.ext)['legacy'] === true)))
  }
  const fits = cut === whole.length && ordered.filter(part => part.type !== 'text').length === reasoning.length + calls.length && body.length <= 1
  if (fits) return [...ordered, ...others]
  report.add('parts.layout-stale', `${at}/reasoning_details`)
  return usual
}

/** What an assistant message on the wire is made from. `reasoning`: the part of it that is to be written at all. */
export type AssistantToWrite = {
  parts: readonly Part[]
  reasoning: 'all' | 'none'
  /** Signatures reach a client wrapped; a server gets only its own. */
  towards: 'client' | 'server'
  name?: string | undefined
  at?: string | undefined
  ext?: Message['ext']
}

/** Undefined: nothing is left that could be written. */
export function encodeAssistant(from: AssistantToWrite, writing: Writing): JsonObject | undefined {
  const { parts, name, ext, at } = from
  const { report } = writing
  const kept = own(ext)
  const form = kept?.form ?? {}
  report.ext(ext, at)

  const single = from.towards === 'client' && takesOneCall(writing.options.context)
  const calls: JsonObject[] = []
  const images: JsonObject[] = []
  const known: JsonObject = { role: 'assistant', content: undefined, name }
  const body: Part[] = []
  const texts: TextPart[] = []
  const reasoning: ReasoningPart[] = []
  for (const part of parts) {
    const { place, block } = formOf(part.ext)
    switch (part.type) {
      case 'text':
        texts.push(part)
        body.push(part)
        break
      case 'reasoning':
        if (block !== undefined && form['content'] === 'array') body.push(part)
        else reasoning.push(part)
        break
      case 'refusal':
        if (place === 'content' && form['content'] === 'array') body.push(part)
        else {
          report.ext(part.ext, part.at)
          known['refusal'] = joined(known['refusal'], part.text)
        }
        break
      case 'tool-call':
        if (formOf(part.ext)['legacy'] === true || (single && known['function_call'] === undefined)) known['function_call'] = encodeLegacyCall(part, writing)
        else if (single) report.add('tool-call.single', part.at)
        else calls.push(encodeCall(part, from.towards, writing))
        break
      case 'media':
        if (place === 'audio' || (part.kind === 'audio' && from.towards === 'client' && !kept)) known['audio'] = encodeAudioAnswer(part, writing)
        else if (place === 'images' || (from.towards === 'client' && !kept)) images.push(...encodeImage(part, writing))
        else if (kept) body.push(part)
        else report.add('part.unsupported', part.at)
        break
      case 'opaque':
        if (part.protocol === protocolName && place === 'tool_calls' && isObject(part.raw)) calls.push(part.raw)
        else if (part.protocol === protocolName) body.push(part)
        else report.add('part.unknown', part.at)
        break
      case 'server-tool':
        if (from.towards === 'server' && writing.options.serverToolHistory === 'text') {
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
  if (known['refusal'] === undefined && form['refusal'] === '') known['refusal'] = ''
  if (images.length > 0) known['images'] = images
  if (calls.length > 0) known['tool_calls'] = calls
  else if (Array.isArray(form['tool_calls'])) known['tool_calls'] = []

  Object.assign(known, encodeBody({ body, texts }, form, { writing, towards: from.towards }))
  Object.assign(known, encodeReasoning(reasoning, from, { form, writing, texts }))
  const empty = known['content'] === undefined && Object.keys(defined(known)).length === 1
  if (!kept) {
    if (empty && from.towards === 'server') return undefined
    const silent =
      calls.length > 0 || known['function_call'] !== undefined || known['refusal'] !== undefined || known['audio'] !== undefined || images.length > 0
    known['content'] ??= silent || from.towards === 'client' ? null : ''
    if (from.towards === 'client') known['refusal'] ??= null
  }
  return spell(known, ext)
}

const joined = (before: unknown, text: string) => (typeof before === 'string' ? before + text : text)

/** `content`, and `annotations` where the reader is a client. */
function encodeBody(
  { body, texts }: { body: readonly Part[]; texts: readonly TextPart[] },
  form: JsonObject,
  { writing, towards }: { writing: Writing; towards: 'client' | 'server' },
): JsonObject {
  const { report } = writing
  const cited = texts.flatMap(({ citations }) => citations ?? [])
  const came = form['annotations']
  const verbatim = Array.isArray(came) && same(came.map(decodeAnnotation), cited)
  const annotations = verbatim ? came : towards === 'client' ? encodeCitations(texts, report) : undefined
  if (!verbatim && towards === 'server') for (const { citations, at } of texts) if (citations?.length) report.add('citation.unsupported', at, 'citations')
  const listed = annotations && (annotations.length > 0 || verbatim) ? { annotations } : {}

  if (form['content'] === 'array') {
    const blocks = encodeParts(body.map(bare), writing)
    return { content: blocks, ...listed }
  }
  for (const { at, ext, cache, logprobs, type: _type, text: _text, citations: _citations, signature: _signature, ...rest } of texts) {
    if (cache) report.add('cache.place', at, 'cache')
    report.rest({ ...rest, ...(towards === 'server' && { logprobs }) }, at)
    report.ext(ext, at)
  }
  for (const part of body) if (part.type !== 'text') report.add('part.unsupported', part.at)
  noteJoins(texts, report)
  const content = texts.length > 0 ? texts.map(({ text }) => text).join('') : undefined
  if (content === undefined || (content === '' && form['content'] !== 'string' && texts.every(({ signature }) => signature)))
    return { ...(form['content'] === 'string' && { content: '' }), ...listed }
  return { content, ...listed }
}

/** Citations and probabilities are written elsewhere. */
function bare(part: Part): Part {
  if (part.type !== 'text') return part
  const { citations: _citations, logprobs: _logprobs, signature: _signature, ...rest } = part
  return rest
}

/** The carriers of reasoning. Those that came are written again while they mean the same. */
function encodeReasoning(
  reasoning: readonly ReasoningPart[],
  from: AssistantToWrite,
  { form, writing, texts }: { form: JsonObject; writing: Writing; texts: readonly TextPart[] },
): JsonObject {
  const { report, options } = writing
  const signed = texts.filter(({ signature }) => signature)
  const last = signed.pop()
  const textSignature = last?.signature && { signature: last.signature, attach: last.text === '' ? ('text' as const) : ('prev' as const) }
  for (const { at } of signed) report.add(from.towards === 'client' ? 'reasoning.signature-dropped' : 'reasoning.foreign-signature', at, 'signature')
  const { carriers } = form
  const allowed = from.reasoning === 'all' && options.ccReasoning !== 'omit'
  // An envelope is for clients alone, whoever sends it back.
  const sendable = from.towards === 'client' || !holdsEnvelope(carriers)
  if (isObject(carriers) && sendable && (allowed || (writing.own && options.ccReasoningInHistory === undefined && from.towards === 'server'))) {
    const again = decodeReasoning(carriers, from.at ?? '', carriedIssuer[from.towards === 'server' ? 'client' : 'server'])
    if (same(again.parts, reasoning) && same(again.textSignature?.signature, textSignature?.signature)) return carriers
  }
  const order = layoutOf(allowed ? from.parts : from.parts.filter(({ type }) => type !== 'reasoning'), writing)
  const ownText = textSignature && from.towards === 'server' && isOwnIssuer(textSignature.signature.issuer) ? encodeCarried(textSignature.signature) : undefined
  const noteOrder = () => {
    if (!writing.own && isDisordered(order)) report.add('parts.order-lost', from.at)
  }
  if (reasoning.length === 0 && !textSignature) {
    noteOrder()
    return {}
  }
  if (!allowed) {
    noteOrder()
    for (const { at } of reasoning) report.add('reasoning.dropped', at)
    if (textSignature && !ownText) report.add('reasoning.foreign-signature', from.at)
    return ownText ?? {}
  }
  for (const part of reasoning) noteReasoning(part, from.towards, writing)
  const usable = reasoning.map(part => keepSignature(part, from.towards, writing))
  const sealedText = textSignature && from.towards === 'client' && options.ccSignature !== 'none' ? textSignature : undefined
  if (textSignature && !sealedText && !ownText) report.add(from.towards === 'client' ? 'reasoning.signature-dropped' : 'reasoning.foreign-signature', from.at)

  const field = options.ccReasoning ?? 'reasoning_content'
  const text = reasoningText(usable)
  const written: JsonObject = {}
  if (text && field !== 'details') written[field] = text
  const layout = from.towards === 'client' ? unusual(order) : undefined
  if (from.towards === 'server') noteOrder()
  const detailed =
    (from.towards === 'client' || usable.some(({ signature }) => signature) || field === 'details') &&
    (field === 'details' ? usable.length > 0 : needsDetails(usable))
  if ((detailed || sealedText) && options.ccSignature !== 'none')
    written['reasoning_details'] = encodeDetails({
      parts: usable.filter(({ segments, signature, id }) => segments.length > 0 || signature || id !== undefined),
      textSignature: sealedText,
      layout,
    })
  else if (layout) report.add('parts.order-lost', from.at)
  if (!written['reasoning_details']) for (const { id, at } of usable) report.onceEach('message.ids', at, { itemId: id })
  if (Object.keys(written).length > 0) report.once('reasoning.dialect-field', usable[0]?.at ?? from.at)
  return { ...written, ...ownText }
}

function noteReasoning(
  { at, ext, cache, type: _, segments: _segments, redacted: _redacted, id: _id, signature: _signature, ...rest }: ReasoningPart,
  towards: string,
  { report }: Writing,
): void {
  if (cache && towards === 'server') report.add('cache.place', at, 'cache')
  report.rest(rest, at)
  report.ext(ext, at)
}

/** The part with the signature only where the reader can use it. */
function keepSignature(part: ReasoningPart, towards: 'client' | 'server', { report, options }: Writing): ReasoningPart {
  const { signature, ...rest } = part
  if (!signature) return part
  if (towards === 'client' && options.ccSignature !== 'none') return part
  if (towards === 'server' && isOwnIssuer(signature.issuer)) return part
  report.add(towards === 'client' ? 'reasoning.signature-dropped' : 'reasoning.foreign-signature', part.at, part.redacted ? 'redacted' : 'signature')
  return rest
}

/** The order of the parts. */
function layoutOf(parts: readonly Part[], { own: verbatim }: Writing): string[] {
  let reasoning = 0
  return parts.flatMap(part => {
    if (part.type === 'reasoning') return [`r${reasoning++}`]
    if (part.type === 'text') return part.text ? [`x${part.text.length}`] : []
    return part.type === 'tool-call' ? [`c${verbatim ? part.id : mapCallId(part.id, validCallId)}`] : []
  })
}

const ranksOf = (layout: readonly string[]) => layout.map(token => 'rxc'.indexOf(token.charAt(0)))

/** Does it differ from the order that every reader assumes: reasoning, text, calls? */
const isDisordered = (layout: readonly string[]) => ranksOf(layout).some((rank, i, ranks) => rank < (ranks[i - 1] ?? 0))

/** The layout, unless readers assume it: reasoning, one text, calls. Where there is no reasoning, texts may stand apart. */
export function unusual(layout: string[]): string[] | undefined {
  const ranks = ranksOf(layout)
  return isDisordered(layout) || (ranks.includes(0) && ranks.filter(rank => rank === 1).length > 1) ? layout : undefined
}

/** `audio` of a message: whole in an answer, by id in a conversation. */
function encodeAudioAnswer(part: Extract<Part, { type: 'media' }>, { report }: Writing): JsonObject {
  const { type: _, kind: _kind, source, transcript, expiresAt, at, ext, ...rest } = part
  const { mime, ...audio } = source.type === 'base64' ? source : { type: '', data: undefined, mime: undefined }
  report.rest({ ...rest, ...(!own(ext) && mime !== undefined && { mime }) }, at)
  report.ext(ext, at)
  const { id } = formOf(ext)
  const shown = typeof id === 'string' ? id : source.type === 'reference' ? source.id || undefined : undefined
  if (own(ext)) return spell(defined({ id: shown, data: audio.data, transcript, expires_at: expiresAt }), ext)
  return { id: shown ?? 'audio_0', ...defined({ data: audio.data }), expires_at: expiresAt ?? 0, transcript: transcript ?? '' }
}
