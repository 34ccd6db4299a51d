import type { Message, Part } from '../../canonical/message.ts'
import type { CacheSpec, CanonicalRequest, OutputFormat, OutputSpec, ReasoningSpec, Sampling, StateSpec } from '../../canonical/request.ts'
import type { Tool, ToolChoice } from '../../canonical/tool.ts'
import { TranslationError } from '../../errors.ts'
import { check } from '../../kit/check.ts'
import { defined } from '../../kit/defined.ts'
import { hashHex, mapName } from '../../kit/ids.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { createReport } from '../../kit/report.ts'
import type { CodecOptions, Decoded, Encoded, EncodingContext } from '../../protocol.ts'
import { decodeCache, encodeCache, settleMarks, takeMarks } from './cache.ts'
import { decodeContent, encodeParts, type Writing } from './content.ts'
import { takesMidSystem } from './models.ts'
import { type MessagesReport, notes } from './notes.ts'
import { defaultMaxTokens, type MessagesOptions } from './options.ts'
import { keep, nulls, ownForm, ownKeys, ownUnder } from './own.ts'
import { encodeReasoningSpec, isThinking, isUnsignedLoop, nativeThought, type Thought } from './reasoning.ts'
import { type MessagesMessage, type MessagesRawBlock, MessagesRequest, type MessagesToolChoice } from './schema.ts'
import { decodeTool, encodeTool } from './tools.ts'
import { groupTurns, type Turn } from './turns.ts'
import { name, requestTier } from './vocabulary.ts'

type Options = CodecOptions & MessagesOptions

// ---- wire → canonical

/** @throws TranslationError `malformed` when the body is no messages request */
export function decodeRequest(wire: unknown, options: Options = {}): Decoded<CanonicalRequest> {
  const report = createReport(name, notes)
  const {
    model,
    messages,
    max_tokens,
    system,
    temperature,
    top_p,
    top_k,
    stop_sequences,
    stream,
    thinking,
    output_config,
    output_format,
    tools,
    tool_choice,
    metadata,
    service_tier,
    speed,
    cache_control,
    container,
    diagnostics,
    context_management,
    thread,
    ...unknown
  } = check(name, MessagesRequest, wire)
  if (options.requireMaxTokens && max_tokens == null) throw malformed('/max_tokens', 'a request says how many tokens it wants')
  const fields: JsonObject = { ...unknown }
  const nothing: JsonObject = nulls({
    max_tokens,
    system,
    temperature,
    top_p,
    top_k,
    stop_sequences,
    stream,
    thinking,
    output_config,
    output_format,
    tools,
    tool_choice,
    metadata,
    service_tier,
    speed,
    container,
    diagnostics,
    context_management,
    thread,
  })
  const under = (key: string, rest: JsonObject, spelled: JsonObject) => {
    nothing[key] = spelled
    if (Object.keys(rest).length > 0) fields[key] = rest
  }
  const cache = decodeCache(cache_control)
  const reasoning: ReasoningSpec = {}
  if (thinking) {
    const { type, budget_tokens, display, ...rest } = thinking
    Object.assign(reasoning, defined({ mode: type, budgetTokens: budget_tokens ?? undefined, display: display ?? undefined }))
    under('thinking', rest, nulls({ budget_tokens, display }))
  }
  let format: OutputFormat | undefined
  if (output_config) {
    const { effort, format: asked, ...rest } = output_config
    if (effort != null) reasoning.effort = effort
    const read = asked ? decodeFormat(asked) : undefined
    format = read?.format
    under('output_config', { ...rest, ...(read?.unknown && { format: read.unknown }) }, nulls({ effort, format: asked }))
  }
  const old = !output_config?.format && output_format ? decodeFormat(output_format) : undefined
  if (old?.unknown) fields['output_format'] = old.unknown
  else if (output_format && !old) fields['output_format'] = output_format
  if (tool_choice)
    under(
      'tool_choice',
      unknownOfChoice(tool_choice),
      tool_choice.disable_parallel_tool_use === true ? {} : onlyTold({ disable_parallel_tool_use: tool_choice.disable_parallel_tool_use }),
    )
  let safetyId: string | undefined
  if (metadata) {
    const { user_id, ...rest } = metadata
    safetyId = user_id ?? undefined
    under('metadata', rest, nulls({ user_id }))
  }
  const sampling: Sampling = defined({ temperature: temperature ?? undefined, topP: top_p ?? undefined, topK: top_k ?? undefined })
  const tier = service_tier == null ? undefined : (requestTier.toOurs(service_tier) ?? service_tier)
  const asked = defined({ format: format ?? old?.format })
  const state: StateSpec = defined({ container: container ?? undefined, contextManagement: context_management ?? undefined, thread: thread ?? undefined })
  const caching: CacheSpec = defined({ auto: cache.known.cache, diagnostics: diagnostics ?? undefined })
  const some = <T extends object>(value: T): T | undefined => (Object.keys(value).length > 0 ? value : undefined)
  const value: CanonicalRequest = {
    messages: [...decodeSystem(system, report), ...messages.map((message, index) => decodeMessage(message, `/messages/${index}`, report, options))],
    ...defined({
      model,
      tools: tools?.map((tool, index) => decodeTool(tool, `/tools/${index}`)),
      toolChoice: tool_choice ? decodeChoice(tool_choice) : undefined,
      parallelToolCalls: tool_choice?.disable_parallel_tool_use == null ? undefined : !tool_choice.disable_parallel_tool_use,
      output: some(asked) as OutputSpec | undefined,
      reasoning: some(reasoning),
      sampling: some(sampling),
      maxOutputTokens: max_tokens ?? undefined,
      stop: stop_sequences ?? undefined,
      cache: some(caching),
      serviceTier: some(defined({ tier, speed: speed ?? undefined })),
      user: safetyId === undefined ? undefined : { safetyId },
      state: some(state),
      stream: stream == null ? undefined : { enabled: stream },
    }),
    ...keep(
      { ...fields, ...cache.fields },
      { ...nothing, ...cache.nothing },
      {
        native: true,
        ...(old?.format && { format: 'output_format' }),
        ...(tier !== undefined && tier === service_tier && requestTier.toWire(tier) !== tier && { tier }),
      },
    ),
  }
  return { value, notes: report.notes }
}

function malformed(path: string, message: string): TranslationError {
  return new TranslationError({ code: 'malformed', protocol: name, path }, message)
}

function onlyTold(values: JsonObject): JsonObject {
  return defined(values) as JsonObject
}

function decodeSystem(system: MessagesRequest['system'], report: MessagesReport): Message[] {
  if (system === undefined || system === null) return []
  const { parts, form } = decodeContent(system, '/system', report)
  return [{ role: 'system', origin: 'instructions', parts, at: '/system', ...keep({}, {}, { content: form }) }]
}

function decodeMessage({ role, content, ...fields }: MessagesMessage, at: string, report: MessagesReport, { midSystem }: MessagesOptions): Message {
  if (role === 'system' && midSystem === 'reject') throw malformed(`${at}/role`, 'instructions stand in the field `system`, not in `messages`')
  const { parts, form } = decodeContent(content, `${at}/content`, report)
  return { role, origin: 'message', parts, at, ...keep(fields, {}, { content: form }) }
}

/** A format, and what is unknown of it: all of it, when its kind is. */
function decodeFormat(wire: JsonObject): { format?: OutputFormat; unknown?: JsonObject } {
  const { type, schema, ...rest } = wire
  if (type !== 'json_schema' || !isObject(schema)) return { unknown: wire }
  return { format: { type: 'schema', schema }, ...(Object.keys(rest).length > 0 && { unknown: rest }) }
}

function decodeChoice(wire: MessagesToolChoice): ToolChoice {
  switch (wire.type) {
    case 'auto':
      return { mode: 'auto' }
    case 'any':
      return { mode: 'required' }
    case 'none':
      return { mode: 'none' }
    case 'tool':
      if (wire.name === undefined) throw malformed('/tool_choice/name', 'a chosen tool has a name')
      return { mode: 'tool', kind: 'function', name: wire.name }
    default:
      return { mode: 'opaque', protocol: name, raw: wire }
  }
}

function unknownOfChoice({ type, name: _, disable_parallel_tool_use: __, ...rest }: MessagesToolChoice): JsonObject {
  return ['auto', 'any', 'none', 'tool'].includes(type) ? rest : {}
}

// ---- canonical → wire

/** @throws TranslationError `inexpressible` for references to memory of another provider, unless they are to be noted */
export function encodeRequest(request: CanonicalRequest, options: Options = {}): Encoded<unknown> {
  const report = createReport(name, notes, options.fieldNames)
  const {
    model,
    messages,
    tools,
    toolChoice,
    parallelToolCalls,
    output,
    reasoning,
    sampling,
    maxOutputTokens,
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
    stream,
    ext,
    ...left
  } = request
  report.rest({ ...left, ...defined({ metadata, prediction }) }, undefined)
  if (safety) report.rest(safety, undefined, 'safety.')
  report.ext(ext, undefined)
  const native = ownForm(request)?.['native'] === true
  const writing = startWriting(request, options, report, native)

  const wanted = encodeTools(request, native, writing, options, report)
  const choice = encodeChoice(toolChoice, parallelToolCalls, wanted.tools !== undefined, request, native, writing, report)
  const conversation = encodeMessages(messages, model, native, writing, options, report)
  if (!native) settle(writing, wanted.tools, conversation, report)

  const asked = maxOutputTokens ?? (native ? undefined : maxTokensFor(model, options))
  if (maxOutputTokens === undefined && asked !== undefined) report.add('max_tokens.default', '/max_tokens')
  const forced = choice?.['type'] === 'any' || choice?.['type'] === 'tool'
  const thought: Partial<Thought> = native
    ? nativeThought(request, forced, options, report)
    : reasoning && asked !== undefined
      ? encodeReasoningSpec(reasoning, request, { report, options, maxTokens: asked, forced, unsignedLoop: isUnsignedLoop(messages) })
      : {}
  const format = encodeFormat(output, report, options, conversation)
  if (candidateCount !== undefined && candidateCount !== 1) report.add('candidates.first-only', undefined, 'candidateCount')
  if (logprobs?.enabled) report.add('field.unsupported', undefined, 'logprobs')
  if (logprobs?.top) report.add('field.unsupported', undefined, 'logprobs.top')

  const wire: JsonObject = {
    ...topKeys(request),
    ...defined({
      model,
      max_tokens: thought.maxTokens ?? asked,
      ...conversation,
      thinking: thought.thinking,
      output_config: encodeOutputConfig(request, thought.effort, ownForm(request)?.['format'] === undefined ? format : undefined),
      output_format: ownForm(request)?.['format'] === undefined ? undefined : format && { ...ownUnder(request, 'output_format'), ...format },
      tools: wanted.tools,
      tool_choice: choice,
      ...encodeSampling(sampling, { native, thinks: !native && isThinking(thought) }, options, report),
      stop_sequences: stop,
      metadata: encodeUser(user, request, report),
      ...encodeTier(serviceTier, options, { native, spelled: ownForm(request)?.['tier'] }, report),
      ...encodeCaching(cache, request, options, native, report, writing),
      ...encodeState(state, native, options, report, wanted.limited),
    }),
    ...(stream && { stream: stream.enabled }),
  }
  const context: EncodingContext = Object.keys(writing.renamed).length > 0 ? { tools: writing.renamed } : {}
  return { wire, notes: report.notes, context }
}

/** Fields whose own function writes what is kept of them. */
const nested = new Set(['thinking', 'output_config', 'tool_choice', 'metadata'])

function topKeys(request: CanonicalRequest): JsonObject {
  return Object.fromEntries(Object.entries(ownKeys(request)).filter(([key, value]) => value === null || !nested.has(key)))
}

type RequestWriting = Omit<Writing, 'native'> & {
  renamed: NonNullable<EncodingContext['tools']>
  nameTool(called: string, namespace: string | undefined, at: string | undefined, wrapped?: boolean): string
}

function startWriting({ tools, messages }: CanonicalRequest, options: Options, report: MessagesReport, native: boolean): RequestWriting {
  const renamed: NonNullable<EncodingContext['tools']> = {}
  const written = new Map<string, string>()
  const taken = new Set<string>()
  const freeform = new Set(tools?.flatMap(tool => (tool.type === 'freeform' ? [keyOf(tool.name, tool.namespace)] : [])))
  const nameTool = (called: string, namespace: string | undefined, at: string | undefined, wrapped = false): string => {
    const key = keyOf(called, namespace)
    const known = written.get(key)
    if (known !== undefined) return known
    const flat = namespace === undefined ? called : `${namespace}__${called}`
    const fitting = native && namespace === undefined ? called : mapName(flat, nameLimit)
    const wire = taken.has(fitting) && !native ? `${fitting.slice(0, nameLimit - 9)}_${hashHex(key, 8)}` : fitting
    if (namespace !== undefined) report.add('tool.namespace', at, 'namespace')
    if (wire !== flat) report.add('tool.renamed', at, 'name')
    taken.add(wire)
    written.set(key, wire)
    if (wire !== called || namespace !== undefined || wrapped)
      Object.defineProperty(renamed, wire, {
        value: { name: called, ...(namespace !== undefined && { namespace }), ...(wrapped && { wrapped }) },
        enumerable: true,
        configurable: true,
        writable: true,
      })
    return wire
  }
  return {
    report,
    to: 'provider',
    callId: id => id,
    toolName: (called, namespace, at) => nameTool(called, namespace, at, freeform.has(keyOf(called, namespace))),
    nameTool,
    called: new Set(messages.flatMap(({ parts }) => parts.flatMap(part => (part.type === 'tool-call' ? [part.id] : [])))),
    renamed,
    unsigned: options.amUnsigned ?? 'drop',
    newest: options.apiVersion === '2026-10-21',
    unresolvable: part => refuse(part.at ?? '', options, report),
    marks: [],
    place: 'messages',
  }
}

const nameLimit = 128

const keyOf = (called: string, namespace: string | undefined) => JSON.stringify([namespace ?? null, called])

/** Loss of what the model would answer to is no matter for a note, unless the caller says so. */
function refuse(path: string, { onUnresolvable }: Options, report: MessagesReport): void {
  if (onUnresolvable !== 'note') throw new TranslationError({ code: 'inexpressible', protocol: name, path }, notes['state.unresolvable'].reason)
  report.add('state.unresolvable', path)
}

function encodeMessages(
  messages: readonly Message[],
  model: string | undefined,
  native: boolean,
  writing: RequestWriting,
  options: Options,
  report: MessagesReport,
): { system?: string | MessagesRawBlock[]; messages: JsonObject[] } {
  for (const message of messages) encodeEnvelope(message, report)
  const first = messages.findIndex(({ role, origin }) => (native ? origin !== 'instructions' : role !== 'system' && role !== 'developer'))
  const leading = first < 0 ? messages : messages.slice(0, first)
  const others = first < 0 ? [] : messages.slice(first)
  if (leading.some(({ role }) => role === 'developer')) report.once('system.developer-role', leading.find(({ role }) => role === 'developer')?.at, 'role')
  const system = encodeSystem(leading, native, writing)
  const wires = native
    ? others.map(message => encodeNative(message, writing))
    : encodeTurns(others, model, writing, options, report, blocks => system.push(...blocks))
  const spelled = leading.length === 1 && leading[0] ? ownForm(leading[0])?.['content'] : undefined
  const only = system.length === 1 ? system[0] : undefined
  if (native && leading.length > 0 && system.length === 0) return { system: spelled === 'string' ? '' : [], messages: wires }
  if (system.length === 0) return { messages: wires }
  const plain = only && isPlain(only) && spelled !== 'blocks' ? only.text : undefined
  return { system: plain ?? system, messages: wires }
}

/** What stands around the parts of a message and has no place here. */
function encodeEnvelope({ at, ext, name: participant, id, status, phase }: Message, report: MessagesReport): void {
  report.ext(ext, at)
  if (participant !== undefined) report.add('message.name', at, 'name')
  if (id !== undefined || status !== undefined) report.once('message.envelope', at)
  if (phase !== undefined && phase !== null) report.add('field.unsupported', at, 'phase')
}

function isPlain(block: MessagesRawBlock): block is { type: 'text'; text: string } {
  return block.type === 'text' && Object.keys(block).length === 2
}

function encodeSystem(leading: readonly Message[], native: boolean, writing: RequestWriting): MessagesRawBlock[] {
  return leading.flatMap(message =>
    encodeParts(
      message.parts.filter(part => isInstruction(part, native, writing.report)),
      { ...writing, native, place: 'system' },
      'system',
    ),
  )
}

function isInstruction(part: Part, native: boolean, report: MessagesReport): boolean {
  if (native || part.type === 'text' || part.type === 'control' || part.type === 'opaque') return true
  report.add('system.not-text', part.at)
  return false
}

function encodeNative(message: Message, writing: RequestWriting): JsonObject {
  const { role, parts } = message
  const blocks = encodeParts(parts, { ...writing, native: true }, role)
  const [only] = blocks
  const string = ownForm(message)?.['content'] === 'string'
  const content = string && blocks.length === 0 ? '' : string && blocks.length === 1 && only && isPlain(only) ? only.text : blocks
  const word = role === 'assistant' || role === 'system' ? role : role === 'developer' ? 'system' : 'user'
  return { ...ownKeys(message), role: word, content }
}

type Wire = { role: string; blocks: MessagesRawBlock[]; own: JsonObject }

function encodeTurns(
  messages: readonly Message[],
  model: string | undefined,
  writing: RequestWriting,
  options: Options,
  report: MessagesReport,
  hoist: (blocks: MessagesRawBlock[]) => void,
): JsonObject[] {
  const { turns, ids } = groupTurns(messages, report, options.repairToolPairs ?? 'keep')
  const wires: Wire[] = []
  /** Instructions that wait for the head of the next user message. */
  let waiting: MessagesRawBlock[] = []
  const asUser = () => {
    if (waiting.length === 0) return
    const before = wires.at(-1)
    if (before?.role === 'user') before.blocks.push(...waiting)
    else wires.push({ role: 'user', blocks: waiting, own: {} })
    waiting = []
  }
  for (const turn of turns) {
    const blocks = encodeTurn(turn, writing, ids)
    const own = turn.sources.length === 1 && turn.sources[0] ? ownKeys(turn.sources[0]) : {}
    if (turn.role === 'system') {
      if (blocks.length === 0) continue
      const at = turn.sources[0]?.at
      if (turn.sources[0]?.role === 'developer') report.once('system.developer-role', at, 'role')
      const placement = options.systemPlacement ?? 'auto'
      const before = wires.at(-1)?.role
      if (placement === 'hoist') {
        report.add('system.hoisted', at)
        hoist(blocks)
      } else if (placement === 'auto' && takesMidSystem(model) && waiting.length === 0 && (before === 'user' || before === 'system')) {
        if (before === 'system') wires.at(-1)?.blocks.push(...blocks)
        else wires.push({ role: 'system', blocks, own })
      } else {
        report.add('system.mid-conversation-as-user', at)
        waiting.push(...blocks.map(asTagged))
      }
    } else if (turn.role === 'assistant') {
      asUser()
      if (blocks.length > 0) wires.push({ role: 'assistant', blocks, own })
    } else if (blocks.length > 0) {
      const results = blocks.findLastIndex(({ type }) => type === 'tool_result') + 1
      wires.push({ role: 'user', blocks: [...blocks.slice(0, results), ...waiting, ...blocks.slice(results)], own })
      waiting = []
    }
  }
  asUser()
  return wires.map(({ role, blocks, own }) => {
    const [only] = blocks
    return { ...own, role, content: blocks.length === 1 && only && isPlain(only) ? only.text : blocks }
  })
}

function asTagged(block: MessagesRawBlock): MessagesRawBlock {
  return block.type === 'text' ? { ...block, text: `<system>${String(block['text'])}</system>` } : block
}

function encodeTurn({ role, parts }: Turn, writing: RequestWriting, ids: Map<Part, string>): MessagesRawBlock[] {
  const known = role === 'system' ? parts.filter(part => isInstruction(part, false, writing.report)) : parts
  return known.flatMap(part => encodeParts([part], { ...writing, native: false, callId: id => ids.get(part) ?? id }, role))
}

function encodeTools(
  { tools, messages, toolChoice, state }: CanonicalRequest,
  native: boolean,
  writing: RequestWriting,
  options: Options,
  report: MessagesReport,
): { tools?: JsonObject[]; limited: boolean } {
  const late = messages.flatMap(({ parts }) =>
    parts.flatMap(part => (part.type === 'control' && part.protocol !== name && part.tools ? [{ part, tools: part.tools }] : [])),
  )
  for (const { part } of late) report.add('tool.added-late', part.at)
  // A tool that is there already needs no second entry, and a server takes none.
  const all = [...(tools ?? [])]
  for (const { tools: added } of late) for (const tool of added) if (!all.some(other => isNamedAlike(other, tool))) all.push(tool)
  const allowed = toolChoice?.mode === 'allowed' ? callable(toolChoice, all, messages, options, report) : undefined
  const server: number[] = []
  const wires: JsonObject[] = []
  for (const tool of all) {
    if (allowed && !allowed.has(tool)) continue
    const wire = encodeTool(tool, { report, options, toolName: writing.nameTool, marks: writing.marks })
    if (!wire) continue
    if (tool.type === 'server' && !tool.clientExecuted) server.push(wires.length)
    wires.push(wire)
  }
  if (wires.length === 0 && all.length > 0 && all.every(({ type }) => type === 'server') && !native) {
    if (options.onUnresolvable !== 'note')
      throw new TranslationError(
        { code: 'inexpressible', protocol: name, path: all[0]?.at ?? '/tools', notes: report.notes },
        'the only tools are ones that another provider runs',
      )
  }
  const [only] = server
  const limited = !native && state?.maxToolCalls !== undefined && server.length === 1 && only !== undefined
  if (limited) {
    wires[only] = { ...wires[only], max_uses: state.maxToolCalls }
    report.add('tool.max-uses', undefined, 'state.maxToolCalls')
  }
  return { ...(tools && (wires.length > 0 || native) ? { tools: wires } : wires.length > 0 && { tools: wires }), limited }
}

function isNamedAlike(one: Tool, other: Tool): boolean {
  if (one.type === 'opaque' || one.type === 'server' || other.type === 'opaque' || other.type === 'server') return false
  return one.name === other.name && one.namespace === other.namespace
}

/** The tools that may be called; undefined: all are sent. */
function callable(
  choice: Extract<ToolChoice, { mode: 'allowed' }>,
  tools: readonly Tool[],
  messages: readonly Message[],
  { amAllowedTools }: Options,
  report: MessagesReport,
): Set<Tool> | undefined {
  const signed = messages.some(({ parts }) => parts.some(({ type, signature }) => type === 'reasoning' && signature?.issuer === name))
  const names = new Set(choice.tools.map(({ name: called }) => called))
  const listed = tools.filter(tool => 'name' in tool && tool.name !== undefined && names.has(tool.name))
  if (listed.length === tools.length) return undefined
  if (choice.require && listed.length === 1) return undefined
  if (amAllowedTools === 'keep' || (amAllowedTools === undefined && signed)) {
    report.add('tool_choice.subset-not-enforced', undefined, 'toolChoice')
    return undefined
  }
  report.add('tool_choice.subset-filtered', undefined, 'toolChoice')
  return new Set(listed)
}

function encodeChoice(
  choice: ToolChoice | undefined,
  parallel: boolean | undefined,
  hasTools: boolean,
  request: CanonicalRequest,
  native: boolean,
  writing: RequestWriting,
  report: MessagesReport,
): JsonObject | undefined {
  if (!choice && parallel !== false) return undefined
  if (!hasTools && !native) {
    if (choice && choice.mode !== 'auto' && choice.mode !== 'none') report.add('tool_choice.without-tools', undefined, 'toolChoice')
    if (parallel === false) report.add('tool_choice.without-tools', undefined, 'parallelToolCalls')
    return undefined
  }
  const word = choice ? encodeMode(choice, request, writing, report) : { type: 'auto' }
  if (!word) return undefined
  const single = parallel === false && word['type'] !== 'none' ? { disable_parallel_tool_use: true } : {}
  return { ...ownUnder(request, 'tool_choice'), ...word, ...single, ...(native && parallel === false && { disable_parallel_tool_use: true }) }
}

function encodeMode(choice: ToolChoice, { tools }: CanonicalRequest, writing: RequestWriting, report: MessagesReport): JsonObject | undefined {
  switch (choice.mode) {
    case 'auto':
      return { type: 'auto' }
    case 'none':
      return { type: 'none' }
    case 'required':
      return { type: 'any' }
    case 'tool': {
      const { name: called, namespace, kind } = choice
      const exists = tools?.some(tool => tool.type === 'server' && tool.protocol === name && tool.name === called)
      if (kind === 'server' && !exists) {
        report.add('tool.server', undefined, 'toolChoice')
        return undefined
      }
      const owner = tools?.find(tool => (tool.type === 'function' || tool.type === 'freeform') && tool.name === called)
      const space = namespace ?? (owner && 'namespace' in owner ? owner.namespace : undefined)
      return { type: 'tool', name: writing.nameTool(called, space, undefined, kind === 'freeform') }
    }
    case 'allowed': {
      const [only] = choice.tools
      if (choice.require && choice.tools.length === 1 && only)
        return { type: 'tool', name: writing.nameTool(only.name, undefined, undefined, only.kind === 'freeform') }
      return { type: choice.require ? 'any' : 'auto' }
    }
    case 'opaque':
      if (choice.protocol === name && isObject(choice.raw)) return choice.raw
      report.add('field.unsupported', undefined, 'toolChoice')
      return undefined
    default:
      return choice satisfies never
  }
}

function maxTokensFor(model: string | undefined, { defaultMaxTokens: given = defaultMaxTokens }: MessagesOptions): number {
  return typeof given === 'function' ? given(model) : given
}

function encodeFormat(
  output: OutputSpec | undefined,
  report: MessagesReport,
  { amJsonMode }: Options,
  conversation: { system?: string | MessagesRawBlock[] },
): JsonObject | undefined {
  if (!output) return undefined
  const { format, modalities, ...rest } = output
  report.rest(rest, undefined, 'output.')
  if (modalities?.some(kind => kind.toLowerCase() !== 'text')) report.add('field.unsupported', undefined, 'output.modalities')
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined
    case 'json': {
      if (amJsonMode !== 'instruct') {
        report.add('field.unsupported', undefined, 'output.format')
        return undefined
      }
      report.add('output.json-instructed', '/system')
      const line = { type: 'text', text: 'Answer with one JSON object and nothing else.' }
      const { system } = conversation
      conversation.system = system === undefined ? line.text : [...(typeof system === 'string' ? [{ type: 'text', text: system }] : system), line]
      return undefined
    }
    case 'schema':
      if (format.strict === false) report.add('output.strict', undefined, 'output.format.strict')
      return { type: 'json_schema', schema: format.schema }
    case 'opaque':
      if (format.protocol === name && isObject(format.raw)) return format.raw
      report.add('field.unsupported', undefined, 'output.format')
      return undefined
    default:
      return format satisfies never
  }
}

function encodeOutputConfig(request: CanonicalRequest, effort: string | undefined, format: JsonObject | undefined): JsonObject | undefined {
  const own = ownUnder(request, 'output_config')
  const kept = own?.['format']
  const config = { ...own, ...defined({ effort, format: format && { ...(isObject(kept) && kept), ...format } }) }
  return own || Object.keys(config).length > 0 ? config : undefined
}

function encodeSampling(
  sampling: Sampling | undefined,
  { native, thinks }: { native: boolean; thinks: boolean },
  { apiVersion, amSamplingWithThinking }: Options,
  report: MessagesReport,
): JsonObject {
  if (!sampling) return {}
  const { temperature, topP, topK, ...rest } = sampling
  report.rest(rest, undefined, 'sampling.')
  if (apiVersion === '2026-10-21') {
    for (const [key, value] of Object.entries({ temperature, topP, topK }))
      if (value !== undefined) report.add('sampling.version', undefined, `sampling.${key}`)
    return {}
  }
  if (thinks && amSamplingWithThinking !== 'keep') {
    if (temperature !== undefined && temperature !== 1) report.add('sampling.with-thinking', undefined, 'sampling.temperature')
    if (topP !== undefined && topP !== 1) report.add('sampling.with-thinking', undefined, 'sampling.topP')
    if (topK !== undefined) report.add('sampling.with-thinking', undefined, 'sampling.topK')
    return {}
  }
  const hot = temperature !== undefined && temperature > 1 && !native
  if (hot) report.add('sampling.temperature-clamped', undefined, 'sampling.temperature')
  return defined({ temperature: hot ? 1 : temperature, top_p: topP, top_k: topK })
}

const userLimit = 512

function encodeUser(user: CanonicalRequest['user'], request: CanonicalRequest, report: MessagesReport): JsonObject | undefined {
  const own = ownUnder(request, 'metadata')
  const { safetyId, user: named, ...rest } = user ?? {}
  report.rest(rest, undefined, 'user.')
  if (safetyId !== undefined && named !== undefined && named !== safetyId) report.add('field.unsupported', undefined, 'user.user')
  const id = safetyId ?? named
  if (id === undefined) return own
  const fits = id.length <= userLimit || own !== undefined
  if (!fits) report.add('user.hashed', undefined, safetyId === undefined ? 'user.user' : 'user.safetyId')
  return { ...own, user_id: fits ? id : hashHex(id, 64) }
}

function encodeTier(
  serviceTier: CanonicalRequest['serviceTier'],
  { fastIsSpeed }: Options,
  { native, spelled }: { native: boolean; spelled: unknown },
  report: MessagesReport,
): JsonObject {
  if (!serviceTier) return {}
  const { tier, speed, ...rest } = serviceTier
  report.rest(rest, undefined, 'serviceTier.')
  const own = defined({ speed })
  if (tier === undefined) return own
  const word = spelled === tier ? tier : requestTier.toWire(tier)
  if (word !== undefined) return { service_tier: word, ...own }
  if (native) return { service_tier: tier, ...own }
  if (tier === 'fast' && fastIsSpeed) {
    report.add('tier.fast-as-speed', undefined, 'serviceTier.tier')
    return { speed: 'fast', ...own }
  }
  if (tier === 'priority') {
    report.add('tier.nearest', undefined, 'serviceTier.tier')
    return { service_tier: 'auto', ...own }
  }
  report.add('field.unsupported', undefined, 'serviceTier.tier')
  return own
}

function encodeCaching(
  cache: CacheSpec | undefined,
  request: CanonicalRequest,
  options: Options,
  native: boolean,
  report: MessagesReport,
  { marks }: RequestWriting,
): JsonObject {
  const { auto, contentRef, mode, diagnostics, ...rest } = cache ?? {}
  // Marks are all there is here, and without any nothing is cached.
  const known = mode === undefined || mode === 'implicit' || mode === 'explicit'
  report.rest({ ...rest, ...(!known && { mode }), ...(!native && defined({ diagnostics })) }, undefined, 'cache.')
  if (contentRef !== undefined) refuse(`/${options.fieldNames?.['cache.contentRef'] ?? 'cache/contentRef'}`, options, report)
  const own = native ? defined({ diagnostics }) : {}
  if (auto) {
    return { ...own, cache_control: encodeCache(auto, ownUnder(request, 'cache_control'), () => report.add('cache.ttl', undefined, 'cache.auto.ttl')) }
  }
  if (!native && options.amAutoCache && marks.length < 4) {
    report.add('cache.auto', '/cache_control')
    return { ...own, cache_control: { type: 'ephemeral' } }
  }
  return own
}

function encodeState(state: StateSpec | undefined, native: boolean, options: Options, report: MessagesReport, limited: boolean): JsonObject {
  if (!state) return {}
  const {
    store,
    previousId,
    conversation,
    background,
    prompt,
    include,
    truncation,
    contextManagement,
    maxToolCalls,
    container,
    thread,
    continuationToken,
    ...rest
  } = state
  const refer = (field: string, value: unknown) => {
    if (value !== undefined && value !== null) refuse(`/${options.fieldNames?.[field] ?? field.replaceAll('.', '/')}`, options, report)
  }
  refer('state.previousId', previousId)
  refer('state.conversation', conversation)
  refer('state.prompt', prompt)
  refer('state.continuationToken', continuationToken)
  if (background) refer('state.background', background)
  report.rest(rest, undefined, 'state.')
  if (store) report.add('field.unsupported', undefined, 'state.store')
  if (truncation !== undefined && truncation !== 'disabled') report.add('field.unsupported', undefined, 'state.truncation')
  if (include?.some(feature => !consumed.has(feature))) report.add('field.unsupported', undefined, 'state.include')
  if (native) return defined({ container, context_management: contextManagement, thread })
  refer('state.thread', thread)
  report.rest(defined({ container, contextManagement }), undefined, 'state.')
  if (maxToolCalls !== undefined && !limited) report.add('field.unsupported', undefined, 'state.maxToolCalls')
  return {}
}

/** Features that this protocol gives without being asked, or that are noted by their own fields. */
const consumed = new Set(['reasoning.encrypted_content', 'message.output_text.logprobs'])

function settle(
  { marks }: RequestWriting,
  tools: readonly JsonObject[] | undefined,
  { system, messages }: { system?: string | MessagesRawBlock[]; messages: JsonObject[] },
  report: MessagesReport,
): void {
  const gone = settleMarks(marks, report)
  if (gone.size === 0) return
  takeMarks(tools ?? [], gone)
  if (Array.isArray(system)) takeMarks(system, gone)
  takeMarks(messages, gone)
}
