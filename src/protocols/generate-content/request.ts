import type { CanonicalRequest } from '../../canonical/request.ts'
import { check } from '../../kit/check.ts'
import { defined, present, some } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'
import { keysOf, unknownOf } from '../../kit/keys.ts'
import { gatherTools } from '../../kit/late-tools.ts'
import { pointerOf } from '../../kit/path.ts'
import type { Decoded, Encoded, EncodingContext, FieldNames } from '../../protocol.ts'
import { match, target } from './address.ts'
import { decodeContents, decodeSystem, encodeConversation } from './conversation.ts'
import { decodeReasoningSpec, encodeOwnReasoningSpec, encodeReasoningSpec } from './effort.ts'
import { createGeminiReport } from './notes.ts'
import type { Options } from './options.ts'
import { extOf, ownFields, ownObject, protocolName, under } from './own.ts'
import { type GeminiGenerationConfig, GeminiRequest } from './schema.ts'
import { decodeFormat, decodeVoice, encodeCaching, encodeLimits, encodeOutput, encodeSampling, encodeState, encodeTier } from './settings.ts'
import { inCamelCase, inSpelling, placesOf } from './spelling.ts'
import { decodeToolChoice, encodeToolChoice } from './tool-choice.ts'
import { askForInvocations, decodeTools, encodeTools } from './tools.ts'
import { modalityOf, tierWords } from './vocabulary.ts'
import { asBeside, asInside, splitBeside, unwrapRequest, wrapAgain } from './wrapper.ts'
import { type Reading, startWriting } from './writing.ts'

const knownRequest = keysOf<GeminiRequest>()(
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'safetySettings',
  'generationConfig',
  'cachedContent',
  'serviceTier',
  'store',
  'labels',
  'continuationToken',
)

/**
 * Body and path → request. The model and whether to stream are in the path, `options.path`.
 * @throws TranslationError `malformed` when the body is not a request of this protocol
 */
export function decodeRequest(given: unknown, options: Options = {}): Decoded<CanonicalRequest> {
  const report = createGeminiReport()
  const { body, at, beside } = unwrapRequest(given, options)
  const spelling = inCamelCase(body)
  const place = placesOf(spelling, at)
  const request = check(protocolName, GeminiRequest, spelling.wire, path => pointerOf(place(at + path)))
  const { model, contents, systemInstruction, tools, toolConfig, safetySettings, generationConfig, cachedContent, serviceTier, continuationToken } = request
  const names: FieldNames = at ? { '': at } : {}
  const reading: Reading = { report, root: at, place, names, callId: place => `call_${pointerOf(place)}`, speaks: undefined, answered: undefined }
  const called = options.path === undefined ? undefined : match(options.path)
  const { model: outer, ...others } = beside
  const named = model || (typeof outer === 'string' ? outer : undefined)
  const config = generationConfig ? decodeConfig(generationConfig, names) : undefined
  const chosen = toolConfig ? decodeToolChoice(toolConfig) : undefined
  const conversation = decodeContents(contents, reading)
  const value: CanonicalRequest = {
    messages: systemInstruction ? [decodeSystem(systemInstruction, reading), ...conversation] : conversation,
    ...present({
      model: called?.model ?? named?.replace(/^models\//, ''),
      tools: tools ? decodeTools(tools, reading) : undefined,
      toolChoice: chosen?.choice,
      metadata: request.labels,
      cache: cachedContent ? { contentRef: cachedContent } : undefined,
      serviceTier: serviceTier ? { tier: tierWords.toOurs(serviceTier) ?? serviceTier } : undefined,
      state: some({ store: request.store ?? undefined, continuationToken: continuationToken || undefined }),
      safety: safetySettings?.length ? { settings: safetySettings } : undefined,
      stream: called?.stream === undefined ? undefined : { enabled: called.stream },
      ext: extOf({
        ...asInside(unknownOf(request, knownRequest)),
        ...asBeside({ ...others, ...(typeof outer !== 'string' && { model: outer }) }),
        ...under('generationConfig', config?.left),
        ...under('toolConfig', chosen?.left),
      }),
      source: at ? { protocol: protocolName, at } : undefined,
    }),
    ...config?.known,
  }
  const spelled = inSpelling(names, spelling)
  return { value, notes: report.notes, ...(Object.keys(spelled).length > 0 && { fieldNames: spelled }) }
}

const knownConfig = keysOf<GeminiGenerationConfig & { _responseJsonSchema: unknown; responseFormat: unknown }>()(
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'stopSequences',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'responseLogprobs',
  'logprobs',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'responseFormat',
  'responseModalities',
  'speechConfig',
  'thinkingConfig',
)

/** `left`: the keys of the configuration that no canonical field holds. */
function decodeConfig(config: GeminiGenerationConfig, names: FieldNames): { known: Partial<CanonicalRequest>; left: JsonObject } {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed, responseLogprobs, logprobs, stopSequences, responseModalities } = config
  const format = decodeFormat(config)
  if (format.schemaAt) names['output.format.schema'] = `generationConfig/${format.schemaAt}`
  const voice = decodeVoice(config)
  const thinking = config.thinkingConfig ? decodeReasoningSpec(config.thinkingConfig) : undefined
  // Vertex AI accepts a fraction; the other protocols refuse one.
  const isFraction = topK != null && !Number.isInteger(topK)
  return {
    known: present({
      sampling: some(present({ temperature, topP, topK: isFraction ? undefined : topK, frequencyPenalty, presencePenalty, seed })),
      reasoning: thinking?.reasoning,
      output: some({ format: format.format, modalities: responseModalities?.length ? responseModalities.map(modalityOf) : undefined, audio: voice.audio }),
      candidateCount: config.candidateCount,
      maxOutputTokens: config.maxOutputTokens,
      stop: stopSequences?.length ? stopSequences : undefined,
      logprobs: responseLogprobs == null ? undefined : { enabled: responseLogprobs, ...present({ top: logprobs }) },
    }),
    left: {
      ...unknownOf(config, knownConfig),
      ...format.left,
      ...(isFraction && { topK }),
      ...under('speechConfig', voice.left),
      ...under('thinkingConfig', thinking?.left),
      ...(responseLogprobs == null && logprobs != null && { logprobs }),
    },
  }
}

const handled = keysOf<CanonicalRequest>()(
  'model',
  'messages',
  'tools',
  'toolChoice',
  'parallelToolCalls',
  'output',
  'reasoning',
  'sampling',
  'maxOutputTokens',
  'stop',
  'candidateCount',
  'logprobs',
  'cache',
  'serviceTier',
  'user',
  'metadata',
  'state',
  'safety',
  'stream',
  'ext',
)

/**
 * Request → body. The model and whether to stream are in `context.path`.
 * @throws TranslationError `inexpressible` for references to state that another provider stores, unless `onUnresolvable` is `note`
 */
export function encodeRequest(request: CanonicalRequest, options: Options = {}): Encoded<unknown> {
  const report = createGeminiReport(options.fieldNames)
  const { model, messages, tools, output, reasoning, sampling, cache, serviceTier, user, metadata, state, safety, stream, ext, source } = request
  const native = source?.protocol === protocolName
  const { settings, ...safetyLeft } = safety ?? {}
  const hasLabels = native || options.gcLabels === true
  report.unwritten(request, handled, undefined)
  if (!hasLabels) report.rest({ metadata }, undefined)
  report.rest(safetyLeft, undefined, 'safety.')
  if (!native) report.rest({ settings }, undefined, 'safety.')
  // Empty user ids mean nothing, so they need no note.
  if (user) report.rest(native ? user : Object.fromEntries(Object.entries(user).filter(([, named]) => named !== '')), undefined, 'user.')
  report.ext(ext, undefined)
  if (request.parallelToolCalls === false) report.add('field.unsupported', undefined, 'parallelToolCalls')
  const writing = startWriting(request, options, report, native)

  const all = gatherTools(request, { protocol: protocolName, report })
  const declared = tools || all.length > 0 ? encodeTools(all, writing) : undefined
  const choice = encodeToolChoice(request, all, writing)
  const invocations = askForInvocations(declared, writing)
  const conversation = encodeConversation(messages, writing)
  const { inside, beside } = splitBeside(ownFields(ext) ?? {})
  const left = ownObject(ext, 'generationConfig')
  const thinkingConfig = native
    ? encodeOwnReasoningSpec(reasoning ?? {}, left?.['thinkingConfig'], report)
    : reasoning && encodeReasoningSpec(reasoning, writing)
  const wire: JsonObject = {
    ...inside,
    ...conversation,
    ...defined({
      // Without a path it names the model itself.
      model: native && model !== undefined && options.path === undefined && source.at !== '/request' ? `models/${model}` : undefined,
      tools: declared,
      toolConfig: invocations ? { ...choice, ...invocations } : choice,
      safetySettings: native ? settings : undefined,
      generationConfig: some({
        ...left,
        ...(sampling && encodeSampling(sampling, writing)),
        ...encodeLimits(request, writing),
        ...(output && encodeOutput(output, left, writing)),
        ...defined({ thinkingConfig }),
      }),
      cachedContent: encodeCaching(cache, writing),
      serviceTier: encodeTier(serviceTier, writing),
      labels: hasLabels ? metadata : undefined,
      ...encodeState(state, writing),
    }),
  }
  if (!model && stream?.enabled) report.add('field.unsupported', undefined, 'stream.enabled')
  const context: EncodingContext = {
    ...(Object.keys(writing.renamed).length > 0 && { tools: writing.renamed }),
    ...(model && { path: target({ operation: 'generate', model, stream: stream?.enabled ?? false }, options.gcApiVersion) }),
  }
  const isEmpty = !native && conversation.contents.length === 0
  // Hosts that wrap every body name the model beside it.
  const outer = source?.at === '/request' ? defined({ model }) : {}
  return { wire: wrapAgain(wire, source?.at, { ...outer, ...beside }), notes: report.notes, context, ...(isEmpty && { isEmpty }) }
}
