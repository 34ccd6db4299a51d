import type { CanonicalRequest } from '../../canonical/request.ts'
import { check } from '../../kit/check.ts'
import { defined, some } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'
import { gatherTools } from '../../kit/late-tools.ts'
import { pointerOf } from '../../kit/path.ts'
import type { Decoded, Encoded, EncodingContext, FieldNames } from '../../protocol.ts'
import { match, target } from './address.ts'
import { decodeContents, decodeSystem, encodeConversation } from './conversation.ts'
import { decodeReasoningSpec, encodeReasoningSpec, nativeReasoningSpec } from './effort.ts'
import { createGeminiReport } from './notes.ts'
import type { Options } from './options.ts'
import { emptyTexts, keep, nulls, ownForm, ownKeys, protocolName, under } from './own.ts'
import { type GeminiGenerationConfig, GeminiRequest } from './schema.ts'
import { decodeFormat, decodeVoice, encodeCaching, encodeLimits, encodeOutput, encodeSampling, encodeState, encodeTier, keptConfig } from './settings.ts'
import { asItCame, inCamelCase, inSpelling, placesOf } from './spelling.ts'
import { decodeToolChoice, encodeToolChoice } from './tool-choice.ts'
import { askForInvocations, decodeTools, encodeTools } from './tools.ts'
import { modality, modalityOf, tierWords } from './vocabulary.ts'
import { asBeside, asInside, splitBeside, unwrapRequest, wrapAgain } from './wrapper.ts'
import { type Reading, startWriting } from './writing.ts'

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
  // The most frequent keys come last, where V8 starts its lookup.
  const {
    model,
    safetySettings,
    cachedContent,
    serviceTier,
    store,
    labels,
    continuationToken,
    toolConfig,
    tools,
    generationConfig,
    systemInstruction,
    contents,
    ...unknown
  } = request
  const names: FieldNames = at ? { '': at } : {}
  const reading: Reading = { report, root: at, place, names, callId: place => `call_${pointerOf(place)}`, speaks: undefined, answered: undefined }
  const called = options.path === undefined ? undefined : match(options.path)
  const { model: outer, ...others } = beside
  const said = model || (typeof outer === 'string' ? outer : undefined)
  const config = generationConfig ? decodeConfig(generationConfig) : undefined
  if (config?.schemaAt) names['output.format.schema'] = `generationConfig/${config.schemaAt}`
  const chosen = toolConfig ? decodeToolChoice(toolConfig) : undefined
  const tier = serviceTier ? (tierWords.toOurs(serviceTier) ?? serviceTier) : undefined
  const value: CanonicalRequest = {
    messages: [...(systemInstruction ? [decodeSystem(systemInstruction, reading)] : []), ...decodeContents(contents, reading)],
    ...defined({
      model: called?.model ?? said?.replace(/^models\//, ''),
      tools: tools ? decodeTools(tools, reading) : undefined,
      toolChoice: chosen?.choice,
      metadata: labels ?? undefined,
      cache: cachedContent ? { contentRef: cachedContent } : undefined,
      serviceTier: tier === undefined ? undefined : { tier },
      state: some({ store: store ?? undefined, continuationToken: continuationToken || undefined }),
      safety: safetySettings && safetySettings.length > 0 ? { settings: safetySettings } : undefined,
      stream: called?.stream === undefined ? undefined : { enabled: called.stream },
    }),
    ...config?.known,
    ...keep(
      {
        ...asInside(unknown),
        ...asBeside({ ...others, ...(typeof outer !== 'string' && outer !== undefined && { model: outer }) }),
        ...under('generationConfig', config?.fields),
        ...under('toolConfig', chosen?.fields),
      },
      {
        ...asInside(nulls(request)),
        ...emptyTexts({ cachedContent, serviceTier, continuationToken, model }),
        ...(safetySettings?.length === 0 && { safetySettings }),
        ...(config && { generationConfig: config.nothing }),
        ...(chosen && { toolConfig: chosen.nothing }),
      },
      {
        native: true,
        ...(model && { model }),
        ...(at && { wrapper: at }),
        ...(typeof outer === 'string' && { outer }),
        ...(tools && !Array.isArray(tools) && { tools: 'alone' }),
        ...(spelling.snake.length > 0 && { snake: spelling.snake }),
        ...config?.form,
      },
    ),
  }
  const spelled = inSpelling(names, spelling)
  return { value, notes: report.notes, ...(Object.keys(spelled).length > 0 && { fieldNames: spelled }) }
}

type Config = { known: Partial<CanonicalRequest>; fields: JsonObject; nothing: JsonObject; form: JsonObject; schemaAt: string | undefined }

function decodeConfig(config: GeminiGenerationConfig): Config {
  // The most frequent keys come last, where V8 starts its lookup.
  const {
    topP,
    topK,
    candidateCount,
    stopSequences,
    presencePenalty,
    frequencyPenalty,
    seed,
    responseLogprobs,
    logprobs,
    responseMimeType,
    responseSchema,
    responseJsonSchema,
    _responseJsonSchema,
    responseFormat,
    responseModalities,
    speechConfig: _speech,
    thinkingConfig,
    temperature,
    maxOutputTokens,
    ...fields
  } = config
  const format = decodeFormat(config)
  const voice = decodeVoice(config)
  const thinking = thinkingConfig ? decodeReasoningSpec(thinkingConfig) : undefined
  const modalities = responseModalities?.map(modalityOf)
  const orAbsent = (number: number | null | undefined) => number ?? undefined
  // Vertex AI accepts a fraction; the other protocols refuse one.
  const isFraction = topK != null && !Number.isInteger(topK)
  return {
    known: defined({
      sampling: some({
        temperature: orAbsent(temperature),
        topP: orAbsent(topP),
        topK: isFraction ? undefined : orAbsent(topK),
        frequencyPenalty: orAbsent(frequencyPenalty),
        presencePenalty: orAbsent(presencePenalty),
        seed: orAbsent(seed),
      }),
      reasoning: thinking && some(thinking.reasoning),
      output: some({ format: format.format, modalities: modalities?.length ? modalities : undefined, audio: voice.audio }),
      candidateCount: orAbsent(candidateCount),
      maxOutputTokens: orAbsent(maxOutputTokens),
      stop: stopSequences?.length ? stopSequences : undefined,
      logprobs: responseLogprobs == null ? undefined : { enabled: responseLogprobs, ...defined({ top: orAbsent(logprobs) }) },
    }),
    fields: {
      ...fields,
      ...(isFraction && { topK }),
      ...format.fields,
      ...voice.fields,
      ...under('thinkingConfig', thinking?.fields),
      ...(responseLogprobs == null && logprobs != null && { logprobs }),
    },
    nothing: {
      ...nulls(config),
      ...(stopSequences?.length === 0 && { stopSequences }),
      ...(responseModalities?.length === 0 && { responseModalities }),
      ...(thinking && { thinkingConfig: thinking.nothing }),
    },
    form: {
      ...(Object.keys(format.came).length > 0 && { format: format.came }),
      ...(responseModalities?.some(word => modality.toWire(modalityOf(word)) !== word) && { modalities: responseModalities }),
    },
    schemaAt: format.schemaAt,
  }
}

/**
 * Request → body. The model and whether to stream are in `context.path`.
 * @throws TranslationError `inexpressible` for references to state that another provider stores, unless `onUnresolvable` is `note`
 */
export function encodeRequest(request: CanonicalRequest, options: Options = {}): Encoded<unknown> {
  const report = createGeminiReport(options.fieldNames)
  // The most frequent keys come last, where V8 starts its lookup.
  const {
    parallelToolCalls,
    output,
    reasoning,
    sampling,
    stop: _stop,
    candidateCount: _count,
    logprobs: _logprobs,
    cache,
    serviceTier,
    user,
    metadata,
    state,
    safety,
    ext,
    stream,
    maxOutputTokens: _limit,
    toolChoice: _choice,
    tools,
    messages,
    model,
    ...left
  } = request
  const form = ownForm(request.ext)
  const native = form?.['native'] === true
  const { settings, ...safetyLeft } = safety ?? {}
  const hasLabels = native || options.gcLabels === true
  report.rest(left, undefined)
  if (!hasLabels) report.rest({ metadata }, undefined)
  report.rest(safetyLeft, undefined, 'safety.')
  if (!native) report.rest({ settings }, undefined, 'safety.')
  // Empty user ids mean nothing, so they need no note.
  if (user) report.rest(native ? user : Object.fromEntries(Object.entries(user).filter(([, named]) => named !== '')), undefined, 'user.')
  report.ext(ext, undefined)
  if (parallelToolCalls === false) report.add('field.unsupported', undefined, 'parallelToolCalls')
  const writing = startWriting(request, options, report, native)

  const all = gatherTools(request, { protocol: protocolName, report })
  const declared = tools || all.length > 0 ? encodeTools(all, writing) : undefined
  const choice = encodeToolChoice(request, all, writing)
  const invocations = askForInvocations(declared, writing)
  const toolConfig = choice || invocations ? { ...choice, ...invocations } : undefined
  const conversation = encodeConversation(messages, writing)
  const thinkingConfig = native ? nativeReasoningSpec(request, writing) : reasoning && encodeReasoningSpec(reasoning, writing)
  const own = keptConfig(request)
  const config: JsonObject = {
    ...own,
    ...encodeSampling(sampling, writing),
    ...encodeLimits(request, writing),
    ...encodeOutput(output, request, writing),
    ...defined({ thinkingConfig }),
  }
  const { inside, beside } = splitBeside(ownKeys(request.ext))
  const { generationConfig: _kept, toolConfig: _toolConfig, ...keys } = inside
  const wire: JsonObject = {
    ...keys,
    ...(_kept === null && { generationConfig: null }),
    ...(_toolConfig === null && { toolConfig: null }),
    ...(typeof form?.['model'] === 'string' && { model: spelledModel(form['model'], model) }),
    ...conversation,
    ...defined({
      tools: form?.['tools'] === 'alone' && declared?.length === 1 ? declared[0] : declared,
      toolConfig,
      safetySettings: native ? settings : undefined,
      generationConfig: own || Object.keys(config).length > 0 ? config : undefined,
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
  const body = asItCame(wire, form?.['snake'])
  const outer = typeof form?.['outer'] === 'string' ? { model: spelledModel(form['outer'], model) } : {}
  const isEmpty = !native && conversation.contents.length === 0
  return { wire: wrapAgain(body, form?.['wrapper'], { ...outer, ...beside }), notes: report.notes, context, ...(isEmpty && { isEmpty }) }
}

/** The model for a body: spelled as it came (`models/` or not), with the new name if the model was changed. */
const spelledModel = (came: string, model: string | undefined) =>
  model === undefined || came.replace(/^models\//, '') === model ? came : came.startsWith('models/') ? `models/${model}` : model
