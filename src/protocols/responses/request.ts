import type { Message, Part } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { ToolChoice } from '../../canonical/tool.ts'
import { TranslationError } from '../../errors.ts'
import { check } from '../../kit/check.ts'
import { defined, some } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { refuseForeignTools } from '../../kit/foreign-tools.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { withStrictTools } from '../../kit/strict-tools.ts'
import { holdsNoTurn } from '../../kit/turns.ts'
import type { Decoded, Encoded } from '../../protocol.ts'
import { expandChoice, expandTools } from './client-tools.ts'
import { decodeReasoningSpec, encodeReasoningSpec } from './effort.ts'
import { encodeItems } from './history.ts'
import { decodeItems } from './items.ts'
import type { ResponsesReport } from './notes.ts'
import type { Options } from './options.ts'
import { keep, ownForm, protocolName, splitNulls, wasUnsaid, wireOf } from './own.ts'
import { ResponsesRequest } from './schema.ts'
import { decodeCaching, decodeInclude, decodeOutput, decodeStream, encodeOutput, encodeSettings, encodeState, type Reading } from './settings.ts'
import { decodeToolChoice, encodeToolChoice } from './tool-choice.ts'
import { decodeTools, encodeTools, lacksSearch } from './tools.ts'
import { startWriting, type Writing } from './writing.ts'

/** @throws TranslationError `malformed` with the path, when the body is not a responses request */
export function decodeRequest(wire: unknown, options?: Options): Decoded<CanonicalRequest> {
  const { report } = startWriting('input', true, options)
  const given = check(protocolName, ResponsesRequest, wire)
  refuseOtherProtocols(given)
  const { present: body, nothing } = splitNulls(given)
  // The usual keys come last, where V8 begins its search.
  const {
    max_tool_calls: maxToolCalls,
    top_p: topP,
    top_logprobs: topLogprobs,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    text,
    previous_response_id: previous,
    conversation,
    background,
    truncation,
    context_management: contextManagement,
    prompt,
    prompt_cache_key: key,
    prompt_cache_options: cacheOptions,
    prompt_cache_retention: retention,
    metadata,
    safety_identifier: safetyId,
    user,
    service_tier: tier,
    stream_options: streamOptions,
    moderation,
    temperature,
    store,
    include,
    reasoning,
    stream,
    max_output_tokens: maxOutputTokens,
    parallel_tool_calls: parallelToolCalls,
    tool_choice: toolChoice,
    tools,
    instructions,
    input,
    model,
    ...rest
  } = body
  const fields: JsonObject = { ...rest }
  const form: JsonObject = {
    input: input === undefined ? undefined : typeof input === 'string' ? 'string' : 'items',
    emptyPrevious: previous === '' || undefined,
  }
  const reading: Reading = { fields, nothing, form, places: {}, report }
  const messages = decodeInput(input ?? [], report, options?.expandClientTools)
  const declared = tools && decodeTools(tools, '/tools', report)
  const offered = declared && expandTools(declared, report, options?.expandClientTools)
  const choice = toolChoice === undefined ? undefined : decodeToolChoice(toolChoice, fields)
  if (instructions !== undefined)
    messages.unshift({ role: 'system', parts: [{ type: 'text', text: instructions, at: '/instructions' }], origin: 'instructions', at: '/instructions' })
  const { asked, include: included } = decodeInclude(include, reading)
  const value: CanonicalRequest = {
    messages,
    ...defined({
      model,
      tools: offered && [...offered],
      toolChoice: choice && offered && offered !== declared ? expandChoice(choice, offered) : choice,
      parallelToolCalls,
      output: decodeOutput(text, reading),
      reasoning: decodeReasoningSpec(reasoning, reading),
      sampling: some({ temperature, topP, presencePenalty, frequencyPenalty }),
      maxOutputTokens,
      logprobs: asked || topLogprobs !== undefined ? defined({ enabled: asked ?? false, top: topLogprobs }) : undefined,
      cache: some({ key, retention, ...decodeCaching(cacheOptions, reading) }),
      serviceTier: some({ tier }),
      user: some({ safetyId, user }),
      metadata,
      state: some({
        store,
        // Some clients send an empty string, which refers to nothing.
        previousId: previous || undefined,
        conversation,
        background,
        prompt,
        include: included,
        truncation,
        contextManagement,
        maxToolCalls,
      }),
      safety: some({ moderation }),
      stream: decodeStream(stream, streamOptions, reading),
    }),
    ...keep(fields, nothing, form),
  }
  return { value, notes: report.notes, ...(Object.keys(reading.places).length > 0 && { fieldNames: reading.places }) }
}

/** The conversation has other keys in other protocols. Without `input`, the whole of it would be lost. */
function refuseOtherProtocols(body: ResponsesRequest): void {
  for (const key of ['messages', 'contents'])
    if (body.input === undefined && Object.hasOwn(body, key))
      throw new TranslationError(
        { code: 'malformed', protocol: protocolName, path: `/${key}` },
        `a request of this protocol has input, not ${key}; it was sent to the path of another protocol`,
      )
}

function decodeInput(input: NonNullable<ResponsesRequest['input']>, report: ResponsesReport, expandsAll: boolean | undefined): Message[] {
  if (typeof input === 'string')
    return [{ role: 'user', parts: [{ type: 'text', text: input, at: '/input' }], origin: 'item', at: '/input', ...keep({}, {}, { item: 'message' }) }]
  const messages = decodeItems(input, '/input', report, undefined, expandsAll ? 'all' : 'search')
  pairByName(messages, report)
  return messages
}

/** Gives results without a call id the id of the oldest open call of their name. With no call open, a result stays as it is. */
function pairByName(messages: readonly Message[], report: ResponsesReport): void {
  if (!messages.some(({ parts }) => parts.some(part => part.type === 'tool-result' && part.callId === ''))) return
  const parts = flatMap(messages, message => message.parts.map(part => ({ part, message })))
  const open: { id: string; name: string }[] = []
  for (const { part, message } of parts) {
    if (part.type === 'tool-call') open.push(part)
    if (part.type !== 'tool-result') continue
    const place = open.findIndex(({ id, name }) => (part.callId === '' ? part.name === undefined || name === part.name : id === part.callId))
    const [call] = place < 0 ? [] : open.splice(place, 1)
    if (part.callId !== '') continue
    if (!call && open.length === 0) continue
    const form = ownForm(message.ext)
    const given = wasUnsaid(form, 'call_id')
    if (form) Object.assign(form, { paired: true }, given ? {} : { said: '' }, part.name !== undefined && { name: part.name })
    // The name was needed only to find the call. If it matched no open call, the result stays without an id.
    delete part.name
    if (call) part.callId = call.id
    report.add('tool-result.call-id', part.at)
  }
}

/** @throws TranslationError `inexpressible` for references that only another provider can resolve, and for forced tools that do not exist here */
export function encodeRequest(value: CanonicalRequest, options?: Options): Encoded<JsonObject> {
  const writing = startWriting('input', ownForm(value.ext) !== undefined, options)
  const wire = encodeBody(value, writing)
  writing.report.settle(wire)
  const { tools, output } = writing
  const context = some({ tools: Object.keys(tools).length > 0 ? tools : undefined, output })
  const { input } = wire
  const isEmpty = !writing.native && Array.isArray(input) && holdsNoTurn(input as JsonObject[], value.messages)
  return { wire, notes: writing.report.notes, ...(context && { context }), ...(isEmpty && { isEmpty }) }
}

/** The body of a request. `writing.target` `output`: for the echo in an answer, where nothing is refused. */
export function encodeBody(request: CanonicalRequest, writing: Writing): JsonObject {
  const { report } = writing
  const value = withStrictTools(request, report)
  // The usual keys come last, where V8 begins its search.
  const {
    parallelToolCalls,
    output,
    reasoning,
    sampling,
    stop,
    candidateCount,
    logprobs,
    cache,
    serviceTier,
    user,
    metadata,
    state,
    safety,
    prediction,
    ext,
    stream,
    maxOutputTokens,
    toolChoice,
    tools,
    messages,
    model,
    ...rest
  } = value
  report.ext(ext, '')
  report.rest(rest, '')
  if (stop && stop.length > 0) report.rest({ stop }, '')
  if (candidateCount !== undefined && candidateCount !== 1) report.rest({ candidateCount }, '')
  if (prediction) report.rest({ prediction }, '')
  writing.loads = lacksSearch(tools, writing)
  const inner = tools && encodeTools(tools, writing)
  report.settle(inner, '/tools')
  const callable = inner?.filter(isObject)
  if (tools?.length && callable?.length === 0 && writing.target === 'input')
    refuseForeignTools('tools of the request', { protocol: protocolName, path: '/tools', notes: report.notes }, writing.options)
  writing.storeless = !writing.native && state?.store !== true
  const instructions = encodeInstructions(messages, writing)
  const items = encodeItems(instructions === undefined ? messages : messages.slice(1), writing)
  const known: JsonObject = {
    model,
    instructions,
    input: inputOf(items, ownForm(ext)),
    tools: inner?.length || writing.native ? inner : undefined,
    tool_choice:
      toolChoice &&
      (callable?.length || writing.native || !forces(toolChoice) || hasAdded(messages)
        ? encodeToolChoice(toolChoice, tools ?? [], writing)
        : noChoice(toolChoice, writing)),
    parallel_tool_calls: parallelToolCalls,
    text: encodeOutput(output, value, writing),
    reasoning: encodeReasoningSpec(reasoning, value, writing),
    metadata,
    ...encodeSettings({ sampling, maxOutputTokens, cache, serviceTier, user, safety, stream, logprobs }, value, writing),
    ...encodeState(state, logprobs, value, writing),
  }
  return wireOf(known, value.ext)
}

/** Does the choice force or restrict tools? Without tools it cannot be written. */
const forces = ({ mode }: ToolChoice) => mode === 'required' || mode === 'tool' || mode === 'allowed'

const hasAdded = (messages: readonly Message[]) => messages.some(({ parts }) => parts.some(part => part.type === 'control' && part.tools?.length))

/** Notes mode and name, not the whole choice: some protocols keep the parallel call limit in the same object, and it is still written. */
function noChoice({ mode }: ToolChoice, { report }: Writing): undefined {
  report.add('tool_choice.without-tools', '', 'toolChoice.mode')
  if (mode === 'tool' || mode === 'allowed') report.add('tool_choice.without-tools', '', 'toolChoice.name')
}

/** The items, or the text or nothing that they were read from. */
function inputOf(items: JsonObject[], form: JsonObject | undefined): JsonObject[] | string | undefined {
  const [only, more] = items
  if (!only) return form && form['input'] !== 'items' ? undefined : items
  const [part]: unknown[] = form?.['input'] === 'string' && !more && Array.isArray(only['content']) ? only['content'] : []
  return isObject(part) && typeof part['text'] === 'string' ? part['text'] : items
}

/** The text of the `instructions` field. Undefined: there are no instructions, or more than the field can hold. */
function encodeInstructions(messages: readonly Message[], { native, report }: Writing): string | undefined {
  const [first, second] = messages
  if (first?.origin !== 'instructions' || (second?.origin === 'instructions' && !native)) return undefined
  const [part, more] = first.parts
  if (!isPlainText(part) || more || !(part.text || native)) return undefined
  report.ext(first.ext, first.at)
  report.ext(part.ext, part.at)
  if (part.signature) report.add('reasoning.foreign-signature', part.at, 'signature')
  return part.text
}

function isPlainText(part: Part | undefined): part is Extract<Part, { type: 'text' }> {
  return part?.type === 'text' && !part.cache && !part.citations && !part.logprobs && !part.ext?.[protocolName]
}
