import {
  any,
  type Check,
  either,
  flag,
  int,
  isObject,
  type JsonObject,
  list,
  loose,
  map,
  number,
  object,
  one,
  run,
  type Strict,
  text,
} from './faults.ts'

/** Standard base64, the encoding of `bytes` in this protocol. */
const bytes = text({ min: 1, pattern: /^[A-Za-z0-9+/]+={0,2}$/ })
const signature = either(bytes, one('skip_thought_signature_validator'))
const filled = text({ min: 1 })
const mime = text({ pattern: /^[\w.+-]+\/[\w.+-]+(\s*;.*)?$/ })

const level = one(
  'MEDIA_RESOLUTION_UNSPECIFIED',
  'MEDIA_RESOLUTION_LOW',
  'MEDIA_RESOLUTION_MEDIUM',
  'MEDIA_RESOLUTION_HIGH',
  'MEDIA_RESOLUTION_ULTRA_HIGH',
)
const beside = { thought: flag, thoughtSignature: signature, partMetadata: loose({}) }
const media = {
  videoMetadata: object({}, { startOffset: text(), endOffset: text(), fps: number({ min: 0 }) }),
  mediaResolution: object({}, { level, numTokens: int(0) }),
  audioTranscription: any,
  mediaProcessing: any,
}
const inlineData = object({ mimeType: mime, data: bytes }, { displayName: text() })
const fileData = object({ fileUri: filled }, { mimeType: mime, displayName: text() })

/** A part has one kind of content, and may have further fields. */
const contents: Record<string, Check> = {
  text: object({ text: text() }, { ...beside, speechMetadata: any }),
  inlineData: object({ inlineData }, { ...beside, ...media }),
  fileData: object({ fileData }, { ...beside, ...media }),
  functionCall: object(
    { functionCall: object({ name: filled }, { args: map(any), id: filled }) },
    beside,
  ),
  functionResponse: object(
    {
      functionResponse: object(
        { name: filled, response: map(any) },
        {
          id: filled,
          parts: list(object({}, { inlineData, fileData })),
          scheduling: text(),
          willContinue: flag,
        },
      ),
    },
    beside,
  ),
  executableCode: object(
    { executableCode: object({ language: text(), code: text() }, { id: text() }) },
    beside,
  ),
  codeExecutionResult: object(
    {
      codeExecutionResult: object(
        { outcome: text({ pattern: /^OUTCOME_/ }) },
        { output: text(), id: text() },
      ),
    },
    beside,
  ),
  toolCall: object(
    { toolCall: object({ toolType: text() }, { id: text(), args: map(any) }) },
    beside,
  ),
  toolResponse: object(
    { toolResponse: object({ toolType: text() }, { id: text(), response: map(any) }) },
    beside,
  ),
}

const part: Check = (value, at, faults) => {
  if (!isObject(value)) return void faults.push(`${at}: expected an object`)
  const kinds = Object.keys(contents).filter(key => Object.hasOwn(value, key))
  if (kinds.length !== 1)
    return void faults.push(`${at}: a part has one content, not ${kinds.length}`)
  contents[kinds[0] ?? '']?.(value, at, faults)
}

const content = object(
  { parts: list(part, { min: 1 }) },
  { role: one('user', 'model', 'function') },
)

const declaration = object(
  { name: text({ pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/ }) },
  {
    description: text(),
    parameters: loose({ type: one('OBJECT', 'object') }),
    parametersJsonSchema: any,
    response: loose({}),
    responseJsonSchema: any,
    behavior: one('BLOCKING', 'NON_BLOCKING', 'UNSPECIFIED'),
  },
)
const tool = object(
  {},
  {
    functionDeclarations: list(declaration, { max: 512 }),
    googleSearch: loose({}),
    googleSearchRetrieval: loose({}),
    enterpriseWebSearch: loose({}),
    exaAiSearch: loose({}),
    parallelAiSearch: loose({}),
    codeExecution: loose({}),
    urlContext: loose({}),
    fileSearch: loose({}),
    googleMaps: loose({}),
    computerUse: loose({}),
    mcpServers: list(loose({})),
    retrieval: loose({}),
  },
)
const penalty = number({ min: -2, max: 1.999999 })

const generationConfig = object(
  {},
  {
    temperature: number({ min: 0, max: 2 }),
    topP: number({ min: 0, max: 1 }),
    topK: number({ min: 0 }),
    candidateCount: int(1),
    maxOutputTokens: int(1),
    stopSequences: list(text({ min: 1 }), { max: 5 }),
    presencePenalty: penalty,
    frequencyPenalty: penalty,
    seed: int(-(2 ** 31), 2 ** 31 - 1),
    responseLogprobs: flag,
    logprobs: int(0, 20),
    responseMimeType: one('text/plain', 'application/json', 'text/x.enum'),
    responseSchema: loose({}),
    responseJsonSchema: any,
    _responseJsonSchema: any,
    responseFormat: any,
    responseModalities: list(one('TEXT', 'IMAGE', 'AUDIO', 'VIDEO')),
    mediaResolution: level,
    speechConfig: loose({}),
    imageConfig: loose({}),
    audioTranscriptionConfig: any,
    translationConfig: any,
    enableAffectiveDialog: flag,
    enableEnhancedCivicAnswers: flag,
    thinkingConfig: object(
      {},
      {
        includeThoughts: flag,
        thinkingBudget: int(-1),
        thinkingLevel: one('MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH'),
      },
    ),
  },
)

const request = object(
  { contents: list(content, { min: 1 }) },
  {
    model: text({ min: 1 }),
    systemInstruction: object(
      { parts: list(object({ text: text() }, beside), { min: 1 }) },
      { role: text() },
    ),
    tools: list(tool),
    toolConfig: object(
      {},
      {
        functionCallingConfig: object(
          {},
          {
            mode: one('AUTO', 'ANY', 'NONE', 'VALIDATED'),
            allowedFunctionNames: list(text(), { min: 1 }),
            streamFunctionCallArguments: flag,
          },
        ),
        retrievalConfig: loose({}),
        includeServerSideToolInvocations: flag,
      },
    ),
    safetySettings: list(object({ category: text(), threshold: text() }, { method: text() })),
    generationConfig,
    cachedContent: text({ pattern: /^cachedContents\// }),
    serviceTier: one('unspecified', 'standard', 'flex', 'priority'),
    store: flag,
    labels: map(text()),
    continuationToken: text(),
  },
)

const arrayOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []
const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

export function checkRequest(body: unknown): string[] {
  const faults = run(request, body)
  if (!isObject(body)) return faults
  checkTurns(
    arrayOf(body['contents']),
    typeof body['model'] === 'string' ? body['model'] : '',
    faults,
  )
  const declared = arrayOf(body['tools']).flatMap(one_ => arrayOf(one_['functionDeclarations']))
  const names = declared.map(({ name }) => name)
  if (new Set(names).size < names.length) faults.push('/tools: two functions with one name')
  for (const { name, ...more } of declared) {
    if ('parameters' in more && 'parametersJsonSchema' in more)
      faults.push(`/tools: ${name} has two schemas`)
  }
  const { mode, allowedFunctionNames: allowed } = objectOf(
    objectOf(body['toolConfig'])['functionCallingConfig'],
  )
  if (allowed !== undefined && mode !== 'ANY' && mode !== 'VALIDATED')
    faults.push('/toolConfig: names are allowed with ANY and VALIDATED only')
  for (const name of Array.isArray(allowed) ? allowed : [])
    if (!names.includes(name)) faults.push('/toolConfig: no such function')
  if ((mode === 'ANY' || mode === 'VALIDATED') && names.length === 0)
    faults.push('/toolConfig: there are no functions')
  const config = objectOf(body['generationConfig'])
  const schemas = ['responseSchema', 'responseJsonSchema', '_responseJsonSchema'].filter(
    key => key in config,
  )
  if (schemas.length > 1) faults.push('/generationConfig: two schemas')
  if (
    schemas.length > 0 &&
    !['application/json', 'text/x.enum'].includes(String(config['responseMimeType']))
  )
    faults.push('/generationConfig/responseMimeType: a schema is of JSON')
  if ('logprobs' in config && config['responseLogprobs'] !== true)
    faults.push('/generationConfig/logprobs: without responseLogprobs')
  const thinking = objectOf(config['thinkingConfig'])
  if ('thinkingBudget' in thinking && 'thinkingLevel' in thinking)
    faults.push('/generationConfig/thinkingConfig: budget and level together')
  return faults
}

/**
 * Consecutive contents of one role are one turn. The next user turn must have the results of all
 * calls and contain nothing else.
 */
function checkTurns(all: JsonObject[], model: string, faults: string[]): void {
  const turns: { role: string; parts: JsonObject[]; at: string }[] = []
  for (const [index, entry] of all.entries()) {
    const role = entry['role'] === 'model' ? 'model' : 'user'
    const last = turns.at(-1)
    if (last?.role === role) last.parts.push(...arrayOf(entry['parts']))
    else turns.push({ role, parts: [...arrayOf(entry['parts'])], at: `/contents/${index}` })
    const own = arrayOf(entry['parts'])
    const results = own.filter(({ functionResponse }) => functionResponse)
    if (results.length > 0 && results.length < own.length)
      faults.push(`/contents/${index}: results stand among other parts`)
    if (role === 'user' && own.some(({ functionCall, thought }) => functionCall || thought))
      faults.push(`/contents/${index}: a user neither calls nor thinks`)
    if (role === 'model' && results.length > 0)
      faults.push(`/contents/${index}: a model has no results`)
  }
  const seen = new Set<unknown>()
  let open: JsonObject[] = []
  for (const { role, parts, at } of turns) {
    if (role === 'model') {
      open = parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [functionCall] : []))
      for (const { id } of open) {
        if (id !== undefined && seen.has(id)) faults.push(`${at}: a call id used twice`)
        seen.add(id)
      }
      continue
    }
    const results = parts.flatMap(({ functionResponse }) =>
      isObject(functionResponse) ? [functionResponse] : [],
    )
    if (results.length < open.length)
      faults.push(`${at}: ${open.length} calls have ${results.length} results`)
    const first = parts.findIndex(({ functionResponse }) => !functionResponse)
    if (first >= 0 && parts.slice(first).some(({ functionResponse }) => functionResponse))
      faults.push(`${at}: results stand first`)
    for (const [index, result] of results.entries()) {
      const call =
        result['id'] === undefined ? open[index] : open.find(({ id }) => id === result['id'])
      if (!call) faults.push(`${at}: a result belongs to no call of the turn before it`)
      else if (call['name'] !== result['name'])
        faults.push(`${at}: a result has the name of another function`)
    }
    open = []
  }
  if (open.length > 0) faults.push('/contents: the last calls have no results')
  if (turns[0]?.role === 'model' && turns[0].parts.some(({ functionCall }) => functionCall))
    faults.push('/contents/0: calls follow a turn of the user')
  if (/gemini-3/.test(model)) checkSignatures(turns, faults)
}

/** In the current turn, the first call of every step has a signature. */
function checkSignatures(
  turns: { role: string; parts: JsonObject[]; at: string }[],
  faults: string[],
): void {
  const start = turns.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.some(({ functionResponse }) => !functionResponse),
  )
  for (const { role, parts, at } of turns.slice(start + 1)) {
    const call = role === 'model' ? parts.find(({ functionCall }) => functionCall) : undefined
    if (call && typeof call['thoughtSignature'] !== 'string')
      faults.push(`${at}: the first call of a step has no thought_signature`)
  }
}

// ---- responses

const finishReason = one(
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MALFORMED_FUNCTION_CALL',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_OTHER',
  'NO_IMAGE',
  'IMAGE_RECITATION',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
  'ESCALATION',
  'CONTINUATION',
)
const details = list(
  object({ modality: one('TEXT', 'IMAGE', 'VIDEO', 'AUDIO', 'DOCUMENT') }, { tokenCount: int(0) }),
)
const usage = object(
  {},
  {
    promptTokenCount: int(0),
    candidatesTokenCount: int(0),
    thoughtsTokenCount: int(0),
    toolUsePromptTokenCount: int(0),
    cachedContentTokenCount: int(0),
    totalTokenCount: int(0),
    promptTokensDetails: details,
    candidatesTokensDetails: details,
    cacheTokensDetails: details,
    toolUsePromptTokensDetails: details,
    serviceTier: text({ pattern: /^[a-z_]+$/ }),
    trafficType: text(),
  },
)
const token = object({}, { token: text(), tokenId: int(), logProbability: number({ max: 0 }) })
const logprobsResult = object(
  {},
  {
    chosenCandidates: list(token),
    topCandidates: list(object({}, { candidates: list(token) })),
    logProbabilitySum: number(),
  },
)
const grounding = loose(
  {},
  {
    webSearchQueries: list(text()),
    groundingChunks: list(loose({})),
    groundingSupports: list(
      loose({
        segment: object(
          { endIndex: int(1) },
          { startIndex: int(0), partIndex: int(0), text: text() },
        ),
        groundingChunkIndices: list(int(0), { min: 1 }),
      }),
    ),
  },
)
const modelContent = object({ parts: list(part, { min: 1 }) }, { role: one('model') })
const common = {
  index: int(0),
  finishMessage: text({ min: 1 }),
  tokenCount: int(0),
  avgLogprobs: number(),
  logprobsResult,
  safetyRatings: list(loose({})),
  citationMetadata: loose({}),
  groundingMetadata: grounding,
  urlContextMetadata: loose({}),
  continuationToken: text(),
}
const candidate = object({ finishReason }, { content: modelContent, ...common })
const chunk = object({ content: modelContent }, { finishReason, ...common })
const feedback = object(
  { blockReason: text({ pattern: /^[A-Z_]+$/ }) },
  { blockReasonMessage: text(), safetyRatings: list(loose({})) },
)
const envelope = {
  promptFeedback: feedback,
  usageMetadata: usage,
  modelVersion: filled,
  responseId: filled,
  createTime: text({ pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/ }),
  modelStatus: any,
}
const response = object({}, { candidates: list(candidate, { min: 1 }), ...envelope })

export function checkResponse(body: unknown): string[] {
  const faults = run(response, body)
  if (!isObject(body)) return faults
  if (body['candidates'] === undefined && body['promptFeedback'] === undefined)
    faults.push('/: neither candidates nor the reason why there are none')
  const indexes = arrayOf(body['candidates']).map(({ index }) => index ?? 0)
  if (new Set(indexes).size < indexes.length) faults.push('/candidates: two with one index')
  checkTotal(body, faults)
  return faults
}

/** The total is the sum of all kinds of tokens. */
function checkTotal({ usageMetadata }: JsonObject, faults: string[]): void {
  if (!isObject(usageMetadata) || usageMetadata['totalTokenCount'] === undefined) return
  const sum = [
    'promptTokenCount',
    'candidatesTokenCount',
    'thoughtsTokenCount',
    'toolUsePromptTokenCount',
  ].map(key => Number(usageMetadata[key] ?? 0))
  if (sum.reduce((all, count) => all + count, 0) !== usageMetadata['totalTokenCount'])
    faults.push('/usageMetadata/totalTokenCount: is no sum')
}

const errorBody = object({
  error: object(
    { code: int(400, 599), message: text({ min: 1 }), status: text({ pattern: /^[A-Z_]+$/ }) },
    { details: list(loose({ '@type': text() })) },
  ),
})

export function checkError(body: unknown): string[] {
  return run(errorBody, body)
}

const isError = (entry: unknown) => isObject(entry) && 'error' in entry

/**
 * Every event has parts in each candidate, since clients that keep a history drop a turn otherwise.
 * Calls are complete; nothing follows the finish of a candidate; an error is the last event.
 */
export function checkStream(events: unknown[]): string[] {
  const faults: string[] = []
  const event = object({}, { candidates: list(chunk, { min: 1 }), ...envelope })
  const finished = new Map<unknown, boolean>()
  const constant: JsonObject = {}
  let over = false
  events.forEach((entry, place) => {
    const at = `event ${place}`
    if (over) faults.push(`${at}: after the end`)
    if (isError(entry)) {
      errorBody(entry, at, faults)
      over = true
      return
    }
    event(entry, at, faults)
    if (!isObject(entry)) return
    if (entry['candidates'] === undefined && entry['promptFeedback'] === undefined)
      faults.push(`${at}: no candidates`)
    for (const key of ['responseId', 'modelVersion']) {
      if (key in constant && constant[key] !== entry[key]) faults.push(`${at}/${key}: another one`)
      constant[key] = entry[key]
    }
    for (const { index = 0, finishReason: reason } of arrayOf(entry['candidates'])) {
      if (finished.get(index)) faults.push(`${at}: candidate ${String(index)} has ended`)
      finished.set(index, reason !== undefined)
    }
    checkTotal(entry, faults)
  })
  if (outcome(events) === 'cut')
    faults.push('the stream ends without a finish reason and without an error')
  return faults
}

export function outcome(events: unknown[]): 'success' | 'failed' | 'cut' {
  if (events.some(isError)) return 'failed'
  const finished = new Map<unknown, boolean>()
  for (const entry of events)
    for (const { index = 0, finishReason: reason } of arrayOf(objectOf(entry)['candidates']))
      finished.set(index, finished.get(index) || reason !== undefined)
  if (finished.size > 0) return [...finished.values()].every(Boolean) ? 'success' : 'cut'
  return events.some(
    entry => typeof objectOf(objectOf(entry)['promptFeedback'])['blockReason'] === 'string',
  )
    ? 'success'
    : 'cut'
}

export const strict: Strict = { checkRequest, checkResponse, checkStream, checkError, outcome }
