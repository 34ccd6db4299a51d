import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { Tool, ToolChoice } from '../../../canonical/tool.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, merge } from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { leaveState } from '../../../kit/signatures/state.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import type { Decoded, Encoded, EncodingContext, FieldNames } from '../../../protocol.ts'
import { match, target } from '../address.ts'
import { asDeclared, askForInvocations, decodeTools, encodeTools } from '../content/tools.ts'
import { type Reading, type RequestWriting, startWriting } from '../content/writing.ts'
import type { Options } from '../options.ts'
import {
  asBeside,
  asInside,
  createGeminiReport,
  extOf,
  ownFields,
  ownObject,
  protocolName,
  splitBeside,
  under,
  unwrapRequest,
  wrapAgain,
} from '../own.ts'
import { GenerateContentRequest, type GenerateContentToolConfig } from '../schema.ts'
import { nearestServerTool } from '../vocabulary.ts'
import type {
  GenerateContentBody,
  GenerateContentCalling,
  GenerateContentWrittenToolConfig,
} from '../written.ts'
import { decodeContents, decodeSystem, encodeConversation } from './conversation.ts'
import { fields } from './fields.ts'
import { decodeFormat, encodeFormat, type Format, reasoningHere } from './settings.ts'
import { inCamelCase, inSpelling, placesOf } from './spelling.ts'

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
  if (schemaAt) {
    const place = `generationConfig/${schemaAt}`
    names['output.format.schema'] = place
    // A schema alone asks for JSON, too.
    if (generationConfig?.['responseMimeType'] == null) names['output.format'] = place
  }
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

const knownConfig = keysOf<GenerateContentToolConfig>()('functionCallingConfig')
const knownCalling = keysOf<NonNullable<GenerateContentToolConfig['functionCallingConfig']>>()(
  'mode allowedFunctionNames',
)

/** `left`: unknown keys, and what has no meaning together. */
function decodeToolChoice(toolConfig: GenerateContentToolConfig): {
  choice?: ToolChoice | undefined
  left: JsonObject | undefined
} {
  const { functionCallingConfig: calling } = toolConfig
  const unknown = unknownOf(toolConfig, knownConfig)
  if (!calling) return { left: unknown }
  const { mode, allowedFunctionNames } = calling
  const names = allowedFunctionNames ?? []
  const choice = choiceOf(mode, names)
  const isUnread = names.length > 0 && (!choice || choice.mode === 'auto' || choice.mode === 'none')
  const left = omitUndefinedOrNone({
    ...unknownOf(calling, knownCalling),
    mode: choice ? undefined : (mode ?? undefined),
    allowedFunctionNames: isUnread ? names : undefined,
  })
  return { choice, left: left ? { ...unknown, functionCallingConfig: left } : unknown }
}

function choiceOf(
  mode: string | null | undefined,
  names: readonly string[],
): ToolChoice | undefined {
  switch (mode?.toUpperCase()) {
    case 'AUTO':
      return { mode: 'auto' }
    case 'NONE':
      return { mode: 'none' }
    case 'VALIDATED':
      return { mode: 'validated', ...(names.length > 0 && { tools: [...names] }) }
    case 'ANY': {
      const [only] = names
      if (only === undefined) return { mode: 'required' }
      if (names.length === 1) return { mode: 'tool', kind: 'function', name: only }
      return {
        mode: 'allowed',
        require: true,
        tools: names.map(name => ({ kind: 'function', name })),
      }
    }
    default:
      return undefined
  }
}

// ---- canonical → wire

/**
 * `toolConfig`: the choice, and the kept keys. `tools`: all tools of the request, with those added
 * in mid-conversation.
 * @throws TranslationError `inexpressible` when a tool is forced that only another provider knows
 */
function encodeToolChoice(
  { toolChoice: choice, ext }: CanonicalRequest,
  tools: readonly Tool[],
  writing: RequestWriting,
): GenerateContentWrittenToolConfig | undefined {
  const own = ownObject(ext, 'toolConfig')
  const left = own?.['functionCallingConfig']
  const calling = omitUndefinedOrNone({
    ...(isObject(left) && left),
    ...(choice && callingOf(choice, tools, writing)),
  })
  return calling ? { ...own, functionCallingConfig: calling } : own
}

function callingOf(
  choice: ToolChoice,
  tools: readonly Tool[],
  { report, options, native }: RequestWriting,
): GenerateContentCalling | undefined {
  const mapped = options.serverTools === 'map' ? tools.filter(tool => tool.type === 'server') : []
  const hasFunctions =
    tools.some(({ type }) => type === 'function' || type === 'freeform') ||
    tools.some(tool => asDeclared(tool, options))
  if (!native && !hasFunctions) {
    // Without functions `auto` needs no note, and `none` needs one only if mapped server tools are
    // declared.
    const isLost =
      choice.mode === 'none'
        ? mapped.some(({ tool }) => nearestServerTool[tool])
        : choice.mode !== 'auto'
    if (isLost) report.add('tool-choice.without-tools', undefined, 'toolChoice')
    return undefined
  }
  const refuse = (): undefined => {
    report.add('tool-choice.unsupported', undefined, 'toolChoice')
    return undefined
  }
  switch (choice.mode) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'validated':
      return { mode: 'VALIDATED', ...omitUndefined({ allowedFunctionNames: choice.tools }) }
    case 'tool':
      if (choice.kind === 'server') {
        // A mapped tool is declared, but cannot be forced.
        if (options.serverTools !== 'map')
          refuseForeignTools(
            'forced tool',
            { protocol: protocolName, path: '/tool_choice' },
            options,
          )
        return refuse()
      }
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'allowed': {
      const functions = choice.tools.filter(({ kind }) => kind !== 'server')
      if (functions.length === 0) return refuse()
      for (const { kind, at } of choice.tools)
        if (kind === 'server')
          report.add('tool-choice.unsupported', at ?? report.placeOf('toolChoice'))
      if (!choice.require) report.add('tool-choice.validated', undefined, 'toolChoice')
      return {
        mode: choice.require ? 'ANY' : 'VALIDATED',
        allowedFunctionNames: functions.map(({ name }) => name),
      }
    }
    case 'opaque':
      return choice.protocol === protocolName && isObject(choice.raw) ? choice.raw : refuse()
    default:
      return choice satisfies never
  }
}
