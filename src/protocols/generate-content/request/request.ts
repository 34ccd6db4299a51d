import type { CanonicalRequest } from '../../../canonical/request.ts'
import { omitNullish, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { merge } from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { leaveState } from '../../../kit/signatures/state.ts'
import type { Decoded, Encoded, EncodingContext, FieldNames } from '../../../protocol.ts'
import { match, target } from '../address.ts'
import { askForInvocations, decodeTools, encodeTools } from '../content/tools.ts'
import { asBeside, asInside, splitBeside, unwrapRequest, wrapAgain } from '../content/wrapper.ts'
import { type Reading, type RequestWriting, startWriting } from '../content/writing.ts'
import { createGeminiReport } from '../notes.ts'
import type { Options } from '../options.ts'
import { extOf, ownFields, ownObject, protocolName, under } from '../own.ts'
import { type GenerateContentBody, GenerateContentRequest } from '../schema.ts'
import { decodeContents, decodeSystem, encodeConversation } from './conversation.ts'
import { reasoningHere } from './effort.ts'
import { fields } from './fields.ts'
import { decodeFormat, encodeFormat, type Format } from './settings.ts'
import { inCamelCase, inSpelling, placesOf } from './spelling.ts'
import { decodeToolChoice, encodeToolChoice } from './tool-choice.ts'

/**
 * Body and path → request. The model and whether to stream are in the path, `options.path`.
 * @throws TranslationError `malformed` when the body is not a request of this protocol
 */
export function decodeRequest(given: unknown, options: Options = {}): Decoded<CanonicalRequest> {
  const report = createGeminiReport()
  const { body, at, beside } = unwrapRequest(given)
  const spelling = inCamelCase(body)
  const place = placesOf(spelling, at)
  const request = check(protocolName, GenerateContentRequest, spelling.wire, path =>
    pointerOf(place(at + path)),
  )
  const { contents, systemInstruction, tools, toolConfig, generationConfig } = request
  const names: FieldNames = at ? { '': at } : {}
  const reading: Reading = {
    report,
    root: at,
    place,
    names,
    inventedCallId: place => `call_${pointerOf(place)}`,
    speaks: undefined,
    resultCallId: undefined,
  }
  const called = options.path === undefined ? undefined : match(options.path)
  const { model: outer, ...others } = beside
  const {
    format,
    schemaAt,
    left = {},
  }: Format = generationConfig ? decodeFormat(generationConfig) : {}
  if (schemaAt) names['output.format.schema'] = `generationConfig/${schemaAt}`
  const chosen = toolConfig ? decodeToolChoice(toolConfig) : undefined
  const conversation = decodeContents(contents, reading)
  const value: CanonicalRequest = {
    messages: systemInstruction
      ? [decodeSystem(systemInstruction, reading), ...conversation]
      : conversation,
    ...omitNullish({
      tools: tools ? decodeTools(tools, reading) : undefined,
      toolChoice: chosen?.choice,
      output: omitUndefinedOrNone({ format }),
      source: at ? { protocol: protocolName, at } : undefined,
    }),
  }
  if (typeof outer === 'string') fields.read({ model: outer }, value)
  const unread = fields.read(request, value)
  if (called?.model !== undefined) value.model = called.model
  if (called?.stream !== undefined) value.stream = { enabled: called.stream }
  const unknown = merge(unread ?? {}, {
    ...under('generationConfig', left),
    ...under('toolConfig', chosen?.left),
  })
  const ext = extOf({
    ...asInside(unknown),
    ...asBeside({ ...others, ...(typeof outer !== 'string' && { model: outer }) }),
  })
  if (ext) value.ext = ext
  const spelled = inSpelling(names, spelling)
  return {
    value,
    notes: report.notes,
    ...(Object.keys(spelled).length > 0 && { fieldNames: spelled }),
  }
}

/**
 * Request → body. The model and whether to stream are in `context.path`.
 * @throws TranslationError `inexpressible` for references to state that another provider stores,
 * unless `onUnresolvable` is `note`
 */
export function encodeRequest(
  request: CanonicalRequest,
  options: Options = {},
): Encoded<GenerateContentBody> {
  const report = createGeminiReport(options.fieldNames)
  const { model, messages, tools, output, state, stream, ext, source } = request
  const native = source?.protocol === protocolName
  fields.leave(request, report)
  report.ext(ext, undefined)
  if (request.parallelToolCalls === false)
    report.add('field.unsupported', undefined, 'parallelToolCalls')
  const writing = startWriting(request, options, report, native)

  const declared = tools && encodeTools(tools, writing)
  const choice = encodeToolChoice(request, tools ?? [], writing)
  const invocations = askForInvocations(declared, writing)
  const conversation = encodeConversation(messages, writing)
  const { inside, beside } = splitBeside(ownFields(ext) ?? {})
  const left = ownObject(ext, 'generationConfig')
  if (state) {
    const { store: _, continuationToken: __, ...memory } = state
    leaveState(memory, options, report)
  }
  const begun: GenerateContentBody = {
    // Without a path it names the model itself.
    model:
      native && model !== undefined && options.path === undefined ? `models/${model}` : undefined,
    ...conversation,
    tools: declared,
    toolConfig: invocations ? { ...choice, ...invocations } : choice,
    ...under('generationConfig', encodeFormat(output?.format, left, report)),
  }
  fields.write(asHere(request, writing), writing, begun)
  const wire = merge<GenerateContentBody>(inside, begun)
  if (!model && stream?.enabled) report.add('field.unsupported', undefined, 'stream.enabled')
  const context: EncodingContext = {
    ...(model && {
      path: target({ operation: 'generate', model, stream: stream?.enabled ?? false }),
    }),
  }
  const isEmpty = !native && conversation.contents.length === 0
  return {
    wire: wrapAgain(wire, source?.at, beside),
    notes: report.notes,
    context,
    ...(isEmpty && { isEmpty }),
  }
}

/** The request with what this protocol can say of reasoning and of token probabilities. */
function asHere(request: CanonicalRequest, writing: RequestWriting): CanonicalRequest {
  const { native, report } = writing
  const { reasoning, logprobs } = request
  if (native) {
    if (reasoning)
      report.rest({ mode: reasoning.mode, summary: reasoning.summary }, undefined, 'reasoning.')
    return request
  }
  if (!reasoning && !logprobs) return request
  if (logprobs?.top && !logprobs.enabled) report.add('field.unsupported', undefined, 'logprobs.top')
  return omitNullish({
    ...request,
    reasoning: reasoning && reasoningHere(reasoning, writing),
    logprobs: logprobs?.enabled ? logprobs : undefined,
  })
}
